"""The blocked loops of ``cpu_numba``: every way of cutting a grid into tiles and sharing it gives the same result."""

import numpy as np
import pytest
from rounding_cases import tolerance

from course_pkg.stencil import cpu_numba, reference
from course_pkg.stencil.problem import HeatProblem

PAD = 64  # elements around the result that nobody may write
GUARD = -77.0

CUTS = [  # shape, rows of a tile, threads
    pytest.param((7, 12, 20), 4, 2, id="equal tiles"),
    pytest.param((7, 11, 20), 4, 2, id="last tile smaller"),
    pytest.param((7, 13, 20), 4, 3, id="last tile of one row"),
    pytest.param((7, 5, 20), 9, 2, id="one tile larger than the plane"),
    pytest.param((3, 4, 5), 1, 5, id="tiles of one row"),
    pytest.param((5, 9, 3), 2, 2, id="one inner point in a row"),
    pytest.param((5, 9, 4), 2, 3, id="two inner points in a row"),
    pytest.param((3, 4, 70), 4, 7, id="more threads than strips"),
    pytest.param((4, 7, 131), 3, 5, id="shares end inside a tile"),
]


def guarded(shape, dtype):
    """Return an array full of NaN, and a function that looks whether anything around it was written."""
    n = int(np.prod(shape))
    buffer = np.full(n + 2 * PAD, GUARD, dtype)
    out = buffer[PAD : PAD + n].reshape(shape)
    out[:] = np.nan

    def look():
        assert np.all(buffer[:PAD] == GUARD), "written before the beginning"
        assert np.all(buffer[PAD + n :] == GUARD), "written beyond the end"

    return out, look


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "rows", "threads"), CUTS)
def test_the_laplacian_in_tiles(shape, rows, threads, dtype, rng):
    u = rng.uniform(-1, 1, shape).astype(dtype)
    expected = np.empty(shape)
    reference.laplacian(u.astype(float), expected)
    out, look = guarded(shape, dtype)
    cpu_numba._laplacian(u, out, rows, threads)
    look()
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance(dtype))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "rows", "threads"), CUTS)
def test_the_diffusion_step_in_tiles(shape, rows, threads, dtype, rng):
    p = HeatProblem.random(shape, dtype, int(rng.integers(2**32)))
    expected = np.empty(shape)
    reference.diffusion_step_3d(p.T.astype(float), p.Cp.astype(float), p.lam, p.dt, p.h, expected)
    out, look = guarded(shape, dtype)
    factor = np.dtype(dtype).type(p.dt * p.lam / p.h**2)
    cpu_numba._diffusion_step_3d(p.T, p.Cp, factor, out, rows, threads)
    look()
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance(dtype))


@pytest.mark.parametrize("name", ["_laplacian", "_diffusion_step_3d"])
@pytest.mark.parametrize(("shape", "rows", "threads"), CUTS)
def test_each_thread_takes_an_equal_share_of_whole_strips(name, shape, rows, threads, monkeypatch):
    """The loops run in Python; each row is asked for once, along z in a tile."""
    taken = []
    row = "_laplacian_row" if name == "_laplacian" else "_diffusion_row"
    monkeypatch.setattr(cpu_numba, row, lambda *arguments: taken.append(arguments[-2:]))
    fields = [np.empty(shape)] * 2 if name == "_laplacian" else [np.empty(shape)] * 2 + [0.1, np.empty(shape)]
    kernel = getattr(cpu_numba, name).py_func
    kernel(*fields, rows, threads)
    nz, ny, _ = shape
    tiles = [range(first, min(first + rows, ny)) for first in range(0, ny, rows)]
    assert taken == [(k, j) for tile in tiles for k in range(nz) for j in tile]

    strips = nz * len(tiles)
    shares = []
    for thread in range(threads):
        taken.clear()
        monkeypatch.setattr(cpu_numba, "prange", lambda n, thread=thread: [thread])
        kernel(*fields, rows, threads)
        shares.append(len({(k, j // rows) for k, j in taken}))
    assert sum(shares) == strips
    assert max(shares) - min(shares) <= 1


def spied(monkeypatch, name):
    """Return the list that will hold the rows of a tile in each call of a kernel."""
    seen = []
    kernel = getattr(cpu_numba, name)

    def spy(*arguments):
        seen.append(arguments[-2])
        kernel(*arguments)

    monkeypatch.setattr(cpu_numba, name, spy)
    return seen


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_public_functions_cut_what_the_cache_cannot_hold(dtype, monkeypatch, rng):
    shape = (6, 23, 40)
    monkeypatch.setattr(cpu_numba, "LEAST_ROWS", 2)
    monkeypatch.setattr(cpu_numba, "CACHE_BYTES", 3 * (5 + 2) * 40 * np.dtype(dtype).itemsize)
    laplacian_rows = spied(monkeypatch, "_laplacian")
    step_rows = spied(monkeypatch, "_diffusion_step_3d")
    p = HeatProblem.random(shape, dtype, int(rng.integers(2**32)))
    out, expected = np.full(shape, np.nan, dtype), np.empty(shape)
    cpu_numba.laplacian(p.T, out)
    reference.laplacian(p.T.astype(float), expected)
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance(dtype))
    cpu_numba.diffusion_step_3d(*p.arguments(), out)
    reference.diffusion_step_3d(p.T.astype(float), p.Cp.astype(float), p.lam, p.dt, p.h, expected)
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance(dtype))
    assert laplacian_rows == step_rows == [5], "23 rows in tiles of 5, the last of 3"


@pytest.mark.parametrize("nx", [3, 100, 384, 512, 1024, 2000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_three_strips_fit_into_the_cache_with_as_few_tiles_as_can_be(nx, dtype):
    ny = 10_000
    rows = cpu_numba._tile_rows(np.broadcast_to(np.zeros((), dtype), (3, ny, nx)))
    row_bytes = nx * np.dtype(dtype).itemsize
    assert 3 * (rows + 2) * row_bytes <= cpu_numba.CACHE_BYTES
    tiles = -(-ny // rows)
    fewer = -(-ny // max(1, tiles - 1))
    assert tiles == 1 or 3 * (fewer + 2) * row_bytes > cpu_numba.CACHE_BYTES


def test_tiles_are_alike():
    """384 rows in tiles of 54 would leave 6 for the last, which reads two more."""
    assert cpu_numba._tile_rows(np.empty((3, 384, 384))) == 48


def test_a_plane_that_fits_is_one_tile():
    assert cpu_numba._tile_rows(np.empty((3, 20, 30))) == 20


def test_a_tile_of_very_long_rows_keeps_some_rows():
    assert cpu_numba._tile_rows(np.empty((3, 16, 100_000))) == cpu_numba.LEAST_ROWS
