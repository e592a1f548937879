"""Which clock binds a kernel: shares of its time, computed from counters of Nsight Compute."""

import pytest

from course_pkg.core import CourseError
from course_pkg.witness import clocks as c
from course_pkg.witness import record
from course_pkg.witness.cases import large_cases

ISSUE = "smsp__issue_active" + c.OF_PEAK
COUNTED = {
    c.READ: 1.6e9,
    c.WRITTEN: 0.4e9,
    c.TIME: 1e6,
    "lts__t_sectors" + c.OF_PEAK: 60.0,
    "lts__d_sectors" + c.OF_PEAK: 70.0,
    "l1tex__lsuin_requests" + c.OF_PEAK: 40.0,
    "smsp__issue_active" + c.OF_PEAK: 96.0,
    c.INSTRUCTIONS: 12345,
    c.RESIDENT: 75.0,
}


def test_shares_are_those_of_the_kernels_time():
    found = c.clocks(COUNTED, t_peak_gb_s=4000)
    assert found.time_s == pytest.approx(1e-3)
    assert found.shares == pytest.approx({c.MEMORY: 0.5, c.L2: 0.7, c.L1: 0.4, c.ISSUE: 0.96})
    assert found.seconds(c.MEMORY) == pytest.approx(0.5e-3)
    assert (found.instructions, found.occupancy, found.binds) == (12345, 0.75, c.ISSUE)
    assert list(found.row()) == [c.MEMORY, c.L2, c.L1, c.ISSUE, "binds"]


def test_where_nothing_fills_the_time_the_warps_wait():
    found = c.clocks({**COUNTED, ISSUE: 69.0}, t_peak_gb_s=4000)
    assert found.binds == c.WAITING


def test_a_unit_that_was_not_counted_is_said_to_be_so():
    counted = {k: v for k, v in COUNTED.items() if k not in (ISSUE, c.RESIDENT, c.INSTRUCTIONS)}
    found = c.clocks(counted, t_peak_gb_s=4000)
    assert found.row()[c.ISSUE] == "not counted"
    assert found.seconds(c.ISSUE) is None
    assert found.instructions is None
    assert found.occupancy is None


def test_without_bytes_there_is_no_clock():
    with pytest.raises(
        CourseError, match=r"dram__bytes_read.sum was not counted: record it with `course verify"
    ):
        c.clocks({k: v for k, v in COUNTED.items() if k != c.READ}, t_peak_gb_s=4000)


def test_launches_in_turn_are_all_work_beside_all_time():
    short = {**COUNTED, c.TIME: 1e6, ISSUE: 80.0, "lts__t_sectors" + c.OF_PEAK: 20.0}
    long = {**COUNTED, c.TIME: 3e6, ISSUE: 40.0, "lts__d_sectors" + c.OF_PEAK: 10.0}
    found = c.clocks(c.in_turn([short, long]), t_peak_gb_s=4000)
    assert found.time_s == pytest.approx(4e-3)
    assert (found.bytes_read, found.bytes_written, found.instructions) == (3.2e9, 0.8e9, 2 * 12345)
    # the L2's busiest stage differs from launch to launch: tags are busy for (20 + 3 × 60) / 4, data for (70 + 30) / 4
    assert found.shares == pytest.approx({c.MEMORY: 0.25, c.L2: 0.5, c.L1: 0.4, c.ISSUE: 0.5})


def test_one_launch_in_turn_is_itself():
    assert c.in_turn([COUNTED]) == pytest.approx(COUNTED)


def test_what_one_launch_lacks_all_lack():
    lacking = {name: value for name, value in COUNTED.items() if name != ISSUE}
    found = c.clocks(c.in_turn([COUNTED, lacking]), t_peak_gb_s=4000)
    assert c.ISSUE not in found.shares and found.longest == found.longest_unit == c.NOT_COUNTED


@pytest.mark.parametrize("launches", [[], [COUNTED, {c.READ: 8}]])
def test_launches_without_a_time_cannot_be_joined(launches):
    with pytest.raises(CourseError, match=r"only if each has a time: gpu__time_duration.sum was not counted"):
        c.in_turn(launches)


@pytest.mark.parametrize("device", ["nvidia-h200", "nvidia-h100-80gb-hbm3"])
def test_every_recorded_rung_has_its_clocks_and_none_runs_faster_than_its_units(device):
    counted = record.recorded(record.TRAFFIC, device).counters
    for name in set(large_cases()) & set(counted):
        found = c.clocks(counted[name], t_peak_gb_s=4800 if "h200" in device else 3350)
        assert set(found.shares) == {c.MEMORY, *c.UNITS}, name
        assert all(0 < share < 1.05 for share in found.shares.values()), (name, found.shares)
        assert found.instructions > 0
    if missing := sorted(set(large_cases()) - set(counted)):
        pytest.skip(f"not recorded on {device} yet: {record.how_to_record(missing[0], record.TRAFFIC)}")
