"""What `course bench spmv` measures, tested on matrices too small for real timings."""

import functools
import importlib
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from course_pkg import cuda
from course_pkg.bench import Device, Measurement, cpu, gpu, measure
from course_pkg.core import Cost, CourseError, Library
from course_pkg.permutation.problem import problem
from course_pkg.spmv import cost, cpu_numba, rivals, suite
from course_pkg.spmv.variants import VARIANTS
from course_pkg.vector.bound import COPY

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
PRODUCT = VARIANTS["spmv"]
TINY = (("poisson_2d", 5), ("power_law", 60))
FAST = {"samples": 1, "warmup": 0, "min_sample_s": 0}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK", TINY)
    monkeypatch.setattr(suite.suite_jacobi, "run", lambda device, quick: ())  # tested by itself
    original = suite.compare
    monkeypatch.setattr(suite, "compare", lambda *a, **k: original(*a, **{**k, **FAST}))


def test_the_suite_measures_ours_and_scipys_product_with_each_matrix(tiny):
    found = list(suite.run("cpu", quick=True))
    assert [(m.parameters["matrix"], m.what) for m in found] == [
        (name, PRODUCT.by(library)) for name, _ in TINY for library in (CPU, Library.SCIPY)
    ]
    for m in found:
        A = problem(m.parameters["matrix"], dict(TINY)[m.parameters["matrix"]]).matrix
        assert m.cost == cost.csr(*A.shape, A.nnz)
        assert m.parameters == {
            "matrix": m.parameters["matrix"], "n": A.shape[0], "nonzeros": A.nnz, "dtype": "float64",
        }  # fmt: skip
        assert (m.device, m.cache_state) == (cpu(), "warm")


@pytest.mark.parametrize("wrong_one", ["ours", "theirs"])
def test_a_wrong_product_is_not_timed(tiny, monkeypatch, wrong_one):
    if wrong_one == "ours":
        right = cpu_numba.spmv

        @functools.wraps(right)
        def wrong(A, x, y):
            right(A, x, y)
            y[-1] += 1e-6

        monkeypatch.setattr(cpu_numba, "spmv", wrong)
    else:
        monkeypatch.setattr(
            rivals, "scipy_csr", lambda A, x: SimpleNamespace(call=lambda: None, result=lambda: A @ x + 1e-6)
        )
    with pytest.raises(AssertionError, match="poisson_2d: an error is larger than rounding explains"):
        list(suite.run("cpu", quick=True))


def test_scipys_product_is_a_rival():
    A, x = sp.csr_array(np.eye(3)), np.arange(3.0)
    rival = rivals.scipy_csr(A, x)
    rival.call()
    rival.wait()
    np.testing.assert_array_equal(rival.result(), x)


def test_a_gpu_that_is_not_there_is_named():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU")
    with pytest.raises(CourseError, match="course bench spmv --device gpu` needs an NVIDIA GPU"):
        next(suite.run("gpu", quick=True))


# ---- the suite of the GPU, with NumPy in the place of CuPy and the interpreter in that of the GPU


OF_CUPY = [f"{topic}.{name}" for topic in ("vector", "spmv") for name in ("gpu_cupy", "suite_gpu")]


@pytest.fixture
def suite_gpu(monkeypatch):
    if getattr(cuda, "BACKEND", "") != "simt":
        pytest.skip("here is a real GPU")
    modules = {name: ModuleType(name) for name in ("cupy", "cupyx", "cupyx.scipy", "cupyx.scipy.sparse")}
    for name in ("asarray", "full", "ones", "empty", "abs", "nan", "testing"):
        setattr(modules["cupy"], name, getattr(np, name))
    modules["cupy"].get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    modules["cupy"].ElementwiseKernel = lambda *_: None
    modules["cupyx"].cusparse = None
    modules["cupyx.scipy.sparse"].csr_matrix = sp.csr_array
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    for name in OF_CUPY:
        monkeypatch.delitem(sys.modules, f"course_pkg.{name}", raising=False)
        monkeypatch.delattr(f"course_pkg.{name}", raising=False)
    room = importlib.import_module("course_pkg.spmv.suite_gpu")
    from course_pkg.simt.memory.device_array import DeviceArray

    def product(A, x, y):
        y[:] = A @ x

    monkeypatch.setattr(cuda, "as_cuda_array", DeviceArray)
    monkeypatch.setattr(room.gpu_cupy, "spmv", product)
    streams = importlib.import_module("course_pkg.vector.suite_gpu")
    monkeypatch.setattr(streams, "copy_by_driver", lambda a, out: np.copyto(out, a))
    monkeypatch.setattr(streams, "measure", lambda *a, **k: measure(*a, **{**k, **FAST, "hold": False}))
    monkeypatch.setattr(room, "measure", lambda *a, **k: measure(*a, **{**k, **FAST, "hold": False}))

    def none(A, x):
        raise ImportError("No module named 'torch'")

    monkeypatch.setattr(rivals, "torch_csr", none)
    yield room
    for name in OF_CUPY:
        sys.modules.pop(f"course_pkg.{name}", None)


def test_the_gpus_suite_measures_every_format_and_setting_once(suite_gpu, capsys, monkeypatch):
    monkeypatch.setattr(suite_gpu, "SWEPT", ("poisson_3d",))
    found = list(suite_gpu.products((("poisson_3d", 4), ("power_law", 60)), quick=True))
    assert found[0].what == COPY
    keys = [(m.what, tuple(sorted(m.parameters.items()))) for m in found]
    assert len(set(keys)) == len(keys)
    ours = [m for m in found if m.library == CUDA]
    for name in ("poisson_3d", "power_law"):
        here = [m for m in ours if m.parameters["matrix"] == name]
        precisions = {(m.parameters["dtype"], m.parameters.get("values")) for m in here}
        all_of_them = {("float64", None), ("float32", None), ("float64", "float32")}
        assert precisions == (all_of_them if name == "poisson_3d" else {("float64", None)})
        measured = {m.variant for m in here}
        too_wide = {"ell", "ellr"} if name == "power_law" else set()
        assert measured == {v.name for v in VARIANTS.of("spmv", CUDA)} - too_wide
    tried = [m for m in ours if m.variant == "sell" and "values" not in m.parameters]
    swept = {(m.parameters["matrix"], m.parameters.get("unroll")) for m in tried}
    assert ("poisson_3d", 2) in swept and ("power_law", 2) not in swept
    assert all(("unroll" in m.observed) != ("unroll" in m.parameters) for m in tried)
    assert "Not measured: spmv, PyTorch (No module named 'torch')" in capsys.readouterr().out


def test_costs_and_bytes_of_the_gpus_suite_belong_to_what_is_measured(suite_gpu):
    A = problem("poisson_3d", 4).matrix
    for m in suite_gpu.products((("poisson_3d", 4),), quick=True):
        if m.operation != "spmv":
            continue
        value = 4 if "float32" in (m.parameters["dtype"], m.parameters.get("values")) else 8
        vector = 4 if m.parameters["dtype"] == "float32" else 8
        assert m.cost.a_eff_bytes == A.nnz * (4 + value) + 2 * 64 * vector
        assert m.cost.bytes >= m.cost.a_eff_bytes
        if m.library == CUDA:
            assert m.observed["fill"] >= 1


def test_a_wrong_kernel_is_not_timed_on_the_gpu(suite_gpu, monkeypatch):
    from course_pkg.spmv import gpu_numba

    right = gpu_numba.spmv_sell

    @functools.wraps(right)
    def wrong(A, x, y, **settings):
        right(A, x, y, **settings)
        y[y.size - 1 :].copy_to_device(np.ones(1, y.dtype))

    monkeypatch.setattr(gpu_numba, "spmv_sell", wrong)
    with pytest.raises(AssertionError, match="an error is larger than rounding explains"):
        list(suite_gpu.products((("poisson_3d", 4),), quick=True))


# ---- demands

H200 = Device("gpu", "NVIDIA H200", 132, 1, 1, driver="580.1")


def made(variant, library, matrix, seconds, n=2_000_000, device=H200, **more):
    return Measurement(
        what=VARIANTS[variant].by(library),
        samples_s=(seconds,) * 3,
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds",
        cost=Cost(8, 8),
        device=device,
        parameters={"matrix": matrix, "n": n, "nonzeros": 7 * n, "dtype": "float64", **more},
        date="2026-01-01",
    )


def test_the_best_kernel_is_compared_with_cusparse_on_every_large_matrix():
    found = [
        *(made("spmv", CUPY, name, 1.0) for name in ("a", "b", "c")),
        made("spmv_csr_scalar", CUDA, "a", 2.0),
        made("spmv_sell", CUDA, "a", 0.8, sigma=1),
        made("spmv_sell", CUDA, "b", 0.9, sigma=1),
        made("spmv_csr_balanced", CUDA, "c", 1.1),
        made("spmv", CUPY, "small", 1.0, n=1000),
        made("spmv_sell", CUDA, "small", 5.0, n=1000),
        made("spmv", CUPY, "d", 1.0, values="float32"),
        made("spmv_sell", CUDA, "a", 0.1, values="float32"),
    ]
    rows = suite.demands(found)
    assert [(r["what"].split(":")[0], r["measured"], r["met"]) for r in rows] == [
        ("a", "1.25×", "yes"),
        ("b", "1.11×", "yes"),
        ("c", "0.91×", "NO"),
        ("matrices on which the best kernel is ≥ 1.15× as fast as CuPy", "1", "NO"),
    ]
    assert rows[-1]["demand"] == "≥ 1.5" and rows[0]["demand"] == "≥ 1.00×"
    better = [
        replace(m, samples_s=(0.5,)) if m.parameters["matrix"] == "b" and m.library == CUDA else m
        for m in found
    ]
    assert suite.demands(better)[-1]["met"] == "yes"


def test_the_cpus_product_is_compared_with_scipys():
    found = [
        made("spmv", Library.SCIPY, "a", 1.0, device=cpu()),
        made("spmv", CPU, "a", 0.6, device=cpu()),
        made("spmv", Library.SCIPY, "b", 1.0, device=cpu()),
        made("spmv", CPU, "b", 1.2, device=cpu()),
    ]
    assert [(r["measured"], r["met"]) for r in suite.demands(found)] == [("1.67×", "yes"), ("0.83×", "NO")]
    assert suite.demands([]) == []


def test_large_matrices_have_a_million_rows():
    for device in ("cpu", "gpu"):
        dimensions = {"poisson_2d": 2, "poisson_3d": 3, "tetrahedral": 3}
        rows = [size ** dimensions.get(name, 1) for name, size in suite.MATRICES[device]]
        assert min(rows) >= suite.LARGE
    assert len(suite.MATRICES["gpu"]) >= 4


def test_the_copy_of_the_same_run_gives_the_bound():
    copy = replace(made("spmv", CUPY, "a", 1.0), what=COPY)
    assert suite.bounding_stream([made("spmv", CUPY, "a", 1.0), copy]) is copy
    assert suite.bounding_stream([]) is None
