"""What ``course bench scaling`` measures, tested in one process with grids too small for real timings."""

import json

import pytest

from course_pkg import bench
from course_pkg.cli import main
from course_pkg.core import CourseError, Library
from course_pkg.distributed import job, suite, suite_ranks
from course_pkg.distributed.forecast import observations
from course_pkg.distributed.launch import share
from course_pkg.distributed.phases import NAMES, PRECONDITION
from course_pkg.distributed.serial import Serial
from course_pkg.sstep.variants import VARIANTS


@pytest.fixture
def tiny(monkeypatch):
    """Ranks of one process, on tiny grids; returns what was launched."""
    monkeypatch.setattr(suite, "QUICK_EDGE", 6)
    monkeypatch.setattr(suite, "METHODS", (("pfcg", {}), ("pcg", {}), ("pcg", {}), ("pcg_sstep", {"s": 2})))
    monkeypatch.setattr(suite, "HALO_EDGES", (3, 5))
    monkeypatch.setattr(suite, "REDUCED", (1, 9))
    monkeypatch.setattr(suite, "CALLS", 20)
    launched = []

    def launch(program, ranks, timeout_s, threads):
        launched.append((program[:-1], ranks, threads))
        lines = []
        for task in json.loads(program[-1]):
            function = job.TASKS[task.pop("task")]
            world = Serial(ranks, keep=False)
            lines.append(json.dumps(world.run(lambda comm, f=function, t=task: f(comm, **t))[0]))
        return "a line of MPI's own\n" + "\n".join(lines)

    monkeypatch.setattr(suite_ranks, "launch", launch)
    return launched


def test_the_suite_measures_solves_and_messages_on_each_number_of_ranks(tiny):
    found = list(suite.run("cpu", quick=True))
    threads = share(2)
    assert tiny == [(suite.PROGRAM, 1, threads), (suite.PROGRAM, 2, threads)], "a rank is always as large"
    said = [
        (m.operation, m.parameters["ranks"], m.parameters.get("scaling"), m.parameters.get("shape"))
        for m in found
    ]
    assert said == [
        *((name, 1, "strong", [6, 6, 6]) for name in ("pcg", "pcg_sstep")),
        *((name, 2, "strong", [6, 6, 6]) for name in ("pcg", "pcg_sstep")),
        *((name, 2, "weak", [12, 6, 6]) for name in ("pcg", "pcg_sstep")),
        *[("halo_exchange", 2, None, None)] * 2, *[("allreduce", 2, None, None)] * 2,
    ]  # fmt: skip
    pcg = found[0]
    assert pcg.what == VARIANTS["pcg"].by(Library.NUMBA_CPU) and len(pcg.samples_s) == 3
    assert pcg.cost == pcg.observed["iterations"] * VARIANTS["pcg"].cost(216)
    assert found[2].observed["iterations"] == pcg.observed["iterations"], "the same on two ranks"
    assert found[6].observed == {"bytes": 72}
    for m in found[:6]:
        phases = suite.phases_of(m)
        assert set(phases) == set(NAMES) and phases[PRECONDITION] == 0
        assert sum(phases.values()) <= max(m.samples_s) / m.observed["iterations"] * 1.001


def test_records_of_different_numbers_of_ranks_lie_side_by_side(tiny, tmp_path, capsys):
    assert main(["bench", "scaling", "--quick", "--record", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert (
        "waiting for halos" in said
        and "speed-up" in said
        and PRECONDITION not in said
        and "T_peak" not in said
    )
    (path,) = tmp_path.glob("*/scaling.json")
    loaded = bench.load(path)
    assert len(loaded) == 10 and {m.parameters["ranks"] for m in loaded} == {1, 2}
    rows = suite.summary(loaded)
    assert [(row["scaling"], row["ranks"]) for row in rows] == [("strong", "1")] * 2 + [
        ("strong", "2")
    ] * 2 + [("weak", "2")] * 2
    assert rows[0]["speed-up"] == "1.00" and all(float(row["speed-up"]) > 0 for row in rows)
    assert len(observations(loaded)) == 10


def test_the_speed_up_counts_points_and_iterations():
    def took(seconds, iterations, ranks=1, scaling="strong", planes=6):
        grid = (planes, 6, 6)
        task = {"task": "solve", "method": "pcg", "options": {}, "grid": grid}
        parameters = {"shape": list(grid), "ranks": ranks, "scaling": scaling}
        result = {"samples_s": [seconds], "warmup_s": [1.0], "iterations": iterations}
        return suite.measurement(task, parameters, {**result, "phases": dict.fromkeys(NAMES, 0.0)}, 1)

    rows = suite.summary([took(1.0, 10), took(0.5, 10, 2), took(1.0, 10, 2, "weak", 12), took(1.0, 20, 4)])
    assert [row["speed-up"] for row in rows] == ["1.00", "2.00", "2.00", "2.00"], (
        "of iterations, not of solves"
    )
    assert suite.summary([took(0.5, 10, 2)])[0]["speed-up"] == "unknown"


def test_a_solve_that_does_not_converge_is_not_timed(tiny, monkeypatch):
    monkeypatch.setattr(suite, "METHODS", (("pcg", {}), ("pcg", {"maxiter": 2})))
    with pytest.raises(CourseError, match="pcg on 1 ranks: NOT converged after 2 iterations"):
        list(suite.run("cpu", quick=True))


def test_numbers_of_ranks_are_powers_of_two_and_all_cores():
    assert [suite_ranks.counts(cores) for cores in (1, 2, 3, 8)] == [(1, 2), (1, 2), (1, 2, 3), (1, 2, 4, 8)]
    assert suite_ranks.counts(6) == (1, 2, 4, 6)


def test_a_gpu_is_refused_in_a_sentence():
    with pytest.raises(
        CourseError,
        match="There is no NVIDIA GPU here: `course bench scaling --device cpu` measures ranks of a CPU",
    ):
        next(suite.run("gpu"))
