"""What the kernels of s-step methods move, and that they have no hazards."""

from functools import partial

import counted_cases
import numpy as np
import pytest
from test_sstep_operations import DTYPES

from course_pkg import cuda
from course_pkg.core import CourseError
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.sstep import cost, cpu_numba, gpu_numba, reference
from course_pkg.sstep.cases import SIZES, cases
from course_pkg.sstep.problem import BlockProblem, Laplacian

# ---- what moves


profile = partial(counted_cases.profile, "sstep")


def bytes_of(name, *arrays):
    """Return the bytes that these arrays' loads and stores touch, each byte once."""
    touched = profile(name).by_array
    found = [touched[a] for a in arrays if a in touched]  # those that a kernel does not touch are not there
    return sum(f.global_load.unique_bytes for f in found), sum(f.global_store.unique_bytes for f in found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_counted_bytes_of_sums_are_those_of_the_cost(size, dtype):
    n = SIZES[size]
    found = bytes_of(f"sstep_moments_4_{size}_{dtype}", "block", "r")
    assert found == (cost.moments(n, 4, dtype).bytes_read, 0)
    found = bytes_of(f"sstep_gram_3_{size}_{dtype}", "old", "fresh", "r")
    assert found == (cost.gram(n, 3, dtype=dtype).bytes_read, 0)
    found = bytes_of(f"sstep_gram_first_3_{size}_{dtype}", "fresh", "r")
    assert found == (cost.gram(n, 3, first=True, dtype=dtype).bytes_read, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kernel", "s"), [("block", 4), ("block_warps", 2)])
def test_counted_bytes_of_updates_are_those_of_the_cost(kernel, s, size, dtype):
    for name in ("update", "project"):
        found = bytes_of(f"sstep_{name}_{kernel}_{s}_{size}_{dtype}", "old", "fresh", "x", "r", "out")
        its_cost = getattr(cost, f"{name}_block")(SIZES[size], s, dtype)
        assert found == (its_cost.bytes_read, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("terms", [0, 1, 2])
def test_counted_bytes_of_the_fused_laplacian_are_those_of_the_cost(terms, dtype):
    found = bytes_of(
        f"sstep_laplacian_recurrence_{terms}_64_{dtype}", "previous", "current", "product", "out"
    )
    its_cost = cost.laplacian_recurrence((6, 8, 64), terms, dtype)
    assert found == (its_cost.bytes_read, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("terms", [1, 2, 3])
def test_counted_bytes_of_a_recurrence_are_those_of_the_cost(terms, dtype):
    found = bytes_of(f"sstep_recurrence_{terms}_odd_{dtype}", "previous", "current", "product", "out")
    its_cost = cost.recurrence(SIZES["odd"], terms, dtype)
    assert found == (its_cost.bytes_read, its_cost.bytes_written)


def test_every_sector_of_a_block_is_loaded_once():
    """The vectors of a block begin at whole sectors: 512 points of 8 bytes."""
    for name, array, vectors in (
        ("sstep_moments_4_512_float64", "block", 5),
        ("sstep_gram_3_512_float64", "old", 6),
        ("sstep_gram_3_512_float64", "fresh", 6),
        ("sstep_update_block_4_512_float64", "old", 8),
        ("sstep_project_block_4_512_float64", "fresh", 8),
        ("sstep_project_block_warps_2_512_float64", "fresh", 4),
    ):
        assert profile(name).by_array[array].global_load.sectors * SECTOR_BYTES == vectors * 512 * 8, name


def test_a_block_update_reads_fewer_bytes_than_calls_of_a_library():
    for s in range(1, 11):
        n = 250**3
        assert cost.update_block_by_library(n, s).bytes > cost.update_block(n, s).bytes
        assert cost.gram_by_library(n, s).bytes > cost.gram(n, s).bytes
        assert cost.moments_by_library(n, s).bytes > cost.moments(n, s).bytes


# ---- hazards and arguments


@pytest.mark.family
@pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert profile(case.name).hazards == []


def test_wrong_arguments_are_named():
    p = BlockProblem.drawn(30, 2)
    out = np.empty(5)
    for wrong, message in (
        ((p.fresh[:3], p.r, out), r"A block has shape \(3, 30\): it holds s vectors and"),
        ((p.fresh, p.r[:20].copy(), out), r"r has shape \(20,\), expected \(30,\)"),
        ((p.fresh, p.r.astype("float32"), out), "r has dtype float32"),
        ((p.fresh, p.r, out[:4]), r"out has shape \(4,\), expected \(5,\)"),
        ((p.fresh, p.r, out.astype("float32")), "out has dtype float32"),
        ((np.ones((66, 30)), p.r, out), "s is 33: a pass does the work of 1 to 32 iterations"),
    ):
        for function in (reference.moments, cpu_numba.moments):
            with pytest.raises(CourseError, match=message):
                function(*wrong)
    with pytest.raises(CourseError, match="lives in host memory but this function runs on the GPU"):
        gpu_numba.moments(p.fresh, p.r, out)
    given = [cuda.to_device(a) for a in (p.old, p.fresh, p.C, p.alpha, p.x, p.r)]
    with pytest.raises(CourseError, match=r"beta has shape \(4, 2\), expected \(2, 2\)"):
        gpu_numba.update_block(*given, given[1])
    grid = cuda.to_device(np.zeros((4, 4, 5)))
    with pytest.raises(
        CourseError, match="Rows have 5 numbers, 5 of them of the grid: the pitch must be even"
    ):
        gpu_numba.laplacian_recurrence(grid, grid, 1.0, 0.0, 0.0, cuda.to_device(np.zeros((4, 4, 5))))
    with pytest.raises(CourseError, match="current and product share memory"):
        even = cuda.to_device(np.zeros((4, 4, 4)))
        gpu_numba.laplacian_recurrence(even, even, 1.0, 0.0, 0.0, even)
    with pytest.raises(CourseError, match=r"shape is \(2, 5, 5\)"):
        Laplacian((2, 5, 5))
