"""The door to CUDA: numba.cuda itself, with a GPU or in the simulator, and one sentence where it cannot open."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from course_pkg import cuda, driver
from course_pkg.paths import repo_root


def python(code, **environment):
    """Run code in a fresh Python and return what became of it."""
    variables = {k: v for k, v in os.environ.items() if k not in ("COURSE_BACKEND", "NUMBA_ENABLE_CUDASIM")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=repo_root(),
        env={**variables, **environment},
        timeout=100,
    )


def test_the_door_is_numba_cuda_itself():
    assert cuda is importlib.import_module("numba.cuda")
    assert cuda is sys.modules["course_pkg.cuda"]


def test_kernels_run_behind_it():
    @cuda.jit
    def number(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i

    out = cuda.to_device(np.full(5, -1))
    number[2, 4](out)
    assert out.copy_to_host().tolist() == [0, 1, 2, 3, 4]


# no driver of a GPU can be loaded; other libraries can
NO_GPU = """
import ctypes, os
class CDLL(ctypes.CDLL):
    def __init__(self, name, *args, **options):
        if "cuda" in os.path.basename(str(name)):
            raise OSError(f"{name} is not there")
        super().__init__(name, *args, **options)
ctypes.CDLL = CDLL
"""


@pytest.mark.parametrize(
    ("backend", "sentence"),
    [
        (
            "gpu",
            "COURSE_BACKEND=gpu asks for an NVIDIA GPU and none was found: unset it to run in the simulator.",
        ),
        ("nonsense", "COURSE_BACKEND='nonsense' is not known: use gpu or simulator, or unset it."),
    ],
)
def test_a_backend_that_cannot_be_had_is_answered_by_one_sentence(backend, sentence):
    code = NO_GPU + "from course_pkg.core import CourseError\n"
    code += "try:\n    from course_pkg import cuda\nexcept CourseError as error:\n    print(error)"
    done = python(code, COURSE_BACKEND=backend)
    assert (done.stdout.strip(), done.stderr) == (sentence, "")


@pytest.mark.skipif(driver.device_count() > 0, reason="there is a GPU here")
@pytest.mark.parametrize("asked", ["simulator", " Simulator ", ""])
def test_without_a_gpu_the_simulator_runs(asked):
    code = NO_GPU + "from course_pkg import cuda\n"
    code += "from numba.core import config; print(cuda.__name__, bool(config.ENABLE_CUDASIM))"
    done = python(code, COURSE_BACKEND=asked)
    assert done.stderr == ""
    assert done.stdout.split()[1] == "True"


def test_numba_cuda_imported_before_with_the_other_backend_is_refused():
    code = "from numba.core import config; config.ENABLE_CUDASIM = False\n"
    code += "import types, sys; sys.modules['numba.cuda'] = types.ModuleType('numba.cuda')\n"
    code += "from course_pkg.core import CourseError\n"
    code += "try:\n    from course_pkg import cuda\nexcept CourseError as error:\n    print(error)"
    done = python(code, COURSE_BACKEND="simulator")
    assert "import course_pkg.cuda first, and restart the kernel" in done.stdout
    assert done.stderr == ""


@pytest.fixture
def door():
    """The names of the door's source, run without its last line that replaces the module."""
    path = repo_root() / "course_pkg" / "cuda.py"
    source = path.read_text(encoding="utf-8")
    last_line = "sys.modules[__name__] = _open()"
    assert source.count(last_line) == 1
    names = {"__name__": "door"}
    exec(compile(source.replace(last_line, ""), str(path), "exec"), names)
    return names


@pytest.mark.parametrize(
    ("asked", "gpus", "chosen"),
    [
        ("", 0, "simulator"),
        ("", -1, "simulator"),
        ("", 1, "gpu"),
        ("gpu", 1, "gpu"),
        ("simulator", 1, "simulator"),
        ("GPU ", 1, "gpu"),
    ],
)
def test_the_choice(door, monkeypatch, asked, gpus, chosen):
    monkeypatch.setattr(driver, "device_count", lambda: gpus)
    monkeypatch.setenv("COURSE_BACKEND", asked)
    assert door["_choose"]() == chosen
