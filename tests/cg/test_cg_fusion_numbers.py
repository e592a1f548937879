"""What a plan of fused kernels reads, writes and costs."""

from itertools import product

import pytest

from course_pkg.cg import cost
from course_pkg.cg.facts import facts
from course_pkg.cg.fusion import BASELINE, CHOICES, MAP_STENCIL_FUSED, TWO_KERNEL, plan
from course_pkg.cg.program import Container, Program
from course_pkg.cg.variants import METHODS, VARIANTS
from course_pkg.core import CourseError, machine

SHAPE = (20, 20, 20)


M, B = 20**3, 20**2


def reads(found, kernel):
    return set(found.kernels[kernel].reads)


# ---- numbers


@pytest.mark.parametrize(
    ("variant", "passes", "fields"),
    [
        ("cg_baseline", (10, 4), 4),
        ("cg_map_stencil_fused", (9, 4), 5),
        ("cg_fused_dots", (7, 4), 4),
        ("cg_two_kernel", (5, 3), 4),
        ("cg_deferred_x", (5, 2.5), 4),
    ],
)
def test_the_variants_passes(variant, passes, fields):
    found = VARIANTS[variant].plan
    assert found.legal
    assert found.passes == passes
    assert len(found.fields) == fields


def test_two_iterations_with_x_deferred_are_four_kernels():
    found = VARIANTS["cg_deferred_x"].plan
    assert [reads(found, k) for k in range(4)] == [
        {"r", "p2"},
        {"p1", "r"},
        {"r", "p1"},
        {"p2", "x", "p1", "r"},
    ]
    assert [k.writes for k in found.kernels] == [("p1",), ("r",), ("p2",), ("x", "r")]
    assert found.again == ("matVec 1 (2)", "matVec 2 (2)")
    assert [k.halo for k in found.kernels] == [("r",), ("p1",), ("r",), ("p2",)]


def test_what_the_two_kernels_read_and_write():
    found = TWO_KERNEL
    assert [reads(found, k) for k in (0, 1)] == [{"r", "p"}, {"p", "x", "r"}]
    assert [k.writes for k in found.kernels] == [("p",), ("x", "r")]
    assert found.groups == (("updateP", "matVec", "dot pAp"), ("matVec (2)", "updateXandR", "dot rr"))
    assert found.again == ("matVec (2)",)
    assert found.badges == {"updateP": "7×"}
    assert found.fields == ("r", "p1", "p2", "x")


def test_faces_are_sent_only_if_they_changed():
    """The faces of p2 that the second kernel asked for are those of p1 in the next iteration."""
    assert [k.halo for k in TWO_KERNEL.kernels] == [("r",), ("p",)]
    assert MAP_STENCIL_FUSED.kernels[0].halo == ("r", "p")
    assert [k.halo for k in BASELINE.kernels] == [(), ("p",), (), (), ()]
    constant = Program(
        "A b", (Container("apply", "stencil", neighbours=("b",), writes=("u",)),), results=("u",)
    )
    assert plan(constant, [["apply"]]).kernels[0].halo == ()


def test_the_documents_counts():
    """m = n³ points, b = n²: reads without and with reuse, writes, multiplications, halo."""
    counted = {v.function_name: cost.count(v.plan, SHAPE) for v in METHODS}
    steps = cost.count(BASELINE.kernels[0], SHAPE) + cost.count(BASELINE.kernels[1], SHAPE)
    fused = cost.count(MAP_STENCIL_FUSED.kernels[0], SHAPE)
    assert tuple(vars(steps).values()) == (9 * M, 3 * M, 2 * M, 8 * M, 2 * B)
    assert tuple(vars(fused).values()) == (14 * M, 2 * M, 2 * M, 14 * M, 4 * B)
    assert tuple(vars(counted["cg_baseline"]).values()) == (16 * M, 10 * M, 4 * M, 12 * M, 2 * B)
    assert tuple(vars(counted["cg_fused_dots"]).values()) == (13 * M, 7 * M, 4 * M, 12 * M, 2 * B)
    assert tuple(vars(counted["cg_two_kernel"]).values()) == (23 * M, 5 * M, 3 * M, 25 * M, 4 * B)


def test_each_step_moves_fewer_bytes_a_point():
    moved = {name: 8 * sum(p.passes) for name, p in CHOICES.items() if p.legal}
    assert moved == {
        "baseline": 112, "map in stencil": 104, "dots fused": 88, "map, stencil, dots": 80, "A p twice": 64,
    }  # fmt: skip


def test_flops_are_counted_at_the_points_of_the_stencil_that_are_in_the_grid():
    nz, ny, nx = shape = (3, 4, 5)
    inside = sum(
        0 <= k + dk < nz and 0 <= j + dj < ny and 0 <= i + di < nx
        for k, j, i in product(range(nz), range(ny), range(nx))
        for dk, dj, di in ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
    )
    m = nz * ny * nx
    flops = {v.function_name: v.cost(shape).flops for v in METHODS}
    assert flops["cg_baseline"] == flops["cg_fused_dots"] == 10 * m + inside
    assert flops["cg_map_stencil_fused"] == 8 * m + 3 * inside
    assert flops["cg_two_kernel"] == flops["cg_deferred_x"] == 8 * m + 4 * inside


def test_the_cost_of_a_plan_is_that_of_the_variant():
    for v in METHODS:
        assert v.cost(shape=SHAPE, dtype="float32") == cost.cost(v.plan, SHAPE, "float32")
    both = cost.cost(CHOICES["map, stencil, dots"], SHAPE)
    assert (both.bytes_read, both.bytes_written) == (48 * M, 32 * M)


def test_a_plan_that_cannot_run_has_no_cost():
    for ask in (cost.count, cost.cost):
        with pytest.raises(
            CourseError, match=r"has no cost, because it cannot run\. updateXandR needs pAp for alpha"
        ):
            ask(CHOICES["one kernel"], SHAPE)


def test_the_facts_of_a_plan():
    h200 = machine("h200").measured(4000.0)
    found = dict(facts(CHOICES["A p twice"], h200))
    assert found == {
        "bytes per point": "64 B",
        "fields read, written": "5, 3",
        "numbers read, no cache": "23",
        "flops per point": "36",
        "multiplications alone": "25",
        "halo of a GPU, numbers": "4 n²",
        "bound, 250³": "250 µs",
        "bound, 1000³": "16.0 ms",
    }
    assert dict(facts(CHOICES["baseline"], machine("t4")))["bound, 1000³"] == "32 GB: too large"
    assert dict(facts(CHOICES["A p twice"], h200, dtype="float32"))["bound, 250³"] == "125 µs"
