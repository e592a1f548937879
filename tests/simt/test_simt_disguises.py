"""The verdict of the race finder does not depend on names, and nothing but a barrier counts as a barrier."""

from dataclasses import replace

import numpy as np
import pytest
from disguises import INSTEAD, KEEPING, SOME_BLOCKS, barriers, disguised, kinds, without_barrier
from mutants import barriers as barrier_mutants
from mutants import halos, reductions, scans, scatter, shuffles, stencils, stencils_3d, tiles
from mutants.algorithm import Case

from course_pkg.qp.cases import compacted, whole
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.kernel import Kernel
from course_pkg.stencil.cases import laplacian_args, step_args
from course_pkg.witness.cases import all_cases, fixed_cases, racy_cases

pytestmark = pytest.mark.slow(200)

MOST_THREADS = 6200
# A thread or block of these goes through a whole row, or many rows or planes: fewer show the same.
FEWER_ROWS = {
    "qp_update_naive_512_float64": lambda: whole(40, "float64"),
    "qp_update_columns_512_float64": lambda: whole(40, "float64"),
    "qp_update_staged_512_float64": lambda: whole(280, "float64"),  # two tiles
    "qp_update_compacted_512_float64": lambda: compacted(24, "float64"),  # seven rows
    # marches of three planes or rows, of which the last one is cut short
    "laplacian_marching_tiled_odd": lambda: laplacian_args((5, 6, 62), "float64", 3),
    "diffusion_step_3d_marching_tiled_odd": lambda: step_args((5, 6, 62), "float64", 3),
    "diffusion_step_2d_marching_tiled_odd": lambda: step_args((11, 74), "float64", 3),
}
ROOMS = (reductions, shuffles, tiles, halos, stencils, stencils_3d, scans, scatter, barrier_mutants)
ALGORITHMS = [a for room in ROOMS for a in room.ALGORITHMS]
TEXTS = [Case(a, m) for a in ALGORITHMS for m in (None, *a.mutants)]

# barriers that may go: every thread reads what it wrote itself
NOT_NEEDED = {
    ("upper_half_at_work", 0): "a thread reads the element that it wrote",
    ("eight_lanes_at_work", 0): "a thread reads the element that it wrote",
    ("two_of_four_lanes_at_work", 0): "a thread reads the element that it wrote",
    ("shared_stride_1_float32", 0): "with stride 1 a thread reads the element that it wrote",
    ("centre_tiled_float32", 0): "the centre of the tile is what the thread wrote itself",
    ("centre_tiled_halo_float32", 0): "only the centre of the tile is read, which the thread wrote itself",
    ("shift_in_place_fixed", 2): "a thread reads the element that it wrote",
    ("qp_compact_512_float64", 1): "one round is enough for so few unknowns",
    ("brought_alignment", 0): "in the first diagonal a thread reads what it wrote",
    ("brought_cholesky", 0): "a thread goes on in the row that it wrote",
    ("brought_cholesky", 3): "a thread goes on in the row that it wrote",
    ("brought_scan_of_a_tree", 2): "a thread reads the two elements that it wrote",
    ("sstep_gram_first_3_512_float64", 1): "a thread multiplies the points that it staged",
    ("sstep_moments_pass_2", 1): "an elimination ends with a barrier of its own",
    ("sstep_moments_pass_2", 3): "what is read next was there before the barrier before it",
    **{
        (f"over_gpus_{way}", n): "it waits for another GPU, of which one launch sees nothing"
        for way, n in (("send", 0), ("send", 1), ("take", 1))
    },
    ("sstep_gram_warps_first_8_odd_float64", 3): "the sums of so few tiles lie where nobody reads any more",
}
# these read zeros that Numba writes to local arrays: the finder calls an element unwritten that no statement wrote
OF_ZEROS = ("zeros_behind_a_guard", "zeros_half_replaced", "zeros_of_some", "zeros_in_a_function")
# what these index is a row or a record, which no device function may return
OF_ROWS = (
    *("brought_grains", "brought_inverses", "brought_most_likely", "brought_trees"),
    *("chosen_row", "fields_in_a_loop", "fields_of_packed_records"),
)
# with one tile, each warp multiplies what it staged itself, and needs no barrier: a case of more tiles stands for it
ONE_TILE = ("sstep_gram_warps_first_3", "sstep_gram_warps_3")


# one block would have one tile, and would need no barrier after it
A_TILE_A_BLOCK = {"brought_product_by_tiles", "brought_bodies_by_tiles"}


def _one_of_each_kernel():
    smallest = {}
    for case in all_cases().values():
        if case.name.startswith(ONE_TILE) or case.name in OF_ZEROS:
            continue
        known = smallest.setdefault(case.identity, case)
        if _threads(case) < _threads(known):
            smallest[case.identity] = case
    chosen = (replace(c, make_args=FEWER_ROWS.get(c.name, c.make_args)) for c in smallest.values())
    return [*chosen, *fixed_cases().values()]


def _threads(case):
    return np.prod(case.grid) * np.prod(case.block)


def _launch(case, kernel, *, one_block=False):
    """The case's launch, of two blocks each way if it has many threads."""
    grid = case.grid if _threads(case) <= MOST_THREADS else tuple(min(2, n) for n in case.grid)
    grid = (1, 1, 1) if one_block else grid
    return kernel[grid, case.block, 0, case.shared_bytes]


CORRECT = _one_of_each_kernel()
KNOWN = [*CORRECT, *racy_cases().values()]
BARRIERS = [(case, number) for case in CORRECT for number in range(len(barriers(case.kernel.program.tree)))]


@pytest.mark.family
@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_a_verdict_does_not_depend_on_how_a_kernel_is_written(case):
    verdict = kinds(_launch(case, case.kernel), case.args())
    assert bool(verdict) == bool(case.hazard)
    for disguise in KEEPING:
        kernel = disguised(case.kernel.program, disguise)
        if kernel is not None:
            try:
                found = kinds(_launch(case, kernel), case.args())
            except SimtError as error:  # a helper would return a row or a record
                assert case.name in OF_ROWS and "return only its arguments" in str(error)
                continue
            assert found == verdict, disguise.__name__


@pytest.mark.family
@pytest.mark.parametrize(
    "case", TEXTS, ids=lambda case: f"{case.name}: {case.mutant.name if case.mutant else 'fixed'}"
)
def test_the_verdict_on_a_mutant_does_not_either(case):
    configuration = case.blocks, case.algorithm.threads, 0, case.shared_bytes
    plain = Kernel.from_source(case.source, case.name, case.algorithm.kernel.__globals__)
    verdict = kinds(plain[configuration], tuple(case.arguments().values()))
    assert bool(verdict) == bool(case.mutant)
    for disguise in KEEPING:
        kernel = disguised(plain.program, disguise)
        if kernel is not None:
            try:
                found = kinds(kernel[configuration], tuple(case.arguments().values()))
            except SimtError as error:  # a row that lies outside stops the launch
                assert "lies outside the array" in str(error)
                assert "out_of_bounds" in verdict
                continue
            assert found == verdict, disguise.__name__


@pytest.mark.family
@pytest.mark.parametrize("instead", INSTEAD)
@pytest.mark.parametrize(("case", "number"), BARRIERS, ids=[f"{c.name}-{n}" for c, n in BARRIERS])
def test_nothing_else_does_what_a_barrier_does(case, number, instead):
    kernel = disguised(case.kernel.program, without_barrier(number, INSTEAD[instead]))
    # Two atomics of every thread on one element take the finder long if threads are many; a barrier is of one block.
    one_block = instead == "fence and two atomics" and case.name not in A_TILE_A_BLOCK
    launch = _launch(case, kernel, one_block=one_block)
    raced = bool(kinds(launch, (*case.args(), np.zeros(1, np.int32))) & {"race", "missing_syncwarp"})
    assert raced == ((case.name, number) not in NOT_NEEDED)


@pytest.mark.family
@pytest.mark.parametrize(("case", "number"), BARRIERS, ids=[f"{c.name}-{n}" for c, n in BARRIERS])
def test_a_barrier_of_some_blocks_is_none_of_the_others(case, number):
    by_data = np.arange(3 * max(case.grid), dtype=np.int32) % 3 - 1
    which = [name for name in SOME_BLOCKS if np.prod(case.grid) > 1]
    for name in which[number % 2 :: 2]:
        kernel = disguised(case.kernel.program, without_barrier(number, SOME_BLOCKS[name]))
        raced = bool(kinds(_launch(case, kernel), (*case.args(), by_data)) & {"race", "missing_syncwarp"})
        assert raced == ((case.name, number) not in NOT_NEEDED), name


def test_every_barrier_that_may_go_is_there():
    assert set(FEWER_ROWS) <= {case.name for case in CORRECT}
    assert set(NOT_NEEDED) <= {(case.name, number) for case, number in BARRIERS}
