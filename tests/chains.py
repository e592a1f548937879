"""Chains of loads as `course bench latency` would record them on a GPU whose latencies are known."""

from course_pkg.bench import Device, Measurement
from course_pkg.vector import cost, latency


def timed(n, steps, seconds, what=latency.CHASE, **observed):
    parameters = {"n": n, "dtype": "uint32", "stride": 32, "steps": steps}
    device = Device("gpu", "A GPU", 1, 2**40, 2**25)
    return Measurement(
        what, (seconds,), (), 1, "warm", cost.chase(steps), device, parameters, "2026-01-01", observed
    )


def a_gpu():
    """Times of a GPU whose launch takes 5 µs, and whose memories answer in 15, 20, 150 and 600 ns."""
    ns = {latency.CHASE: {2**13: 20, 2**20: 150, 2**28: 600}, latency.CHASE_SHARED: {2**12: 15}}
    return [
        timed(n, steps, 5e-6 + steps * per_step * 1e-9, what, sm_mhz=2000)
        for what, rings in ns.items()
        for n, per_step in reversed(rings.items())
        for steps in (3000, 1000)
    ]
