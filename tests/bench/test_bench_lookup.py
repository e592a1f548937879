"""Measurements are found as people name them, and a name that finds none is answered with what there is."""

import pytest

from course_pkg.bench import Device, Measurement, folder, lookup, record, recorded
from course_pkg.bench.record import Recorded
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.paths import recorded_dir
from course_pkg.stencil.variants import VARIANTS

CUDA, CUPY = "Numba CUDA", "CuPy"
GPU = Device("gpu", "A GPU", 132, 10**11, 6 * 10**7)
GRID = {"shape": [512, 512, 512], "dtype": "float64"}
ROWS = [
    ("laplacian", "", CUPY, GRID),
    ("laplacian", "tiled", CUDA, GRID),
    ("laplacian", "tiled", CUDA, {**GRID, "threads_per_block": [32, 4, 2]}),
    ("laplacian", "tiled", CUDA, {**GRID, "dtype": "float32"}),
    ("laplacian", "marching", CUDA, {**GRID, "shape": [64, 64, 64]}),
    ("laplacian", "marching_tiled", CUDA, GRID),
    ("laplacian", "vectorised", CUDA, GRID),
    ("laplacian", "vectorised", CUPY, GRID),
    ("step", "tiled", CUDA, {"shape": [16384, 16384], "dtype": "float64"}),
    ("copy", "", CUPY, {"n": 2**30, "dtype": "float64"}),
]
MEASURED = [
    Measurement(
        Implementation(*what), (float(i),), (1.0,), 1, "exceeds", Cost(16, 8), GPU, parameters, "2026-01-02"
    )
    for i, (*what, parameters) in enumerate(ROWS, 1)
]


def rows(*what, **parameters):
    """Return the numbers of the rows that are found."""
    return [MEASURED.index(m) for m in lookup.find(MEASURED, *what, **parameters)]


def label(value) -> str:
    """Name a parameter; a variant by its name alone, since its cost is a function with an address."""
    return getattr(value, "name", None) or str(value)


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("laplacian_tiled", [1, 2, 3]),
        ("Laplacian tiled", [1, 2, 3]),
        ("laplacian tiled, Numba CUDA", [1, 2, 3]),
        ("tiled", [1, 2, 3, 8]),
        ("laplacian", [0]),
        ("step", [8]),
        ("tiled marching", [5]),
        ("vectorised", [6, 7]),
        (VARIANTS["laplacian_tiled"], [1, 2, 3]),
        (Implementation("laplacian", "vectorised", CUPY), [7]),
        (None, list(range(len(ROWS)))),
    ],
    ids=label,
)
def test_a_name_need_not_be_complete(what, found):
    assert rows(what) == found


def test_all_variants_of_an_operation_are_found_on_request():
    assert rows("laplacian", whole_operation=True) == list(range(8))


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"dtype": "fp64"}, [1, 2]),
        ({"dtype": "float32"}, [3]),
        ({"dtype": "f4"}, [3]),
        ({"dtype": float}, [1, 2]),
        ({"size": 512, "threads_per_block": None}, [1, 3]),
        ({"threads_per_block": (32, 4, 2)}, [2]),
        ({"shape": (512, 512, 512), "dtype": "single"}, [3]),
        ({"library": "cuda"}, [1, 2, 3]),
    ],
    ids=str,
)
def test_size_type_and_library_choose(parameters, found):
    assert rows("laplacian_tiled", **parameters) == found


def test_a_variant_of_several_libraries_is_chosen_by_one():
    assert rows(VARIANTS["laplacian_vectorised"], library="cupy") == [7]


@pytest.mark.parametrize(
    "size", [512, "512", "512³", "512^3", "512x512x512", "512 × 512 × 512", [512] * 3], ids=str
)
def test_a_cube_is_written_in_many_ways(size):
    assert rows("marching_tiled", size=size) == [5]


@pytest.mark.parametrize("size", [2**30, "2^30", "2**30", "2³⁰", "1073741824"], ids=str)
def test_a_long_vector_is_written_in_many_ways(size):
    assert rows("copy", size=size) == [9]


@pytest.mark.parametrize("size", ["", "large", "512x", "-3", "2^", "1e9"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(CourseError, match=r"is no size: write 512, 512\^3, 16384x16384 or 2\^30"):
        rows("copy", size=size)


def test_an_unknown_name_is_answered_with_near_ones_and_all_others():
    said = r"of 'laplacian_tild' \(did you mean laplacian_tiled.*\?\); there are: copy; laplacian; "
    with pytest.raises(CourseError, match=said):
        rows("laplacian_tild")


def test_an_unknown_size_is_answered_with_those_of_the_name():
    said = r"of 'laplacian_tiled' with size=600; there are: library Numba CUDA; size 512³; dtype float64, float32; thr"
    with pytest.raises(CourseError, match=said):
        rows("laplacian_tiled", size=600)
    with pytest.raises(CourseError, match=r"with library='JAX'; there are: library Numba CUDA"):
        rows("laplacian_tiled", library="JAX")
    with pytest.raises(CourseError, match=r"with dtype='halff'; there are"):
        rows("laplacian_tiled", dtype="halff")


def test_one_of_several_must_be_named(tmp_path):
    data = Recorded(record("stencil", MEASURED, tmp_path, origin="x"))
    assert data.one("laplacian_tiled") == MEASURED[1]
    assert data.one("laplacian_vectorised", library="CuPy") == MEASURED[7]
    with pytest.raises(
        CourseError, match="'tiled' may be laplacian_tiled, step_tiled: pass one of these names"
    ):
        data.one("tiled")
    with pytest.raises(
        CourseError, match="by several libraries: add one of library='Numba CUDA', library='CuPy'"
    ):
        data.one("laplacian_vectorised")
    assert [m.library for m in data.compare("laplacian_vectorised", "laplacian").measurements] == [
        CUDA,
        CUPY,
        CUPY,
    ]


@pytest.mark.parametrize("named", ["nvidia-h100-80gb-hbm3", "h100", "H100", "NVIDIA H100"])
def test_a_device_is_named_by_a_part_of_its_folder(named):
    assert recorded("stencil", named).device.name == "NVIDIA H100 80GB HBM3"


def test_a_device_without_the_record_is_answered_with_those_that_have_it():
    there = ", ".join(folder.devices(recorded_dir(), "honest"))
    assert "xeon" not in there, "this test needs a device without the record"
    for named in ("xeon", "a100"):
        with pytest.raises(
            CourseError, match=f"honest.json does not exist: name one of the devices .*{there}"
        ):
            recorded("honest", named)
    for named in ("nvidia", ""):
        with pytest.raises(CourseError, match=f"'{named}' may be .* or .*: write more of the name"):
            recorded("stencil", named)
    with pytest.raises(CourseError, match=r"on nvidia-h200 there are records of cg, .*vector"):
        recorded("stencils")
