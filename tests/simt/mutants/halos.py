"""A tile in shared memory with a halo: a stencil."""

from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

TILE = 8
PADDED, WITH_HALO = TILE + 1, TILE + 2


def laplacian_tiled(u, out):
    tile = cuda.shared.array((WITH_HALO, WITH_HALO), float64)
    i, j = cuda.grid(2)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    ny, nx = u.shape
    if i < nx and j < ny:
        tile[y, x] = u[j, i]
        if x == 1 and i > 0:
            tile[y, 0] = u[j, i - 1]
        if x == TILE and i < nx - 1:
            tile[y, TILE + 1] = u[j, i + 1]
        if y == 1 and j > 0:
            tile[0, x] = u[j - 1, i]
        if y == TILE and j < ny - 1:
            tile[TILE + 1, x] = u[j + 1, i]
    cuda.syncthreads()  # tile and halo are loaded
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        total = tile[y, x - 1] + tile[y, x + 1]
        total += tile[y - 1, x] + tile[y + 1, x]
        out[j, i] = total - 4 * tile[y, x]


def _laplacian(a):
    u, out = a["u"], a["out"].copy()
    out[1:-1, 1:-1] = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]
    return {"out": out}


_SIDES = "total = tile[y, x - 1] + tile[y, x + 1]"

LAPLACIAN_TILED = Algorithm(
    laplacian_tiled,
    (3, 2),
    (TILE, TILE),
    lambda: {"u": reals(13, 19), "out": reals(13, 19)},
    _laplacian,
    (
        Mutant(
            "no barrier after the load",
            "race",
            "total += tile[y - 1, x] + tile[y + 1, x]",
            "tile",
            ("cuda.syncthreads()  # tile and halo are loaded", "pass"),
            other="tile[y, x] = u[j, i]",
        ),
        Mutant(
            "left halo at the left edge",
            "negative_index",
            "tile[y, 0] = u[j, i - 1]",
            "u",
            ("if x == 1 and i > 0:", "if x == 1:"),
        ),
        Mutant(
            "right halo one column too far",
            "out_of_bounds",
            "tile[y, TILE + 1] = u[j, i + 1]",
            "u",
            ("if x == TILE and i < nx - 1:", "if x == TILE and i < nx:"),
            arguments=lambda a: a.update(u=reals(13, 16), out=reals(13, 16)),
        ),
        Mutant("left halo not loaded", "uninitialised", _SIDES, "tile", ("tile[y, 0] = u[j, i - 1]", "pass")),
        Mutant(
            "a corner of the halo is read, but never loaded",
            "uninitialised",
            "total = tile[y - 1, x - 1] + tile[y, x + 1]",
            "tile",
            (_SIDES, "total = tile[y - 1, x - 1] + tile[y, x + 1]"),
        ),
        Mutant(
            "tile without its right halo",
            "out_of_bounds",
            "tile[y, TILE + 1] = u[j, i + 1]",
            "tile",
            (
                "tile = cuda.shared.array((WITH_HALO, WITH_HALO), float64)",
                "tile = cuda.shared.array((WITH_HALO, PADDED), float64)",
            ),
        ),
        Mutant(
            "barrier only inside the grid",
            "divergent_barrier",
            "cuda.syncthreads()",
            None,
            ("cuda.syncthreads()  # tile and halo are loaded", "    cuda.syncthreads()"),
        ),
        Mutant(
            "computed in place",
            "race",
            "out[j, i] = total - 4 * tile[y, x]",
            "out",
            arguments=lambda a: a.update(out=a["u"]),
            other="tile[y, 0] = u[j, i - 1]",
        ),
    ),
)
ALGORITHMS = (LAPLACIAN_TILED,)
