"""Ranks in time agree with the model, and ranks of a lecture with or without MPI."""

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.distributed import here, timeline
from course_pkg.distributed.model import Fit
from course_pkg.distributed.timeline import BOUNDARY, HALO, HALO_WAIT, PRODUCT, SUM
from course_pkg.distributed.work import COEFFICIENTS, Work

MACHINE = dict(zip(COEFFICIENTS, (2.5e-13, 2e-6, 1.5e-5, 6e-6, 5e-12, 8e-6, 2e-10), strict=True))
CERTAIN = Fit(MACHINE, np.zeros((7, 7)), 0.0, 10)
METHODS = [("pcg", None), ("pfcg", None), ("pcg_sstep_moments", 2), ("pcg_sstep", 4)]


def total(spans, *kinds):
    return sum(span.end - span.start for span in spans if span.kind in kinds)


@pytest.mark.parametrize(("method", "s"), METHODS)
@pytest.mark.parametrize(("edge", "ranks"), [(64, 1), (64, 8), (256, 2), (256, 8)])
def test_a_rank_with_most_work_takes_the_time_of_the_model_and_that_of_its_boundary(method, s, edge, ranks):
    """With 3 ranks or more a rank in the middle has all that the model counts; with 2, both have."""
    middle = min(1, ranks - 1)
    lanes = timeline.timeline(method, (edge,) * 3, ranks, MACHINE, s=s)
    spans, iterations = lanes[middle], 4
    predicted, _ = CERTAIN.predict(Work.of(method, (edge,) * 3, ranks, s))
    took = timeline.seconds(spans) - total(spans, BOUNDARY)
    assert took == pytest.approx(iterations * predicted, rel=1e-9)
    assert {timeline.seconds(lane) for lane in lanes.values()} == {timeline.seconds(spans)}, (
        "all end at a sum"
    )


def test_without_overlap_the_halo_is_waited_for_in_full():
    with_, without = (
        timeline.timeline("pcg", (64,) * 3, 4, MACHINE, overlap=overlap)[1] for overlap in (True, False)
    )
    assert total(without, HALO_WAIT) == pytest.approx(total(without, HALO))
    assert total(with_, HALO_WAIT) == pytest.approx(total(with_, HALO) - total(with_, PRODUCT))
    assert timeline.seconds(without) > timeline.seconds(with_)


def test_ranks_with_less_to_do_wait_longer_for_a_sum():
    lanes = timeline.timeline("pcg", (10, 64, 64), 3, MACHINE)  # 3, 3 and 4 planes
    waits = [total(lane, SUM) for lane in lanes.values()]
    assert waits[0] > waits[1] and waits[0] > waits[2]


@pytest.mark.parametrize(("method", "s", "sums"), [("pcg", None, 8), ("pfcg", None, 4), ("pcg_sstep", 4, 1)])
def test_sums_and_halos_are_counted_in_the_picture(method, s, sums):
    spans = timeline.timeline(method, (16,) * 3, 2, MACHINE, s=s, shown=(1,))[1]
    assert [span.kind for span in spans].count(SUM) == sums
    assert [span.kind for span in spans].count(HALO) == 4


def test_what_cannot_be_put_in_time_is_said():
    with pytest.raises(CourseError, match="no whole rounds of 3"):
        timeline.timeline("pcg_sstep", (16,) * 3, 2, MACHINE, s=3)
    with pytest.raises(CourseError, match="round is no coefficient"):
        timeline.machine(round=1.0)


def test_without_mpi_ranks_of_a_lecture_run_in_one_process_and_tell_no_times(monkeypatch):
    monkeypatch.setattr(here, "obstacle", lambda: "There is no mpirun.")
    monkeypatch.setattr(here, "launch", lambda *a, **k: pytest.fail("nothing may be started"))
    found = here.on_ranks(2, 6)
    assert found.iterations == here.on_ranks(1, 6).iterations
    assert found.halos == found.sums == [] and "counted, not timed. There is no mpirun." in found.origin


def test_with_mpi_ranks_of_a_lecture_tell_what_rank_0_printed(monkeypatch):
    printed = 'a line of MPI\'s own\n{"iterations": {"pcg": 9}, "halos": [[72, 1e-5]], "sums": [[1, 2e-6]]}\n'
    monkeypatch.setattr(here, "obstacle", lambda: "")
    monkeypatch.setattr(here, "launch", lambda program, ranks, timeout_s: printed)
    found = here.on_ranks(2, 6)
    assert (found.iterations, found.halos, found.sums) == ({"pcg": 9}, [(72, 1e-5)], [(1, 2e-6)])
    assert found.origin == "Measured here: 2 processes of MPI, on this CPU."


def test_a_line_needs_messages_of_two_sizes():
    with pytest.raises(CourseError, match="at least two sizes"):
        here.latency_and_byte([(8, 1e-6), (8, 2e-6)])
