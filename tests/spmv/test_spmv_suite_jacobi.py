"""What is measured beside products, on matrices too small for real timings; kernels run in the interpreter."""

import pytest

from course_pkg.bench import gpu
from course_pkg.core import Library
from course_pkg.spmv import cpu_numba, gpu_numba, suite, suite_jacobi
from course_pkg.spmv.splitting import split_entries
from course_pkg.spmv.swap import Vectors
from course_pkg.spmv.variants import VARIANTS

CPU, CUDA = Library.NUMBA_CPU, Library.NUMBA_CUDA
FEW = {"samples": 1, "warmup": 0, "min_sample_s": 0, "hold": False}


@pytest.fixture
def tiny(monkeypatch):
    original = suite_jacobi.measure
    monkeypatch.setattr(suite_jacobi, "measure", lambda *a, **k: original(*a, **{**k, **FEW}))
    monkeypatch.setattr(suite_jacobi, "_has_cupy", lambda: False)


def measured(device):
    return list(suite_jacobi.run(device, quick=True))


def test_each_form_is_measured_in_each_order_with_its_cost(tiny):
    for device, library in (("cpu", CPU), ("gpu", CUDA)):
        found = [m for m in measured(device) if m.operation == "jacobi"]
        what = [(m.parameters["matrix"], m.variant, m.parameters.get("order")) for m in found]
        assert what == [
            (matrix, variant, order)
            for matrix in ("poisson_3d", "tetrahedral")
            for order in (None, "random", "rcm")
            for variant in (("plain",) if order is None else ("row_permuted", "symmetric"))
        ]
        for m in found:
            size = {name: m.parameters[key] for name, key in (("rows", "n"), ("nonzeros", "nonzeros"))}
            assert m.cost == VARIANTS[f"jacobi_{m.variant}"].cost(**size)
            assert m.library == library
            assert ("scattered_sectors" in m.observed) == (m.variant == "row_permuted")


def test_each_way_to_swap_and_to_split_is_measured_with_its_cost(tiny):
    found = measured("gpu")
    swaps = [m for m in found if m.operation == "swap"]
    assert [m.variant for m in swaps] == 2 * [v.name for v in VARIANTS.of("swap")]
    for m in swaps:
        its_cost = VARIANTS[f"swap_{m.variant}"].cost(m.parameters["n"], m.parameters["nonzeros"], "float32")
        assert (m.cost, m.parameters["dtype"]) == (its_cost, "float32")
    split = [m for m in found if m.operation in ("splitting", "spmv")]
    assert [m.variant for m in split] == 2 * ["csr_vector", *(v.name for v in VARIANTS.of("splitting"))]
    assert len({(m.parameters["matrix"], m.parameters["lanes"]) for m in split}) == 2
    for m in split:
        assert m.observed["error"] < 1e-6
        assert ("low_share" in m.observed) == ("tol" in m.parameters) == (m.operation == "splitting")


def test_no_two_measurements_are_of_one_case_and_none_stands_for_a_product_of_the_suite(tiny):
    found = measured("gpu")
    cases = {(m.what, tuple(sorted(m.parameters.items()))) for m in found}
    assert len(cases) == len(found)
    assert suite.demands(found) == []


def test_six_of_seven_entries_of_a_row_are_single_by_the_tolerance_that_is_measured():
    A = suite_jacobi.scaled(suite_jacobi.problem("poisson_3d", 8).matrix)
    neighbours = A.nnz - A.shape[0]
    assert neighbours <= split_entries(A, suite_jacobi.TOLERANCE).low.nonzeros <= neighbours + A.shape[0] // 2
    assert split_entries(A, 0.0).low_share < 0.01


@pytest.mark.parametrize(
    ("room", "name", "device"),
    [
        (cpu_numba, "jacobi_row_permuted", "cpu"),
        (gpu_numba, "jacobi_symmetric", "gpu"),
        (gpu_numba, "swap_hybrid", "gpu"),
        (gpu_numba, "splitting_entries_apart", "gpu"),
    ],
)
def test_a_wrong_step_is_not_timed(tiny, monkeypatch, room, name, device):
    right = getattr(room, name)

    def wrong(A, *arrays, **options):
        found = right(A, *arrays, **options)
        if isinstance(found, Vectors):
            return Vectors(x64=found.y64, y64=found.x64, x32=found.x32)
        out = arrays[-1]
        if room is cpu_numba:
            out *= 1 + 1e-9
        else:
            out.copy_to_device(out.copy_to_host() * (1 + 1e-5))
        return None

    monkeypatch.setattr(room, name, wrong)
    with pytest.raises(AssertionError):
        measured(device)


def test_cupy_is_measured_beside_numba_where_there_is_a_gpu(monkeypatch):
    """Without one, both stand for a list: what is asked for, not what it takes."""
    asked = []
    monkeypatch.setattr(
        suite_jacobi, "_jacobi", lambda variant, library, *rest: asked.append((variant.name, library))
    )
    for there, libraries in ((True, (CUDA, Library.CUPY)), (False, (CUDA,))):
        asked.clear()
        monkeypatch.setattr(suite_jacobi, "_has_cupy", lambda there=there: there)
        monkeypatch.setattr(suite_jacobi, "swaps", lambda *_: ())
        monkeypatch.setattr(suite_jacobi, "splittings", lambda *_: ())
        measured("gpu")
        assert asked[: len(libraries)] == [("plain", library) for library in libraries]
        assert len(asked) == 2 * 5 * len(libraries)


def test_the_suite_measures_it_behind_the_products(monkeypatch):
    monkeypatch.setattr(suite, "_products", lambda matrices, quick: ["products"])
    monkeypatch.setattr(suite_jacobi, "run", lambda device, quick: [f"more on {device}, quick: {quick}"])
    assert list(suite.run("cpu", quick=True)) == ["products", "more on cpu, quick: True"]


def test_without_a_gpu_there_is_no_cupy():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU here")
    assert not suite_jacobi._has_cupy()
