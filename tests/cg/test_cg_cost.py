"""The fusion document's table, and what an iteration of each variant moves."""

import pytest

from course_pkg.cg import cost
from course_pkg.core import CourseError

SHAPE = (20, 20, 20)
M, B = 20**3, 20**2


def test_the_documents_table_follows_from_its_containers():
    baseline, fused = cost.map_and_stencil(SHAPE), cost.map_stencil_fused(SHAPE)
    assert (baseline.reads, baseline.reads_reused, baseline.writes) == (9 * M, 3 * M, 2 * M)
    assert (baseline.multiplications, baseline.halo) == (8 * M, 2 * B)
    assert (fused.reads, fused.reads_reused, fused.writes) == (14 * M, 2 * M, 2 * M)
    assert (fused.multiplications, fused.halo) == (14 * M, 4 * B)


def test_the_fused_kernels_intensity_is_seven_by_the_documents_own_counts():
    assert cost.map_stencil_fused(SHAPE).intensity == 7
    assert cost.update_p(SHAPE).intensity == 0.5
    assert cost.matvec(SHAPE).intensity == 7


def test_a_write_that_allocates_reads_its_line_first():
    baseline, fused = cost.map_and_stencil(SHAPE), cost.map_stencil_fused(SHAPE)
    matvec = cost.update_p(SHAPE) + cost.matvec(SHAPE).allocating(1)
    assert (matvec.reads, matvec.reads_reused) == (10 * M, 4 * M)
    allocated = fused.allocating(2)
    assert (allocated.reads, allocated.reads_reused) == (16 * M, 4 * M)
    assert allocated.intensity == 3.5
    assert baseline.allocating(0) == baseline


@pytest.mark.parametrize(("gpus", "elements"), [(1, [0]), (2, [B, B]), (4, [B, 2 * B, 2 * B, B])])
def test_the_gpus_at_the_ends_have_one_neighbour(gpus, elements):
    assert cost.halo(SHAPE, gpus) == elements
    assert cost.halo(SHAPE, gpus, fields=2) == [2 * n for n in elements]


@pytest.mark.parametrize("gpus", [0, 21])
def test_a_grid_has_planes_for_so_many_gpus_only(gpus):
    with pytest.raises(CourseError, match="between 1 and the 20 planes"):
        cost.halo(SHAPE, gpus)


@pytest.mark.parametrize(
    ("variant", "doubles"),
    [("cg_baseline", 14), ("cg_map_stencil_fused", 13), ("cg_fused_dots", 11), ("cg_two_kernel", 8)],
)
def test_an_iteration_moves_so_many_numbers_a_point(variant, doubles):
    found = cost.iteration(variant, SHAPE)
    assert found.bytes == 8 * doubles * M
    assert cost.iteration(variant, SHAPE, "float32").bytes == 4 * doubles * M


def test_an_unknown_variant_is_named():
    with pytest.raises(CourseError, match="No variant of CG is called 'cg_magic': choose from cg_baseline"):
        cost.iteration("cg_magic", SHAPE)
