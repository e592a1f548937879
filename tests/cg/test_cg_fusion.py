"""Plans: every grouping of the five containers; those that a rule forbids are refused, the others have known costs."""

from itertools import product

import pytest

from course_pkg.cg import cost
from course_pkg.cg.facts import facts
from course_pkg.cg.fusion import BASELINE, CHOICES, MAP_STENCIL_FUSED, TWO_KERNEL, cut, plan
from course_pkg.cg.program import CG, Container, Program
from course_pkg.cg.variants import METHODS, VARIANTS
from course_pkg.core import CourseError, machine

SHAPE = (20, 20, 20)
M, B = 20**3, 20**2
NAMES = [c.name for c in CG.containers]
STARTS = list(product([False, True], repeat=4))


def starting(starts):
    return cut(CG, [name for name, begins in zip(NAMES[1:], starts, strict=True) if begins])


def rules(found):
    return {r.rule for r in found.refusals}


def reads(found, kernel):
    return set(found.kernels[kernel].reads)


# ---- all 16 groupings, stored or recomputed, with two copies of p or one


@pytest.mark.parametrize("starts", STARTS)
def test_a_grouping_runs_unless_alpha_is_needed_in_the_kernel_of_pap(starts):
    _, _, before_update, _ = starts
    found = plan(CG, starting(starts))
    assert found.legal == before_update
    assert rules(found) == (set() if before_update else {"barrier"})


@pytest.mark.parametrize("starts", STARTS)
def test_in_place_a_map_in_the_stencils_kernel_is_a_race_too(starts):
    matvec, _, before_update, _ = starts
    wanted = (set() if before_update else {"barrier"}) | (set() if matvec else {"race"})
    assert rules(plan(CG, starting(starts), in_place=True)) == wanted


@pytest.mark.parametrize("starts", STARTS)
def test_a_p_is_computed_again_only_where_its_first_result_is_used(starts):
    _, dot_begins, before_update, _ = starts
    found = plan(CG, starting(starts), recompute=["s"])
    idle = dot_begins  # then matVec's kernel ends with matVec, and nobody in it reads s
    assert rules(found) == (set() if before_update else {"barrier"}) | ({"idle"} if idle else set())
    assert not any("s" in (*k.reads, *k.writes) for k in found.kernels)


@pytest.mark.parametrize("starts", [s for s in STARTS if s[2]])
def test_fusion_never_moves_more(starts):
    """Removing one boundary saves passes, or none; what a fused map costs is flops and halo."""
    moved = sum(plan(CG, starting(starts)).passes)
    for i in (0, 1, 3):
        if starts[i]:
            fused = plan(CG, starting([*starts[:i], False, *starts[i + 1 :]]))
            assert sum(fused.passes) < moved


# ---- the sentences


def test_the_barrier_is_explained():
    why = CHOICES["alpha too soon"].why
    assert why.startswith(
        "updateXandR needs pAp for alpha, but pAp is complete only when every block of the grid"
    )
    assert "finished dot pAp. Between the two there must be a barrier across the grid" in why
    assert why.endswith("let updateXandR begin a new kernel.")
    assert [r.kernel for r in CHOICES["alpha too soon"].refusals] == [2]


def test_the_race_is_explained():
    refused = CHOICES["p in place"]
    assert refused.why.startswith(
        "updateP overwrites p in place, while threads of neighbouring points still read"
    )
    assert refused.why.endswith("read p1, write p2, and swap them.")
    assert refused.fields == ("r", "p", "s", "x")


def test_a_reason_is_said_once_and_several_are_joined():
    refused = plan(CG, cut(CG, []), in_place=True)
    assert rules(refused) == {"barrier", "race"}
    assert "barrier" in refused.why
    assert "race" in refused.why


def test_a_stencil_behind_a_stencil_needs_a_wider_halo():
    twice = Program(
        "A A u",
        (
            Container("first", "stencil", neighbours=("u",), writes=("v",)),
            Container("scale", "map", reads=("v",), writes=("w",)),
            Container("second", "stencil", neighbours=("w",), writes=("u",)),
        ),
    )
    refused = plan(twice, cut(twice, []))
    assert "wider halo" in rules(refused)
    assert "scale needs v also at neighbouring points, but v is the result of first" in refused.why
    assert "compute first 7 times" in refused.why
    assert plan(twice, cut(twice, ["scale"])).kernels[1].spread == ("scale",)
    assert plan(twice, cut(twice, ["scale"])).legal
    assert plan(twice, cut(twice, ["second"])).legal


def test_a_field_that_a_stencil_reads_and_a_later_map_overwrites_is_kept_twice():
    smooth = Program(
        "smooth",
        (
            Container("residual", "stencil", neighbours=("u",), writes=("v",)),
            Container("update", "map", reads=("u", "v"), writes=("u",)),
        ),
        results=("u",),
    )
    both = plan(smooth, cut(smooth, []))
    assert both.legal
    assert both.kernels[0].swapped == ("u",)
    assert both.fields == ("u1", "u2")
    assert both.passes == (1, 1), "v is neither stored nor read"
    assert rules(plan(smooth, cut(smooth, []), in_place=True)) == {"race"}


def test_a_carried_field_is_not_computed_again():
    refused = plan(CG, cut(CG, NAMES), recompute=["p"])
    assert rules(refused) == {"stored"}
    assert "p has to be stored, because the next iteration reads it" in refused.why
    last = Program("one map", (Container("a", "map", reads=("b",), writes=("u",)),), results=("u",))
    assert "the caller of the program reads it" in plan(last, [["a"]], recompute=["u"]).why


def test_a_field_is_not_computed_again_from_what_has_changed():
    program = Program(
        "changed",
        (
            Container("square", "map", reads=("u",), writes=("v",)),
            Container("norm", "reduction", reads=("v",), makes=("d",)),
            Container("shrink", "map", reads=("u",), writes=("u",), needs=("d",)),
            Container("use", "map", reads=("v", "u"), writes=("w",)),
        ),
        results=("w",),
    )
    refused = plan(program, cut(program, ["shrink"]), recompute=["v"])
    assert rules(refused) == {"changed"}
    assert "use would compute v again from u, but shrink has changed u since square" in refused.why
    assert plan(program, cut(program, ["shrink"])).legal


# ---- other orders

SPLIT = Program(
    "x on its own",
    (
        Container("updateX", "map", reads=("x", "p"), writes=("x",), needs=("alpha",)),
        Container("updateR", "map", reads=("r", "s"), writes=("r",), needs=("alpha",)),
        Container("updateP", "map", reads=("r", "p"), writes=("p",)),
    ),
    results=("x",),
)


def test_containers_that_do_not_depend_on_each_other_may_change_places():
    assert plan(SPLIT, [["updateR", "updateX"], ["updateP"]]).legal
    assert plan(SPLIT, [["updateR"], ["updateX", "updateP"]]).legal


def test_an_order_against_a_dependence_is_refused_by_name():
    flow = plan(SPLIT, [["updateX"], ["updateP"], ["updateR"]])
    assert rules(flow) == {"order"}
    assert flow.why == "updateP needs r, which updateR makes: updateR has to run first."
    anti = plan(SPLIT, [["updateR", "updateP"], ["updateX"]])
    assert anti.why == "updateP overwrites p, which updateX needs: updateX has to run first."
    assert (
        "dot pAp needs s, which matVec makes" in plan(CG, [["updateP", "dot pAp", "matVec"], NAMES[3:]]).why
    )


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
        "time, 250³": "250 µs",
        "time, 1000³": "16.0 ms",
    }
    assert dict(facts(CHOICES["baseline"], machine("t4")))["time, 1000³"] == "32 GB: too large"
    assert dict(facts(CHOICES["A p twice"], h200, dtype="float32"))["time, 250³"] == "125 µs"


# ---- bad input


@pytest.mark.parametrize(
    ("groups", "options", "said"),
    [
        ("updateP", {}, "groups is a sequence of sequences"),
        (["updateP"], {}, "groups is a sequence of sequences"),
        ([NAMES[:3]], {}, "updateXandR is named 0 times"),
        ([NAMES, ["matVec"]], {}, "matVec is named 2 times: name each container once"),
        ([[*NAMES[:4], "dot"]], {}, "has no container 'dot'"),
        ([NAMES], {"recompute": "s"}, r"recompute is 's': give a sequence of fields, such as \['s'\]"),
        ([NAMES], {"recompute": ["b"]}, "No container, or more than one, writes b: choose recompute from p, r, s, x"),
    ],
)  # fmt: skip
def test_mistakes_are_named(groups, options, said):
    with pytest.raises(CourseError, match=said):
        plan(CG, groups, **options)


def test_a_cut_names_containers():
    assert cut(CG, []) == (tuple(NAMES),)
    assert cut(CG, ["updateP", "dot rr"]) == (tuple(NAMES[:4]), ("dot rr",))
    with pytest.raises(CourseError, match="has no container 'alpha'"):
        cut(CG, ["alpha"])
