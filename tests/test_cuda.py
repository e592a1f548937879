"""``course_pkg.cuda`` is numba.cuda on a computer with a GPU, else course_pkg.simt; an error is one clear sentence."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.paths import repo_root
from course_pkg.setup import driver


def python(code, **environment):
    """Run code in a fresh Python and return what became of it."""
    variables = {k: v for k, v in os.environ.items() if k not in ("COURSE_BACKEND", "NUMBA_ENABLE_CUDASIM")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=repo_root(),
        env={**variables, **environment},
        timeout=300,
    )


def test_behind_the_door():
    gpu = driver.device_count() > 0 and os.environ.get("COURSE_BACKEND", "").strip().lower() != "simt"
    assert cuda is importlib.import_module("numba.cuda" if gpu else "course_pkg.simt.api")
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


# asks the door, and prints why it stays shut
ASK = """
from course_pkg.core import CourseError
try:
    from course_pkg import cuda
except CourseError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("backend", "sentence"),
    [
        (
            "gpu",
            "COURSE_BACKEND=gpu demands an NVIDIA GPU, but none was found: "
            "unset COURSE_BACKEND to run kernels in the SIMT interpreter.",
        ),
        ("nonsense", "COURSE_BACKEND='nonsense' is not known: use gpu or simt, or unset it."),
        (
            "Simulator",
            "COURSE_BACKEND='simulator' is now called simt: set COURSE_BACKEND=simt, or unset it.",
        ),
    ],
)
def test_a_backend_that_cannot_be_had_is_answered_by_one_sentence(backend, sentence):
    done = python(NO_GPU + ASK, COURSE_BACKEND=backend)
    assert (done.stdout.strip(), done.stderr) == (sentence, "")


@pytest.mark.parametrize("asked", ["simt", " SIMT ", ""])
def test_without_a_gpu_the_interpreter_runs_and_numba_cuda_stays_closed(asked):
    code = NO_GPU + "from course_pkg import cuda\n"
    code += "import sys; print(cuda.__name__, 'numba.cuda' in sys.modules)"
    done = python(code, COURSE_BACKEND=asked)
    assert (done.stdout.split(), done.stderr) == (["course_pkg.simt.api", "False"], "")


def test_the_interpreter_does_not_mind_what_was_imported_before():
    code = "import types, sys; sys.modules['numba.cuda'] = types.ModuleType('numba.cuda')\n"
    done = python(code + ASK + "print(cuda.__name__)", COURSE_BACKEND="simt")
    assert (done.stdout.strip(), done.stderr) == ("course_pkg.simt.api", "")


# a driver that counts one GPU, and numba.cuda as somebody imported it before
IMPORTED_BEFORE = """
import sys, types
from course_pkg.setup import driver
driver.device_count = lambda: 1
from numba.core import config
config.ENABLE_CUDASIM = {simulated}
import numba
sys.modules["numba.cuda"] = numba.cuda = types.ModuleType("numba.cuda")
"""


def test_on_a_gpu_numbas_simulator_imported_before_is_refused():
    done = python(IMPORTED_BEFORE.format(simulated=True) + ASK)
    assert done.stdout.strip() == (
        "numba.cuda was imported before course_pkg.cuda, as Numba's simulator: "
        "restart the kernel, and import course_pkg.cuda first."
    )
    assert done.stderr == ""


def test_on_a_gpu_numba_cuda_imported_before_is_handed_out():
    code = IMPORTED_BEFORE.format(simulated=False) + ASK + "print(cuda is numba.cuda, cuda.__name__)"
    done = python(code)
    assert (done.stdout.strip(), done.stderr) == ("True numba.cuda", "")


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
        ("", 0, "simt"),
        ("", -1, "simt"),
        ("", 1, "gpu"),
        ("gpu", 1, "gpu"),
        ("simt", 1, "simt"),
        ("GPU ", 1, "gpu"),
    ],
)
def test_the_choice(door, monkeypatch, asked, gpus, chosen):
    monkeypatch.setattr(driver, "device_count", lambda: gpus)
    monkeypatch.setenv("COURSE_BACKEND", asked)
    assert door["_choose"]() == chosen
