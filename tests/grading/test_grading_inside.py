"""In the sandbox an answer finds everything that its notebook imports, and no name that tells where it runs."""

import ast

import pytest
import submissions as s

from course_pkg.grading import cells
from course_pkg.grading.sandbox import LearnerError, Sandbox
from course_pkg.grading.session import Session
from course_pkg.simt.run import hints

pytestmark = pytest.mark.bare


@pytest.fixture(scope="module")
def session():
    with Session(Sandbox) as made:
        yield made


TELLS = {
    "a name of its own": "hasattr(cuda, 'BACKEND')",
    "an import of that name": "not raises('from course_pkg.cuda import BACKEND')",
    "its module's name": "cuda.__name__ != 'numba.cuda'",
    "its file": "hasattr(cuda, '__file__') and 'simt' in cuda.__file__",
    "its text": "'simt' in repr(cuda).lower() or 'interpreter' in repr(cuda)",
    "its docstring": "'interpreter' in (cuda.__doc__ or '') or 'course' in (cuda.__doc__ or '')",
    "two doors": "__import__('numba.cuda').cuda is not cuda or __import__('course_pkg.cuda').cuda is not cuda",
    "modules": "any(name.endswith('simt.api') for name in sys.modules)",
    "the environment": "any('SIMT' in value.upper() or 'COURSE' in key for key, value in os.environ.items())",
    "the device": "'simt' in str(cuda.get_current_device().name).lower()",
    "what it imports": "any(hasattr(cuda, name) for name in ('kernel_names', 'np', 'poison', 'DeviceArray'))",
}


@pytest.mark.parametrize("name", TELLS)
def test_nothing_on_the_host_tells_the_interpreter_from_numba(session, name):
    session.run(
        "import os, sys\nfrom course_pkg import cuda\n\ndef raises(text):\n    try:\n        exec(text)\n"
        f"    except ImportError:\n        return True\n\ntold = bool({TELLS[name]})",
        "tell",
    )
    assert session.get("told") is False


def test_every_name_of_cuda_is_one_of_numbas(session):
    session.run("from numba import cuda\nnames = [n for n in dir(cuda) if not n.startswith('_')]", "names")
    from numba import cuda

    newer = {
        *hints.LOADS,
        *hints.STORES,
        "random",  # a name of numba.cuda once it is imported
    }  # of numba-cuda; the target that Numba itself still brings lacks them
    assert [name for name in session.get("names") if not hasattr(cuda, name) and name not in newer] == []


def test_what_numba_offers_beside_kernels_is_there(session):
    source = """
import numba, numpy as np
from numba import cuda, vectorize

@vectorize(["float64(float64, float64)"], target="cuda")
def triad(a, b):
    return a + 3 * b

@cuda.reduce
def largest(a, b):
    return max(a, b)

found = triad(np.arange(3.0), np.ones(3)), largest(np.array([1.0, 7.0, 3.0])), cuda.float32 is numba.float32
"""
    session.run(source, "beside")
    sums, most, same = session.get("found")
    assert (sums.tolist(), most, same) == ([3.0, 4.0, 5.0], 7.0, True)


def test_numbas_cache_needs_no_file_of_a_cell(session):
    source = """
import numba

@numba.njit(cache=True)
def half(x):
    return x / 2

@numba.vectorize(["float64(float64)"], cache=True)
def quarter(x):
    return half(x) / 2

found = [half(2.0), quarter(4.0)]
"""
    session.run(source, "kept")
    assert session.get("found") == [1.0, 1.0]


def test_what_is_not_offered_says_what_to_do_and_names_no_other_simulator(session):
    with pytest.raises(LearnerError, match="do without it") as caught:
        session.run("from numba import cuda\ncuda.cudadrv", "more")
    assert "SIM" not in str(caught.value)


@pytest.mark.parametrize("source", s.SOURCES.values(), ids=lambda path: path.stem)
def test_whatever_an_exercise_imports_its_answers_can_import(session, source):
    given = [
        cell
        for cell in s.solved(source).cells
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("solution")
    ]
    imports = [
        ast.unparse(node)
        for cell in given
        for node in ast.walk(cells.parse(cell.source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert len(imports) >= 4
    session.run("\n".join(imports), "imports")


@pytest.mark.parametrize(
    "module",
    ["course_pkg.grading.judge", "course_pkg.cg.reference", "course_pkg.stencil.reference", "solutions"],
)
def test_neither_the_judge_nor_what_answers_an_exercise_is_there(session, module):
    with pytest.raises(LearnerError, match="No module named"):
        session.run(f"import {module}", "forbidden")


def test_pairs_are_there_by_every_import_and_leave_no_trace(session):
    session.run(
        "import course_pkg.device.pairs as whole\nfrom course_pkg.device import pairs\n"
        "from course_pkg.device.pairs import load_pair, store_pair\nfrom course_pkg import cuda\n"
        "same = whole.load_pair is pairs.load_pair is load_pair\ntold = hasattr(cuda, 'BACKEND')",
        "pairs",
    )
    assert (session.get("same"), session.get("told")) == (True, False)
    assert session.look(["load_pair"]) == {"load_pair": {"is": "cuda", "name": "load_pair"}}
