"""The time of a load over the bytes of its ring: a ground for each memory, its name at its step."""

import re

import pytest

from course_pkg.viz import Reach, answers_picture, side_by_side

THERE = [Reach("L1", 2**18, "17 ns"), Reach("L2", 2**25, "150 ns"), Reach("memory", float("inf"), "600 ns")]
STEPS = [(2**13, 17.0), (2**17, 17.0), (2**20, 150.0), (2**28, 580.0), (2**30, 600.0)]


def test_each_memory_has_its_name_its_time_and_its_ground():
    picture = answers_picture(STEPS, THERE, beside={"shared memory": (2**14, 14.0)}, note="Recorded.")
    assert picture.alt == (
        "ns per load against bytes of the ring, from 17 ns with 8 KiB to 600 ns with 1 GiB. "
        "L1: 17 ns; L2: 150 ns; memory: 600 ns; shared memory: 14 ns. Recorded."
    )
    words = re.findall(r">([^<>\n]+)</text>", picture.svg)
    places = [words.index(word) for word in ("L1", "17 ns", "L2", "150 ns", "memory", "600 ns")]
    assert places == sorted(places) and words[-3:-1] == ["shared memory:", "14 ns"] and "256 KiB" in words


def test_the_ground_of_a_memory_ends_at_its_size():
    def grounds(*ends):
        there = [Reach(str(i), end) for i, end in enumerate((*ends, float("inf")))]
        found = re.findall(
            r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [^"]*"[^>]*fill: #cfe3f1',
            answers_picture(STEPS, there).svg,
        )
        return [sorted(map(float, one)) for one in found]

    ((left, right),) = grounds(2**18, 2**25)
    ((other, same),) = grounds(2**20, 2**25)
    assert right == same and (right - left) / (right - other) == pytest.approx(7 / 5, rel=0.02)


def test_a_name_beside_ends_before_the_next_ground_where_two_pictures_share_the_width():
    one = answers_picture(STEPS, THERE, beside={"shared memory": (2**14, 14.0)})
    svg = side_by_side({"H100": one, "H200": one}).svg
    size, start = re.search(
        r"font-size: ([\d.]+)px[^>]*translate\(([\d.]+) [^>]*>shared memory:<", svg
    ).groups()
    ground = re.search(r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [^"]*"[^>]*fill: #cfe3f1', svg)
    assert float(start) + 0.53 * float(size) * len("shared memory:") < min(map(float, ground.groups()))


def test_what_was_not_recorded_is_said():
    picture = answers_picture(
        [], [Reach(one.name, one.bytes) for one in THERE], note="`course bench latency`."
    )
    assert picture.alt == "ns per load against bytes of the ring: not recorded yet. `course bench latency`."
    assert ">not recorded yet<" in picture.svg and ">memory<" in picture.svg
