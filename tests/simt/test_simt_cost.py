"""A profile's numbers for a whole launch: its cost, the least that it must move, and its traffic by memory."""

from dataclasses import replace

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core.cost import Cost
from course_pkg.core.machine import catalogue
from course_pkg.simt.errors import SimtError
from course_pkg.simt.report.page import as_text


@cuda.jit
def averaged(u, out, total):
    i = cuda.grid(1)
    out[i] = 0.5 * (u[i] + u[i // 32])
    cuda.atomic.add(total, 0, 1.0)


def test_a_profile_gives_the_cost_of_its_launch():
    found = simt.profile(averaged[2, 32], np.ones(64), np.zeros(64), np.zeros(1))
    assert found.cost() == Cost(bytes_read=3 * 64 * 8, bytes_written=2 * 64 * 8, flops=2 * 64)
    assert found.cost("block") == Cost(bytes_read=(64 + 1 + 2) * 8, bytes_written=(64 + 2) * 8, flops=2 * 64)
    assert found.cost("perfect") == Cost(bytes_read=65 * 8, bytes_written=65 * 8, flops=2 * 64)
    with pytest.raises(SimtError, match="use none, block or perfect"):
        found.cost("warp")


def test_the_floor_of_a_profile_is_that_of_its_cost():
    machine = next(iter(catalogue().values()))
    found = simt.profile(averaged[2, 32], np.ones(64), np.zeros(64), np.zeros(1))
    assert found.time_floor_s(machine) == found.cost("perfect").time_floor_s(machine) > 0
    slow = replace(machine, fp64_gflop_s=1e-6)
    assert found.time_floor_s(slow) == 2 * 64 / 1e3
    assert found.time_floor_s(machine.measured(1.0)) == 2 * 65 * 8 / 1e9


@cuda.jit
def counted_by_atomics(u, out):
    i = cuda.grid(1)
    seen = cuda.shared.array(64, np.int64)
    seen[i] = 0
    cuda.syncthreads()
    out[i] = cuda.atomic.add(seen, i, 1) + cuda.atomic.add(u, i, 0.0)


def test_atomics_have_a_row_of_their_own_for_each_memory():
    found = simt.profile(counted_by_atomics[1, 64], np.ones(64), np.zeros(64))
    rows = {line[:14].strip(): line.split() for line in as_text(found).splitlines()}
    assert rows["global atomics"][2:5] == ["64", "2", "16"]
    assert rows["shared atomics"][2:5] == ["64", "2", "–"]  # their wavefronts are not known
    assert found.atomics.requests == 4
    assert found.traffic()["shared_atomics"].thread_accesses == 64
    assert {name for name, counts in found.traffic().items() if counts} == {
        *("global_store", "global_atomics", "shared_store", "shared_atomics")
    }
