"""What is recorded in this repository: every file is whole, of listed variants, and within what the hardware can do."""

import inspect
import json
from importlib import import_module
from math import prod

import pytest

from course_pkg.bench import Recorded, pitfalls, recorded
from course_pkg.bench.document import COUNTERS, MEASUREMENTS, SCHEMA, TRAFFIC, dumps, read
from course_pkg.core import Implementation, find_machine, machine
from course_pkg.paths import recorded_dir
from course_pkg.topics import topics
from course_pkg.vector import cost, latency, suite_latency

EVERY = sorted(recorded_dir().glob("*/*.json"))
MEASURED = [path for path in EVERY if read(path).kind == MEASUREMENTS]
HONEST = [path for path in MEASURED if path.stem == "honest"]  # half of it is wrong, and meant to be
FILES = [path for path in MEASURED if path not in HONEST]
LATENCIES = [path for path in MEASURED if path.stem == "latency"]  # of an instrument, which is no variant


def name_of(path):
    return f"{path.parent.name}-{path.stem}"


@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_every_record_says_its_kind_and_is_read_by_one_reader(path):
    found = read(path)
    assert found.kind == (path.stem if path.stem in (COUNTERS, TRAFFIC) else MEASUREMENTS)
    assert found.caption.startswith(f"Recorded on {found.device.name}")
    head = {"schema": SCHEMA, "kind": found.kind, **found.head, "device": found.device.to_dict()}
    assert path.read_text(encoding="utf-8") == dumps(head, found.rows), "as it would be written now"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_recorded_files_are_whole(path):
    data = Recorded(path)
    assert path.parent.name == data.device.slug
    assert json.loads(path.read_text(encoding="utf-8"))["topic"] == path.stem
    assert data.device.driver or data.device.kind == "cpu"
    assert {"python", "numpy", "numba"} <= set(data.device.versions)
    keys = [(m.what, json.dumps(m.parameters, sort_keys=True)) for m in data.measurements]
    assert len(keys) == len(set(keys))
    for m in data.measurements:
        # a run of Numba's simulator takes seconds, and a billion unknowns more
        whole_solve = "rtol" in m.parameters
        few = {"simt": 1, "cg": 1, "scaling": 3}  # runs that start anew for each number of GPUs
        assert len(m.samples_s) >= (1 if whole_solve else few.get(path.stem, 20)), m.label
        # a first call of seconds is the only sample of a library of a CPU
        slow = whole_solve and m.library in ("OSQP", "SciPy") and m.samples_s[0] > 2
        assert len(m.warmup_s) >= (0 if slow or path.stem in ("simt", "scaling") else 1)
        assert min(m.samples_s) > 0
        assert m.cache_state in ("exceeds", "warm", "flushed")
        if path.stem in ("cg", "scaling") or whole_solve:
            continue  # a call works on the same arrays many times; messages move nothing in memory
        assert m.cost.bytes > 0
        footprint_exceeds = m.cost.bytes > 4 * data.device.llc_bytes
        assert m.cache_state == "exceeds" or not footprint_exceeds, (m.label, m.parameters)


H200 = [path.stem for path in FILES if path.parent.name == "nvidia-h200"]


@pytest.mark.parametrize("topic", H200)
def test_the_recorded_gpu_is_the_catalogues_h200(topic):
    device, h200 = recorded(topic).device, machine("h200")
    assert device.kind == "gpu"
    assert device.name == "NVIDIA H200"
    assert device.units == h200.sms
    assert device.llc_bytes == h200.l2_kib * 1024
    assert any(package.startswith("cupy") for package in device.versions)
    assert "numba-cuda" in device.versions


def test_the_recorded_streams_span_every_size_in_both_libraries():
    data = recorded("vector")
    for operation in ("copy", "scale", "add", "triad", "dot"):
        for library in ("Numba CUDA", "CuPy"):
            found = data.all(Implementation(operation, "", library), degree=None, shape=None)
            assert [m.parameters["n"] for m in found] == [2**e for e in range(10, 31)], operation
            for m in found:
                two_passes = (operation, library) == ("triad", "CuPy")
                expected = cost.triad_two_passes if two_passes else getattr(cost, operation)
                assert m.cost == expected(m.parameters["n"])


PITFALLS_OF = {
    "cpu": {"first_call", "in_cache", "one_call", "allocates"},
    "gpu": {"no_wait", "first_call", "host_clock", "one_launch", "in_cache", "with_copies", "pageable", "idle_clock"},
}  # fmt: skip


LAUNCH = (
    *("padding", "threads_per_block", "max_registers", "blocks_per_sm", "iterations", "rtol", "order"),
    *("rows", "unroll", "ranks", "scaling", "overlap", "link", "warps"),
)


def variants_of(topic):
    return import_module(f"course_pkg.{topic}.variants").VARIANTS


def cost_of_product(cost, m):
    """Return the cost of a recorded product; the shares that were stored and rounded were noted with four digits."""
    rows, nonzeros = m.parameters["n"], m.parameters["nonzeros"]
    given = {
        **m.parameters,
        "rows": rows,
        "columns": rows,
        "stored": round(m.observed.get("fill", 1) * nonzeros),
        "low": round(m.observed.get("low_share", 0) * nonzeros),
    }
    return cost(**{name: given[name] for name in inspect.signature(cost).parameters if name in given})


@pytest.mark.parametrize("path", [path for path in FILES if path not in LATENCIES], ids=name_of)
def test_what_is_recorded_is_of_a_variant_that_is_listed_with_the_cost_that_it_has(path):
    everything = [v for topic in topics() for v in variants_of(topic)]
    listed = {(v.operation, v.name): v for v in everything}
    for m in Recorded(path).measurements:
        if path.stem == "scaling" and m.operation in ("halo_exchange", "allreduce"):
            continue  # messages
        variant = listed[m.operation, m.variant]
        if path.stem != "simt":  # whose libraries are the interpreter and Numba's simulator
            assert variant.by(m.library) == m.what
        size = {k: v for k, v in m.parameters.items() if k not in LAUNCH}
        if (variant.topic == "vector" and path.stem != "vector") or m.operation == "copy":
            size = {"n": prod(size.get("shape", [size.get("n", 1)])), "dtype": size["dtype"]}
        if "rtol" in m.parameters and m.cost is None:
            continue  # a whole solve, of as many iterations as it takes
        if "matrix" in size:
            expected = cost_of_product(variant.cost_by(m.library), m)
            assert m.cost.flops == expected.flops, (m.label, m.parameters)
            assert m.cost.bytes == pytest.approx(expected.bytes, rel=2e-4), (m.label, m.parameters)
            continue
        its_cost, calls = variant.cost_by(m.library), m.parameters.get("iterations", 1)
        if path.stem == "scaling" and "rtol" in m.parameters:
            calls = m.observed["iterations"]
        if "shape" in size and "n" in inspect.signature(its_cost).parameters:
            size["n"] = prod(size.pop("shape"))
        known = inspect.signature(its_cost).parameters
        if "inactive" in size:
            active = size["n"] - int(size.pop("inactive") * size["n"])
            size |= {"active": active} if "active" in known else {}
        if "iterations" in known:
            size, calls = {**size, "iterations": calls}, 1
        if m.cost is None:
            assert its_cost(**size) is None, m.label
        else:
            assert m.cost == calls * its_cost(**size), (m.label, m.parameters)


@pytest.mark.parametrize("path", HONEST, ids=name_of)
def test_recorded_pitfalls_are_whole_and_their_right_numbers_are_possible(path):
    data = Recorded(path)
    found = pitfalls.pairs(data.measurements)
    assert len(data.measurements) == 2 * len(found), "a wrong measurement and a right one of each"
    assert {pair.pitfall.name for pair in found} == PITFALLS_OF[data.device.kind]
    datasheet = find_machine(data.device.name)
    for pair in found:
        for m in pair.measurements:
            assert len(m.samples_s) >= 3 and min(m.samples_s) > 0
            assert m.device == data.device
        if pair.pitfall.name != "in_cache":  # whose arrays differ
            assert pair.wrong.cost == pair.right.cost
        if datasheet is not None:
            assert pair.right.t_eff_gb_s < datasheet.bandwidth_gb_s, pair.pitfall.name


def test_no_recorded_stream_beats_the_datasheet():
    """From memory nothing is faster than the memory; a wrong byte count would show here."""
    for m in (m for topic in H200 for m in recorded(topic).measurements):
        if m.cost is not None and m.cost.bytes > 2**30:
            bandwidth = m.parameters.get("ranks", 1) * machine("h200").bandwidth_gb_s
            assert 0.01 < m.throughput_gb_s / bandwidth < 1, (m.label, m.parameters)


def test_the_recorded_stencils_are_on_a_grid_of_512_cubed():
    data = recorded("stencil")
    grid = {"shape": [512, 512, 512], "dtype": "float64", "threads_per_block": None}
    for variant, library in (("naive", "Numba CUDA"), ("flat", "Numba CUDA"), ("", "CuPy")):
        found = data.all(Implementation("laplacian", variant, library), **grid)
        assert len(found) == 1, variant
        passes = 20 if library == "CuPy" else 2
        assert found[0].cost.bytes == passes * 8 * 512**3
        assert found[0].cost.a_eff_bytes == 2 * 8 * 512**3


def test_the_recorded_triads_of_numba_and_c_agree_within_ten_percent():
    """Both ran in turns on one CPU: what the lecture says of compiled Python and compiled C, on the longest vectors."""
    xeon = recorded("vector", "intel-xeon-processor")
    numba, c = (xeon.all(Implementation("triad", "", library))[-1] for library in ("Numba CPU", "C"))
    assert numba.parameters == c.parameters
    assert abs(numba.median_s / c.median_s - 1) < 0.1


@pytest.mark.parametrize(("device", "rows"), [("nvidia-h200", 12), ("intel-xeon-processor", 1)])
def test_the_recorded_conjugate_gradients_are_what_is_demanded(device, rows):
    from course_pkg.cg.demands import demands

    found = demands(recorded("cg", device).measurements)
    assert len(found) == rows
    assert {row["met"] for row in found} == {"yes"}, found


@pytest.mark.parametrize(("device", "rows"), [("nvidia-h200", 3), ("nvidia-h100-80gb-hbm3", 2)])
def test_the_recorded_deferred_x_solves_the_large_grid_as_demanded(device, rows):
    """The time is demanded of the H200 alone, the iterations and the residual of both."""
    from course_pkg.cg.demands import DEFERRED, demands

    found = [row for row in demands(recorded("cg", device).measurements) if str(DEFERRED) in row["what"]]
    assert [row["met"] for row in found] == ["yes"] * rows, found


@pytest.mark.parametrize("path", LATENCIES, ids=name_of)
def test_recorded_latencies_are_those_of_memories_one_behind_the_other(path):
    data = Recorded(path)
    assert {m.what for m in data.measurements} == {latency.CHASE, latency.CHASE_SHARED}
    assert [4 * one.parameters["n"] for one in data.measurements[2::2]] == list(suite_latency.FOOTPRINTS)
    assert all(m.cost == cost.chase(m.parameters["steps"]) for m in data.measurements)
    found = latency.by_level(data.measurements)
    assert list(found) == [latency.SHARED, latency.L1, latency.L2, latency.MEMORY]
    shared, l1, l2, memory = (one.ns for one in found.values())
    assert max(shared, l1) < l2 < memory
    assert len({m.observed["sm_mhz"] for m in data.measurements}) == 1
    assert all(m.observed["sm_mhz"] == m.observed["sm_mhz_after"] for m in data.measurements)
