"""A stated T_peak against a sceptic's questions: each can fail alone, and says how to fix it."""

import pytest

from course_pkg.bench import Device, Measurement, defend
from course_pkg.core import Cost, CourseError

LLC = 10**8
GPU = Device("gpu", "NVIDIA H200", 132, 10**11, LLC)


def copy(gb_s=4000.0, gb=1.0, **changes):
    """A copy that moves ``gb`` gigabytes at ``gb_s``, with nothing to be said against it."""
    half = int(gb * 5e8)
    time_s = gb / gb_s
    fields = {
        "what": "copy",
        "samples_s": (time_s,) * 10,
        "warmup_s": (),
        "calls_per_sample": 10,
        "cache_state": "exceeds",
        "cost": Cost(half, half),
        "device": GPU,
        "parameters": {"n": half // 8},
        "date": "2026-01-02",
    }
    return Measurement(**{**fields, **changes})


def failing(defence):
    return [row["question"] for row in defence.rows() if row["holds"] == "NO"]


def test_a_sound_t_peak_is_defended():
    found = defend(4000, [copy(3000, gb=0.01), copy()])
    assert found.holds and failing(found) == []
    assert found.verdict == "4,000.0 GB/s is defended, by copy on NVIDIA H200."
    assert found.measurement.cost.bytes == 10**9
    assert {row["holds"] for row in found.rows()} == {"yes"}


@pytest.mark.parametrize(
    ("stated", "measurements", "question", "advice"),
    [
        (4200, [copy()], "was it measured?", "the nearest is 4,000.0 GB/s, by copy"),
        (4000, [copy(gb=0.39, calls_per_sample=100)], "arrays ≥ 4 × the last-level cache?", "381 MiB in all or more"),
        (4000, [copy(cost=Cost(10**9, 0))], "read and written counted?", "a kernel that only reads"),
        (4000, [copy(samples_s=(2e-4, 2.5e-4, 2.5e-4, 3e-4, 3.5e-4))], "spread ≤ 5%?", "close other programs"),
        (4000, [copy(samples_s=(2.5e-4,) * 4)], "≥ 5 samples of ≥ 1 ms?", "take 5 samples or more"),
        (4000, [copy(calls_per_sample=3)], "≥ 5 samples of ≥ 1 ms?", "calls of 1 ms or more together"),
        (4900, [copy(4900)], "below the datasheet?", "something else was timed, such as a cache or a launch"),
        (4000, [copy(), copy(4100, what="triad")], "is no measured stream faster?", "triad reached 4,100.0 GB/s"),
    ],
)  # fmt: skip
def test_each_question_can_fail_alone(stated, measurements, question, advice):
    found = defend(stated, measurements)
    assert failing(found) == [question]
    assert not found.holds
    assert found.verdict.startswith(f"{stated:,.1f} GB/s is not defended: ") and advice in found.verdict


def test_a_faster_stream_in_a_cache_is_no_objection():
    assert defend(4000, [copy(), copy(4700, gb=0.05)]).holds


def test_the_largest_arrays_speak_where_several_have_the_number():
    found = defend(4000, [copy(4010, gb=0.05), copy(3990, what="triad"), copy()])
    assert found.measurement.cost.bytes == 10**9
    assert found.measurement.label == "copy", "of two as large the nearer one"
    assert found.holds


def test_the_interpreters_times_defend_nothing():
    simt = Device("simt", "SIMT interpreter on a CPU", 0, 0, 0)
    found = defend(4000, [copy(device=simt)], datasheet_gb_s=4800)
    assert failing(found) == ["was it measured?"]
    assert "times of the interpreter say nothing about a GPU" in found.verdict


def test_what_nobody_knows_stays_open():
    cpu = Device("cpu", "A CPU", 2, 0, 0)
    found = defend(4000, [copy(device=cpu)])
    assert found.holds
    assert [row["question"] for row in found.rows() if row["holds"] == "unknown"] == [
        "arrays ≥ 4 × the last-level cache?",
        "below the datasheet?",
    ]
    assert found.verdict == (
        "4,000.0 GB/s is defended, by copy on A CPU. Still open: how large the last-level cache is; "
        "the datasheet's bandwidth (pass datasheet_gb_s)."
    )
    assert failing(defend(4000, [copy(device=cpu)], datasheet_gb_s=3900)) == ["below the datasheet?"]


def test_it_prints_as_a_table_and_a_verdict():
    found = defend(4000, [copy()])
    assert str(found).endswith(found.verdict) and "spread ≤ 5%?" in str(found)
    assert "<caption>4,000.0 GB/s is defended" in found._repr_html_()


@pytest.mark.parametrize(
    ("stated", "measurements", "message"),
    [
        (4000, [], "nothing to defend a T_peak with"),
        (4000, [copy(cost=None)], "The bytes that copy moves are unknown, so it has no bandwidth"),
        (4000, [copy(), copy(device=Device("cpu", "A CPU", 2, 0, 0))], "come from several devices"),
        (0, [copy()], "t_peak_gb_s is 0: it must be a positive, finite number"),
        (float("nan"), [copy()], "t_peak_gb_s is nan"),
    ],
)
def test_what_cannot_be_judged_is_said(stated, measurements, message):
    with pytest.raises(CourseError, match=message):
        defend(stated, measurements)
    with pytest.raises(CourseError, match="datasheet_gb_s is -1"):
        defend(4000, [copy()], datasheet_gb_s=-1)
