"""Exercise 6 has a convention, counts and needs of its own; the topics `permutation` and `spmv` confirm them."""

import inspect
import re

import numpy as np
import pytest
from scipy.sparse import csr_array, triu

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.grading import release
from course_pkg.permutation import reference
from course_pkg.permutation.checks import check_permutation
from course_pkg.spmv.swap_cost import DOUBLE, SINGLE, swap_fused, swap_hybrid

CELLS = ("setup", "permutations", "permute_symmetric", "jacobi", "run_jacobi", "any_way", "run_any_way")
ROWS = 97
SOURCE = next(path for path in release.sources() if path.stem == "06_permutations")


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def test_the_convention_is_that_of_the_package(names, rng):
    p, q = (reference.random_permutation(ROWS, seed) for seed in (1, 2))
    np.testing.assert_array_equal(names["invert"](p), reference.invert(p))
    r = names["translate"](p, q)
    np.testing.assert_array_equal(r, reference.compose(q, reference.invert(p)))
    x = rng.random(ROWS)
    u = reference.permute_vector(p, x)
    np.testing.assert_array_equal(u[r], reference.permute_vector(q, x))


@pytest.mark.parametrize("wrong", [[0, 1, 1], [3, 0, 1], [0, -1, 1]])
def test_both_refuse_the_same_entry(names, wrong):
    with pytest.raises(CourseError) as package:
        check_permutation(np.array(wrong))
    with pytest.raises(ValueError, match=re.escape(re.match(r"perm\[\d\] is -?\d", str(package.value))[0])):
        names["invert"](wrong)


def test_the_upper_half_is_that_of_the_whole_matrix(names, rng):
    dense = rng.random((ROWS, ROWS)) * (rng.random((ROWS, ROWS)) < 0.1)
    whole, perm = csr_array(np.triu(dense) + np.triu(dense, 1).T), reference.random_permutation(ROWS, 3)
    for part in ("indptr", "indices"):
        setattr(whole, part, getattr(whole, part).astype(np.int32))
    half = triu(whole, format="csr")
    half.sort_indices()
    expected = triu(reference.permute_symmetric(perm, whole), format="csr")
    expected.sort_indices()
    found = names["permute_symmetric"](perm, half.indptr, half.indices, half.data)
    for part, array in zip(("indptr", "indices", "data"), found, strict=True):
        np.testing.assert_array_equal(array, getattr(expected, part))


def test_a_wave_moves_what_the_hybrid_swap_moves_and_reads_and_writes_the_oldest_state():
    said = re.search(r"each one loads (\d+) and stores (\d+) bytes per element", SOURCE.read_text("utf-8"))
    hybrid, fused = (
        swap_hybrid(ROWS, 0),
        swap_fused(ROWS, 0),
    )  # they differ by the copy, whose store is in both
    copy_read, copy_written = (hybrid.bytes_read - fused.bytes_read) / ROWS, SINGLE
    assert hybrid.bytes_written == fused.bytes_written
    assert (int(said[1]), int(said[2])) == (copy_read + DOUBLE, copy_written + DOUBLE)


FIRST, END = "begins[i // 32] + i % 32", "begins[i // 32] + i % 32 + 32 * lengths[i]"
LOOPS = {  # of the rows' entries; a compiler writes out groups of trips, and each form has other trips besides
    "counts from 0": "for _ in range(lengths[i]):",
    "from entry to entry": f"for k in range({FIRST}, {END}, 32):",
    "backwards": f"for k in range({END} - 32, {FIRST} - 32, -32):",
    "while": f"while k < {END}:",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_the_bound_of_the_last_part_can_be_reached_by_any_loop(names, rng, loop):
    """Without the traffic of x, the solution's loads lie between the entries' bytes and the limit, 1.2."""
    rows = 1500  # no test has fewer of three kinds; with 600, the loop from entry to entry made 1.29 times the bound
    lengths = names["three_kinds"](rows)
    indptr, indices, data = names["random_matrix"](lengths, 300)
    threads, arrays = names["prepare"](indptr, indices, np.abs(data) + 1)
    text = inspect.getsource(names["mean_kernel"].py_func).replace(LOOPS["counts from 0"], LOOPS[loop])
    assert loop == "counts from 0" or LOOPS["counts from 0"] not in text
    if " in range(begins" in text:
        text = text.replace("            k += 32\n", "")
    kernel = simt.Kernel.from_source(text.partition("\n")[2], "mean_kernel", {"cuda": cuda})
    x, y = rng.random(300), np.zeros(rows)
    profile = simt.profile(kernel[(threads + 127) // 128, 128], *arrays, x, y)
    expected = names["product"](indptr, indices, np.abs(data) + 1, x)
    np.testing.assert_allclose(
        y, expected / names["product"](indptr, indices, np.abs(data) + 1, np.ones(300))
    )
    loads = profile.global_load.sectors - profile.by_array["x"].global_load.sectors
    assert 12 * data.size <= loads * SECTOR_BYTES <= 1.15 * (12 * data.size + 8 * rows)


def test_eight_lanes_need_what_the_solution_makes(names):
    indptr, indices, data = names["jacobi_matrix"]([5, 12, 1, 9, 8, 16, 1, 7, 24, 3, 2, 1, 8, 8, 8, 8])
    needed = names["needs_of_eight_lanes"](indptr, indices)
    x, b, new = np.ones(200), np.ones(16), np.empty(16)
    profile = simt.profile(names["jacobi_kernel"][1, 128], indptr, indices, data, b, x, new)
    made = {"global_load": profile.global_load, "global_store": profile.global_store}
    assert needed == {
        f"{space}.{what}": getattr(counts, what)
        for space, counts in made.items()
        for what in ("requests", "sectors")
    }
