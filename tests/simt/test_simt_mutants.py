"""A hazard is reported for every broken kernel, at the right line, and for no correct kernel."""

import re

import numpy as np
import pytest
from mutants import barriers, halos, reductions, scans, scatter, shuffles, stencils, stencils_3d, tiles
from mutants.algorithm import Case, xyz
from recorded_arrays import Thread
from thread_by_thread import Run, unordered

from course_pkg import simt
from course_pkg.simt.errors import HazardError
from course_pkg.simt.run.kernel import Kernel

pytestmark = pytest.mark.slow(30)

ROOMS = (reductions, shuffles, tiles, halos, stencils, stencils_3d, scans, scatter, barriers)
ALGORITHMS = [a for room in ROOMS for a in room.ALGORITHMS]
FIXED = [Case(a) for a in ALGORITHMS]
BROKEN = [Case(a, m) for a in ALGORITHMS for m in a.mutants]
RAISING = [case for case in BROKEN if case.mutant.kind in ("out_of_bounds", "divergent_barrier")]
CONFLICTS = ("race", "missing_syncwarp")


def identify(case):
    return f"{case.name}: {case.mutant.name}" if case.mutant else case.name


fixed = pytest.mark.parametrize("case", FIXED, ids=identify)
broken = pytest.mark.parametrize("case", BROKEN, ids=identify)


def thread_by_thread(case):
    arguments = case.arguments()
    sizes = xyz(case.blocks), xyz(case.algorithm.threads)
    names = case.algorithm.kernel.__globals__
    return Run(case.source, case.name, names, *sizes, arguments, case.shared_bytes), arguments


def launch(case):
    kernel = Kernel.from_source(case.source, case.name, case.algorithm.kernel.__globals__)
    return kernel[case.blocks, case.algorithm.threads, 0, case.shared_bytes]


def profiled(case):
    arguments = case.arguments()
    return simt.profile(launch(case), *arguments.values()), arguments


def assert_result(case, arguments):
    for name, expected in case.algorithm.expected(case.arguments()).items():
        np.testing.assert_array_equal(arguments[name], expected, err_msg=name)


def test_there_are_enough_mutants_of_every_kind():
    kinds = [case.mutant.kind for case in BROKEN]
    assert len(BROKEN) >= 44
    for kind in (
        "race",
        "divergent_barrier",
        "out_of_bounds",
        "negative_index",
        "uninitialised",
        "missing_syncwarp",
    ):
        assert kinds.count(kind) >= 2, kind


@fixed
def test_the_oracle_finds_the_fixed_kernel_correct(case):
    run, arguments = thread_by_thread(case)
    assert run.found == []
    assert next(run.conflicts(), None) is None
    assert_result(case, arguments)


@pytest.mark.family
@broken
def test_the_oracle_finds_the_mutant_where_it_is_marked(case):
    mutant = case.mutant
    run, _ = thread_by_thread(case)
    if mutant.kind in CONFLICTS:
        in_one_warp = mutant.kind == "missing_syncwarp"
        found = {
            lines for lines, one_warp in run.conflict_lines() if one_warp == in_one_warp or len(lines) == 1
        }
        others = case.other_lines() or {case.line(mutant.at)}
        assert all(frozenset((case.line(mutant.at), other)) in found for other in others)
    else:
        assert (mutant.kind, case.line(mutant.at), mutant.array) in {f[:3] for f in run.found}


@fixed
def test_the_fixed_kernel_has_no_hazard_and_the_right_result(case):
    profile, arguments = profiled(case)
    assert profile.hazards == []
    assert_result(case, arguments)


@fixed
def test_the_fixed_kernel_runs_in_a_plain_launch(case):
    arguments = case.arguments()
    launch(case)(*arguments.values())
    assert_result(case, arguments)


@pytest.mark.family
@broken
def test_the_mutant_is_found(case):
    mutant = case.mutant
    profile, arguments = profiled(case)
    at_the_place = [h for h in profile.hazards if is_marked(case, h)]
    assert at_the_place, [str(h) for h in profile.hazards]
    for hazard in at_the_place:
        assert hazard.function == case.name
        assert {hazard.line, hazard.other_line} - {None} == lines_named(hazard.message)
        assert mutant.array is None or f"{mutant.array}[" in hazard.message
        assert hazard.message[-1] in ".?" and "\n" not in hazard.message
    written = case.algorithm.expected(case.algorithm.arguments())
    for name, before in case.arguments().items():
        assert np.shape(arguments[name]) == np.shape(before)
        if name not in written and not shares_memory(arguments, name, written) and name not in stored(case):
            np.testing.assert_array_equal(arguments[name], before, err_msg=name)


@pytest.mark.family
@broken
def test_every_hazard_of_the_mutant_is_real(case):
    if case.mutant.depends_on_schedule:
        pytest.skip("what the mutant touches depends on the order of its threads")
    profile, _ = profiled(case)
    run, _ = thread_by_thread(case)
    assert profile.hazards
    for hazard in profile.hazards:
        assert is_real(run, hazard), hazard


@pytest.mark.parametrize("case", RAISING, ids=identify)
def test_a_plain_launch_raises(case):
    arguments = case.arguments()
    with pytest.raises(HazardError) as raised:
        launch(case)(*arguments.values())
    assert is_marked(case, raised.value.hazard)
    assert raised.value.hazard.message in str(raised.value)


def is_marked(case, hazard):
    """Whether a hazard is the one that the mutant was made for."""
    mutant = case.mutant
    lines = case.lines()
    if mutant.kind in CONFLICTS and hazard.other_line not in lines | {None}:
        return False
    return (hazard.kind, hazard.array) == (mutant.kind, mutant.array) and hazard.line in lines


def lines_named(message):
    """The line numbers in a hazard's message: "line 7" or "lines 5 and 7"."""
    return {int(n) for match in re.findall(r"\blines? (\d+)(?: and (\d+))?", message) for n in match if n}


def is_real(run, hazard):
    """Whether the threads that a hazard names really do what it says."""
    threads = [Thread(tuple(t.block), tuple(t.thread)) for t in hazard.threads]
    if hazard.kind == "divergent_barrier":
        return (hazard.kind, hazard.line) in {f[:2] for f in run.found}
    if hazard.kind not in CONFLICTS:
        return (hazard.kind, hazard.line, hazard.array, hazard.index, threads[0]) in run.found
    if hazard.array in run.arguments:
        address = run.arguments[hazard.array].address(hazard.index)
    else:
        address = (hazard.array, threads[0].block, hazard.index)
    first, second = ([a for a in run.accesses if a.address == address and a.thread == t] for t in threads)
    lines = {hazard.line, hazard.other_line}
    return any(unordered(a, b) and {a.line, b.line} == lines for a in first for b in second)


def shares_memory(arguments, name, others):
    """Whether an argument is the same memory as one of the others."""
    return any(np.shares_memory(arguments[name], arguments[other]) for other in others)


def stored(case):
    """Names that the changed line stores to."""
    new = case.mutant.change[1] if case.mutant.change else ""
    return {name for name in case.arguments() if new.startswith(name + "[")}
