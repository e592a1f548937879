"""The cases: every kernel of the package has one, and a case is the same on every machine."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import course_pkg
from course_pkg.core import CourseError
from course_pkg.device.case import Cases, Sliced, numbers
from course_pkg.device.launch import blocks_for
from course_pkg.topics import topics
from course_pkg.witness import compare
from course_pkg.witness.cases import all_cases, choose, fixed_cases, racy_cases

PACKAGE = Path(course_pkg.__file__).parent
EVERY = {**all_cases(), **racy_cases(), **fixed_cases()}


def is_jit(node):
    return ast.unparse(node) in ("cuda.jit", "jit")


class Kernels(ast.NodeVisitor):
    """Collect the qualified names of a module's kernels; `other` counts uses of cuda.jit that are no decorator."""

    def __init__(self):
        self.path, self.found, self.decorators, self.uses = [], [], 0, 0

    def visit_FunctionDef(self, node):
        for decorator in node.decorator_list:
            called = isinstance(decorator, ast.Call)
            if is_jit(decorator.func if called else decorator):
                self.decorators += 1
                device = called and any(
                    k.arg == "device" and getattr(k.value, "value", None) for k in decorator.keywords
                )
                if not device:
                    self.found.append(".".join([*self.path, node.name]))
        self.path += [node.name, "<locals>"]
        self.generic_visit(node)
        del self.path[-2:]

    def visit_ClassDef(self, node):
        self.path.append(node.name)
        self.generic_visit(node)
        self.path.pop()

    def visit_Call(self, node):
        """A known kernel that is compiled once more, `cuda.jit(option=…)(kernel.py_func)`, is no new one."""
        again = isinstance(node.func, ast.Call) and is_jit(node.func.func) and len(node.args) == 1
        if (again and isinstance(node.args[0], ast.Attribute) and node.args[0].attr == "py_func") or (
            again and any(k.arg == "device" for k in node.func.keywords)
        ):
            self.uses -= 1
        self.generic_visit(node)

    def visit_Attribute(self, node):
        self.uses += ast.unparse(node) == "cuda.jit"
        self.generic_visit(node)


def kernels_of(source):
    visitor = Kernels()
    visitor.visit(ast.parse(source))
    assert visitor.uses <= visitor.decorators, "write @cuda.jit above a function, so that this test finds it"
    return visitor.found


def test_the_search_finds_kernels_wherever_they_are_and_no_device_function():
    source = """
@cuda.jit
def plain(a): ...
@cuda.jit(device=True)
def helper(a): ...
@cuda.jit(fastmath=False)
def with_options(a): ...
def factory(n):
    @cuda.jit
    def inner(a): ...
    return inner
"""
    assert kernels_of(source) == ["plain", "with_options", "factory.<locals>.inner"]
    with pytest.raises(AssertionError, match=r"write @cuda\.jit above"):
        kernels_of("kernel = cuda.jit(function)")
    assert kernels_of("other = cuda.jit(max_registers=32)(kernel.py_func)") == []
    assert kernels_of("helper = cuda.jit(device=True)(function)") == []
    with pytest.raises(AssertionError, match=r"write @cuda\.jit above"):
        kernels_of("other = cuda.jit(max_registers=32)(function)")


def test_every_kernel_of_the_package_is_in_a_case():
    identities = {case.identity for case in EVERY.values()}
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(("course_pkg", *path.relative_to(PACKAGE).with_suffix("").parts))
        found |= {(module, name) for name in kernels_of(path.read_text(encoding="utf-8"))}
    rooms = {tuple(module.split(".")[1:3]) for module, _ in found}
    assert {(topic, "gpu_numba") for topic in topics()} <= rooms
    missing = sorted(found - identities)
    assert not missing, f"add a case to cases.py of the topic for each of {missing}"
    assert identities == found


def test_at_least_28_kernels_are_our_own():
    own = {case.identity for case in all_cases().values() if ".witness." in case.identity[0]}
    assert len(own) >= 28


def test_names_are_words_and_differ():
    assert len(EVERY) == len(all_cases()) + len(racy_cases()) + len(fixed_cases())
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in EVERY)
    assert all(case.name == name and case.idea and "\n" not in case.idea for name, case in EVERY.items())


def test_racy_kernels_say_what_is_wrong_and_have_a_twin():
    assert len(racy_cases()) >= 4
    assert {f"{name}_fixed" for name in racy_cases()} == set(fixed_cases())
    assert all(case.hazard for case in racy_cases().values())
    assert not any(case.hazard for case in (*fixed_cases().values(), *all_cases().values()))


@pytest.mark.parametrize("case", EVERY.values(), ids=EVERY)
def test_launches_are_small_and_arguments_the_same_at_every_call(case):
    threads = int(np.prod(case.block))
    assert threads <= 1024
    assert threads * int(np.prod(case.grid)) <= 2**19
    first, second = case.make_args(), case.make_args()
    assert len(first) == len(second) > 0
    for a, b in zip(first, second, strict=True):
        assert type(a) is type(b)
        a, b = (x.array if isinstance(x, Sliced) else x for x in (a, b))
        np.testing.assert_array_equal(a, b)
        if isinstance(a, np.ndarray):
            assert a.flags.c_contiguous
            assert not np.shares_memory(a, b)


def test_a_sliced_argument_is_a_view_on_the_device_and_starts_inside_its_allocation():
    case = all_cases()["copy_view_from_1_float64"]
    view, out = case.args()
    assert not isinstance(view, np.ndarray) and isinstance(out, np.ndarray)
    np.testing.assert_array_equal(view.copy_to_host(), case.make_args()[0].array[1:])
    aligned = compare.profile(all_cases()["copy_float64"]).global_load
    shifted = compare.profile(case).global_load
    assert shifted.sectors_per_request > aligned.sectors_per_request


def test_a_name_is_given_once():
    cases = Cases()
    kernel = next(iter(all_cases().values())).kernel
    cases.add(kernel, 1, 32, tuple, "one")
    with pytest.raises(CourseError, match="pass name="):
        cases.add(kernel, 2, 32, tuple, "two")
    assert [case.grid for case in cases] == [(1, 1, 1)]
    assert len(cases) == 1


def test_an_unknown_case_is_answered_with_near_ones():
    with pytest.raises(CourseError, match=r"No case is called .copy_nothing.: choose from .*copy_float64"):
        choose(["copy_nothing"])
    assert [case.name for case in choose(["one_counter", "copy_int8"])] == ["one_counter", "copy_int8"]
    assert choose([]) == list(all_cases().values())


def test_a_grid_covers_an_array():
    assert blocks_for(100, 32) == 4
    assert blocks_for((35, 47, 61), (32, 4, 2)) == (2, 12, 18)


def test_numbers_are_of_the_type_and_positive():
    for dtype in ("float32", "int8", "complex128"):
        drawn = numbers(50, dtype)
        assert drawn.dtype == dtype
        assert (drawn.real > 0).all()
