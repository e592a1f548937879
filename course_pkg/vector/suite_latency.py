"""What ``course bench latency`` measures: how long shared memory, L1, L2 and memory of a GPU take to answer a load.

One thread follows rings of links, from 8 KiB to 1 GiB. Each ring is served by the smallest memory that can hold it.
There is one link in every 128 bytes, so that no cache line serves two loads. The order is random, so that no load can
be predicted. On long rings, a step also waits for the translation of its address.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from course_pkg.bench import Measurement, gpu, measure, progress
from course_pkg.bench import device as devices
from course_pkg.core import CourseError, Implementation
from course_pkg.core.units import format_bytes
from course_pkg.vector import cost, reference
from course_pkg.vector.here import free_bytes
from course_pkg.vector.latency import CHASE, CHASE_SHARED, by_level, latencies
from course_pkg.vector.problem import Ring

SUITE = ("latency", "chains of loads")
LINE = 32  # elements of 4 bytes between two links: a cache line
FOOTPRINTS = tuple(2**e for e in range(13, 31))  # bytes
QUICK = (2**15, 2**22, 2**28)
STEPS = (2**13, 2**14)  # the first has more than a lap of a ring that fits in L1
HELD = 4  # a ring is walked once before it is timed, if it is at most this many times as large as L2
BUSY_S = 0.4  # seconds for which the GPU follows links before its clocks are read; it goes on meanwhile
RATES = False  # bytes per second are meaningless, because one thread waits for each load


def run(device: str, *, quick: bool = False) -> Iterator[Measurement]:
    """Yield the measurements of chains of two lengths on each ring; with ``quick``, of few rings and samples.

    Raises
    ------
    CourseError
        If the device is a CPU, or there is no GPU.
    """
    if device != "gpu" or gpu().kind != "gpu":
        raise CourseError(
            "`course bench latency` needs an NVIDIA GPU: name it by --device gpu where there is one, or read a record."
        )
    found, footprints = [], [f for f in (QUICK if quick else FOOTPRINTS) if f <= free_bytes("gpu") // 2]
    samples = 5 if quick else 20
    with progress(len(footprints) + 3) as step:
        step("clocks")
        before = _clocks()
        step(CHASE_SHARED.label)
        found += _chains(CHASE_SHARED, _shared_bytes(), samples)
        for footprint in footprints:
            step(format_bytes(footprint))
            found += _chains(CHASE, footprint, samples)
        step("clocks")
        after = _clocks()
    observed = before | {f"{name}_after": mhz for name, mhz in after.items()}
    yield from (replace(m, observed=observed) for m in found)


def summary(measurements: list[Measurement], among: list[Measurement] = ()) -> list[dict]:
    """Return one table row per ring: the ring's size, the memory that it stands for, if any, and the time per step.

    If ``measurements`` are only some of the rings, pass those of all rings as ``among``: the longest of all stands for
    memory.
    """
    named = {latency: name for name, latency in by_level(among or measurements).items()}
    return [
        {
            "ring": format_bytes(latency.footprint_bytes),
            "memory": named.get(latency, ""),
            "ns per step": f"{latency.ns:.1f}",
            "cycles": "unknown" if latency.cycles is None else f"{latency.cycles:.0f}",
        }
        for what in (CHASE_SHARED, CHASE)
        for latency in latencies(measurements, what)
    ]


def _chains(what: Implementation, footprint: int, samples: int) -> list[Measurement]:
    """Time chains of both lengths on one ring."""
    from course_pkg import cuda
    from course_pkg.vector import gpu_numba

    fn = gpu_numba.chase_shared if what == CHASE_SHARED else gpu_numba.chase
    ring = Ring.random(footprint // 4, LINE)
    links, at = cuda.to_device(ring.links), cuda.to_device(np.zeros(1, np.uint32))
    if footprint <= HELD * gpu().llc_bytes:
        fn(links, ring.lap, at)  # one lap loads as much of the ring into the caches as fits
    return [
        measure(
            fn,
            links,
            steps,
            at,
            cost=cost.chase(steps),
            check=_ends(ring, steps, at),
            name=what,
            parameters={"n": footprint // 4, "dtype": "uint32", "stride": LINE, "steps": steps},
            samples=samples,
        )
        for steps in STEPS
    ]


def _ends(ring, steps, at):
    """Return a function that checks where the next chain ends."""
    expected = at.copy_to_host()
    reference.chase(ring.links, steps, expected)

    def check():
        np.testing.assert_array_equal(at.copy_to_host(), expected)

    return check


def _shared_bytes() -> int:
    from course_pkg.vector.gpu_numba import SHARED_LINKS

    return 4 * SHARED_LINKS


def _clocks() -> dict[str, int]:
    """Return the GPU's clocks, read while it follows links."""
    from course_pkg import cuda
    from course_pkg.vector import gpu_numba

    ring = Ring.random(2**13, LINE)
    links, at = cuda.to_device(ring.links), cuda.to_device(np.zeros(1, np.uint32))
    once = measure(gpu_numba.chase, links, STEPS[-1], at, samples=1).median_s
    steps = max(1, round(BUSY_S * STEPS[-1] / once))
    gpu_numba.chase(links, steps, at)  # by the end of this call, the clocks have risen
    gpu_numba.chase(links, 2 * steps, at)
    clocks = devices.gpu_clocks()
    cuda.synchronize()
    return clocks
