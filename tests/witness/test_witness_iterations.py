"""What is recorded of conjugate gradient, on every GPU that is recorded."""

from math import prod

import pytest

from course_pkg import bench
from course_pkg.cg.cases import BOXES
from course_pkg.cg.variants import METHODS, VARIANTS
from course_pkg.core import Library
from course_pkg.witness import clocks
from course_pkg.witness.cases import large_cases
from course_pkg.witness.compare import by_name
from course_pkg.witness.iterations import LARGE, SMALL, Iterations, bytes_per_point, flops_of_dots

GPUS = [Iterations(found) for found in bench.records("cg")]
TWO = VARIANTS["cg_two_kernel"]
each_gpu = pytest.mark.parametrize("on", GPUS, ids=lambda on: on.name)


@each_gpu
def test_an_iteration_is_half_of_the_recorded_pair(on):
    recorded = on.found.all(TWO.by(Library.NUMBA_CUDA))
    wanted = {"shape": [SMALL] * 3, "dtype": "float64", "iterations": 2}
    [pair] = [m for m in recorded if m.parameters == wanted]
    assert on.iteration_s(TWO) == pair.median_s / 2
    bytes_moved = pair.cost.bytes
    assert on.over_bound(TWO) == pytest.approx(pair.median_s / (bytes_moved / (on.copy.t_eff_gb_s * 1e9)))


@each_gpu
def test_a_pass_is_a_field_at_the_bandwidth_of_the_long_copy(on):
    assert on.copy.parameters["shape"] == [LARGE] * 3
    assert on.pass_s(LARGE) == pytest.approx(on.copy.median_s / 2)  # a copy reads a field and writes one
    bound_s = on.pair(TWO).bound_s(on.copy) / 2
    assert bytes_per_point(TWO) / 8 * on.pass_s(SMALL) == pytest.approx(bound_s)


@each_gpu
def test_a_whole_call_is_divided_by_its_iterations(on):
    assert on.whole_s(TWO) == on.solve(TWO).median_s / 514
    by_cupy = on.found.one(METHODS[0].by(Library.CUPY), shape=[SMALL] * 3)
    assert on.whole_s(METHODS[0], Library.CUPY) == by_cupy.median_s / 100


@each_gpu
def test_flops_are_those_of_the_hardware_an_fma_two(on):
    counted = on.counters.counters["cg_search_64_float64"]
    seen = by_name(counted)
    flops = seen["float64 add"] + seen["float64 mul"] + 2 * seen["float64 fma"]
    assert on.flops_per_point("search") == flops / prod(BOXES["64"])
    assert on.flops_per_point("search", "search") == 2 * on.flops_per_point("search")
    assert flops_of_dots() == 4


@each_gpu
def test_bytes_per_point_are_those_of_the_record(on):
    must_read, must_write, read, written = on.moved(LARGE, "search", "advance")
    assert (must_read + must_write, must_read) == (bytes_per_point(TWO), 40)
    counted = [on.traffic.counters[f"cg_{kernel}_{LARGE}"] for kernel in ("search", "advance")]
    assert read == sum(c["dram__bytes_read.sum"] for c in counted) / LARGE**3
    assert written == sum(c["dram__bytes_write.sum"] for c in counted) / LARGE**3


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_launches_of_a_method_are_the_kernels_of_its_plan(method):
    assert len(method.launches) == len(method.plan.kernels)
    cases = [large_cases().get(f"cg_{kernel}_{SMALL}") for kernel in method.launches]
    without = [k for k, case in zip(method.launches, cases, strict=True) if case is None]
    assert without == []
    for case, kernel in zip(cases, method.plan.kernels, strict=True):
        must = (8 * SMALL**3 * len(fields) for fields in (kernel.reads, kernel.writes))
        assert (case.cost.bytes_read, case.cost.bytes_written) == tuple(must)


@each_gpu
def test_the_clock_of_an_iteration_is_the_work_of_its_launches_beside_the_sum_of_their_times(on):
    counted = [on.traffic.counters[f"cg_{kernel}_{SMALL}"] for kernel in VARIANTS["cg_baseline"].launches]
    moved = sum(c[clocks.READ] + c[clocks.WRITTEN] for c in counted)
    share = moved / on.copy.t_eff_gb_s / sum(c[clocks.TIME] for c in counted)  # GB/s are bytes per nanosecond
    assert on.iteration_clock(METHODS[0]) == f"memory {share:.0%}"
    its = on.iteration_clocks(METHODS[0])
    assert its.longest_unit == clocks.MEMORY and its.shares[clocks.MEMORY] == pytest.approx(share)


@each_gpu
def test_an_iteration_of_which_a_launch_was_not_counted_has_no_clock(on):
    clock = {(v.name, edge): on.iteration_clock(v, edge) for v in METHODS for edge in (SMALL, LARGE)}
    known = {key for key, text in clock.items() if text != clocks.NOT_COUNTED}
    counted = {(v.name, SMALL) for v in METHODS} | {("two_kernel", LARGE), ("deferred_x", LARGE)}
    assert known == counted
    assert on.iteration_clock(METHODS[0], library=Library.CUPY) == clocks.NOT_COUNTED
    assert on.iteration_clock(VARIANTS["cg_csr"]) == clocks.NOT_COUNTED
    assert on.iteration_clocks(VARIANTS["cg_csr"]) is None


def test_by_name_gives_the_profiles_names_and_none_where_nothing_was_counted():
    names = by_name({"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 7})
    assert names["global load sectors"] == 7 and names["shared load wavefronts"] is None
