"""The solvers of ``cg`` and ``sstep`` run unchanged on one or many ranks: the same iterations, the same x."""

from dataclasses import replace

import numpy as np
import pytest
from field_cases import GRID, field

from course_pkg.cg import reference as cg
from course_pkg.core import CourseError, Library, Status
from course_pkg.distributed.operators import block_jacobi
from course_pkg.distributed.phases import ALLREDUCE, HALO, NAMES, PRODUCT, SCALARS, SUMS, UPDATES, Phases
from course_pkg.distributed.rows import RowBlockMatrix
from course_pkg.distributed.serial import Serial
from course_pkg.distributed.slabs import SlabLaplacian
from course_pkg.distributed.work import Work
from course_pkg.permutation.problem import poisson
from course_pkg.precond.build import amg, jacobi
from course_pkg.sstep import cpu_numba, reference
from course_pkg.sstep.problem import Laplacian

CPU = Library.NUMBA_CPU
METHODS = [
    ("pcg", {}),
    ("pfcg", {}),
    ("pcg_sstep_moments", {"s": 1}),
    ("pcg_sstep_moments", {"s": 3}),
    ("pcg_sstep", {"s": 4}),
    ("pcg_sstep", {"s": 4, "bounds": "lanczos"}),
    ("pcg_sstep", {"s": 2, "basis": "newton", "replace": 2}),
    ("pcg_sstep", {"s": 8, "rtol": 1e-8}),  # its last pass is shorter
]
KINDS = {"slabs": SlabLaplacian, "rows": lambda grid, comm: RowBlockMatrix.of(poisson(grid), comm)}


def on(ranks, method, b, kind="slabs", world=None, M=None, **options):
    """Solve on several ranks; return for each its solution, with the whole x."""

    def solve(comm):
        A = KINDS[kind](b.shape, comm)
        mine = {**options, **({"x0": A.part(options["x0"])} if "x0" in options else {})}
        found = method(A, A.part(b), **mine, **({"M": M(A)} if M else {}))
        return replace(found, x=A.whole(found.x).reshape(b.shape))

    return (world or Serial(ranks)).run(solve)


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "options"), METHODS, ids=str)
def test_many_ranks_take_the_iterations_of_one(name, options, kind, ranks):
    method, b = getattr(cpu_numba, name), field()
    alone = (
        method(Laplacian(GRID), b, **options)
        if kind == "slabs"
        else method(poisson(GRID), b.reshape(-1), **options)
    )
    world = Serial(ranks)
    for found in on(ranks, method, b, kind, world, **options):
        assert found.converged and found.iterations == alone.iterations
        assert [found.extra.get(k) for k in ("reductions", "products", "lengths")] == [
            alone.extra.get(k) for k in ("reductions", "products", "lengths")
        ]
        np.testing.assert_allclose(found.x.reshape(-1), alone.x.reshape(-1), rtol=1e-8, atol=1e-8)
        if options.get("s") == 8:
            assert found.extra["lengths"][-1] < 8
    assert bool(world.messages) == (ranks > 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_the_textbooks_method_runs_on_ranks_too(kind, ranks):
    b, x0 = field(), np.ones(GRID)
    alone = cg.cg(Laplacian(GRID), b, x0)
    for found in on(ranks, cg.cg, b, kind, x0=x0):
        assert found.converged and found.iterations == alone.iterations
        np.testing.assert_allclose(found.x, alone.x, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("ranks", [4, 7])
@pytest.mark.parametrize("name", ["pcg", "pcg_sstep"])
def test_slabs_of_one_and_two_planes_work(ranks, name):
    b, method = field(), getattr(cpu_numba, name)
    alone = method(Laplacian(GRID), b)
    for found in on(ranks, method, b):
        assert found.iterations == alone.iterations
        np.testing.assert_allclose(found.x, alone.x, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["pcg", "pcg_sstep_moments"])
def test_the_oracles_and_single_precision_run_on_ranks(name):
    b = field(dtype="float32")

    def solve(comm):
        A = SlabLaplacian(GRID, comm, "float32")
        options = {"s": 2, "rtol": 1e-4} if name != "pcg" else {"rtol": 1e-4}
        return getattr(reference, name)(A, A.part(b), **options)

    one, *_ = Serial(1).run(solve)
    for found in Serial(2).run(solve):
        assert found.converged and found.iterations == one.iterations and found.x.dtype == np.float32


def test_preconditioners_of_each_rank_converge_to_the_same_x():
    b = field()
    alone = cpu_numba.pcg(Laplacian(GRID), b, rtol=1e-10)
    for build in (jacobi, amg):
        counts = []
        for ranks in (1, 2, 3):
            found, *_ = on(
                ranks, cpu_numba.pcg, b, M=lambda A, build=build: block_jacobi(A, build), rtol=1e-10
            )
            assert found.converged
            counts.append(found.iterations)
            np.testing.assert_allclose(found.x, alone.x, rtol=1e-7, atol=1e-7)
        assert counts[0] <= counts[1] and (build is amg or len(set(counts)) == 1)
    assert counts[0] < counts[2], "the blocks know nothing of what couples them"


@pytest.mark.parametrize("planes", [1, 2, 4])
def test_the_block_of_a_slab_is_that_of_the_matrix(planes):
    grid = (3 * planes, 3, 4)
    whole = poisson(grid).toarray()

    def block(comm):
        A = SlabLaplacian(grid, comm)
        return A.own_block().toarray(), slice(A.first, A.first + A.n)

    for found, own in Serial(3).run(block):
        np.testing.assert_array_equal(found, whole[own, own])


def test_eigenvalues_are_bounded_by_the_rows_of_all_ranks():
    A = poisson(GRID).copy()
    A.data[0] = 20.0  # a row of the first rank alone has a large circle
    for lo, hi in Serial(3).run(lambda comm: RowBlockMatrix.of(A, comm).circles()):
        assert (lo, hi) == (0.0, 23.0)


# ---- messages


@pytest.mark.parametrize(
    ("name", "s"), [("pcg", None), ("pfcg", None), ("pcg_sstep_moments", 2), ("pcg_sstep", 4)]
)
@pytest.mark.parametrize("ranks", [2, 3])
def test_an_iteration_has_the_messages_that_the_model_counts(name, s, ranks):
    """What one more pass adds to the record of messages is the model's work of its iterations."""
    b, sizes = field((8, 5, 6)), []
    options = {"s": s} if s else {}
    for passes in (2, 3):
        world = Serial(ranks)
        on(ranks, getattr(cpu_numba, name), b, world=world, maxiter=passes * (s or 1), rtol=1e-14, **options)
        inside = [m for m in world.messages if m.destination == 1]
        sizes.append(
            (len(world.reductions), sum(world.reductions), len(inside), sum(m.bytes for m in inside))
        )
    reductions, numbers, messages, nbytes = np.subtract(sizes[1], sizes[0])
    work, rounds = Work.of(name, b.shape, ranks, s), {2: 1, 3: 2}[ranks]
    iterations = s or 1
    assert reductions == iterations * work.reductions
    assert (
        8 * numbers * rounds == iterations * work.round_bytes
        and reductions * rounds == iterations * work.rounds
    )
    assert messages == iterations * min(ranks - 1, 2) and nbytes == iterations * work.halo_bytes


def test_the_halo_travels_while_the_rank_multiplies():
    """A product begins its exchange before it computes, and needs the halo only afterwards."""
    steps = {0: [], 1: []}

    class Watched(SlabLaplacian):
        def inside(self, v, out, ops=None):
            sent = sum(m.source == self.comm.rank for m in self.comm.world.messages)
            steps[self.comm.rank].append(f"inside, {sent} sent")
            super().inside(v, out, ops)

        def outside(self, halo, out, factor=1.0):
            steps[self.comm.rank].append("outside")
            super().outside(halo, out, factor)

    Serial(2).run(lambda comm: Watched((6, 4, 4), comm) @ np.ones((3, 4, 4)))
    assert steps == {0: ["inside, 1 sent", "outside"], 1: ["inside, 1 sent", "outside"]}


def test_phases_add_up_and_do_not_overlap():
    ticks = iter(range(100))
    phases = Phases(clock=lambda: float(next(ticks)))  # each look at the clock is a second later
    with phases(PRODUCT), phases(HALO):
        pass
    with phases(SUMS):
        pass
    found = phases.read()
    assert [found[name] for name in (PRODUCT, HALO, SUMS, SCALARS)] == [2.0, 1.0, 1.0, 3.0]
    assert sum(found.values()) == 7.0 and tuple(found) == NAMES


def test_every_phase_of_a_solve_is_counted():
    def solve(comm):
        A = SlabLaplacian(GRID, comm)
        A.phases.restart()
        cpu_numba.pcg(A, A.part(field()), M=block_jacobi(A, jacobi))
        return A.phases.read()

    for found in Serial(2).run(solve):
        assert all(found[name] > 0 for name in NAMES)
        assert found[UPDATES] > 0 and found[ALLREDUCE] > 0


# ---- how a solve ends, and wrong arguments


def test_all_ranks_stop_after_the_iterations_of_the_whole_system():
    """By default, ten times the number of *all* unknowns are allowed, also on ranks that hold few of them."""
    for ranks in (1, 2):
        first, *others = on(ranks, cpu_numba.pcg, field(), maxiter=3)
        assert first.status is Status.MAXITER and first.iterations == 3
        assert {other.residual_norms for other in others} <= {first.residual_norms}


def test_zero_is_solved_at_once_and_a_part_may_be_zero():
    b = np.zeros(GRID)
    assert [found.iterations for found in on(2, cpu_numba.pcg, b)] == [0, 0]
    assert [found.iterations for found in on(2, cg.cg, b)] == [0, 0]
    b[0, 2, 2], b[-1, 2, 2] = 1.0, 1e-170  # the squares of the second rank's part underflow
    assert all(found.converged for found in on(2, cpu_numba.pcg, b))
    assert all(found.converged for found in on(2, cg.cg, b))


def test_values_that_are_not_finite_are_found_on_every_rank():
    b = field()
    b[-1, 0, 0] = np.nan
    with pytest.raises(CourseError, match=r"rank . of 2: b has values that are not finite"):
        on(2, cpu_numba.pcg, b)


def test_parts_of_a_wrong_shape_are_refused():
    def solve(comm):
        A = SlabLaplacian(GRID, comm)
        return cpu_numba.pcg(A, np.ones(GRID))

    with pytest.raises(
        CourseError, match=r"b has shape \(7, 5, 6\) and dtype float64, but the part of rank . of 2"
    ):
        Serial(2).run(solve)

    def multiply(comm):
        return SlabLaplacian(GRID, comm) @ np.ones((1, 5, 6))

    with pytest.raises(CourseError, match=r"rank . of 2 multiplies arrays of shape"):
        Serial(2).run(multiply)
    with pytest.raises(CourseError, match="The vector has 5 entries, but A has 210 unknowns"):
        Serial().run(lambda comm: SlabLaplacian(GRID, comm).part(np.ones(5)))


def test_ranks_with_different_problems_are_told_so():
    with pytest.raises(
        CourseError, match=r"the shape of the grid: rank 0 has \(6, 4, 4\), but rank 1 has \(6, 4, 5\)"
    ):
        Serial(2).run(lambda comm: SlabLaplacian((6, 4, 4 + comm.rank), comm))
    with pytest.raises(CourseError, match="4 planes cannot be divided among 5 ranks"):
        Serial(5).run(lambda comm: SlabLaplacian((4, 4, 4), comm))
    with pytest.raises(CourseError, match="12 rows together, but A has 16 columns"):
        Serial(2).run(lambda comm: RowBlockMatrix(poisson((4, 4))[:6], comm))
    with pytest.raises(
        CourseError, match=r"number of columns of A: rank 0 has \(16,\), but rank 1 has \(25,\)"
    ):
        Serial(2).run(lambda comm: RowBlockMatrix(poisson((4 + comm.rank,) * 2)[:8], comm))
    with pytest.raises(CourseError, match="rank 1 of 2 has no rows"):
        Serial(2).run(lambda comm: RowBlockMatrix(poisson((4, 4))[: 16 if comm.rank == 0 else 0], comm))
