"""Conjugate gradients on several GPUs: in the interpreter by way of host memory, and by NCCL where there are GPUs."""

import json
import os

import numpy as np
import pytest
from field_cases import field

from course_pkg import cuda
from course_pkg.cg import gpu_numba as cg
from course_pkg.core import CourseError, Status
from course_pkg.distributed import gpu_cg, gpu_job, launch, suite, suite_gpu, suite_ranks
from course_pkg.distributed.forecast import observations
from course_pkg.distributed.gpu_fields import RankWorkspace
from course_pkg.distributed.gpu_room import DeviceSlab
from course_pkg.distributed.gpu_rows import DeviceRows
from course_pkg.distributed.links import Staged
from course_pkg.distributed.nccl import select_gpu
from course_pkg.distributed.operators import block_jacobi
from course_pkg.distributed.partition import Slab
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SUMS, UPDATES
from course_pkg.distributed.recorded import phases_of
from course_pkg.distributed.rows import RowBlockMatrix
from course_pkg.distributed.serial import Serial
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg
from course_pkg.sstep import cpu_numba
from course_pkg.sstep import gpu_numba as sstep
from course_pkg.sstep.problem import Laplacian

pytestmark = pytest.mark.slow(100)

GRID = (6, 3, 4)
METHODS = (
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 2}),
    ("pcg_sstep", {"s": 3, "bounds": "lanczos"}),
    ("pcg_sstep", {"s": 1}),
)
ROUGHLY = 1e-3  # as rtol: some iterations fewer
SIMT = getattr(cuda, "BACKEND", "") == "simt"
GPUS = 0 if SIMT else len(cuda.gpus)


def mine(comm, b):
    slab = Slab(b.shape, comm.rank, comm.ranks)
    return cuda.to_device(b[slab.first : slab.last].copy())


def joined(parts):
    return np.concatenate([part.copy_to_host() for part in parts])


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize(("method", "ranks"), [("two_kernel", 1), ("two_kernel", 2), ("deferred_x", 2)])
def test_two_kernels_take_the_iterations_of_one_gpu(method, ranks, overlap):
    b = field(GRID)
    alone = getattr(cg, f"cg_{method}")(cuda.to_device(b), rtol=ROUGHLY)
    world = Serial(ranks)

    def solve(comm):
        link = Staged(comm)
        return gpu_cg.solution(
            gpu_cg.RankSolver(method, mine(comm, b), GRID, link, overlap=overlap, rtol=ROUGHLY)
        )

    found = world.run(solve)
    assert {f.iterations for f in found} == {alone.iterations} and found[0].status is Status.CONVERGED
    np.testing.assert_allclose(joined(f.x for f in found), alone.x.copy_to_host(), rtol=1e-12, atol=1e-13)
    pitch = cg.row_pitch(GRID[2], "float64")
    faces = {m.count for m in world.messages}
    assert faces == ({GRID[1] * pitch} if ranks > 1 else set()), "planes of r or x, and nothing else"
    # x, r, in each iteration r, at the end x and r; the host looks after every second iteration
    if ranks == 2:
        queued = alone.iterations + alone.iterations % 2
        assert len(world.messages) == 2 * (2 + queued + 2)


def test_the_sums_of_an_iteration_are_two_messages_of_one_number():
    b, world = field((6, 3, 3)), Serial(2)

    def two(comm):
        solver = gpu_cg.RankSolver("two_kernel", mine(comm, b), b.shape, Staged(comm), rtol=1e-30)
        before = len(world.reductions)
        solver.two()
        return before

    before = world.run(two)
    assert world.reductions[min(before) :] == [1] * 4


@pytest.mark.parametrize(("name", "options"), METHODS)
def test_the_methods_of_sstep_run_unchanged(name, options):
    b = field(GRID)
    alone = getattr(sstep, name)(Laplacian(GRID), cuda.to_device(b), rtol=ROUGHLY, **options)

    def solve(comm):
        return getattr(sstep, name)(DeviceSlab(GRID, Staged(comm)), mine(comm, b), rtol=ROUGHLY, **options)

    found = Serial(2).run(solve)
    assert {f.iterations for f in found} == {alone.iterations} and found[0].status is alone.status
    np.testing.assert_allclose(joined(f.x for f in found), alone.x.copy_to_host(), rtol=1e-7, atol=1e-9)


def scattered():
    """Return the Laplacian in a random order: the halo of a rank consists of entries anywhere in the others' parts."""
    order = np.random.default_rng(5).permutation(np.prod(GRID))
    A = poisson(GRID)[order][:, order]
    A.sort_indices()
    return A


def stored(comm, A=None):
    return DeviceRows(RowBlockMatrix.of(poisson(GRID) if A is None else A, comm), Staged(comm))


@pytest.mark.family
@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize(("name", "options"), METHODS)
def test_rows_on_gpus_solve_as_rows_on_ranks_of_cpus(name, options, preconditioned):
    A, b = scattered(), field(GRID).reshape(-1)
    more = {**options, "rtol": ROUGHLY}

    def solve(comm, on_gpu):
        rows = RowBlockMatrix.of(A, comm)
        M = block_jacobi(rows, amg) if preconditioned else None
        if not on_gpu:
            found = getattr(cpu_numba, name)(rows, rows.part(b), M=M, **more)
            return found, found.x
        there = DeviceRows(rows, Staged(comm))
        own = cuda.to_device(rows.part(b))
        found = getattr(sstep, name)(there, own, M=None if M is None else M.to_device(), **more)
        return found, found.x.copy_to_host()

    for ranks in (1, 3):
        expected, found = (Serial(ranks).run(lambda comm, g=g: solve(comm, g)) for g in (False, True))
        assert {f.iterations for f, _ in found} == {expected[0][0].iterations}
        assert found[0][0].status is expected[0][0].status is Status.CONVERGED
        for (_, one), (_, other) in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


class Queued(Staged):
    """A link whose messages a graph may hold; in the interpreter, a graph calls its step."""

    captures = True

    def mixes(self, size, dtype):
        return size == GRID[1] * cg.row_pitch(GRID[2], "float64") and dtype == np.float64


def test_passes_in_graphs_send_and_sum_as_passes_without():
    b = field(GRID)

    def solve(comm, kind):
        A = DeviceSlab(GRID, kind(comm))
        A.phases.restart()
        found = sstep.pcg_sstep(A, mine(comm, b), s=2, rtol=1e-6)
        return found, A.phases.read()

    (plain, _), _ = Serial(2).run(lambda comm: solve(comm, Staged))
    world = Serial(2)
    (found, took), _ = world.run(lambda comm: solve(comm, Queued))
    assert found.residual_norms == plain.residual_norms and found.extra == plain.extra
    np.testing.assert_array_equal(found.x.copy_to_host(), plain.x.copy_to_host())
    assert found.iterations > 3 * 2, "some passes are repeated"
    assert took[HALO] == 0 < min(took[name] for name in (PRODUCT, SUMS, UPDATES, ALLREDUCE))


def test_graphs_hold_no_messages_that_go_by_another_way_than_the_sums():
    def repeats(A, shape, dtype):
        return A.room(sstep, A, cuda.to_device(np.ones(shape, dtype)), None, None, 1e-6, 0.0, None).repeats

    def slabs(comm):
        A = DeviceSlab(GRID, Queued(comm))
        return [repeats(A, A.shape, dtype) for dtype in ("float64", "float32")]

    def rows(comm):  # a plane of rows has no gaps, so it is shorter than what the link takes
        A = DeviceRows(RowBlockMatrix.of(poisson(GRID), comm), Queued(comm))
        return A.longest_message, repeats(A, A.own_shape, "float64")

    assert Serial(2).run(slabs) == [[True, False]] * 2
    assert Serial(2).run(rows) == [(GRID[1] * GRID[2], False)] * 2


@pytest.mark.parametrize(("name", "options"), METHODS[:2])
def test_iterations_in_graphs_send_and_sum_as_iterations_without(name, options):
    b, counts = field(GRID), {}

    def solve(comm, kind):
        A = DeviceSlab(GRID, kind(comm))
        return getattr(sstep, name)(A, mine(comm, b), rtol=1e-6, **options)

    for kind in (Staged, Queued):
        world = Serial(2)
        found = world.run(lambda comm, kind=kind: solve(comm, kind))[0]
        counts[kind] = found.residual_norms, found.extra, len(world.messages), world.reductions
    assert counts[Staged] == counts[Queued]


def test_bad_input_is_named():
    def run(function, ranks=2):
        with pytest.raises(CourseError) as caught:
            Serial(ranks).run(function)
        return str(caught.value)

    whole = cuda.to_device(field(GRID))
    said = run(lambda comm: gpu_cg.solve("two_kernel", whole, GRID, Staged(comm)))
    assert "of 2 owns (3, 3, 4) of the grid (6, 3, 4)" in said and "b has shape (6, 3, 4)" in said
    said = run(lambda comm: gpu_cg.solve("baseline", mine(comm, field(GRID)), GRID, Staged(comm)))
    assert "runs on one GPU only: choose two_kernel or deferred_x" in said
    said = run(lambda comm: DeviceSlab((5, 4, 4), Staged(comm)))
    assert "5 planes on 2 GPUs leave one with fewer than 3" in said
    said = run(lambda comm: DeviceSlab((6 + 3 * comm.rank, 4, 4), Staged(comm)))
    assert "Ranks disagree about the shape of the grid" in said
    said = run(lambda comm: sstep.pcg(DeviceSlab((6, 4, 4), Staged(comm)), whole, M=len))
    assert "with M, pass A as DeviceRows" in said
    said = run(lambda comm: sstep.pcg(stored(comm), cuda.to_device(np.ones(72)), M=len))
    assert "b has shape (72,), expected (36,)" in said
    said = run(lambda comm: sstep.pcg(stored(comm), cuda.to_device(np.ones(36)), M=len))
    assert "make it by block_jacobi(A.rows, …).to_device()" in said
    said = run(lambda comm: RankWorkspace(whole, Staged(comm), GRID, swaps_p=False, stores_s=True))
    assert "owns (3, 3, 4)" in said


@pytest.mark.skipif(not SIMT, reason="the interpreter has one GPU; a host may have more")
def test_more_ranks_than_gpus_of_a_host():
    with pytest.raises(CourseError, match=r"rank 1 of 3 has no GPU: its host has 1, and 3 ranks"):
        Serial(3).run(select_gpu)


def test_what_the_suite_asks_of_ranks_can_be_done(monkeypatch):
    monkeypatch.setattr(suite_gpu, "QUICK_EDGE", 6)
    monkeypatch.setattr(suite_gpu, "HALO_EDGES", (3, 5))
    monkeypatch.setattr(suite_ranks, "METHODS", (("pfcg", {}),))
    monkeypatch.setattr(suite_ranks, "RTOL", ROUGHLY * 100)  # what is timed is the same in each iteration
    found, results = [], {}
    for ranks in (1, 2):
        for task, parameters in suite_gpu.tasks_of(ranks, quick=True):
            given = {
                **json.loads(json.dumps(task)),
                "samples": 1,
                **({"calls": 1} if "calls" in task else {}),
            }
            function, by = gpu_job.TASKS[given.pop("task")], given.pop("by")
            same = ranks, function, json.dumps(given)  # by another link, which is the interpreter's as well
            if same not in results:
                results[same] = Serial(ranks, keep=False).run(
                    lambda comm, f=function, g=given, by=by: f(Staged(comm), by=by, **g)
                )[0]
            found.append(suite_gpu.measurement(task, parameters, json.loads(json.dumps(results[same]))))
    kinds = {(m.operation, m.variant, m.parameters["ranks"], m.parameters.get("scaling")) for m in found}
    assert {
        ("cg", "two_kernel", 1, "part"),
        ("cg", "deferred_x", 2, "weak"),
        ("pfcg", "", 2, "strong"),
    } <= kinds
    apart = next(m for m in found if m.parameters.get("overlap") is False)
    phases = phases_of(apart)
    assert phases[PRODUCT] > 0 and phases[ALLREDUCE] > 0 and phases[HALO] > 0
    rows = suite.summary(found)
    assert len(rows) == sum("scaling" in m.parameters for m in found)
    assert {row["speed-up"] == "unknown" for row in rows if row["scaling"] in ("strong", "weak")} == {False}
    works = [work for work, _ in observations(found)]
    assert any(w.halo_bytes == 2 * 0 + 6 * 6 * 8 and w.reductions == 2 for w in works), (
        "of two kernels on two GPUs"
    )


@pytest.mark.skipif(GPUS < 2, reason="needs two NVIDIA GPUs: run it where there are some")
def test_two_gpus_take_the_iterations_of_one_by_nccl_and_by_peer_memory():
    grid = (24, 20, 22)
    tasks = [{"task": "solve", "grid": grid, "method": m, "rtol": 1e-6, "samples": 1} for m in gpu_cg.METHODS]
    tasks += [
        {"task": "passes", "grid": grid, "method": m, "options": o, "rtol": 1e-6, "samples": 1}
        for m, o in (("pcg", {}), ("pfcg", {}), ("pcg_sstep", {"s": 4}), ("pcg_sstep", {"s": 1}))
    ]
    tasks.append({**tasks[-1], "method": "pcg", "options": {}, "stored": True})
    tasks += [{**task, "by": "nccl"} for task in tasks]
    counts = []
    for ranks in (1, 2):
        said = launch.launch((*suite_gpu.PROGRAM, json.dumps(tasks)), ranks, timeout_s=300)
        counts.append([found["iterations"] for found in suite_ranks.objects(said)])
        assert len(counts[-1]) == len(tasks), said
    assert counts[0] == counts[1]


@pytest.mark.skipif(GPUS < 2, reason="needs two NVIDIA GPUs: run it where there are some")
@pytest.mark.parametrize("opened", ["nccl import open_nccl as open_it", "direct import open_link as open_it"])
def test_a_rank_that_dies_between_gpus_ends_the_others_with_its_name(opened):
    program = (
        "import os, signal, numpy as np\nfrom course_pkg import cuda\n"
        f"from course_pkg.distributed.{opened}\n"
        "from course_pkg.distributed.mpi import ends_all\n"
        "link = open_it(timeout_s=20)\nwith ends_all(link.comm):\n"
        "    one = cuda.to_device(np.ones(1)); link.add(one, 0); link.finish()\n"
        "    if link.comm.rank == 1: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    link.add(one, 0); link.finish()\n"
    )
    with pytest.raises(CourseError, match="rank 1"):
        launch.launch(("-c", program), 2, timeout_s=60)
    assert os.environ.get("NCCL_NVLS_ENABLE", "0") == "0"
