"""The judge takes over a learner's kernel however it was made, and checks each of its launches for hazards."""

import pytest
import submissions as s
from test_grading_judge_small import code, graded

from course_pkg.grading import judge
from course_pkg.simt.front.instead import PLAIN

STUB = "@cuda.jit\ndef f(x):\n    x[cuda.grid(1)] = 1.0"
TEST = "x = cuda.to_device(np.zeros(40))\nf[2, 32](x)\ncheck.close(x.copy_to_host(), np.ones(40), 'x')"
BODY = "(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] = 1.0\n"


def chain(length):
    """A kernel behind so many functions, each of which calls the one before."""
    made = ["@cuda.jit(device=True)\ndef g0():\n    return 1.0\n"]
    made += [f"@cuda.jit(device=True)\ndef g{n}():\n    return g{n - 1}()\n" for n in range(1, length)]
    return "\n".join([*made, f"@cuda.jit\ndef f{BODY.replace('1.0', f'g{length - 1}()')}"])


MADE = {
    "a chain of helpers": chain(40),
    "a call": f"def g{BODY}\nf = cuda.jit(g)",
    "a call with options": f"def g{BODY}\nf = cuda.jit(fastmath=True)(g)",
    "an import of jit": f"from numba.cuda import jit\n@jit\ndef f{BODY}",
    "another name of jit": f"kernel = cuda.jit\n@kernel\ndef f{BODY}",
    "a partial": f"import functools\n@functools.partial(cuda.jit, opt=True)\ndef f{BODY}",
    "a factory": "def make():\n    @cuda.jit\n    def g(x):\n        i = cuda.grid(1)\n        if i < x.size:\n"
    "            x[i] = ONE\n    ONE = 1.0\n    return g\n\nf = make()",
    "a condition": "if True:\n    @cuda.jit\n    def f(x):\n        i = cuda.grid(1)\n        if i < x.size:\n"
    "            x[i] = 1.0",
    "a loop": f"def g{BODY}\nfor options in ({{}}, dict(opt=True)):\n    f = cuda.jit(**options)(g)",
    "a signature": f"@cuda.jit('void(float64[:])')\ndef f{BODY}",
    "a class that holds it": "class Kernels:\n    @staticmethod\n    @cuda.jit\n    def f(x):\n"
    "        i = cuda.grid(1)\n        if i < x.size:\n            x[i] = 1.0\n\nf = Kernels.f",
    "a helper made later": f"@cuda.jit\ndef f{BODY.replace('1.0', 'one()')}\n@cuda.jit(device=True)\ndef one():\n"
    "    return 1.0",
    "a helper of two names": "@cuda.jit(device=True)\ndef one():\n    return 1.0\n\nuno = one\n"
    f"@cuda.jit\ndef f{BODY.replace('1.0', 'uno()')}",
    "a helper of a lambda": "one = cuda.jit(device=True)(\n    lambda: uno + 0.0)\nuno = 1.0\n"
    f"@cuda.jit\ndef f{BODY.replace('1.0', 'one()')}",
    "a lambda of a factory, and one in the kernel": "def make(one):\n"
    "    return cuda.jit(lambda x: one * (x >= 0), device=True)\n\ng = make(1.0)\n@cuda.jit\ndef f(x):\n"
    "    one = lambda k: g(k)\n    if cuda.grid(1) < x.size:\n        x[cuda.grid(1)] = one(cuda.grid(1))",
    "a table": "TABLE = np.array([1.0, 2.0])\n@cuda.jit\ndef f(x):\n    table = cuda.const.array_like(TABLE)\n"
    "    i = cuda.grid(1)\n    if i < x.size:\n        x[i] = table[0]",
    "constants": "import enum\n\nclass Size(enum.IntEnum):\n    ONE = 1\n\nONE, REAL, floor = Size.ONE, np.float64, "
    f"__import__('math').floor\n@cuda.jit\ndef f{BODY.replace('1.0', 'floor(REAL(ONE))')}",
    "a match": "@cuda.jit\ndef f(x):\n    match cuda.grid(1):\n        case 40 | 41:\n"
    "            pass\n        case _:\n            match cuda.grid(1) < x.size:\n                case True:\n"
    "                    x[cuda.grid(1)] = 1.0",
    "cmath": "import cmath\nfrom cmath import polar\n@cuda.jit\n"
    f"def f{BODY.replace('1.0', 'cmath.rect(*polar(1j)).imag')}",
    "cut short": f"@cuda.jit\ndef f{BODY}\nraise KeyError('too late')",
    "ended": f"import os\n@cuda.jit\ndef f{BODY}\nos._exit(1)",
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_a_kernel_may_be_made_in_any_way(name):
    report = graded(MADE[name], TEST, stub=STUB)
    assert report.points == 2, report.cells[0].feedback


REFUSED = {
    "too long a chain": (chain(105), "call fewer functions from within each other"),
    "a lambda beside another": ("f, g = cuda.jit(lambda x: None), lambda: 0", "shares its line with another"),
    "helpers by two lambdas on a line": (
        f"one, two = cuda.jit(lambda: 1.0), cuda.jit(lambda: 2.0)\n@cuda.jit\ndef f{BODY.replace('1.0', 'one()')}",
        "is outside what the interpreter runs: write a function with def",
    ),
    "a text of its own": (f"exec('''@cuda.jit\ndef f{BODY}''')", "write it there, with def"),
    "a builtin": ("f = cuda.jit(print)", "write @cuda.jit above a def"),
    "a walrus": (
        f"@cuda.jit\ndef f{BODY.replace('i < x.size', '(n := x.size) > i')}",
        "on a line of its own, before",
    ),
    "a lambda within": (
        f"one = lambda: 1.0\n@cuda.jit\ndef f{BODY.replace('1.0', 'one()')}",
        "function of the host",
    ),
    "a class within": (
        f"class A:\n    one = 1.0\n@cuda.jit\ndef f{BODY.replace('1.0', 'A.one')}",
        "a name of its own",
    ),
    "a construct that only a GPU has": (
        f"@cuda.jit\ndef f{BODY.replace('1.0', 'cuda.fp16.hadd(1, 1)')}",
        "write a + b and its like",
    ),
    "an argument by name only": (
        f"@cuda.jit\ndef f{BODY.replace('(x)', '(x, *, k=1)')}",
        "use plain positional ones",
    ),
    "a plain function": (f"def f{BODY}", "write it with def under @cuda.jit"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_judge_does_not_read_says_what_to_write(name):
    answer, way = REFUSED[name]
    report = graded(answer, TEST, stub=STUB)
    assert report.points == 0
    said = report.cells[0].feedback
    assert way in said, said
    assert "CUDASIM" not in said


def test_what_only_a_simulator_may_run_is_told_otherwise_to_who_is_judged():
    report = graded("@cuda.jit\ndef f" + BODY.replace("1.0", "1.0 * ord('a')"), TEST, stub=STUB)
    assert report.points == 0
    said = report.cells[0].feedback
    assert said.endswith(f"is outside what the interpreter runs. For the judge, {PLAIN}."), said


SIGNATURES = {
    "'void(float64[:])'": 2,
    "'void(float64[::1])'": 2,
    "'void(float32[:])'": 0,
    "'void(float64[:, :])'": 0,
    "'void(float64)'": 0,
    "['void(float32[:])', numba.void(numba.float64[:])]": 2,
    "['void(int32[:])', 'void(float32[:])']": 0,
    "'void(UniTuple(float64[:], 2))'": 0,
    "'void(optional(float64[:]))'": 0,
    "['void(float64[:])'] * 40": 0,  # Numba does not know which of them to take
}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_signature_holds_for_the_judge_too(signature):
    report = graded(f"import numba\n@cuda.jit({signature})\ndef f{BODY}", TEST, stub=STUB)
    said = report.cells[0].feedback
    assert report.points == SIGNATURES[signature], said
    assert not said or "declared" in said or "signature" in said or "Ambiguous" in said, said


def test_a_number_has_the_type_of_the_signature_for_the_judge_too():
    test = "x = np.zeros(4)\nf[1, 4](x, 0.1)\ncheck.close(x, np.full(4, float(np.float32(0.1))), 'x')"
    body = "(x, s):\n    x[cuda.grid(1)] = s"
    stub = f"@cuda.jit\ndef f{body}"
    assert graded(f"@cuda.jit('void(float64[:], float32)')\ndef f{body}", test, stub=stub).points == 2
    assert graded(stub, test, stub=stub).points == 0


LIES = (
    *("[[7]]", "[[None] * 10**5]", "[[{}]]", "'x'", "[3]", "[['__class__']]"),
    "[[{'of': 'float64', 'ndim': 10**9, 'layout': 'C'}]]",
    "[[{'of': 'float64', 'ndim': True, 'layout': 'CF'}]]",
    "[[functools.reduce(lambda t, _: [t], range(20), 'f8')]]",
)


@pytest.mark.bare
@pytest.mark.parametrize("lie", LIES)
def test_a_signature_that_is_none_is_harmless(lie):
    """What the sandbox says of a signature can only keep a kernel from being launched."""
    answer = f"{STUB.replace('x[cuda.grid(1)] = 1.0', 'pass')}\nimport functools\nlook = _look\n\ndef _look(names):\n"
    answer += f"    return {{name: about | {{'signatures': {lie}}} for name, about in look(names).items()}}"
    report = graded(answer, TEST, stub=STUB)
    assert report.points == 0
    assert s.notes(report) == []


RACES = {
    "idle threads write again": BODY.replace(
        "        x[i] = 1.0", "        x[i] = 1.0 + 0 * i\n    else:\n        x[0] = 1.0 + 0 * i"
    ),
    "clamped threads write twice": "(x):\n    i = min(cuda.grid(1), x.size - 1)\n    x[i] = 1.0 + 0 * i",
    "every thread writes": "(x):\n    for k in range(x.size):\n        x[k] = 1.0 + 0 * k",
    "a negative index": BODY.replace("x[i]", "x[i - x.size]"),
}
HIDDEN = f"# Hidden tests: zeros.\n### BEGIN HIDDEN TESTS\n{TEST}\n### END HIDDEN TESTS"


@pytest.mark.parametrize("name", RACES)
@pytest.mark.parametrize("test", [TEST, HIDDEN, TEST.replace("f[2, 32](x)", "f.forall(40, 32)(x)")])
def test_a_launch_that_only_computes_looks_for_hazards_too(name, test):
    report = graded(f"@cuda.jit\ndef f{RACES[name]}", test, stub=STUB)
    assert report.points == 0
    said = report.cells[0].feedback
    assert any(word in said for word in ("no barrier", "any order", "who is last", "negative index")), said


def test_a_kernel_of_the_exercise_itself_is_taken_from_there():
    given = "@cuda.jit\ndef ones" + BODY
    report = graded("f = ones", TEST, stub=STUB, given=given)
    assert report.points == 2, report.cells[0].feedback


def test_an_answer_cannot_say_that_a_text_of_another_cell_is_its_kernel():
    lie = "def _look(names):\n    return {'f': {'is': 'kernel', 'cell': 'test', 'line': 1, 'name': 'g'}}"
    test = f"def g{BODY}\n{TEST}"
    report = graded(lie, test, stub=STUB)
    assert report.points == 0


def test_results_of_derived_classes_are_what_they_hold():
    answer = "import collections\n\nclass A(np.ndarray):\n    pass\n\n"
    answer += "def f(x):\n    return collections.Counter(x), np.ones(2).view(A)"
    test = "counts, ones = f('aab')\ncheck.that(counts == {'a': 2, 'b': 1}, 'c')\ncheck.close(ones, np.ones(2), 'o')"
    report = graded(answer, test)
    assert report.points == 2, report.cells[0].feedback


def test_every_profile_of_a_solution_is_asked_for_its_hazards():
    for source in s.SOURCES.values():
        for cell in s.solved(source).cells:
            about = cell.metadata.get("nbgrader", {})
            if about.get("grade") or about.get("grade_id", "").startswith("run_"):
                assert cell.source.count("simt.profile(") == cell.source.count("no_hazards("), about.grade_id


def test_marks_stand_in_the_order_of_the_notebook():
    cells = [
        code("hidden", HIDDEN.replace(TEST, "1"), grade=True, points=1),
        code("seen", "1", grade=True, points=1),
        code("essay", "why", grade=True, solution=True, points=1) | {"cell_type": "markdown"},
    ]
    report = judge.grade_cells([], cells, exercise="small", seed=1)
    assert [cell.grade_id for cell in report.cells] == ["hidden", "seen", "essay"]


PRINTING = "@cuda.jit\ndef f(x):\n    i = cuda.grid(1)\n    {}\n    if i < x.size:\n        x[i] = 1.0"
PROFILED = (
    "x = np.zeros(40)\nprofile = simt.profile(f[2, 32], x)\ncheck.no_hazards(profile)\n"
    "check.close(x, np.ones(40), 'x')\ncheck.at_most(profile, {'global_store.sectors': 1.0}, "
    "compulsory={'global_store.sectors': 10})"
)


@pytest.mark.parametrize(
    "line",
    ["print(i)", "print('x', x[39 - i % 40])", "print(x[i + 1])", "if x[39 - i % 40] < i: print('more', i)"],
)
@pytest.mark.parametrize("test", [TEST, PROFILED])
def test_a_kernel_that_prints_has_the_same_mark(line, test):
    """It is not read for it, so it cannot race or add traffic; and it says nothing to nobody."""
    report = graded(PRINTING.format(line), test, stub=STUB, given="from course_pkg import simt\n")
    assert report.points == 2, report.cells[0].feedback


@pytest.mark.parametrize("line", ["print(x)", "print(f'{i}')", "print(i, end='')"])
def test_a_kernel_whose_print_numba_refuses_is_refused(line):
    report = graded(PRINTING.format(line), TEST, stub=STUB)
    assert report.points == 0 and "print" in report.cells[0].feedback
