"""Fused methods of ``cg`` on ranks: sweeps that bring their own halos."""

from dataclasses import replace

import numpy as np
import pytest
from field_cases import field

from course_pkg.cg import cpu_passes
from course_pkg.cg import variants as cg_variants
from course_pkg.core import CourseError, Library
from course_pkg.distributed.serial import Serial
from course_pkg.distributed.slabs import SlabLaplacian
from course_pkg.distributed.sweeps import RankSweeps

CPU = Library.NUMBA_CPU
FUSED = [v for v in cg_variants.METHODS if CPU in v.libraries]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("variant", FUSED, ids=lambda v: v.function_name)
def test_fused_methods_of_cg_take_the_iterations_of_one_rank(variant, dtype):
    grid, method = (9, 5, 6), variant.function(CPU)
    b, x0, rtol = field(grid, dtype), np.ones(grid, dtype), {"float64": 1e-8, "float32": 1e-4}[dtype]
    alone = method(b, x0, rtol=rtol)

    def solve(comm):
        A = SlabLaplacian(grid, comm, dtype)
        found = method(A.part(b), A.part(x0), rtol=rtol, sweeps=RankSweeps(A))
        return replace(found, x=A.whole(found.x).reshape(grid))

    for ranks in (1, 2, 3) if dtype == "float64" else (2,):
        for found in Serial(ranks).run(solve):
            assert found.converged and found.iterations == alone.iterations
            np.testing.assert_allclose(
                found.residual_norms, alone.residual_norms, rtol=1e-2 if rtol > 1e-6 else 1e-7
            )
            np.testing.assert_allclose(found.x, alone.x, rtol=100 * rtol, atol=100 * rtol)


@pytest.mark.parametrize("variant", FUSED, ids=lambda v: v.function_name)
def test_the_halo_is_that_of_the_plan(variant):
    """As lecture 5 counts it: a face of p where nothing is fused, and one of r as well where the map is."""
    grid, sizes = (8, 8, 8), []
    for maxiter in (2, 3):
        world = Serial(2)
        world.run(
            lambda comm, most=maxiter: variant.function(CPU)(
                np.ones((4, 8, 8)), maxiter=most, sweeps=RankSweeps(SlabLaplacian(grid, comm))
            )
        )
        sizes.append(sum(m.count for m in world.messages))
    fields = sum(len(kernel.halo) for kernel in variant.plan.kernels)
    assert sizes[1] - sizes[0] == 2 * fields * 8 * 8


def test_a_p_that_no_search_has_made_brings_its_halo():
    grid, p = (6, 4, 5), field((6, 4, 5))
    alone = np.zeros(grid), np.ones(grid)
    squared = cpu_passes.advance(p, 0.5, *alone)

    def advance(comm):
        A = SlabLaplacian(grid, comm)
        x, r = (A.part(whole) for whole in (np.zeros(grid), np.ones(grid)))
        return RankSweeps(A).advance(A.part(p), 0.5, x, r), A.whole(x), A.whole(r)

    for found, x, r in Serial(2).run(advance):
        assert found == pytest.approx(squared)
        for part, whole in zip((x, r), alone, strict=True):
            np.testing.assert_allclose(part, whole.reshape(-1), atol=1e-13)


def test_sweeps_of_ranks_are_those_of_one_process():
    public = {
        name for name in vars(cpu_passes) if not name.startswith("_") and callable(getattr(cpu_passes, name))
    }
    imported = {"Callable", "get_num_threads", "laplacian", "parallel", "prange", "register_jitable"}
    of_mixed = {"advance_mixed", "gather", "refresh"}
    assert public - imported - of_mixed == {n for n in vars(RankSweeps) if not n.startswith("_")}


def test_thin_slabs_are_refused_by_fused_methods():
    def solve(comm):
        A = SlabLaplacian((4, 8, 8), comm)
        return cg_variants.VARIANTS["cg_baseline"].function(CPU)(np.ones(A.own_shape), sweeps=RankSweeps(A))

    with pytest.raises(CourseError, match=r"rank . of 2: b has shape \(2, 8, 8\): at least 3 elements"):
        Serial(2).run(solve)
