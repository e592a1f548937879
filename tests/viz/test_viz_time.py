"""Pictures of time and place: lanes of a race, a march through planes, rules for fusion, the memories of a GPU."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.viz import (
    MEMORIES,
    Event,
    Level,
    Rule,
    Story,
    here_picture,
    lanes_picture,
    march_picture,
    memories_picture,
    race_picture,
    rules_picture,
)


@cuda.jit
def forgetful(u, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = u[cuda.grid(1)]
    out[cuda.grid(1)] = tile[t] - tile[(t + 1) % 64]


def indices(picture):
    """Return the numbers of the keys at which something appears."""
    return sorted({int(n) for n in re.findall(r'data-fragment-index="(\d+)"', picture.svg)})


def test_a_race_that_the_interpreter_found_has_two_orders_and_a_barrier_leaves_one():
    [hazard] = simt.profile(forgetful[1, 64], np.arange(64.0), np.empty(64)).hazards
    picture = race_picture(hazard, barrier="syncthreads")
    writer, reader = "thread 32 of block 0 writes tile[32]", "thread 31 of block 0 reads tile[32]"
    assert picture.alt == (
        f"one order: {writer}, {reader}: finds the new value, right. "
        f"another order: {reader}, {writer}: finds the old value, wrong. "
        f"with a barrier: {writer}, syncthreads, {reader}: finds the new value, right."
    )
    assert indices(picture) == [0, 1, 2, 3, 4]


def test_who_wants_the_old_value_is_right_when_the_reader_is_first():
    threads = "thread 0 of block 0", "thread 0 of block 1"
    hazard = SimpleNamespace(array="p", index=(0, 0), threads=threads, verbs=("writes", "reads"))
    assert race_picture(hazard, wanted="old").alt.startswith(
        "one order: thread 0 of block 1 reads p[0, 0], thread 0 of block 0 writes p[0, 0]: finds the old value, right."
    )


def test_a_race_of_two_writers_has_no_reader():
    said = {"verbs": ("writes", "writes"), "message": "t writes a[0] and u writes it"}
    two = SimpleNamespace(array="a", index=(0,), threads=("t", "u"), **said)
    with pytest.raises(CourseError, match="Only a race of a reader and a writer"):
        race_picture(two)


@pytest.mark.parametrize(
    ("stories", "complaint"),
    [
        ([], "nothing to draw"),
        ([Story("empty", (), "", good=True)], "nothing to draw"),
        ([Story("strange", (Event(2, "reads", "a"),), "", good=True)], "two lanes, 0 and 1"),
    ],
)
def test_what_cannot_be_told_is_said(stories, complaint):
    with pytest.raises(CourseError, match=complaint):
        lanes_picture(("a", "b"), stories)


READS, WRITES = [(0, 0), (0, 1), (1, 2), (2, 3)], [(1, 1), (2, 2)]


def test_a_plane_is_held_from_its_read_to_its_last_use():
    picture = march_picture(READS, WRITES, steps=False)
    held = re.findall(r'<g id="step-(\d+)-plane-(\d+)">', picture.svg)
    by_plane = {plane: sorted(int(step) for step, p in held if p == plane) for plane in "0123"}
    assert by_plane == {"0": [1, 2], "1": [1, 2, 3], "2": [2, 3], "3": [3]}
    assert "Step 1: read plane 2, write plane 1." in picture.alt
    assert indices(march_picture(READS, WRITES)) == [0, 1, 2]


def test_a_plane_that_is_read_again_is_not_held_in_between():
    svg = march_picture([(0, 0), (2, 0)], [(1, 1), (2, 2), (3, 3)], reach=3, steps=False).svg
    assert sorted(re.findall(r'<g id="step-(\d+)-plane-0">', svg)) == ["1", "2", "3", "4"]
    assert len(re.findall(r'<g id="step-\d+-plane-0-word">', svg)) == 2


@pytest.mark.parametrize(
    ("reads", "writes", "complaint"),
    [([], WRITES, "reads planes and writes planes"), (READS, [(9, 1)], "room for 8 steps")],
)
def test_what_cannot_be_drawn_as_a_march_is_said(reads, writes, complaint):
    with pytest.raises(CourseError, match=complaint):
        march_picture(reads, writes)


def test_rules_appear_one_by_one_each_with_its_verdict():
    picture = rules_picture(
        [
            Rule(("map", "stencil"), True, "Computed again.", "p"),
            Rule(("reduction", "map"), False, "Too soon.", "α"),
        ]
    )
    assert (
        picture.alt
        == "map then stencil in one kernel: yes. Computed again. reduction then map in one kernel: no. Too soon."
    )
    assert indices(picture) == [0, 1]
    assert {">p<", ">α<", ">stencil<"} <= set(re.findall(r">[^<>]+<", picture.svg))


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ([], "nothing to draw"),
        ([Rule(("map", "sort"), True, "Why.")], "sort: an operation is one of map, stencil, reduction"),
        ([Rule(("map", "map"), True, "word " * 40)], "Two lines of 58 letters"),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(rules, complaint):
    with pytest.raises(CourseError, match=complaint):
        rules_picture(rules)


LEVELS = [
    Level("registers", ("256 KiB",)),
    Level("L2", ("60 MiB",), 5000.0, "5,000 GB/s"),
    Level("memory", ("141 GB",), 2500.0, "2,500 GB/s"),
]


def shape(svg, gid):
    path = re.search(rf'<g id="{gid}">\s*<path d="([^"]*)"', svg)[1]
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", path)]
    return numbers[0::2], numbers[1::2]


def test_pipes_are_as_wide_as_what_flows_and_each_memory_lies_in_the_next():
    picture = memories_picture(LEVELS, here="L2")
    assert picture.alt.startswith(
        "registers (256 KiB); L2 (60 MiB), 5,000 GB/s to registers; memory (141 GB), 2,500"
    )
    assert "You are here: L2." in picture.alt
    wide = {
        name: abs(ys[0] - ys[1])
        for name in ("L2", "memory")
        for ys in [shape(picture.svg, f"pipe-{name}")[1]]
    }
    assert wide["L2"] == pytest.approx(2 * wide["memory"], rel=1e-3)
    spans = [(min(xs), max(xs)) for xs, _ in (shape(picture.svg, f"memory-{level.name}") for level in LEVELS)]
    assert spans[2][0] < spans[1][0] < spans[0][0] < spans[0][1] < spans[1][1] < spans[2][1]


def test_the_small_picture_names_where_you_are():
    picture = here_picture(LEVELS, "L2")
    assert picture.alt == "You are here: L2, of registers, L2, memory."
    assert 'class="course-here"' in picture._repr_html_()


def test_the_small_picture_has_room_for_five_memories():
    picture = here_picture((*MEMORIES, Level("other GPUs")), "other GPUs")
    heights = [max(ys) - min(ys) for _, ys in (shape(picture.svg, f"here-{i}") for i in range(5))]
    assert heights == sorted(heights) and heights[0] > 8 and len(set(heights)) == 5


@pytest.mark.parametrize(("levels", "here"), [(LEVELS[:1], None), (LEVELS * 2, None), (LEVELS, "disk")])
def test_memories_that_cannot_be_drawn_are_refused(levels, here):
    with pytest.raises(CourseError, match=r"room for two to five|disk is none of the memories"):
        memories_picture(levels, here=here)
