"""Costs: the arithmetic of bytes and flops."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_pkg.core import Cost, CourseError, machine

numbers = st.integers(0, 2**50)
costs = st.builds(Cost, numbers, numbers, numbers, numbers, numbers)
FIELDS = ("bytes_read", "bytes_written", "flops", "unknown_bytes", "known_bytes")


@given(costs, costs, st.integers(0, 1000))
def test_costs_add_and_scale_field_by_field(a, b, n):
    total, many = a + b, n * a
    for field in FIELDS:
        assert getattr(total, field) == getattr(a, field) + getattr(b, field)
        assert getattr(many, field) == n * getattr(a, field)
    assert a * n == many
    assert sum([a, b, a]) == 2 * a + b
    assert sum([a] * 3) == 3 * a
    assert total.bytes == a.bytes_read + a.bytes_written + b.bytes_read + b.bytes_written


@given(costs)
def test_a_eff_is_twice_the_unknown_plus_the_known(cost):
    declared = 2 * cost.unknown_bytes + cost.known_bytes
    assert cost.a_eff_bytes == (declared if declared else cost.bytes_read + cost.bytes_written)


def test_a_eff_by_hand():
    assert Cost(30, 10, 0, unknown_bytes=8, known_bytes=4).a_eff_bytes == 20
    assert Cost(30, 10, 0, known_bytes=4).a_eff_bytes == 4
    assert Cost(30, 10).a_eff_bytes == 40, "a stream without fields must move all that it moves"
    assert Cost(30, 10, 5).with_fields(unknown_bytes=8, known_bytes=4) == Cost(30, 10, 5, 8, 4)
    assert Cost(30, 10, 5, 8, 4).with_fields(unknown_bytes=8) == Cost(30, 10, 5, 8, 0)


def test_intensity_and_redundancy():
    assert Cost(12, 4, 8).intensity == 0.5
    assert Cost().intensity == 0
    assert math.isinf(Cost(flops=1).intensity)
    assert Cost(60, 28, unknown_bytes=8, known_bytes=8).redundancy == pytest.approx(88 / 24)
    assert Cost(3, 5).redundancy == 1
    assert Cost().redundancy == 1


def test_rates_are_in_giga_of_ten_to_the_nine():
    cost = Cost(6e9, 2e9, 5e9, unknown_bytes=2e9, known_bytes=1e9)
    assert cost.throughput_gb_s(2.0) == pytest.approx(4)
    assert cost.t_eff_gb_s(0.5) == pytest.approx(10)
    assert cost.gflop_s(0.25) == pytest.approx(20)


@pytest.mark.parametrize("rate", ["throughput_gb_s", "t_eff_gb_s", "gflop_s"])
@pytest.mark.parametrize("time_s", [0, -1e-3, float("nan")])
def test_a_time_is_positive(rate, time_s):
    with pytest.raises(CourseError, match="positive number of seconds"):
        getattr(Cost(8, 8, 1), rate)(time_s)


def test_the_floor_is_the_larger_of_two_times():
    p100 = machine("p100")
    memory_bound = Cost(732 * 10**9, 0, 53 * 10**9)
    assert memory_bound.time_floor_s(p100) == pytest.approx(1)
    assert memory_bound.time_floor_s(p100.measured(366)) == pytest.approx(2)
    compute_bound = Cost(8, 8, 53_000 * 10**9)
    assert compute_bound.time_floor_s(p100) == pytest.approx(10)
    assert compute_bound.time_floor_s(p100, "float32") == pytest.approx(5)
    redundant = Cost(7320 * 10**9, 0, 0, unknown_bytes=366 * 10**9)
    assert redundant.time_floor_s(p100) == pytest.approx(1), (
        "the floor moves A_eff, not what the variant moves"
    )


@pytest.mark.parametrize("field", FIELDS)
def test_a_cost_is_not_negative(field):
    with pytest.raises(CourseError, match=rf"Cost\.{field} is -1: .* not negative"):
        Cost(**{field: -1})
    with pytest.raises(CourseError, match="not negative"):
        -1 * Cost(**{field: 1})


def test_costs_do_not_mix_with_other_things():
    with pytest.raises(TypeError):
        Cost(1) + 1
    with pytest.raises(TypeError):
        1 + Cost(1)
    with pytest.raises(TypeError):
        0.5 * Cost(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cost(1).flops = 2
