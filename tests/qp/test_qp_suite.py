"""What `course bench qp` measures, tested on problems too small for real timings."""

import functools
import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from variant_cases import of

from course_pkg import cuda, simt
from course_pkg.bench import cpu, gpu, measure
from course_pkg.bench.rival import Rival
from course_pkg.core import CourseError, Library
from course_pkg.qp import cpu_numba, reference, rivals, suite, suite_batch, suite_solves, traffic
from course_pkg.qp.problem import problem
from course_pkg.qp.variants import VARIANTS
from course_pkg.vector.bound import COPY

NUMPY, CPU, CUDA, CUPY = Library.NUMPY, Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY
FAST = {"samples": 1, "warmup": 0, "min_sample_s": 0}
TINY = {"portfolio": 12}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(suite, "QUICK_SIZE", 33)
    monkeypatch.setattr(suite, "QUICK_BATCHED", (5, 12, 3))
    monkeypatch.setattr(suite, "QUICK_SOLVED", TINY)
    monkeypatch.setattr(rivals, "osqp_batch", absent)
    for module in (suite, suite_batch, suite_solves):
        monkeypatch.setattr(module, "measure", lambda *a, **k: measure(*a, **{**k, **FAST}))


def absent(*_):
    raise ImportError("No module named 'it'")


def solved_at_once(Q, h):
    """Return a rival that knows the answer."""
    x = reference.pqp(Q, h, rtol=1e-9).x
    return Rival(lambda rtol: None, lambda: None, lambda: x, "9.9")


def test_one_problem_can_be_measured_alone(tiny, monkeypatch):
    monkeypatch.setattr(rivals, "osqp_solve", absent)
    monkeypatch.setattr(suite, "SOLVED", {"portfolio": 30, "obstacle_1d": 11})
    found = list(suite.run("cpu", only="obstacle_1d"))
    assert {(m.parameters["problem"], m.parameters["n"]) for m in found} == {("obstacle_1d", 11)}
    assert {m.operation for m in found} == {"pqp", "apg"} and len(found) == 4


def test_a_long_first_call_of_another_library_is_its_only_sample(monkeypatch):
    monkeypatch.setattr(rivals, "osqp_solve", solved_at_once)
    p = problem("portfolio", 12)
    (short,) = suite_solves.rival_solve(p, Library.OSQP, 3)
    monkeypatch.setattr(suite_solves, "LONG_S", 0.0)
    (long,) = suite_solves.rival_solve(p, Library.OSQP, 3)
    monkeypatch.setattr(suite_solves, "ON_CPU", ())
    (compiled,) = suite_solves.rival_solve(p, Library.OSQP, 3)
    counted = [(len(m.samples_s), len(m.warmup_s)) for m in (short, long, compiled)]
    assert counted == [(3, 1), (1, 0), (1, 1)], "a library that compiles is called once more"


def test_the_plain_method_is_timed_to_its_end_and_warmed_up_by_few_iterations():
    p, asked = problem("portfolio", 12), []

    def solve(Q, h, rtol, maxiter, accelerate):
        asked.append(maxiter)
        return reference.pqp(Q, h, rtol=rtol, accelerate=accelerate, maxiter=maxiter)

    options = {"accelerate": False, "maxiter": suite_solves.MOST_PLAIN}
    m = suite_solves.one_solve(p, VARIANTS["pqp"].by(CPU), solve, options, (p.Q, p.h), 3)
    assert asked == [suite_solves.FIRST_PLAIN, suite_solves.MOST_PLAIN] and len(m.samples_s) == 1
    assert m.observed["converged"] and m.observed["iterations"] > suite_solves.FIRST_PLAIN


def test_the_suite_measures_updates_a_batch_and_solves(tiny, monkeypatch, capsys):
    monkeypatch.setattr(rivals, "osqp_solve", absent)
    found = list(suite.run("cpu", quick=True))
    assert [(m.what, m.parameters["n"], m.parameters.get("accelerate")) for m in found] == [
        (VARIANTS["update"].by(CPU), 33, None),
        (VARIANTS["update"].by(NUMPY), 33, None),
        (VARIANTS["update_batch"].by(CPU), 12, None),
        (VARIANTS["pqp"].by(CPU), 12, True),
        (VARIANTS["pqp"].by(CPU), 12, False),
        (VARIANTS["apg"].by(NUMPY), 12, None),
        (VARIANTS["pqp"].by(Library.SCIPY), 12, None),
    ]
    assert all(m.observed["converged"] and m.observed["kkt"] < 1e-6 for m in found[3:])
    assert found[0].cost.bytes < found[1].cost.bytes < 2.1 * found[0].cost.bytes
    said = capsys.readouterr().out
    for name in ("pqp", "apg batch"):
        assert f"Not measured: {name}, OSQP (No module named 'it'): `pip install osqp` brings it." in said
    assert all(m.device == cpu() for m in found), "so they can be recorded together"
    keys = [(m.what, tuple(sorted(m.parameters.items()))) for m in found]
    assert len(set(keys)) == len(keys)


def test_a_wrong_update_is_not_timed(tiny, monkeypatch):
    right = cpu_numba.update

    @functools.wraps(right)
    def wrong(Q, h, shift, x, out, parts):
        right(Q, h, shift, x, out, parts)
        out[-1] += 1e-6

    monkeypatch.setattr(cpu_numba, "update", wrong)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        list(suite.run("cpu", quick=True))


def test_drawn_matrices_are_symmetric_also_over_parts():
    Q, h, shift, x = suite_solves.drawn(1030, "float32", inactive=0.9)
    np.testing.assert_array_equal(Q, Q.T)
    assert Q.dtype == h.dtype == shift.dtype == x.dtype == np.float32
    assert np.count_nonzero(x == 0) == 927 and np.any(x[:103] > 0)


def test_a_gpu_that_is_not_there_is_named():
    if gpu().kind == "gpu":
        pytest.skip("there is a GPU")
    with pytest.raises(CourseError, match="course bench qp --device gpu` needs an NVIDIA GPU"):
        next(suite.run("gpu", quick=True))


# ---- the suite of the GPU, with NumPy in the place of CuPy and the interpreter in that of the GPU


OF_CUPY = [f"{topic}.{name}" for topic in ("vector", "qp") for name in ("gpu_cupy", "suite_gpu")]


@pytest.fixture
def suite_gpu(monkeypatch, tiny):
    if getattr(cuda, "BACKEND", "") != "simt":
        pytest.skip("here is a real GPU")
    fake = ModuleType("cupy")
    for name in dir(np):
        if not name.startswith("__"):
            setattr(fake, name, getattr(np, name))
    fake.asnumpy = np.asarray
    fake.ElementwiseKernel = lambda *_: _update_x
    fake.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    fake.cuda = SimpleNamespace(Device=lambda: SimpleNamespace(synchronize=lambda: None))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    for name in OF_CUPY:
        monkeypatch.delitem(sys.modules, f"course_pkg.{name}", raising=False)
        monkeypatch.delattr(f"course_pkg.{name}", raising=False)
    room = importlib.import_module("course_pkg.qp.suite_gpu")
    from course_pkg.simt.memory.device_array import DeviceArray

    monkeypatch.setattr(cuda, "as_cuda_array", DeviceArray)
    for name in (
        "check_update",
        "check_problem",
        "check_solved_batch",
    ):  # arrays of NumPy are not in GPU memory
        original = getattr(room.gpu_cupy, name)
        monkeypatch.setattr(room.gpu_cupy, name, _on_host(original))
    streams = importlib.import_module("course_pkg.vector.suite_gpu")
    monkeypatch.setattr(streams, "copy_by_driver", lambda a, out: np.copyto(out, a))
    monkeypatch.setattr(streams, "measure", lambda *a, **k: measure(*a, **{**k, **FAST, "hold": False}))
    monkeypatch.setattr(room, "measure", lambda *a, **k: measure(*a, **{**k, **FAST, "hold": False}))
    monkeypatch.setattr(rivals, "mpax_solve", absent)
    monkeypatch.setattr(rivals, "osqp_solve", solved_at_once)
    monkeypatch.setattr(room, "SETTINGS", [(2, 1), (4, 2)])
    monkeypatch.setattr(suite_batch, "MOST_UPDATES", 3)
    yield room
    for name in OF_CUPY:
        sys.modules.pop(f"course_pkg.{name}", None)


def _on_host(check):
    def checked(*arguments, **options):
        if "device" in options:
            return check(*arguments, **{**options, "device": False})
        return check(*arguments[:3])

    return checked


def _update_x(h, shift, x, plus, minus, out, parts):
    above, below = np.maximum(-h, 0) + minus + shift * x, np.maximum(h, 0) + plus + shift * x
    parts[...] = x * ((plus - minus) / 2 + h)
    out[...] = x * np.divide(above, below, out=np.zeros_like(x), where=x > 0)


def everything(room):
    """Return the measurements of the GPU's suite, of small problems."""
    return [
        *room.kernels(40, (3, 16, 2), quick=True),
        *suite_batch.on_gpu(3, 16, 1),
        *suite.solves_of(TINY, room.solves, quick=True),
    ]


def test_the_gpus_suite_measures_every_variant(suite_gpu, capsys):
    found = everything(suite_gpu)
    assert found[0].what == COPY
    keys = [(m.what, tuple(sorted(m.parameters.items()))) for m in found]
    assert len(set(keys)) == len(keys)
    updates = [m for m in found if m.operation == "update" and m.library == CUDA]
    for dtype in ("float64", "float32"):
        here = {
            m.variant for m in updates if m.parameters["dtype"] == dtype and "inactive" not in m.parameters
        }
        assert here == {v.name for v in VARIANTS.of("update", CUDA)}
    idle = {
        m.variant: m for m in updates if m.parameters.get("inactive") and "iterations" not in m.parameters
    }
    assert set(idle) == set(suite_gpu.SPARSE)
    assert idle["compacted"].cost.bytes_read < 0.1 * idle["rows"].cost.bytes_read
    often = [m for m in updates if m.parameters.get("iterations") == suite_gpu.READMIT_EVERY]
    assert [m.variant for m in often] == ["packed"] and often[0].cost.bytes > 2 * idle["packed"].cost.bytes
    packs = [m for m in found if m.operation in ("pack", "split_product")]
    assert [m.what for m in packs] == [of("pack"), of("split_product"), of("split_product_listed")]
    assert all(m.parameters["inactive"] == suite_solves.INACTIVE for m in packs)
    assert packs[2].cost.bytes_read < 0.2 * packs[1].cost.bytes_read
    control = [m for m in found if m.parameters.get("problem") == suite_solves.CONTROL]
    assert [m.what for m in control] == [of("apg_batch"), of("apg_batch", CUPY), of("update_batch")]
    assert [m.observed["solved"] for m in control] == [1, 1, 0] and all(m.device == gpu() for m in control)
    assert all(m.observed["worst"] <= 1e-6 and m.observed["converged"] for m in control[:2])
    assert control[0].observed["iterations"] == control[1].observed["iterations"] > 3
    assert control[2].parameters["iterations"] == 3 and not control[2].observed["converged"]
    batches = [m for m in found if m.operation == "update_batch" and "rtol" not in m.parameters]
    assert {m.library for m in batches} == {CUDA, CUPY} and all(m.observed["cpu_s"] > 0 for m in batches)
    solves = [m for m in found if m.operation in ("pqp", "apg")]
    assert [m.library for m in solves] == [CUDA, CUDA, CUPY, CUPY, Library.SCIPY, Library.OSQP]
    assert all(m.observed["converged"] for m in solves) and all(m.device == gpu() for m in solves)
    assert [m.observed.get("cpu") for m in solves] == [None] * 4 + [cpu().name] * 2
    assert solves[-1].observed["version"] == "9.9" and solves[-1].observed["kkt"] < 1e-6
    said = capsys.readouterr().out
    assert all(
        f"Not measured: {name} (No module named 'it')" in said for name in ("pqp, MPAX", "apg batch, OSQP")
    )


def test_what_is_missing_beside_a_gpu_is_said(suite_gpu, monkeypatch, capsys):
    monkeypatch.setattr(rivals, "osqp_solve", absent)
    solves = list(suite.solves_of(TINY, suite_gpu.solves, quick=True))
    assert Library.OSQP not in {m.library for m in solves}
    said = capsys.readouterr().out
    assert all(f"Not measured: pqp, {name} (No module named 'it')" in said for name in ("MPAX", "OSQP"))


def test_the_batch_can_be_solved_alone_and_by_processes_of_osqp(monkeypatch):
    """Every problem is in its place: each is solved by its own matrix."""
    Q, h = suite_batch.model_predictive(5, 12)
    rival = rivals.osqp_batch(Q, h, processes=2)
    for rtol in (1e-3, 1e-6):
        rival.call(rtol)
        seen = suite_batch.observed(Q, h, rival.result)
        assert seen["worst"] <= rtol and rival.result().shape == h.shape
    assert seen["solved"] == 1 and seen["converged"]
    monkeypatch.setattr(suite, "QUICK_BATCHED", (5, 12, 3))
    monkeypatch.setattr(rivals, "osqp_batch", lambda *_: rival)
    (alone,) = suite.run("cpu", quick=True, only=suite_solves.CONTROL)
    assert alone.what == of("apg_batch", Library.OSQP) and alone.observed["converged"]
    assert alone.observed["cores"] == cpu().units and alone.device == cpu()


@pytest.mark.parametrize("name", ["update_naive", "update_compacted", "update_packed"])
def test_a_wrong_kernel_is_not_timed_on_the_gpu(suite_gpu, monkeypatch, name):
    from course_pkg.qp import gpu_numba

    right = getattr(gpu_numba, name)

    @functools.wraps(right)
    def wrong(Q, h, shift, x, out, parts, **options):
        right(Q, h, shift, x, out, parts, **options)
        parts[parts.size - 1 :].copy_to_device(np.full(1, 9.0, parts.dtype))

    monkeypatch.setattr(gpu_numba, name, wrong)
    with pytest.raises(AssertionError, match="more than rounding explains"):
        everything(suite_gpu)


# ---- launches larger than any cache


def test_large_cases_make_their_arguments(monkeypatch):
    """On a small matrix, with one block of each launch."""
    monkeypatch.setattr(traffic, "N", 64)
    monkeypatch.setattr(traffic, "ACTIVE", 9)
    monkeypatch.setattr(traffic, "PROBLEMS", 2)
    for case in traffic.large:
        assert case.cost.bytes_read > 20e6
        simt.profile(case.kernel[1, case.block], *case.args())


def test_the_usual_suite_solves_every_problem():
    for name, n in suite.SOLVED.items():
        assert n is None or problem(name, 10 if name != "obstacle_2d" else 4).n > 0
