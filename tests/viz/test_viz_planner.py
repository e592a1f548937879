"""The fusion planner: numbers for plans that can run, reasons for plans that cannot, and both kinds of widget."""

import re
from types import SimpleNamespace

import pytest
from access_cases import marks
from visible import shown

from course_pkg.core import CourseError, machine
from course_pkg.viz import Picture, free_planner, plan_picture, planner

NAMES = ("scale", "apply", "norm")
KINDS = ("map", "stencil", "reduction")


def plan(groups=(("scale", "apply"), ("norm",)), why="", again=()):
    containers = [SimpleNamespace(name=n, kind=k, formula="u ← v") for n, k in zip(NAMES, KINDS, strict=True)]
    flow = {"kind": "flow", "carried": False, "scalar": False, "neighbours": False}
    edges = [SimpleNamespace(source="scale", target="apply", name="u", **flow)]
    return SimpleNamespace(
        containers=containers, edges=edges, groups=groups, again=again, badges={}, legal=not why, why=why
    )


REFUSED = plan((NAMES,), why="norm is not finished before all blocks are.")
H200, V100 = machine("h200").measured(4305), machine("v100")


def facts(chosen, on):
    return [("kernels", str(len(chosen.groups))), ("time", f"{1000 / on.t_peak_gb_s:.2f} ms")]


def test_a_plan_that_runs_shows_its_numbers_and_the_bandwidth_behind_them():
    alt = plan_picture(plan(), "fused", H200, facts).alt
    assert alt.startswith("fused: 2 kernels. scale, a map: u ← v;")
    assert alt.endswith(
        "Kernel 2: norm. Edges: u from scale to apply; thick ones pass through memory, thin ones stay in registers, "
        "dotted ones are scalars. On H200 SXM: 4,305 GB/s, measured: kernels: 2; time: 0.23 ms"
    )
    assert "V100" in plan_picture(plan(), "fused", V100, facts).alt
    assert "900 GB/s, datasheet" in plan_picture(plan(), "fused", V100, facts).alt
    assert plan_picture(plan((NAMES,)), "all", V100, facts).alt.startswith("all: 1 kernel. ")


def test_a_plan_that_cannot_run_shows_the_reason_and_asks_for_no_numbers():
    def never(chosen, on):
        raise AssertionError("asked")

    picture = plan_picture(REFUSED, "one kernel", H200, never)
    assert picture.alt.startswith("one kernel: refused. ")
    assert picture.alt.endswith("norm is not finished before all blocks are.")
    assert "reason" in marks(picture)[0]
    assert "reason" not in marks(plan_picture(plan(), "fused", H200, facts))[0]


def test_a_long_reason_is_cut_in_the_picture_and_whole_in_its_text():
    long = " ".join(f"Reason {i} is as long as a sentence can be." for i in range(40))
    assert plan_picture(plan(why=long), "no", H200, facts).alt.endswith(long)


def test_all_plans_of_a_row_have_pictures_of_one_height():
    heights = {
        re.search(r'viewBox="0 0 \S+ (\S+)"', plan_picture(p, "plan", H200, facts).svg)[1]
        for p in (plan(), plan((NAMES,)), REFUSED)
    }
    assert len(heights) == 1


def test_there_is_room_for_nine_facts():
    assert isinstance(plan_picture(plan(), "p", H200, lambda *_: [("a", 1)] * 9), Picture)
    with pytest.raises(CourseError, match="room for 9 facts, not for 10"):
        plan_picture(plan(), "p", H200, lambda *_: [("a", 1)] * 10)


def test_the_planner_draws_every_plan_on_every_machine():
    box = planner({"fused": plan(), "one kernel": REFUSED}, [H200, V100], facts)
    row, stack = box.children
    assert [c.description for c in row.children] == ["plan", "on"]
    assert [label for label, _ in row.children[0].options] == ["fused", "one kernel"]
    assert [label for label, _ in row.children[1].options] == ["H200 SXM", V100.name]
    assert [len(s.children) for s in (stack, *stack.children)] == [2, 2, 2]
    assert shown(box).startswith("fused: 2 kernels")
    assert "4,305 GB/s, measured" in shown(box)
    started = planner({"fused": plan(), "one kernel": REFUSED}, [H200], facts, start="one kernel")
    assert shown(started).startswith("one kernel: refused")


def test_a_planner_needs_plans_and_a_machine():
    with pytest.raises(CourseError, match="needs a machine"):
        planner({"fused": plan()}, [], facts)
    with pytest.raises(CourseError, match="choice plan has no values"):
        planner({}, [H200], facts)
    with pytest.raises(CourseError, match="start is 'x' for plan"):
        planner({"fused": plan()}, [H200], facts, start="x")


@pytest.fixture
def free():
    asked = []

    def judge(starts, chosen):
        asked.append((starts, chosen))
        groups = []
        for name in NAMES:
            groups.append([name]) if name in starts else groups[-1].append(name)
        return plan(groups, why="refused" if "in place" in chosen else "")

    return free_planner(judge, NAMES, [H200, V100], facts, options=["in place"]), asked


def test_every_boundary_is_free(free):
    box, asked = free
    apply, norm, in_place, on = box.children[0].children
    assert asked == [(list(NAMES), [])]
    assert shown(box).startswith("This plan: 3 kernels")
    apply.value = False
    assert asked[-1] == (["scale", "norm"], [])
    assert "Kernel 1: scale, apply. Kernel 2: norm." in shown(box)
    norm.value = False
    assert shown(box).startswith("This plan: 1 kernel.")
    in_place.value = True
    assert asked[-1] == (["scale"], ["in place"])
    assert shown(box).startswith("This plan: refused")
    in_place.value, on.value = False, V100.name
    assert "900 GB/s, datasheet" in shown(box)


def test_the_switches_say_what_they_do(free):
    controls = free[0].children[0].children
    assert [c.description for c in controls] == [
        "apply begins a kernel",
        "norm begins a kernel",
        "in place",
        "on",
    ]
