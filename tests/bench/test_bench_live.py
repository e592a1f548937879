"""Live tables: with a GPU they show this machine next to the record, without one only the record."""

import importlib
from dataclasses import replace

import pytest

from course_pkg.bench import Device, Measurement, live
from course_pkg.core import Cost, CourseError, Library
from course_pkg.stencil.variants import VARIANTS as STENCIL

module = importlib.import_module("course_pkg.bench.live")  # the package's name `live` is the function
H200, MINE = Device("gpu", "NVIDIA H200", 132, 0, 0), Device("gpu", "My GPU", 1, 0, 0)


def measured(what, device=H200, time_s=1e-3, date="2026-11-21"):
    return Measurement(what, (time_s,), (), 1, "exceeds", Cost(10**9, 10**9), device, {}, date)


def refuse():
    raise AssertionError("it was measured")


@pytest.fixture
def a_gpu(monkeypatch):
    monkeypatch.setattr(module.devices, "gpu", lambda: MINE)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(module.devices, "gpu", lambda: Device("simt", "SIMT interpreter", 0, 0, 0))


def test_without_a_gpu_nothing_is_measured_and_the_record_is_shown(no_gpu):
    table = live(refuse, [measured("copy"), measured("triad")])
    assert [(row["what"], row["where"]) for row in table.rows] == [
        ("copy", "NVIDIA H200, recorded"),
        ("triad", "NVIDIA H200, recorded"),
    ]
    assert table.rows[0]["time"] == "1.00 ms" and table.rows[0]["T_eff GB/s"] == "2,000"
    assert table.caption == "No GPU here. Recorded on NVIDIA H200, 2026-11-21."


def test_with_a_gpu_this_machine_stands_beside_each_record(a_gpu):
    h100 = Device("gpu", "NVIDIA H100", 132, 0, 0)
    recorded = [measured("copy"), measured("triad"), measured("copy", h100, date="2026-11-22")]
    table = live(lambda: iter([measured("copy", MINE, 2e-3), measured("triad", MINE, 2e-3)]), recorded)
    assert [(row["what"], row["where"]) for row in table.rows] == [
        ("copy", "My GPU, this machine"),
        ("copy", "NVIDIA H200, recorded"),
        ("copy", "NVIDIA H100, recorded"),
        ("triad", "My GPU, this machine"),
        ("triad", "NVIDIA H200, recorded"),
    ]
    assert table.caption == (
        "Measured on this machine's My GPU, beside what was recorded. "
        "Recorded on NVIDIA H200, 2026-11-21; on NVIDIA H100, 2026-11-22."
    )


def test_the_same_work_of_two_sizes_is_told_apart_and_each_size_stands_with_its_record(a_gpu):
    def sized(n, device):
        return replace(measured("copy", device), parameters={"n": n, "dtype": "float64"})

    recorded = [sized(1024, H200), sized(8192, H200), measured("triad")]
    table = live(lambda: [sized(1024, MINE), sized(8192, MINE)], recorded)
    assert [(row["what"], row["where"].split(",")[0]) for row in table.rows] == [
        ("copy, n\u00a0=\u00a01,024", "My GPU"),
        ("copy, n\u00a0=\u00a01,024", "NVIDIA H200"),
        ("copy, n\u00a0=\u00a08,192", "My GPU"),
        ("copy, n\u00a0=\u00a08,192", "NVIDIA H200"),
        ("triad", "NVIDIA H200"),
    ]


def test_a_variant_has_its_title_and_other_work_its_label(a_gpu):
    tiled = STENCIL["laplacian_tiled"]
    what = tiled.by(Library.NUMBA_CUDA)
    table = live(
        lambda: [measured(what, MINE)], [measured(what), measured("copy")], {tiled: "through a tile"}
    )
    assert [row["what"] for row in table.rows] == ["through a tile", "through a tile", "copy"]
    assert live(lambda: [], [measured(what)]).rows[0]["what"] == what.label


@pytest.mark.parametrize(
    "error", [CourseError("The GPU is too small."), ImportError("CuPy is not installed."), MemoryError("no room")]
)  # fmt: skip
def test_what_cannot_be_measured_says_why(a_gpu, error):
    def fails():
        raise error

    table = live(fails, [measured("copy")])
    assert len(table.rows) == 1
    assert (
        table.caption.startswith(f"Not measured on this machine's My GPU: {error} Recorded on")
        or str(error) == "no room"
    )
    assert str(error) in table.caption


def test_a_wrong_result_is_no_want_of_anything(a_gpu):
    with pytest.raises(AssertionError, match="it was measured"):
        live(refuse, [measured("copy")])


def test_there_must_be_a_record(no_gpu):
    with pytest.raises(CourseError, match="nothing recorded to show"):
        live(refuse, [])
