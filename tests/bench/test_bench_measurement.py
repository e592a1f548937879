"""A measurement: its statistics, origin, bound and fields."""

import pytest

from course_pkg.bench import Device, Measurement, matching, measure
from course_pkg.core import Cost, CourseError, Implementation, Library


def test_name_parameters_cost_and_date():
    def triad():
        pass

    parameters = {"n": 4}
    m = measure(triad, cost=Cost(16, 8, 4), parameters=parameters, samples=1)
    assert (m.what, m.cost, m.parameters) == (Implementation("", "triad"), Cost(16, 8, 4), {"n": 4})
    parameters["n"] = 5
    assert m.parameters == {"n": 4}
    assert len(m.date) == 10
    assert m.date[4] == m.date[7] == "-"
    assert measure(triad, name="an_other", samples=1).label == "an_other"


def test_operation_variant_and_library_are_fields():
    what = Implementation("laplacian", "marching_tiled", Library.NUMBA_CUDA)
    m = measure(lambda: None, name=what, samples=1)
    assert (m.operation, m.variant, m.library) == ("laplacian", "marching_tiled", "Numba CUDA")
    assert m.label == "laplacian marching tiled, Numba CUDA"
    assert measurement().operation == measurement().library == ""


SAMPLES = (4.0, 1.0, 2.0, 3.0, 10.0)


def measurement(**changes):
    fields = {
        "what": "triad",
        "samples_s": SAMPLES,
        "warmup_s": (9.0,),
        "calls_per_sample": 1,
        "cache_state": "exceeds",
        "cost": Cost(30 * 10**9, 15 * 10**9, 6 * 10**9, unknown_bytes=9 * 10**9),
        "device": Device("cpu", "A CPU", 2, 0, 0),
        "parameters": {},
        "date": "2026-01-02",
    }
    return Measurement(**{**fields, **changes})


def test_statistics_are_of_the_samples():
    m = measurement()
    assert (m.median_s, m.min_s, m.quantile_s(0.25), m.quantile_s(0.75)) == (3, 1, 2, 4)
    assert m.spread == pytest.approx(2 / 3)
    assert m.throughput_gb_s == pytest.approx(15)
    assert m.t_eff_gb_s == pytest.approx(6)
    assert m.gflop_s == pytest.approx(2)


def test_a_measurement_prints_its_origin():
    assert str(measurement()) == (
        "triad: 3.00 s (median of 5, spread 66.7%), T_eff 6.0 GB/s on A CPU; the arrays exceed the last-level cache"
    )


def test_an_unknown_cost_is_unknown_and_not_nothing():
    m = measure(lambda: None, samples=1, min_sample_s=0)
    assert (m.cost, m.t_eff_gb_s, m.throughput_gb_s, m.gflop_s) == (None,) * 4
    assert "T_eff unknown GB/s" in str(m)
    with pytest.raises(CourseError, match="The bytes that <lambda> moves are unknown, so it has no bound"):
        m.over_bound(measurement())
    with pytest.raises(CourseError, match="The bytes that <lambda> moves are unknown"):
        measurement().over_bound(m)


def test_the_bound_is_what_the_bytes_take_a_copy():
    """45 GB at the 10 GB/s of a copy take 4.5 s; the median is 3 s."""
    copy = measurement(what="copy", samples_s=(2.0,), cost=Cost(10 * 10**9, 10 * 10**9))
    assert measurement().bound_s(copy) == pytest.approx(4.5)
    assert measurement().over_bound(copy) == pytest.approx(3 / 4.5)
    assert measurement().of_copy(copy) == pytest.approx(4.5 / 3)
    assert copy.over_bound(copy) == copy.of_copy(copy) == pytest.approx(1)


def test_the_bound_may_count_other_bytes_than_those_that_were_moved():
    """15 GB at 10 GB/s take 1.5 s; these bytes need no cost."""
    copy = measurement(what="copy", samples_s=(2.0,), cost=Cost(10 * 10**9, 10 * 10**9))
    for m in (measurement(), measurement(cost=None)):
        assert m.bound_s(copy, 15 * 10**9) == pytest.approx(1.5)
        assert (m.over_bound(copy, 15 * 10**9), m.of_copy(copy, 15 * 10**9)) == pytest.approx((2, 0.5))


def test_measurements_are_matched_by_their_fields():
    flat = Implementation("laplacian", "flat", Library.NUMBA_CUDA)
    ms = [
        measurement(what=flat, parameters={"n": n, **more}) for n, more in ((1, {}), (2, {}), (2, {"b": 3}))
    ]
    ms.append(measurement(what="laplacian flat, Numba CUDA", parameters={"n": 1}))
    assert matching(ms, flat) == ms[:3]
    assert matching(ms, flat, n=2) == ms[1:3]
    assert matching(ms, flat, n=2, b=None) == [ms[1]]
    assert matching(ms, "laplacian flat, Numba CUDA") == ms[3:], "a label is no key to the fields"
