"""The explorer: all combinations of several choices, and links between them that work without a notebook kernel."""

from itertools import product

import ipywidgets as W
import pytest
from ipywidgets.widgets import widget_link

from course_pkg.core import CourseError
from course_pkg.viz import Picture, explorer

CHOICES = {"block": [(32, 8), (16, 16), (8, 32)], "halo": [1, 2], "padding": [0, 1]}


def frame(**values):
    return Picture(f"<svg>{values}</svg>", f"Picture of {values}.")


def parts(box):
    row, stack = box.children
    return row.children, stack


def stacks(stack, depth=0):
    """Yield (depth, stack) of a stack and of all within it."""
    yield depth, stack
    for child in stack.children:
        if isinstance(child, W.Stack):
            yield from stacks(child, depth + 1)


def shown(stack):
    """Return the HTML that is visible."""
    while isinstance(stack, W.Stack):
        stack = stack.children[stack.selected_index]
    return stack.value


def test_every_combination_is_drawn_once_and_found_by_its_indices():
    drawn = []
    controls, stack = parts(explorer(lambda **v: drawn.append(v) or frame(**v), **CHOICES))
    wanted = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
    assert drawn == wanted
    assert [len(c.options) for c in controls] == [3, 2, 2]
    for block, halo, padding in product(range(3), range(2), range(2)):
        value = stack.children[block].children[halo].children[padding].value
        chosen = frame(block=CHOICES["block"][block], halo=CHOICES["halo"][halo], padding=padding)
        assert value == chosen._repr_html_()


def test_a_slider_with_long_words_gets_a_longer_part_of_its_row():
    """The row is divided by letters alone: with a fixed length for each slider, long words would leave it no track."""
    controls, _ = parts(explorer(frame, halo=["none", "a word of many letters"], padding=[1]))
    assert [control.layout.flex for control in controls] == [f"{24 + 4 + 22} 1 0px", f"{24 + 7 + 1} 1 0px"]
    letters = [4 + 22, 7 + 5]
    room = [f"min(100% - 16px, max(240px, 8em + 50px + {n}ch))" for n in letters]
    assert [control.layout.min_width for control in controls] == room, "narrower, it begins a row"


def test_each_control_drives_all_stacks_of_its_level(monkeypatch):
    links = []
    link = widget_link.Link.__init__
    monkeypatch.setattr(
        widget_link.Link,
        "__init__",
        lambda self, source, target, **k: links.append((source, target)) or link(self, source, target, **k),
    )
    controls, stack = parts(explorer(frame, **CHOICES))
    wanted = [((controls[depth], "index"), (s, "selected_index")) for depth, s in stacks(stack)]
    assert len(wanted) == 1 + 3 + 6
    assert len(links) == len(wanted)
    assert all(one in links for one in wanted)


@pytest.mark.parametrize("start", [None, {}, {"padding": 1}, {"block": (8, 32), "halo": 2, "padding": 1}])
def test_it_starts_with_the_first_values_or_where_it_is_told(start):
    controls, stack = parts(explorer(frame, start=start, **CHOICES))
    values = {name: (start or {}).get(name, known[0]) for name, known in CHOICES.items()}
    assert [c.index for c in controls] == [CHOICES[name].index(v) for name, v in values.items()]
    assert shown(stack) == frame(**values)._repr_html_()
    for depth, one in stacks(stack):
        assert one.selected_index == controls[depth].index


def test_names_and_values_are_text():
    controls, _ = parts(explorer(frame, threads_per_block=[(32, 8), (16, 16)], share=[0.123456]))
    assert [c.description for c in controls] == ["threads per block", "share"]
    assert [label for label, _ in controls[0].options] == ["32×8", "16×16"]
    assert [label for label, _ in controls[1].options] == ["0.123"]


def test_values_may_come_from_a_generator():
    controls, _ = parts(explorer(frame, halo=(h for h in (1, 2)), padding=range(2)))
    assert [len(c.options) for c in controls] == [2, 2]


def test_mistakes_are_named_before_anything_is_drawn():
    def never(**values):
        raise AssertionError("drawn")

    with pytest.raises(CourseError, match="at least one choice"):
        explorer(never)
    with pytest.raises(CourseError, match="choice halo has no values"):
        explorer(never, halo=[], padding=[0])
    with pytest.raises(CourseError, match=r"11 × 11 = 121 combinations .* at most 120"):
        explorer(never, a=range(11), b=range(11))
    with pytest.raises(CourseError, match="start names 'pad', and the explorer's choices are halo, padding"):
        explorer(never, start={"pad": 1}, halo=[1], padding=[0, 1])
    with pytest.raises(CourseError, match=r"start is 2 for padding, which is not one of its values \[0, 1\]"):
        explorer(never, start={"padding": 2}, halo=[1], padding=[0, 1])


def test_a_frame_is_a_picture():
    with pytest.raises(CourseError, match=r"An explorer's make\(\) must return a Picture, not a dict"):
        explorer(dict, halo=[1, 2])


def test_120_combinations_are_allowed():
    _, stack = parts(explorer(frame, a=range(10), b=range(12)))
    assert sum(len(s.children) for depth, s in stacks(stack) if depth == 1) == 120
