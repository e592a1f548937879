"""Chains of loads: they visit every link, end where the oracle ends, and their times become latencies."""

from dataclasses import replace

import numpy as np
import pytest
from chains import a_gpu, timed

from course_pkg import cuda
from course_pkg.bench import gpu
from course_pkg.commands import bench as command
from course_pkg.core import CourseError
from course_pkg.vector import cost, gpu_numba, latency, reference, suite_latency
from course_pkg.vector.problem import Ring

CHASES = {"global": gpu_numba.chase, "shared": gpu_numba.chase_shared}


@pytest.mark.parametrize(("n", "stride"), [(1, 1), (7, 1), (96, 32), (1024, 32)])
def test_a_ring_visits_each_of_its_links_once_and_returns(n, stride):
    ring = Ring.random(n, stride, seed=5)
    assert ring.links.dtype == np.uint32 and ring.lap == n // stride
    at, seen = 0, []
    for _ in range(ring.lap):
        seen.append(at)
        at = int(ring.links[at])
    assert at == 0 and sorted(seen) == list(range(0, n, stride))


def test_the_order_of_a_ring_is_drawn_and_reproducible():
    one, same, other = (Ring.random(1024, 32, seed).links for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    jumps = np.diff(one[::32].astype(int))
    assert len(set(jumps)) > 16, "no stride that could be foretold"


@pytest.mark.parametrize(("n", "stride"), [(0, 1), (8, 0), (8, 16), (100, 32), (2**32 + 32, 32)])
def test_rings_that_cannot_be_are_refused(n, stride):
    with pytest.raises(CourseError, match="a multiple of the stride, and at most 2"):
        Ring.random(n, stride)


@pytest.mark.parametrize("where", CHASES)
@pytest.mark.parametrize("steps", [0, 1, 2, 5, 31, 32, 33, 100])
def test_a_chain_ends_where_the_oracle_ends_and_goes_on_from_there(where, steps):
    ring = Ring.random(1024, 32, seed=2)
    links, at = cuda.to_device(ring.links), cuda.to_device(ring.links[:1].copy())
    expected = ring.links[:1].copy()
    for _ in range(2):
        CHASES[where](links, steps, at)
        reference.chase(ring.links, steps, expected)
        np.testing.assert_array_equal(at.copy_to_host(), expected)
    np.testing.assert_array_equal(links.copy_to_host(), ring.links)


@pytest.mark.parametrize("where", CHASES)
def test_a_chain_loads_once_per_step_with_one_lane(where):
    """What must not happen is that a compiler, or the interpreter, shortens the chain."""
    from course_pkg import simt

    kernel = gpu_numba.chase_kernel if where == "global" else gpu_numba.chase_shared_kernel
    ring, at = Ring.random(1024, 32), np.zeros(1, np.uint32)
    found = [simt.profile(kernel[1, 1], ring.links.copy(), steps, at.copy()) for steps in (10, 30)]
    space = "global_load" if where == "global" else "shared_load"
    requests = [getattr(profile, space).requests for profile in found]
    assert requests[1] - requests[0] == 20
    others = [profile.global_load.requests for profile in found]
    assert where == "global" or others[0] == others[1] == 1024 + 1, "the ring is copied once, and read there"


def test_wrong_arguments_of_a_chain_are_named():
    ring, at = (cuda.to_device(np.zeros(n, np.uint32)) for n in (8, 1))
    signed, long = cuda.to_device(np.zeros(8, np.int32)), cuda.to_device(np.zeros(5000, np.uint32))
    for args, message in (
        ((signed, 3, at), "ring has dtype int32, expected uint32"),
        ((np.zeros(8, np.uint32), 3, at), "ring lives in host memory"),
        ((ring, 3, ring), r"at has shape \(8,\)"),
        ((ring, 3, ring[:1]), "ring and at share memory"),
        ((ring, -1, at), "steps"),
        ((ring, 2.5, at), "steps"),
        ((long, 3, at), "ring has 5000 elements, and shared memory has room for 4096"),
    ):
        with pytest.raises(CourseError, match=message):
            gpu_numba.chase_shared(*args)
    gpu_numba.chase(long, 3, at)


# ---- from times to latencies


def test_a_latency_is_the_difference_of_two_chains():
    found = latency.latencies(a_gpu())
    assert [one.footprint_bytes for one in found] == [2**15, 2**22, 2**30]
    assert [one.ns for one in found] == pytest.approx([20, 150, 600])
    assert [one.cycles for one in found] == pytest.approx([40, 300, 1200])
    assert str(found[0]) == "20.0 ns (40 cycles)" and str(found[1]) == "150 ns (300 cycles)"


def test_each_memory_has_its_ring():
    found = latency.by_level(a_gpu())
    assert list(found) == ["shared memory", "L1", "L2", "memory"]
    assert [one.ns for one in found.values()] == pytest.approx([15, 20, 150, 600])
    rest = [m for m in a_gpu() if m.parameters["n"] == 2**28]
    assert list(latency.by_level(rest)) == ["memory"] and latency.by_level([]) == {}


def test_one_chain_is_no_latency_and_no_clock_no_cycles():
    with pytest.raises(CourseError, match="A ring of 64 elements was timed with 100 steps only"):
        latency.latencies([timed(64, 100, 1e-6)])
    (found,) = latency.latencies([timed(64, 100, 1e-6), timed(64, 200, 2e-6)])
    assert found.cycles is None and str(found) == "10.0 ns"


# ---- the suite


@pytest.fixture
def interpreted(monkeypatch):
    """The interpreter is taken for a GPU with little memory; chains are short."""
    monkeypatch.setattr(suite_latency, "gpu", lambda: replace(gpu(), kind="gpu", llc_bytes=2**14))
    monkeypatch.setattr(suite_latency, "free_bytes", lambda device: 2**16)
    monkeypatch.setattr(suite_latency, "STEPS", (4, 12))
    monkeypatch.setattr(suite_latency, "BUSY_S", 1e-4)
    monkeypatch.setattr(suite_latency.devices, "gpu_clocks", lambda: {"sm_mhz": 1980})


def test_the_suite_times_two_chains_on_each_ring_that_fits(interpreted, monkeypatch):
    """Three samples are taken where twenty are asked for: the interpreter needs a tenth of a second for one."""
    asked, measure = [], suite_latency.measure

    def fewer(*args, samples, **options):
        asked.append(samples)
        return measure(*args, samples=3, **options)

    monkeypatch.setattr(suite_latency, "measure", fewer)
    found = list(suite_latency.run("gpu"))
    assert asked == [1, *[20] * len(found), 1], "one each for the clocks before and after"
    assert [(m.what, 4 * m.parameters["n"], m.parameters["steps"]) for m in found] == [
        (what, footprint, steps)
        for what, footprint in (
            (latency.CHASE_SHARED, 2**14),
            *((latency.CHASE, 2**e) for e in (13, 14, 15)),
        )
        for steps in (4, 12)
    ]
    assert all(m.observed == {"sm_mhz": 1980, "sm_mhz_after": 1980} for m in found)
    assert all(m.cost == cost.chase(m.parameters["steps"]) and len(m.samples_s) == 3 for m in found)
    rows = suite_latency.summary(found)
    assert [row["ring"] for row in rows] == ["16 KiB", "8 KiB", "16 KiB", "32 KiB"]
    assert [row["memory"] for row in rows][:2] == ["shared memory", ""]


def test_a_wrong_chain_is_not_timed(interpreted, monkeypatch):
    right = gpu_numba.chase

    def short(ring, steps, at):
        right(ring, steps - 1, at)

    monkeypatch.setattr(gpu_numba, "chase", short)
    with pytest.raises(AssertionError):
        list(suite_latency.run("gpu", quick=True))


def test_rings_and_chains_fit_together():
    """A ring that fits in L1 is walked once by the shorter chain; that of L2 is not walked twice by the longer one."""
    links = {name: footprint // (4 * suite_latency.LINE) for name, footprint in latency.FOOTPRINTS.items()}
    assert links[latency.L1] <= suite_latency.STEPS[0] and links[latency.L2] >= suite_latency.STEPS[1]
    assert set(latency.FOOTPRINTS.values()) <= set(suite_latency.QUICK) & set(suite_latency.FOOTPRINTS)
    assert suite_latency.STEPS[0] * 4 * suite_latency.LINE >= 256 * 2**10, "L1 of an H100"


def test_the_suite_is_a_choice_and_asks_for_a_gpu_in_a_sentence():
    assert command.suites()["latency"] == "course_pkg.vector.suite_latency"
    with pytest.raises(CourseError, match="latency` needs an NVIDIA GPU"):
        next(suite_latency.run("cpu"))
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    with pytest.raises(CourseError, match="latency` needs an NVIDIA GPU"):
        next(suite_latency.run("gpu"))
