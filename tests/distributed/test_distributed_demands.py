"""What a run on GPUs must show, and what forecasts rest on: on the records, and on records that were changed."""

from dataclasses import replace

import pytest

from course_pkg import bench
from course_pkg.bench.lookup import function_name
from course_pkg.distributed import forecast, suite
from course_pkg.distributed.forecast import MESSAGES, by_link, evidence, fitted
from course_pkg.distributed.recorded import iteration_s
from course_pkg.distributed.work import COEFFICIENTS, Work

RECORDS = {on.device.slug: on for on in bench.records("scaling")}
pytestmark = pytest.mark.skipif(
    not RECORDS, reason="not recorded yet: `course bench scaling --device gpu --record` on GPUs"
)


@pytest.fixture(params=RECORDS)
def rows(request):
    return RECORDS[request.param].measurements


def slower(rows, factor, which):
    """Return the measurements; those that ``which`` names took ``factor`` times as long."""
    return [replace(m, samples_s=tuple(factor * t for t in m.samples_s)) if which(m) else m for m in rows]


def solved_by_many(m):
    return m.parameters["ranks"] > 1 and m.operation not in MESSAGES


def asked(m):
    """Return what a forecast is asked for."""
    return m.variant, m.parameters["shape"], m.parameters["ranks"]


def said(rows, word):
    return [(row["measured"], row["met"]) for row in suite.demands(rows) if word in row["what"]]


def test_recorded_runs_meet_every_demand(rows):
    found = suite.demands(rows)
    assert {row["met"] for row in found} == {"yes"}
    told = " ".join(row["what"] for row in found)
    for part in ("514", "2101"):
        assert any(part in row["demand"] for row in found), part
    for part in ("efficiency of an iteration", "efficiency of a whole solve", "the model", "two sums"):
        assert part in told
    (small,) = (row for row in found if "efficiency of an iteration" in row["what"])
    assert "a whole solve: 0." in small["measured"], "the efficiency of a solve is told, too"


def test_a_run_that_misses_a_demand_says_no(rows):
    late = slower(rows, 1.2, solved_by_many)
    assert [met for _, met in said(late, "efficiency")] == ["NO", "NO"]
    assert "NO" in {met for _, met in said(late, "forecasts")}

    def miscounted(m):
        return solved_by_many(m) and "rtol" in m.parameters and function_name(m) == "cg_deferred_x"

    wrong = [
        replace(m, observed={**m.observed, "iterations": m.observed["iterations"] + 1})
        if miscounted(m)
        else m
        for m in rows
    ]
    assert ("515", "NO") in said(wrong, "deferred x, Numba CUDA, 250³")
    assert all(met == "NO" for _, met in said(wrong, "solves with the iterations of one rank"))
    assert all(met == "yes" for _, met in said(wrong, "two kernel"))


def test_the_fastest_variant_is_judged(rows):
    """A variant that is slow on one GPU, too, is as efficient, and does not count."""

    def of_two_kernels(m):
        return m.variant == "two_kernel" and m.parameters.get("shape") == [250] * 3

    better = slower(rows, 3.0, lambda m: of_two_kernels(m) and m.parameters["ranks"] == 1)
    assert said(better, "efficiency") != [] and said(better, "efficiency") == said(rows, "efficiency")


def test_what_was_not_measured_is_not_demanded(rows):
    assert suite.demands([]) == []
    alone = [m for m in rows if m.parameters["ranks"] == 1]
    assert suite.demands(alone) == []
    without = [m for m in rows if m.operation not in MESSAGES]
    assert said(without, "forecasts") == [] and said(without, "efficiency") == said(rows, "efficiency")


@pytest.mark.parametrize("link", [None, "direct"])
def test_forecasts_take_nothing_from_solves_on_several_ranks(rows, link):
    """Not their times, and not the phases that are told of them: all are multiplied, and no forecast changes."""
    changed = [
        replace(m, observed={k: 7.0 * v for k, v in m.observed.items()}) if solved_by_many(m) else m
        for m in slower(rows, 5.0, solved_by_many)
    ]
    before, after = by_link(rows, link), by_link(changed, link)
    assert not any(map(solved_by_many, evidence(before))) and len(evidence(before)) > len(COEFFICIENTS)
    fits = fitted(before), fitted(after)
    assert fits[0].coefficients == fits[1].coefficients and fits[0].scatter == fits[1].scatter
    for m in before:
        if solved_by_many(m) and m.parameters.get("overlap") and "iterations" in m.parameters:
            assert forecast.of_parts(before, *asked(m)) == forecast.of_parts(after, *asked(m))
    slow = fitted(by_link(slower(rows, 2.0, lambda m: m.parameters["ranks"] == 1), link))
    assert slow.coefficients["byte_s"] > 1.9 * fits[0].coefficients["byte_s"]
    assert slow.coefficients["halo_s"] == pytest.approx(fits[0].coefficients["halo_s"])


def test_sweeps_and_sums_share_what_they_take_together(rows):
    """The split is not measured: no iteration on one rank depends on it, and its error says that all is possible."""
    found = fitted(by_link(rows, None))
    sweep, reduction = (found.coefficients[name] for name in ("sweep_s", "reduction_s"))
    assert sweep == pytest.approx(reduction) and found.uncertainty("sweep_s") > sweep > 0
    other = forecast.model.fit(
        forecast.observations(evidence(by_link(rows, None))), held={"sweep_s": 1.9 * sweep}
    )
    for m in by_link(rows, None):
        if "overlap" in m.parameters:
            work = Work.of(function_name(m), m.parameters["shape"], m.parameters["ranks"])
            assert other.predict(work)[0] == pytest.approx(found.predict(work)[0])


def test_a_part_is_the_largest_slab(rows):
    """Of 249 planes, one of two ranks has 125."""
    near = by_link(rows, None)
    assert forecast.of_parts(near, "two_kernel", (249, 250, 250), 2) == forecast.of_parts(
        near, "two_kernel", (250, 250, 250), 2
    )
    assert forecast.of_parts(near, "two_kernel", (248, 250, 250), 2) is None
    part = next(m for m in near if m.parameters.get("shape") == [125, 250, 250] and m.variant == "two_kernel")
    sums = next(m for m in near if m.operation == "allreduce" and m.parameters["n"] == 1)
    told = forecast.of_parts(near, "two_kernel", (250, 250, 250), 2)
    assert told == pytest.approx(iteration_s(part) + 2 * sums.median_s)
