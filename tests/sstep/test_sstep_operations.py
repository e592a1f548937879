"""The operations of a pass against the oracle: every kernel and precision, every s, what moves, and no hazards."""

from functools import cache

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.core import CourseError
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.sstep import cost, cpu_numba, gpu_numba, reference
from course_pkg.sstep.cases import SIZES, cases
from course_pkg.sstep.checks import MOST
from course_pkg.sstep.problem import BlockProblem, Laplacian
from course_pkg.sstep.tuning import MOST_BY_THREADS, TILE

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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("s", [*SMALL, *LARGE])
def test_gram(s, first, dtype):
    """Each element of the triangle is the one sum that belongs there; what lies below is not written."""
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
    gpu_numba.gram(old, cuda.to_device(p.fresh), cuda.to_device(p.r), out)
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


# ---- updates


def updated(name, p, out_is, to=lambda a: a, **options):
    """Run an update; return x, r and the new block."""
    small = (p.beta, p.alpha) if name == "update_block" else (p.C, p.a)
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


# ---- what moves


@cache
def profile(name):
    case = next(c for c in cases if c.name == name)
    return simt.profile(case.configured, *case.args())


def bytes_of(name, *arrays):
    """Return the bytes that these arrays' loads and stores touch, each byte once."""
    touched = profile(name).by_array
    found = [touched[a] for a in arrays if a in touched]  # those that a kernel does not touch are not there
    return sum(f.global_load.unique_bytes for f in found), sum(f.global_store.unique_bytes for f in found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_counted_bytes_of_sums_are_those_of_the_cost(size, dtype):
    n = SIZES[size]
    found = bytes_of(f"sstep_moments_4_{size}_{dtype}", "block", "r")
    assert found == (cost.moments(n, 4, dtype).bytes_read, 0)
    found = bytes_of(f"sstep_gram_3_{size}_{dtype}", "old", "fresh", "r")
    assert found == (cost.gram(n, 3, dtype=dtype).bytes_read, 0)
    found = bytes_of(f"sstep_gram_first_3_{size}_{dtype}", "fresh", "r")
    assert found == (cost.gram(n, 3, first=True, dtype=dtype).bytes_read, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kernel", "s"), [("block", 4), ("block_warps", 2)])
def test_counted_bytes_of_updates_are_those_of_the_cost(kernel, s, size, dtype):
    for name in ("update", "project"):
        found = bytes_of(f"sstep_{name}_{kernel}_{s}_{size}_{dtype}", "old", "fresh", "x", "r", "out")
        its_cost = getattr(cost, f"{name}_block")(SIZES[size], s, dtype)
        assert found == (its_cost.bytes_read, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("terms", [0, 1, 2])
def test_counted_bytes_of_the_fused_laplacian_are_those_of_the_cost(terms, dtype):
    found = bytes_of(
        f"sstep_laplacian_recurrence_{terms}_64_{dtype}", "previous", "current", "product", "out"
    )
    its_cost = cost.laplacian_recurrence((6, 8, 64), terms, dtype)
    assert found == (its_cost.bytes_read, its_cost.bytes_written)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("terms", [1, 2, 3])
def test_counted_bytes_of_a_recurrence_are_those_of_the_cost(terms, dtype):
    found = bytes_of(f"sstep_recurrence_{terms}_odd_{dtype}", "previous", "current", "product", "out")
    its_cost = cost.recurrence(SIZES["odd"], terms, dtype)
    assert found == (its_cost.bytes_read, its_cost.bytes_written)


def test_every_sector_of_a_block_is_loaded_once():
    """The vectors of a block begin at whole sectors: 512 points of 8 bytes."""
    for name, array, vectors in (
        ("sstep_moments_4_512_float64", "block", 5),
        ("sstep_gram_3_512_float64", "old", 6),
        ("sstep_gram_3_512_float64", "fresh", 6),
        ("sstep_update_block_4_512_float64", "old", 8),
        ("sstep_project_block_4_512_float64", "fresh", 8),
        ("sstep_project_block_warps_2_512_float64", "fresh", 4),
    ):
        assert profile(name).by_array[array].global_load.sectors * SECTOR_BYTES == vectors * 512 * 8, name


def test_a_block_update_reads_fewer_bytes_than_calls_of_a_library():
    for s in range(1, 11):
        n = 250**3
        assert cost.update_block_by_library(n, s).bytes > cost.update_block(n, s).bytes
        assert cost.gram_by_library(n, s).bytes > cost.gram(n, s).bytes
        assert cost.moments_by_library(n, s).bytes > cost.moments(n, s).bytes


# ---- hazards and arguments


@pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)
def test_no_kernel_has_a_hazard(case):
    assert profile(case.name).hazards == []


def test_wrong_arguments_are_named():
    p = BlockProblem.drawn(30, 2)
    out = np.empty(5)
    for wrong, message in (
        ((p.fresh[:3], p.r, out), r"A block has shape \(3, 30\): it holds s vectors and"),
        ((p.fresh, p.r[:20].copy(), out), r"r has shape \(20,\), expected \(30,\)"),
        ((p.fresh, p.r.astype("float32"), out), "r has dtype float32"),
        ((p.fresh, p.r, out[:4]), r"out has shape \(4,\), expected \(5,\)"),
        ((p.fresh, p.r, out.astype("float32")), "out has dtype float32"),
        ((np.ones((66, 30)), p.r, out), "s is 33: a pass does the work of 1 to 32 iterations"),
    ):
        for function in (reference.moments, cpu_numba.moments):
            with pytest.raises(CourseError, match=message):
                function(*wrong)
    with pytest.raises(CourseError, match="lives in host memory but this function runs on the GPU"):
        gpu_numba.moments(p.fresh, p.r, out)
    given = [cuda.to_device(a) for a in (p.old, p.fresh, p.C, p.alpha, p.x, p.r)]
    with pytest.raises(CourseError, match=r"beta has shape \(4, 2\), expected \(2, 2\)"):
        gpu_numba.update_block(*given, given[1])
    grid = cuda.to_device(np.zeros((4, 4, 5)))
    with pytest.raises(
        CourseError, match="Rows have 5 numbers, 5 of them of the grid: the pitch must be even"
    ):
        gpu_numba.laplacian_recurrence(grid, grid, 1.0, 0.0, 0.0, cuda.to_device(np.zeros((4, 4, 5))))
    with pytest.raises(CourseError, match="current and product share memory"):
        even = cuda.to_device(np.zeros((4, 4, 4)))
        gpu_numba.laplacian_recurrence(even, even, 1.0, 0.0, 0.0, even)
    with pytest.raises(CourseError, match=r"shape is \(2, 5, 5\)"):
        Laplacian((2, 5, 5))
