"""The stencil's kernels as rungs: each row comes from the records of one device."""

from types import SimpleNamespace

import pytest
from chains import a_gpu

from course_pkg import bench
from course_pkg.core import CourseError, Library
from course_pkg.stencil.variants import VARIANTS
from course_pkg.vector.variants import VARIANTS as STREAMS
from course_pkg.witness import record
from course_pkg.witness.ladder import Ladder, profile

FLAT, TILED = VARIANTS["laplacian_flat"], VARIANTS["laplacian_tiled"]
DEVICES = [found.device.slug for found in bench.records("stencil")]


@pytest.fixture(scope="module", params=DEVICES)
def rungs(request):
    return Ladder(bench.recorded("stencil", request.param))


def test_a_rung_is_the_launcher_s_own_on_512_cubed_doubles(rungs):
    m = rungs.measured(FLAT)
    assert (m.parameters["shape"], m.parameters["dtype"]) == ([512] * 3, "float64")
    assert "threads_per_block" not in m.parameters and "max_registers" not in m.parameters
    assert rungs.measured(FLAT, threads_per_block=[4, 8, 8]).median_s > m.median_s


def test_the_bound_is_the_copy_of_the_same_grid(rungs):
    copy = rungs.found.one(STREAMS["copy"].by(Library.CUPY), shape=[1024] * 3, dtype="float64")
    assert rungs.copy(1024) is copy
    assert rungs.of_copy(rungs.measured(FLAT, edge=1024)) == pytest.approx(
        rungs.measured(FLAT, edge=1024).t_eff_gb_s / copy.t_eff_gb_s
    )


def test_counters_are_those_of_the_same_device(rungs):
    assert rungs.counters.device.slug == rungs.traffic.device.slug == rungs.found.device.slug
    assert rungs.found.device.name in rungs.origin


def test_clocks_are_shares_of_the_time_on_512_cubed(rungs):
    moved = sum(rungs.moved(FLAT)[:2])
    assert rungs.clocks(FLAT).seconds("memory") == pytest.approx(moved / rungs.copy().t_eff_gb_s / 1e9)
    assert rungs.moved(FLAT, 1024)[0] > 8 * 1024**3


@pytest.mark.parametrize("variant", [FLAT, TILED], ids=lambda v: v.name)
def test_the_interpreter_s_launch_is_the_one_that_the_hardware_counted(variant):
    seen, counted = Ladder(bench.recorded("stencil")).seen(variant), profile(variant)
    assert seen["global load sectors"] == counted.global_load.sectors > 0
    assert seen["shared load wavefronts"] == counted.shared_load.wavefronts
    row = record.recorded().counters[f"{variant.function_name}_64"]
    assert (seen["instructions"], seen["bytes read"]) == (
        row["smsp__inst_executed.sum"],
        row["dram__bytes_read.sum"],
    )


def test_the_picture_says_times_shares_and_origin(rungs):
    alt = rungs.draw({"flat": FLAT, "by a tile": TILED}).alt
    for variant, name in ((FLAT, "flat"), (TILED, "by a tile")):
        issue = rungs.clocks(variant).shares["issue"]
        assert f"{name}: {bench.format_time(rungs.measured(variant).median_s)}, of which memory" in alt
        assert f"issue {100 * issue:.0f}%" in alt
    assert f"copy: {bench.format_time(rungs.copy().median_s)}" in alt and rungs.found.origin in alt


def test_what_is_not_recorded_is_named(rungs):
    with pytest.raises(CourseError, match="no recorded measurement of 'laplacian flat, Numba CUDA' with"):
        rungs.measured(FLAT, edge=3)


def test_climbing_names_shares_counters_and_the_longest_clock(rungs):
    said = rungs.climb({"flat": FLAT, "tile": TILED}).alt
    share = rungs.of_copy(rungs.measured(TILED))
    seen, shares = rungs.seen(TILED), rungs.clocks(TILED).shares
    longest = max(shares, key=shares.get)
    assert f"tile: {share:.0%}, a fall, instructions per warp {32 * seen['instructions'] / 64**3:.0f}" in said
    assert f"longest clock {longest} {shares[longest]:.0%}" in said and rungs.found.origin in said


def test_what_memory_and_l1_can_do_follows_from_the_records(rungs):
    few = rungs.latency_ns(VARIANTS["centre_strided"], 132)
    m = rungs.measured(VARIANTS["centre_strided"], threads_per_block=64, blocks_per_sm=1)
    assert few == pytest.approx(132 * 64 * 8 / (m.cost.bytes_read / m.median_s / 1e9), rel=0.01)
    gb_s, per_cycle = rungs.l1_gb_s(FLAT, 132)
    assert per_cycle == pytest.approx(1, abs=0.01)
    assert gb_s > 5 * rungs.copy().t_eff_gb_s


def test_latencies_are_those_of_the_same_device(rungs, monkeypatch):
    monkeypatch.setattr("course_pkg.witness.ladder.records", lambda topic: [])
    without = Ladder(rungs.found)
    assert without.latencies == {} and "not recorded yet" in without.answers().alt
    assert "course bench latency --record" in without.answers().alt
    chains = SimpleNamespace(device=rungs.found.device, measurements=a_gpu(), origin="Recorded.")
    stranger = SimpleNamespace(device=SimpleNamespace(slug="another"))
    monkeypatch.setattr("course_pkg.witness.ladder.records", lambda topic: [stranger, chains])
    there = Ladder(rungs.found)
    assert [round(one.ns) for one in there.latencies.values()] == [15, 20, 150, 600]
    alt = there.answers().alt
    assert alt.endswith(
        "L1: 20.0 ns (40 cycles); L2: 150 ns (300 cycles); memory: 600 ns (1,200 cycles); shared memory: 15 ns. "
        "Recorded."
    )
