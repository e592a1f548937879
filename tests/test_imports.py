"""Importing the package needs no GPU, no CuPy and no MPI; modules that need them say what to install."""

import os
import pkgutil
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

import course_pkg
from course_pkg.paths import repo_root
from course_pkg.topics import with_module

# needs what is blocked here: the door to CUDA, and the files with kernels, which pass through it when imported;
# and the worker of the judge, which is run by its path
LEFT_OUT = re.compile(
    r"course_pkg\.distributed\.(gpu_\w+|direct|links|mailboxes|nccl)$|gpu_numba(\.\w+)?$|gpu_cupy$|course_pkg\.cuda$|course_pkg\.device\.(graphs|pairs|pairs_numba|sums)$|\.suite_gpu$|course_pkg\.\w+\.(cases|traffic)$|course_pkg\.witness\.(cases\.\w+|launch)$|grading\.worker$"
)
BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked} or name in {blocked}:
            raise ImportError(f"{{name}} is blocked", name=name)
sys.meta_path.insert(0, Blocked())
"""


def modules():
    names = [
        m.name for m in pkgutil.walk_packages(course_pkg.__path__, "course_pkg.", onerror=lambda name: None)
    ]
    return ["course_pkg", *(name for name in names if not LEFT_OUT.search(name))]


def python(code):
    environment = {k: v for k, v in os.environ.items() if k != "COURSE_BACKEND"}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=repo_root(),
        env=environment,
        timeout=300,
    )


def circle_of_imports(package):
    """Return modules that import each other in a circle, or nothing. Imports in functions and for types count as well.

    Imports by a computed name do not count: a topic's variants, suites and cases, a laboratory's steps and the commands
    are found and opened by name while the program runs.
    """
    graph = grimp.build_graph(package, cache_dir=None)
    assert package in graph.modules
    try:
        TopologicalSorter({m: graph.find_modules_directly_imported_by(m) for m in graph.modules}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_each_other_in_a_circle():
    assert circle_of_imports("course_pkg") == []


def test_no_module_is_imported_by_a_name_in_quotes():
    """Such an import could be an ordinary one, and would hide a circle.

    The exception runs in a notebook's namespace, must leave no name there, and is imported by nothing.
    """
    quoted = re.compile(r"""(import_module|__import__)\(\s*["']course_pkg\b""")
    assert quoted.search('importlib.import_module("course_pkg.simt.libdevice")')
    files = (repo_root() / "course_pkg").rglob("*.py")
    found = [file.name for file in files if quoted.search(file.read_text(encoding="utf-8"))]
    assert found == ["kernel_startup.py"]


@pytest.mark.parametrize(
    "upward",
    [
        "def later():\n    from with_a_circle import above",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from with_a_circle.above import thing",
        "class Later:\n    def get(self):\n        import with_a_circle.above",
    ],
)
def test_a_circle_is_found_wherever_its_imports_stand(tmp_path, monkeypatch, upward):
    folder = tmp_path / "with_a_circle"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "above.py").write_text("from with_a_circle import between\nthing = 1\n")
    (folder / "between.py").write_text("from with_a_circle import below\n")
    (folder / "below.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert circle_of_imports("with_a_circle") == []
    (folder / "below.py").write_text(f"{upward}\n")
    found = {name.rpartition(".")[2] for name in circle_of_imports("with_a_circle")}
    assert found == {"above", "between", "below"}


def test_a_kernel_without_the_door_knows_the_hosts_names():
    """Its names may come from numba.cuda: those of the host are registered by whatever imports the interpreter."""
    code = "from course_pkg.simt import Kernel\nfrom course_pkg.simt.front.stubs import for_the_host\n"
    code += "print(sorted({'is_available', 'synchronize', 'vectorize', 'grid'} & for_the_host))"
    assert python(code).stdout.strip() == "['is_available', 'synchronize', 'vectorize']"


def test_everything_but_the_gpus_files_imports_without_gpu_cupy_and_mpi():
    names = modules()
    assert {f"course_pkg.{topic}.variants" for topic in with_module("variants")} <= set(names)
    assert {f"course_pkg.{topic}.suite" for topic in with_module("suite")} | {
        "course_pkg.bench.measure"
    } <= set(names)
    code = BLOCK.format(blocked={"cupy", "mpi4py", "numba.cuda", "course_pkg.cuda"})
    code += "import importlib\n"
    code += f"for name in {names!r}: importlib.import_module(name)\n"
    code += "print(sorted({'cupy', 'mpi4py', 'numba.cuda'} & set(sys.modules)))"
    done = python(code)
    assert done.stderr == ""
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("topic", with_module("gpu_cupy"))
def test_without_cupy_one_line_says_what_to_install(topic):
    code = BLOCK.format(blocked={"cupy"})
    code += (
        f"try:\n    from course_pkg.{topic} import gpu_cupy\nexcept ImportError as error:\n    print(error)"
    )
    done = python(code)
    assert done.stdout.strip() == ("CuPy is not installed: `pip install -e '.[gpu13]'` (or gpu12) brings it.")
    assert done.stderr == ""


def test_without_nbgrader_one_line_says_what_to_install():
    code = BLOCK.format(blocked={"nbgrader"})
    code += "from course_pkg.core import CourseError\n"
    code += "try:\n    from course_pkg.grading import release\nexcept CourseError as error:\n    print(error)"
    done = python(code)
    assert done.stdout.strip() == "nbgrader is not installed: `pip install -e '.[grade]'` brings it."


def test_the_commands_help_needs_no_room():
    code = BLOCK.format(blocked={"cupy", "nbgrader", "nbformat", "matplotlib", "numba", "jupytext"})
    code += "from course_pkg import cli\ncli.build_parser()"
    assert python(code).stderr == ""


def test_an_exercise_is_set_up_without_numba_which_takes_a_second():
    """The sandbox imports as much for each submission; Numba's types are needed by a launch alone."""
    code = "import os, sys\nos.environ['COURSE_BACKEND'] = 'simt'\n"
    code += "from course_pkg import cuda, simt\nfrom course_pkg.grading import check\n"
    code += "kernel = cuda.jit(lambda x: None)\n"
    code += "print(sorted({'numba', 'matplotlib'} & set(sys.modules)))"
    done = python(code)
    assert done.stderr == ""
    assert done.stdout.strip() == "[]"
