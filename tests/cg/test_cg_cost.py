"""The costs of conjugate gradient: the table of the fusion document, and the bytes that each variant moves."""

import pytest

from course_pkg.cg import cost, precision
from course_pkg.cg.facts import facts
from course_pkg.cg.fusion import TWO_KERNEL
from course_pkg.cg.program import CG, Program
from course_pkg.cg.variants import VARIANTS
from course_pkg.core import CourseError, machine

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
    with pytest.raises(CourseError, match="choose 1 to 20, the number of planes"):
        cost.halo(SHAPE, gpus)


@pytest.mark.parametrize(
    ("variant", "doubles"),
    [
        ("cg_baseline", 14),
        ("cg_map_stencil_fused", 13),
        ("cg_fused_dots", 11),
        ("cg_two_kernel", 8),
        ("cg_deferred_x", 7.5),
    ],
)
def test_an_iteration_moves_so_many_numbers_a_point(variant, doubles):
    its_cost = VARIANTS[variant].cost
    assert its_cost(SHAPE).bytes == 8 * doubles * M
    assert its_cost(SHAPE, "float32").bytes == 4 * doubles * M


def test_x_deferred_spares_a_write_every_second_iteration_and_no_flop():
    """The second of two iterations reads x and both directions: no more is read, and x is written once for two."""
    plain, deferred = VARIANTS["cg_two_kernel"].cost((3, 4, 5)), VARIANTS["cg_deferred_x"].cost((3, 4, 5))
    assert (plain.bytes_read, plain.flops) == (deferred.bytes_read, deferred.flops)
    assert plain.bytes_written - deferred.bytes_written == 60 * 8 / 2


def test_each_field_moves_its_own_width():
    """In two precisions an iteration moves half of what the two kernels move in one; the flops are the same."""
    mixed, two = VARIANTS["cg_mixed"].cost(SHAPE), VARIANTS["cg_two_kernel"].cost(SHAPE)
    assert (mixed.bytes_read, mixed.bytes_written) == (20 * M, 12 * M)
    assert 2 * mixed.bytes == two.bytes
    assert mixed.flops == two.flops
    assert VARIANTS["cg_mixed"].cost(SHAPE, "float32") == mixed
    update = cost.cost(precision.UPDATE, SHAPE)
    assert (update.bytes_read, update.bytes_written) == ((8 + 4 + 8 + 8) * M, (8 + 4 + 4) * M)


def test_fields_in_memory_have_their_widths():
    assert (TWO_KERNEL.stored(8), precision.MIXED.stored(8)) == (4 * 8, 4 * 4)
    assert dict(facts(precision.MIXED, machine("h200")))["bytes per point"] == "32 B"


def test_a_width_is_that_of_a_field():
    with pytest.raises(CourseError, match=r"No container uses q: give widths of \['p', 'r', 's', 'x'\] only"):
        Program("wrong", CG.containers, widths={"q": 4})
    with pytest.raises(CourseError, match="r is -4: it must be an integer of at least 0"):
        Program("wrong", CG.containers, widths={"r": -4})


def test_a_matrix_moves_its_entries_besides_the_fields():
    found, plain = cost.with_matrix((3, 3, 3)), VARIANTS["cg_baseline"].cost((3, 3, 3))
    entries = 27 + 2 * 54  # the diagonal, and both directions of every pair of neighbours
    assert found.bytes_read - plain.bytes_read == 12 * entries + 4 * 27
    assert found.bytes_written == plain.bytes_written
    assert found.flops == 2 * entries + 10 * 27


def test_what_a_library_moves_in_its_own_way_is_unknown():
    for name, library in (("baseline", "CuPy"), ("csr", "CuPy"), ("matrix_free", "CuPy"), ("slices", "JAX")):
        assert VARIANTS[f"cg_{name}"].cost_by(library)(SHAPE) is None
    assert VARIANTS["cg_csr"].cost_by("SciPy")(SHAPE) == cost.with_matrix(SHAPE)
