"""Exercise 4 asks how many registers a thread may take; its answers agree with CUDA's calculator."""

import itertools

import pytest

from course_pkg.core import CourseError, machine
from course_pkg.core.occupancy import MOST_REGISTERS, occupancy
from course_pkg.grading import release

KIB = 1024


@pytest.fixture(scope="module")
def most_registers():
    """The solution's answer."""
    source = next(path for path in release.sources() if path.stem == "04_registers")
    cells = release.read_solution(source).cells
    answer = next(c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == "most_registers")
    names = {}
    exec(answer.source, names)
    return names["most_registers"]


def fits(threads, registers, shared_bytes, wanted):
    """Return whether CUDA's rules place this many blocks on a multiprocessor."""
    try:
        found = occupancy(machine("h200"), threads, registers_per_thread=registers, shared_bytes=shared_bytes)
    except CourseError:  # not even one block
        return False
    return found.blocks_per_sm >= wanted


ASKED = [
    *itertools.product(
        (32, 64, 100, 128, 192, 288, 544, 992, 1024),
        (1, 2, 3, 5, 8, 16, 32, 33),
        (0, KIB, 38 * KIB, 57 * KIB, 76 * KIB, 114 * KIB),
    )
]


def is_the_most(most, threads, wanted, shared_bytes):
    if most == 0:
        return not fits(threads, 1, shared_bytes, wanted)
    more = min(most + 1, MOST_REGISTERS)
    return fits(threads, most, shared_bytes, wanted) and (
        more == most or not fits(threads, more, shared_bytes, wanted)
    )


def test_the_answer_is_the_most_that_cuda_allows(most_registers):
    found = {asked: most_registers(*asked) for asked in ASKED}
    assert {asked: most for asked, most in found.items() if not is_the_most(most, *asked)} == {}
