"""The operations of a pass against the oracle: every kernel and precision, every s, what moves, and no hazards."""

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.sstep import cpu_numba, gpu_numba, reference
from course_pkg.sstep.checks import MOST
from course_pkg.sstep.gpu_numba import gram_matrix
from course_pkg.sstep.problem import BlockProblem
from course_pkg.sstep.tuning import EDGE, MOST_BY_THREADS, MOST_BY_WARPS, REGISTERS, TILE
from course_pkg.sstep.variants import VARIANTS

DTYPES = ("float64", "float32")
SMALL = (1, 2, 7)
LARGE = (17, 23, 32)  # around the thread's limit, around 22, and the largest
GUARD, PAD = -77.0, 16


def close(found, expected, dtype, terms):
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found, expected, rtol=terms * eps, atol=4 * terms * eps)


def device(array):
    """Copy an array into the middle of a larger one, so that writes beside it show."""
    buffer = np.full(array.size + 2 * PAD, GUARD, array.dtype)
    buffer[PAD:-PAD] = array.reshape(-1)
    whole = cuda.to_device(buffer)
    return whole[PAD:-PAD].reshape(array.shape), whole


def unharmed(whole):
    found = whole.copy_to_host()
    assert np.all(found[:PAD] == GUARD) and np.all(found[-PAD:] == GUARD), "written beside the result"


def double(problem):
    return {k: v.astype(float) for k, v in vars(problem).items()}


# ---- sums


def sums(function, block, r, s):
    out = np.full(2 * s + 1, np.nan)
    function(block, r, out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("s", [*SMALL, *LARGE])
def test_moments(s, dtype):
    p = BlockProblem.drawn(301, s, dtype, seed=s)
    exact = double(p)
    expected = sums(reference.moments, exact["fresh"], exact["r"], s)
    close(sums(reference.moments, p.fresh, p.r, s), expected, "float64", 400)
    close(sums(cpu_numba.moments, p.fresh, p.r, s), expected, "float64", 400)
    out, whole = device(np.full(2 * s + 1, np.nan))
    gpu_numba.moments(cuda.to_device(p.fresh), cuda.to_device(p.r), out)
    close(out.copy_to_host(), expected, "float64", 400)
    unharmed(whole)


@pytest.mark.family
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("warps", [True, False])
@pytest.mark.parametrize("s", [*SMALL, *LARGE])
def test_gram(s, warps, first, dtype):
    """Each element of the triangle is the one sum that belongs there; what lies below is not written."""
    if warps and gpu_numba.Tiling(s, first).count > MOST_BY_WARPS:
        return  # a block has no room for the registers of so many tiles, and the launcher asks for the other kernel
    n = 130 if s in SMALL else 70
    p = BlockProblem.drawn(n, s, dtype, seed=s)
    exact, m = double(p), s if first else 2 * s
    expected, on_cpu = np.zeros((m + 1, m + 1)), np.zeros((m + 1, m + 1))
    reference.gram(None if first else exact["old"], exact["fresh"], exact["r"], expected)
    Z = np.concatenate([exact["fresh"][:s]] if first else [exact["old"][:s], exact["fresh"][:s]])
    assert expected[0, -1] == pytest.approx(Z[0] @ exact["r"])
    cpu_numba.gram(None if first else p.old, p.fresh, p.r, on_cpu)
    close(on_cpu, expected, "float64", 400)
    if dtype == "float32" and s > 2:
        return  # the kernel differs in its loads alone
    out, whole = device(np.full((m + 1, m + 1), 5.0))
    old = None if first else cuda.to_device(p.old)
    gpu_numba.gram(old, cuda.to_device(p.fresh), cuda.to_device(p.r), out, warps=warps)
    found, upper = out.copy_to_host(), np.triu_indices(m + 1)
    close(found[upper], expected[upper], "float64", 400)
    assert np.all(found[np.tril_indices(m + 1, -1)] == 5.0)
    unharmed(whole)


def test_tiles_cover_the_triangle_once_for_every_s():
    for s in range(1, MOST + 1):
        for count in (s + 1, 2 * s + 1):
            side, tiles = -(-count // TILE), gpu_numba.tiles_of(count)
            assert tiles == sum(range(side + 1))
            points = gpu_numba.points_of(count)
            groups = gpu_numba.groups_of(tiles, points)
            assert groups >= 1 and groups * tiles <= 256 and (groups < 32 or groups % 32 == 0)
            assert 2 * side * TILE * (points + 2) * 8 <= 48 * 1024


def test_tiles_of_warps_cover_the_triangle_and_fit_into_a_block():
    for s in range(1, MOST + 1):
        for first in (True, False):
            plan = gpu_numba.Tiling(s, first)
            assert plan.side * plan.edge >= plan.count and plan.edge <= EDGE
            if plan.count <= MOST_BY_WARPS:
                assert plan.threads * REGISTERS <= 65_536 and plan.threads <= 320
                assert 4 * plan.side * plan.edge * plan.points * 8 <= 48 * 1024
                assert gpu_numba.parts(s).size >= plan.sums * plan.share * 528


def test_long_vectors_need_several_steps_of_each_block(monkeypatch):
    """One block fills every buffer several times: an odd and an even number of steps, and a short last one."""
    monkeypatch.setattr(gram_matrix, "BLOCKS", 1)
    for n in (1, 6 * 32, 5 * 6 * 32, 6 * 6 * 32 + 7):
        p = BlockProblem.drawn(n, 2, seed=n)
        out, expected = cuda.to_device(np.zeros((5, 5))), np.zeros((5, 5))
        gpu_numba.gram(*map(cuda.to_device, (p.old, p.fresh, p.r)), out)
        reference.gram(p.old, p.fresh, p.r, expected)
        close(np.triu(out.copy_to_host()), np.triu(expected), "float64", 400)


# ---- updates


def updated(name, p, out_is, to=lambda a: a, **options):
    """Run an update; return x, r and the new block."""
    small = [getattr(p, c) for c in VARIANTS[name].coefficients]
    old, fresh, x, r = (to(a.copy()) for a in (p.old, p.fresh, p.x, p.r))
    out = {"old": old, "fresh": fresh, "new": to(np.full_like(p.old, np.nan))}[out_is]
    function = options.pop("function")
    function(old, fresh, *map(to, small), x, r, out, **options)
    return x, r, out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("out_is", ["new", "fresh", "old"])
@pytest.mark.parametrize("name", ["update_block", "project_block"])
def test_updates_may_overwrite_either_block(name, out_is, dtype):
    p = BlockProblem.drawn(301, 3, dtype)
    expected = updated(name, BlockProblem(**double(p)), "new", function=getattr(reference, name))
    here = updated(name, p, out_is, function=getattr(cpu_numba, name))
    plain = updated(name, p, "new", function=getattr(reference, name))
    for warps in (False, True):
        there = updated(name, p, out_is, cuda.to_device, function=getattr(gpu_numba, name), warps=warps)
        for found in (here, plain, [a.copy_to_host() for a in there]):
            for one, other in zip(found, expected, strict=True):
                close(one, other, dtype, 30)


@pytest.mark.parametrize("s", [1, 7, *LARGE])
@pytest.mark.parametrize("name", ["update_block", "project_block"])
def test_updates_for_every_kind_of_s(name, s):
    """The launcher chooses: above 16 a warp shares its rows. A known implementation is silently wrong beyond 22."""
    p = BlockProblem.drawn(45, s, seed=s)
    expected = updated(name, p, "new", function=getattr(reference, name))
    here = updated(name, p, "fresh", function=getattr(cpu_numba, name))
    there = updated(name, p, "fresh", cuda.to_device, function=getattr(gpu_numba, name))
    for found in (here, [a.copy_to_host() for a in there]):
        for one, other in zip(found, expected, strict=True):
            close(one, other, "float64", 200)
    assert MOST_BY_THREADS == 16


# ---- bases


def grids(nx, pitch, dtype, seed=0):
    """Return two grids whose rows end in a gap of zeros."""
    both = np.random.default_rng(seed).uniform(-1, 1, (2, 7, 6, pitch)).astype(dtype)
    both[..., nx:] = 0
    return both


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("nx", "pitch"), [(5, 6), (8, 8)])
@pytest.mark.parametrize("g", [0.0, 0.7, None])
def test_laplacian_and_recurrence(g, nx, pitch, dtype):
    previous, current = grids(nx, pitch, dtype)
    inside = [np.ascontiguousarray(u[..., :nx]).astype(float) for u in (previous, current)]
    expected = np.empty_like(inside[0]), np.empty_like(inside[0])
    reference.laplacian_recurrence(
        *inside, 2.0, 0.5, g or 0.0, expected[0], None if g is None else expected[1]
    )
    product, out = (cuda.to_device(np.full_like(previous, np.nan)) for _ in range(2))
    arguments = (2.0, 0.5, g or 0.0, product, None if g is None else out)
    gpu_numba.laplacian_recurrence(cuda.to_device(previous), cuda.to_device(current), *arguments, nx=nx)
    on_cpu = [np.full_like(previous, np.nan) for _ in range(2)]
    if nx == pitch:
        cpu_numba.laplacian_recurrence(
            previous, current, *arguments[:3], on_cpu[0], None if g is None else on_cpu[1]
        )
        close(on_cpu[0], expected[0], dtype, 30)
    found = product.copy_to_host()
    close(found[..., :nx], expected[0], dtype, 30)
    assert np.all(found[..., nx:] == 0)  # gaps stay zero, so that sums over whole vectors are right
    if g is not None:
        found = out.copy_to_host()
        close(found[..., :nx], expected[1], dtype, 60)
        assert np.all(found[..., nx:] == 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("c", "g"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.7), (0.0, 0.7)])
def test_recurrence_reads_nothing_that_it_multiplies_by_zero(c, g, dtype):
    u = np.random.default_rng(1).uniform(-1, 1, (3, 301)).astype(dtype)
    expected, on_cpu = np.empty(301), np.empty(301, dtype)
    reference.recurrence(*u.astype(float), 2.0, c, g, expected)
    cpu_numba.recurrence(*u, 2.0, c, g, on_cpu)
    given = [cuda.to_device(v) for v in u]
    if c == 0:
        given[1] = cuda.to_device(np.full(301, np.nan, dtype))
    if g == 0:
        given[0] = cuda.to_device(np.full(301, np.nan, dtype))
    gpu_numba.recurrence(*given, 2.0, c, g, given[2])  # in place
    for found in (on_cpu, given[2].copy_to_host()):
        close(found, expected, dtype, 30)
