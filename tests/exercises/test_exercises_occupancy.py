"""Exercise 3 ignores that a GPU allocates resources in fixed units; its answers still agree with CUDA's calculator."""

import itertools

import pytest

from course_pkg.core import machine
from course_pkg.core.occupancy import occupancy
from course_pkg.grading import release

KIB = 1024


@pytest.fixture(scope="module")
def blocks_per_sm():
    """The solution's answer."""
    source = next(path for path in release.sources() if path.stem == "03_shared_memory")
    cells = release.read_solution(source).cells
    answer = next(c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == "blocks_per_sm")
    names = {}
    exec(answer.source, names)
    return names["blocks_per_sm"]


# what the tests of the exercise ask for, visible and hidden: for these CUDA rounds nothing that would count
ASKED = [
    (256, 32, 10 * 34 * 8),
    (1024, 16, 0),
    (32, 16, 0),
    *((128, registers, 0) for registers in range(72, 256, 8)),
    *((128, 32, kib * KIB) for kib in (38, 57, 76, 114)),
]
# whole lots: blocks of four warps or a multiple, registers by eights, shared memory by 128 bytes
WHOLE = itertools.product((128, 256, 384, 512), (24, 40, 72, 128), (0, 128, 20 * KIB, 100 * KIB, 227 * KIB))


@pytest.mark.parametrize(("threads", "registers", "shared_bytes"), [*ASKED, *WHOLE])
def test_the_answer_is_that_of_cuda(blocks_per_sm, threads, registers, shared_bytes):
    cuda = occupancy(machine("h200"), threads, registers_per_thread=registers, shared_bytes=shared_bytes)
    assert blocks_per_sm(threads, registers, shared_bytes) == cuda.blocks_per_sm


@pytest.mark.parametrize(
    ("limited_by", "asked"),
    [("threads", ASKED[1]), ("blocks", ASKED[2]), ("registers", ASKED[3]), ("shared memory", ASKED[-1])],
)
def test_each_limit_is_asked_for(limited_by, asked):
    threads, registers, shared_bytes = asked
    cuda = occupancy(machine("h200"), threads, registers_per_thread=registers, shared_bytes=shared_bytes)
    assert cuda.limited_by == limited_by


@pytest.mark.parametrize("kib", [38, 57, 76, 114])
def test_who_forgets_the_drivers_share_is_told(blocks_per_sm, kib):
    assert blocks_per_sm(128, 32, kib * KIB) == 228 // kib - 1
