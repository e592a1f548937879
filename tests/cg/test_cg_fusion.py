"""Plans: every grouping of the five containers; those that a rule forbids are refused, the others have known costs."""

from itertools import product

import pytest

from course_pkg.cg.fusion import CHOICES, cut, plan
from course_pkg.cg.program import CG, Container, Program
from course_pkg.core import CourseError

NAMES = [c.name for c in CG.containers]
STARTS = list(product([False, True], repeat=4))


def starting(starts):
    return cut(CG, [name for name, begins in zip(NAMES[1:], starts, strict=True) if begins])


def rules(found):
    return {r.rule for r in found.refusals}


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
