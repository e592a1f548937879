"""The catalogue of machines: numbers from datasheets, each with its source, and which device belongs to which entry."""

import tomllib
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from course_pkg.core import CourseError, catalogue, find_machine, machine
from course_pkg.core.machine import FIGURES

ROWS = tomllib.loads(files("course_pkg.core").joinpath("machines.toml").read_text(encoding="utf-8"))[
    "machine"
]

# from the datasheets: bandwidth GB/s, fp64 and fp32 GFLOP/s, processors, year
DATASHEETS = {
    "c1060": (102, 78, 933, 30, 2008),
    "c2050": (144, 515, 1030, 14, 2010),
    "k40": (288, 1430, 4290, 15, 2013),
    "p100": (732, 5300, 10600, 56, 2016),
    "v100": (900, 7800, 15700, 80, 2017),
    "t4": (320, 254, 8100, 40, 2018),
    "a100-40": (1555, 9700, 19500, 108, 2020),
    "a100-80": (2039, 9700, 19500, 108, 2020),
    "h100-pcie": (2000, 26000, 51000, 114, 2022),
    "h100-sxm": (3350, 34000, 67000, 132, 2022),
    "h200": (4800, 34000, 67000, 132, 2024),
    "rtx4090": (1008, 1290, 82600, 128, 2022),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["key"])
def test_every_figure_has_exactly_one_source(row):
    sourced = Counter(figure for named in row["sources"].values() for figure in named)
    assert set(sourced) == {name for name in row if name in FIGURES}
    assert set(sourced.values()) == {1}
    assert all(len(document) > 15 for document in row["sources"])
    assert set(machine(row["key"]).sources) == set(sourced)


def test_each_machine_is_listed_once_and_in_order_of_year():
    assert len(ROWS) == len(catalogue()) == len({row["name"] for row in ROWS})
    years = [m.year for m in catalogue().values()]
    assert years == sorted(years)


@pytest.mark.parametrize(("key", "expected"), DATASHEETS.items(), ids=DATASHEETS)
def test_the_figures_of_the_gpus_are_their_datasheets(key, expected):
    m = machine(key)
    assert m.kind == "gpu"
    assert (m.bandwidth_gb_s, m.fp64_gflop_s, m.fp32_gflop_s, m.sms, m.year) == expected


@pytest.mark.parametrize(
    ("key", "cores", "clock_ghz", "channels", "mega_transfers"),
    [("epyc9654", 96, 2.4, 12, 4800), ("ryzen7840u", 8, 3.3, 2, 5600)],
)
def test_the_cpus_follow_from_cores_clock_and_memory_channels(
    key, cores, clock_ghz, channels, mega_transfers
):
    m = machine(key)
    assert m.kind == "cpu"
    assert m.sms == cores
    assert m.fp64_gflop_s == pytest.approx(cores * clock_ghz * 16, abs=0.5)
    assert m.fp32_gflop_s == pytest.approx(cores * clock_ghz * 32, abs=0.5)
    assert m.bandwidth_gb_s == pytest.approx(channels * 8 * mega_transfers / 1000)


@pytest.mark.parametrize(
    ("figure", "value"),
    {
        "compute_capability": "7.0",
        "warp_size": 32,
        "max_warps_per_sm": 64,
        "max_blocks_per_sm": 32,
        "max_threads_per_block": 1024,
        "sms": 80,
        "tpcs": 40,
        "fp32_cores_per_sm": 64,
        "fp64_cores_per_sm": 32,
        "tensor_cores_per_sm": 8,
        "fp32_gflop_s": 15_700,
        "fp64_gflop_s": 7_800,
        "tensor_gflop_s": 125_000,
        "l1_line_bytes": 128,
        "sector_bytes": 32,
        "l2_kib": 6144,
        "shared_kib_per_sm": 96,
        "bandwidth_gb_s": 900,
        "memory_gb": 16,
    }.items(),
)
def test_the_v100_has_every_figure(figure, value):
    assert getattr(machine("v100"), figure) == value
    assert figure in machine("v100").sources


@pytest.mark.parametrize(
    ("key", "memory_gb", "l2_kib", "shared_kib"),
    [
        ("p100", 16, 4096, 64),
        ("t4", 16, 4096, 64),
        ("a100-40", 40, 40960, 164),
        ("a100-80", 80, 40960, 164),
        ("h100-pcie", 80, 51200, 228),
        ("h100-sxm", 80, 51200, 228),
        ("h200", 141, 61440, 228),
        ("rtx4090", 24, 73728, 100),
    ],
)
def test_memory_and_caches_of_the_gpus(key, memory_gb, l2_kib, shared_kib):
    m = machine(key)
    assert (m.memory_gb, m.l2_kib, m.shared_kib_per_sm) == (memory_gb, l2_kib, shared_kib)


def test_balance_is_flops_for_each_number_moved():
    p100 = machine("p100")
    assert p100.balance() == pytest.approx(57.92, abs=0.005)
    assert p100.balance("float64") == p100.balance(np.float64) == p100.balance()
    assert p100.balance("float32") == pytest.approx(10600 / 732 * 4)
    assert machine("h100-pcie").balance() == pytest.approx(104)
    assert p100.measured(366).balance() == p100.balance(), "the balance is the datasheet's"


@pytest.mark.parametrize("dtype", ["float16", "int32", "complex128"])
def test_peaks_are_known_for_two_precisions_only(dtype):
    with pytest.raises(CourseError, match=rf"float64 and float32, not for {dtype}"):
        machine("p100").peak_gflop_s(dtype)


def test_roofline_bends_at_the_ridge():
    m = machine("h200")
    ridge = m.ridge()
    assert ridge == pytest.approx(34000 / 4800)
    assert m.ridge("float32") == pytest.approx(67000 / 4800)
    assert m.attainable_gflop_s(ridge / 2) == pytest.approx(17000)
    assert m.attainable_gflop_s(ridge) == pytest.approx(34000)
    assert m.attainable_gflop_s(100 * ridge) == 34000
    np.testing.assert_allclose(m.attainable_gflop_s([0.125, 1, 1000], "float32"), [600, 4800, 67000])


def test_a_measured_bandwidth_replaces_the_datasheets_in_the_roofline_only():
    paper = machine("h200")
    real = paper.measured(4305)
    assert (paper.t_peak_gb_s, real.t_peak_gb_s) == (4800, 4305)
    assert real.bandwidth_gb_s == 4800
    assert real.ridge() == pytest.approx(34000 / 4305)
    assert real.attainable_gflop_s(1) == pytest.approx(4305)
    assert paper.measured_bandwidth_gb_s is None, "the catalogue stays as it is"


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_measured_bandwidth_is_positive(wrong):
    with pytest.raises(CourseError, match="positive number of GB/s"):
        machine("h200").measured(wrong)


def test_an_unknown_machine_is_answered_with_the_known_ones():
    with pytest.raises(CourseError, match=r"no machine 'h300'; it has .*p100.*h200"):
        machine("h300")


@pytest.mark.parametrize(
    ("device_name", "key"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA A100-SXM4-80GB", "a100-80"),
        ("NVIDIA A100-SXM4-40GB", "a100-40"),
        ("A100-SXM4-40GB", "a100-40"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("Tesla P100-SXM2-16GB", "p100"),
        ("Tesla T4", "t4"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("AMD EPYC 9654 96-Core Processor", "epyc9654"),
        ("AMD Ryzen 7 7840U w/ Radeon 780M Graphics", "ryzen7840u"),
    ],
)
def test_a_device_is_found_by_the_name_that_the_driver_prints(device_name, key):
    assert find_machine(device_name).key == key
    assert find_machine(device_name.upper()).key == key


@pytest.mark.parametrize(
    "device_name",
    [
        "",
        "NVIDIA GeForce GTX 1080",
        "Tesla P100-PCIE-16GB",
        "Tesla V100-PCIE-16GB",
        "NVIDIA A100-PCIE-40GB",
        "NVIDIA H100 NVL",
        "NVIDIA GH200 480GB",  # ends like an H200 and is none
        "NVIDIA H200 NVL",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "AMD Ryzen 7 7840HS",
        "Intel(R) Xeon(R) Platinum 8480+",
    ],
)
def test_another_device_is_not_taken_for_a_known_one(device_name):
    assert find_machine(device_name) is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["key"])
def test_a_device_name_belongs_to_one_machine(row):
    for name in row["device_names"]:
        assert find_machine(name).key == row["key"]
