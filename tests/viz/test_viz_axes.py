"""Names of lines: beside the axes, and none on another."""

import re

import pytest
from matplotlib.figure import Figure

from course_pkg.core import catalogue, machine
from course_pkg.viz import draw, memory_wall, roofline
from course_pkg.viz.axes import name_lines, plain_linear, spread


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ([], []),
        ([0, 20, 40], [0, 20, 40]),
        ([0, 0], [-5, 5]),
        ([0, 4, 8], [-6, 4, 14]),
        ([0, 12, 13, 60], [-1.667, 8.333, 18.333, 60]),
    ],
)
def test_places_move_as_little_as_needed(places, found):
    assert spread(places, 10) == pytest.approx(found, abs=1e-3)


@pytest.mark.parametrize(
    ("places", "found"),
    [([], []), ([0, 0, 0], [6, 16, 26]), ([8, 30], [8, 30]), ([-90, 12, 60], [6, 16, 60]), ([7, 8], [6, 16])],
)
def test_no_place_is_below_the_lowest(places, found):
    assert spread(places, 10, lowest=6) == pytest.approx(found)


def test_names_stand_right_of_the_axes_each_at_its_own_height():
    figure = Figure(figsize=(6, 3))
    ax = figure.subplots()
    ax.set_ylim(0, 100)
    name_lines(ax, [(50, "b", "k"), (50.5, "c", "k"), (10, "a", "k")])
    texts = {text.get_text(): text for text in ax.texts}
    heights = {
        name: text.xy[1] * 3 * 72 * ax.get_position().height / 100 + text.get_position()[1]
        for name, text in texts.items()
    }
    assert heights["a"] + 30 < heights["b"] < heights["c"] - 16.9
    assert all(text.get_position()[0] > 0 and text.xy[0] == 1 for text in texts.values())


def test_numbers_of_an_axis_are_written_as_in_the_text():
    ax = Figure().subplots()
    plain_linear(ax.xaxis)
    write = ax.xaxis.get_major_formatter()
    assert [write(v) for v in (0, 0.5, 800, 3000, 12500)] == ["0", "0.5", "800", "3,000", "12,500"]


def test_labels_of_the_memory_wall_do_not_come_close_to_each_other():
    svg = memory_wall(catalogue().values()).svg
    boxes = {}
    for size, anchor, x, y, text in re.findall(
        r'font-size: ([\d.]+)px[^"]*?text-anchor: (\w+)[^"]*" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*: \d+)<',
        svg,
    ):
        wide, tall = 0.55 * float(size) * len(text), 0.72 * float(size)
        left = float(x) - (wide if anchor == "end" else 0)
        boxes[text] = (left, left + wide, float(y) - tall, float(y))
    assert len(boxes) == len(catalogue())
    for a, (a0, a1, a2, a3) in boxes.items():
        for b, (b0, b1, b2, b3) in boxes.items():
            apart = a1 + 6 < b0 or b1 + 6 < a0 or a3 + 1 < b2 or b3 + 1 < a2
            assert a == b or apart, f"{a} comes close to {b}"


@pytest.mark.parametrize("bandwidth", [1500, 3082, 4379])
@pytest.mark.parametrize("flops", [0.5, 2, 4, 7, 16])
def test_no_name_of_a_roofline_lies_on_the_ridge(bandwidth, flops):
    """The points of the picture: a name ends left of the ridge's line, or begins right of it."""
    roof = machine("h200").measured(bandwidth)
    name = "Horner, 64 flops"
    svg = roofline(roof, [(name, flops, None)]).svg
    anchor, x = re.search(rf'text-anchor: (\w+)[^"]*" x="([\d.]+)" y="[\d.]+"[^>]*>{name}<', svg).groups()
    left = float(x) - (0.5 * 13 * len(name) if anchor == "end" else 0)
    ridge = float(re.search(r'<text[^>]* x="([\d.]+)"[^>]*>ridge: ', svg)[1]) - 6
    assert left + 0.5 * 13 * len(name) < ridge or ridge < left


def test_a_note_is_folded_to_the_width_of_its_figure():
    from course_pkg.viz.axes import note_below

    picture = draw(lambda figure: note_below(figure, "word " * 60), "A note.", size=(8.6, 2))
    lines = re.findall(r">(word[^<]*)<", picture.svg)
    assert len(lines) > 2 and max(map(len, lines)) <= 10.8 * 8.6


def test_a_command_is_read_in_one_line():
    from course_pkg.viz.strip import folded

    text = "Recorded on a machine with a long name, by `course bench cg --device gpu --record`. Words."
    for letters in range(40, 100):
        lines = folded(text, letters)
        assert any("course bench cg --device gpu --record" in line for line in lines), letters
        assert max(map(len, lines)) <= letters and " ".join(lines) == text.replace("`", "")
