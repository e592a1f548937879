"""`course bench simt`: its parts work on tiny grids, and limits are checked. No speed is asserted."""

from dataclasses import replace

import pytest

from course_pkg.bench import Measurement, cpu, load, record
from course_pkg.cli import build_parser
from course_pkg.commands import bench
from course_pkg.core import CourseError, Implementation
from course_pkg.stencil import cost
from course_pkg.witness import alone, suite, workloads
from course_pkg.witness.workloads import WORKLOADS


def made(who, edge, seconds, peak_bytes=0):
    """Return a measurement of these seconds."""
    return Measurement(
        what=suite.what(who),
        samples_s=(seconds,),
        warmup_s=(),
        calls_per_sample=1,
        cache_state="warm",
        cost=cost.laplacian((edge,) * 3),
        device=cpu(),
        parameters={"shape": [edge] * 3, "dtype": "float64"},
        date="2027-01-01",
        observed={"peak_bytes": peak_bytes} if peak_bytes else {},
    )


def piece(name, seconds):
    """Return the measurement of a piece of work of the demanded size."""
    return replace(
        made(suite.COUNTED, 1, seconds),
        what=Implementation(suite.PIECE, name, suite.COUNTED),
        cost=None,
        parameters={"n": WORKLOADS[name].size, "clock": "processor time"},
    )


GOOD = [
    made(suite.PLAIN, 32, 0.01),
    made(suite.COUNTED, 32, 0.02),
    made(suite.PLAIN, 64, 0.05),
    made(suite.COUNTED, 64, 0.14),
    made(suite.SIMULATOR, 32, 5.5),
    made(suite.PLAIN, 256, 4.0, 15 * 10**8),
    made(suite.COUNTED, 256, 9.0, 19 * 10**8),
    *(piece(name, work.limit_s) for name, work in WORKLOADS.items()),
]


def met(measurements):
    return [row["met"] for row in suite.demands(measurements)]


def test_every_demand_of_the_issue_is_judged():
    assert met(GOOD) == ["yes"] * 13
    assert [row["demand"] for row in suite.demands(GOOD)] == [
        "≤ 0.06 s",
        "≤ 0.15 s",
        "≥ 500×",
        "≤ 2.00 GB",
        "≤ 512×",
        "≤ 2.00 GB",
        "≤ 512×",
        "≤ 15 s",
        "≤ 5 s",
        "≤ 10 s",
        "≤ 5 s",
        "≤ 0.3 s",
        "≤ 0.6 s",
    ]


@pytest.mark.parametrize(
    ("at", "seconds", "peak_bytes", "missed"),
    [
        (2, 0.061, 0, [0]),
        (3, 0.16, 0, [1]),
        (4, 4.9, 0, [2]),
        (5, 4.0, 21 * 10**8, [3]),
        (5, 5.2, 1, [4]),
        (6, 9.0, 21 * 10**8, [5]),
        (6, 11.0, 1, [6]),
        (7, 15.1, 0, [7]),
        (12, 0.61, 0, [12]),
    ],
)
def test_a_missed_demand_is_marked(at, seconds, peak_bytes, missed):
    measured = [*GOOD]
    measured[at] = replace(measured[at], samples_s=(seconds,), observed={"peak_bytes": peak_bytes})
    assert [i for i, word in enumerate(met(measured)) if word == "NO"] == missed


def test_what_was_not_measured_is_not_judged():
    assert suite.demands(GOOD[:1]) == []
    assert len(suite.demands(GOOD[:3])) == 1


def test_the_suite_measures_both_ways_and_the_simulator(monkeypatch):
    asked = []

    def answer(who, edge, samples):
        asked.append((who, edge))
        return {"samples_s": [0.5] * samples, "peak_bytes": 7}

    def did(words):
        worked.append(words)
        return {"samples_s": [0.25]}

    worked = []
    monkeypatch.setattr(alone, "ask", answer)
    monkeypatch.setattr(alone, "answer", did)
    found = list(suite.run("cpu", quick=True))
    assert asked == [("simulator", 8), ("plain", 12), ("counted", 12)]
    assert worked == [
        ("course_pkg.witness.workloads", name, str(min(16, work.size))) for name, work in WORKLOADS.items()
    ]
    found, pieces = found[:5], found[5:]
    assert [(m.variant, m.median_s, m.cost) for m in pieces] == [(name, 0.25, None) for name in WORKLOADS]
    assert [m.library for m in found] == [
        suite.PLAIN,
        suite.COUNTED,
        suite.SIMULATOR,
        suite.PLAIN,
        suite.COUNTED,
    ]
    assert [m.observed for m in found] == [{}, {}, *[{"peak_bytes": 7}] * 3]
    assert all(m.device == cpu() and m.median_s > 0 for m in found)


def test_a_gpu_is_refused():
    with pytest.raises(CourseError, match="use `course bench simt --device cpu`"):
        list(suite.run("gpu"))


@pytest.mark.parametrize("who", alone.WHO)
def test_each_runs_in_a_process_of_its_own(who):
    found = alone.ask(who, 4)
    assert len(found["samples_s"]) == 1 and found["samples_s"][0] > 0
    assert found["peak_bytes"] > 10 * 2**20


@pytest.mark.parametrize(("name", "size"), [("naive", 20), ("tiled", 16), ("median", 5), ("smallest", 32)])
def test_each_piece_of_work_gives_the_right_result(name, size, monkeypatch):
    monkeypatch.setattr(workloads, "REACH", 1)
    monkeypatch.setattr(workloads, "WINDOW", 9)
    assert workloads.seconds(name, size) > 0


def test_a_wrong_result_of_a_piece_of_work_is_noticed(monkeypatch):
    monkeypatch.setattr(workloads.simt, "profile", lambda launch, *arguments: None)
    with pytest.raises(AssertionError):
        workloads.seconds("naive", 8)


def test_a_failing_process_is_one_sentence():
    with pytest.raises(CourseError, match=r"alone nobody 4 1 failed \(.*\): run this command by itself"):
        alone.ask("nobody", 4)


def test_the_command_prints_the_demands_and_keeps_what_was_observed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(suite, "run", lambda device, quick: iter(GOOD))
    arguments = build_parser("bench").parse_args(["bench", "simt", "--record", "--out", str(tmp_path)])
    assert bench.run(arguments) == 0
    assert "≥ 500×" in capsys.readouterr().out
    path = tmp_path / cpu().slug / "simt.json"
    assert load(path) == GOOD
    again = [replace(GOOD[5], observed={"peak_bytes": 3})]
    record("simt", again, tmp_path, origin="x")
    kept = [m for m in load(path) if m.parameters.get("shape") == [256] * 3 and m.library == suite.PLAIN]
    assert kept == again
