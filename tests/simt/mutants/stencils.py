"""Stencils in global memory: three points, a radius in shared memory, a register queue, red-black, two phases."""

import numpy as np
from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

BLOCK = 64
R = 2
WITH_HALO, WITH_HALF = BLOCK + 2 * R, BLOCK + R


def second_difference(u, out):
    i = cuda.grid(1)
    n = u.size
    if 0 < i < n - 1:
        out[i] = u[i - 1] - 2 * u[i] + u[i + 1]


def moving_sum(u, out):
    tile = cuda.shared.array(WITH_HALO, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < u.size:
        tile[t + R] = u[i]
    if t < R:
        tile[t] = u[i - R] if i >= R else 0.0
        tile[t + BLOCK + R] = u[i + BLOCK] if i + BLOCK < u.size else 0.0
    cuda.syncthreads()
    if R <= i < u.size - R:
        total = 0.0
        for k in range(-R, R + 1):
            total += tile[t + R + k]
        out[i] = total


def laplacian_marching(u, out):
    i, j = cuda.grid(2)
    nz, ny, nx = u.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        below, here = u[0, j, i], u[1, j, i]
        for k in range(1, nz - 1):
            above = u[k + 1, j, i]
            sides = u[k, j, i - 1] + u[k, j, i + 1] + u[k, j - 1, i] + u[k, j + 1, i]
            out[k, j, i] = sides + below + above - 6 * here
            below, here = here, above


def laplacian_3d(u, out):
    i, j, k = cuda.grid(3)
    nz, ny, nx = u.shape
    if i < nx and j < ny and k < nz:
        total = 6 * u[k, j, i]
        if i > 0:
            total -= u[k, j, i - 1]
        if i < nx - 1:
            total -= u[k, j, i + 1]
        if j > 0:
            total -= u[k, j - 1, i]
        if j < ny - 1:
            total -= u[k, j + 1, i]
        if k > 0:
            total -= u[k - 1, j, i]
        if k < nz - 1:
            total -= u[k + 1, j, i]
        out[k, j, i] = total


def red_black(u, colour):
    i, j = cuda.grid(2)
    ny, nx = u.shape
    inner = 0 < i < nx - 1 and 0 < j < ny - 1
    if inner and (i + j) % 2 == colour:
        u[j, i] = 0.25 * (u[j, i - 1] + u[j, i + 1] + u[j - 1, i] + u[j + 1, i])


def flux_divergence(T, q, out):
    i = cuda.grid(1)
    n = T.size
    if i < n - 1:
        q[i] = T[i + 1] - T[i]
    cuda.syncthreads()
    if 0 < i < n - 1:
        left = q[i - 1] if cuda.threadIdx.x > 0 else T[i] - T[i - 1]
        out[i] = q[i] - left


def _inner(a):
    u, out = a["u"], a["out"].copy()
    out[1:-1] = u[:-2] - 2 * u[1:-1] + u[2:]
    return {"out": out}


_THREE = "out[i] = u[i - 1] - 2 * u[i] + u[i + 1]"

SECOND_DIFFERENCE = Algorithm(
    second_difference,
    (3,),
    (BLOCK,),
    lambda: {"u": reals(150), "out": reals(150)},
    _inner,
    (
        Mutant(
            "left edge not guarded", "negative_index", _THREE, "u", ("if 0 < i < n - 1:", "if i < n - 1:")
        ),
        Mutant(
            "right edge off by one", "out_of_bounds", _THREE, "u", ("if 0 < i < n - 1:", "if 0 < i <= n - 1:")
        ),
        Mutant("no right edge", "out_of_bounds", _THREE, "u", ("if 0 < i < n - 1:", "if 0 < i:")),
        Mutant(
            "result stored where it is read",
            "race",
            "u[i] = u[i - 1] - 2 * u[i] + u[i + 1]",
            "u",
            (_THREE, "u[i] = u[i - 1] - 2 * u[i] + u[i + 1]"),
        ),
        Mutant("launched in place", "race", _THREE, "out", arguments=lambda a: a.update(out=a["u"])),
        Mutant(
            "launched on two views of one array",
            "race",
            _THREE,
            "out",
            arguments=lambda a: a.update(u=(whole := reals(151))[:-1], out=whole[1:]),
        ),
    ),
)


def _moving(a):
    u, out = a["u"], a["out"].copy()
    out[R:-R] = sum(u[R + k : u.size - R + k] for k in range(-R, R + 1))
    return {"out": out}


_WINDOW = "total += tile[t + R + k]"
_LEFT = "tile[t] = u[i - R] if i >= R else 0.0"
_RIGHT = "tile[t + BLOCK + R] = u[i + BLOCK] if i + BLOCK < u.size else 0.0"

MOVING_SUM = Algorithm(
    moving_sum,
    (3,),
    (BLOCK,),
    lambda: {"u": reals(150), "out": reals(150)},
    _moving,
    (
        Mutant(
            "no barrier after the load",
            "race",
            _WINDOW,
            "tile",
            ("cuda.syncthreads()", "pass"),
            other="tile[t + R] = u[i]",
        ),
        Mutant("left halo not loaded", "uninitialised", _WINDOW, "tile", (_LEFT, "pass")),
        Mutant("right halo not loaded", "uninitialised", _WINDOW, "tile", (_RIGHT, "pass")),
        Mutant("halo one element narrow", "uninitialised", _WINDOW, "tile", ("if t < R:", "if 0 < t < R:")),
        Mutant("left halo wraps", "negative_index", "tile[t] = u[i - R]", "u", (_LEFT, "tile[t] = u[i - R]")),
        Mutant(
            "right halo beyond the end",
            "out_of_bounds",
            "tile[t + BLOCK + R] = u[i + BLOCK]",
            "u",
            (_RIGHT, "tile[t + BLOCK + R] = u[i + BLOCK]"),
        ),
        Mutant(
            "tile with one halo only",
            "out_of_bounds",
            _RIGHT,
            "tile",
            (
                "tile = cuda.shared.array(WITH_HALO, float64)",
                "tile = cuda.shared.array(WITH_HALF, float64)",
            ),
        ),
        Mutant(
            "window one element too wide",
            "out_of_bounds",
            _WINDOW,
            "tile",
            ("for k in range(-R, R + 1):", "for k in range(-R, R + 2):"),
        ),
    ),
)


def _inside_3d(a):
    u, out = a["u"], a["out"].copy()
    inner = u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    out[1:-1, 1:-1, 1:-1] = inner + u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] - 6 * u[1:-1, 1:-1, 1:-1]
    return {"out": out}


_QUEUE_STORE = "out[k, j, i] = sides + below + above - 6 * here"

LAPLACIAN_MARCHING = Algorithm(
    laplacian_marching,
    (2, 2),
    (16, 4),
    lambda: {"u": reals(5, 7, 19), "out": reals(5, 7, 19)},
    _inside_3d,
    (
        Mutant(
            "one plane too far",
            "out_of_bounds",
            "above = u[k + 1, j, i]",
            "u",
            ("for k in range(1, nz - 1):", "for k in range(1, nz):"),
        ),
        Mutant(
            "row above the first",
            "negative_index",
            "sides = u[k, j, i - 1] + u[k, j, i + 1] + u[k, j - 1, i] + u[k, j + 1, i]",
            "u",
            ("if 0 < i < nx - 1 and 0 < j < ny - 1:", "if 0 < i < nx - 1 and j < ny - 1:"),
        ),
        Mutant(
            "stored into the field that neighbours still read",
            "race",
            "u[k, j, i] = sides + below + above - 6 * here",
            "u",
            (_QUEUE_STORE, "u[k, j, i] = sides + below + above - 6 * here"),
            other="sides = u[k, j, i - 1] + u[k, j, i + 1] + u[k, j - 1, i] + u[k, j + 1, i]",
        ),
    ),
)


def _zero_edges(a):
    u = a["u"]
    p = [slice(None)] * 3
    out = 6 * u
    for axis in range(3):
        for near, far in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
            here, there = list(p), list(p)
            here[axis], there[axis] = near, far
            out[tuple(here)] -= u[tuple(there)]
    return {"out": out}


LAPLACIAN_3D = Algorithm(
    laplacian_3d,
    (2, 2, 3),
    (8, 4, 2),
    lambda: {"u": reals(5, 6, 11), "out": reals(5, 6, 11)},
    _zero_edges,
    (
        Mutant(
            "plane below the first",
            "negative_index",
            "total -= u[k - 1, j, i]",
            "u",
            ("if k > 0:", "if k >= 0:"),
        ),
        Mutant(
            "row beyond the last",
            "out_of_bounds",
            "total -= u[k, j + 1, i]",
            "u",
            ("if j < ny - 1:", "if j < ny:"),
        ),
        Mutant(
            "grid not guarded in z",
            "out_of_bounds",
            "total = 6 * u[k, j, i]",
            "u",
            ("if i < nx and j < ny and k < nz:", "if i < nx and j < ny:"),
        ),
        Mutant(
            "launched in place",
            "race",
            "out[k, j, i] = total",
            "out",
            arguments=lambda a: a.update(out=a["u"]),
            other=tuple(
                f"total -= u[{n}]" for n in ("k, j, i - 1", "k, j, i + 1", "k - 1, j, i", "k + 1, j, i")
            ),
        ),
    ),
)


def _one_colour(a):
    u = a["u"].copy()
    j, i = np.mgrid[1 : u.shape[0] - 1, 1 : u.shape[1] - 1]
    mean = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])
    u[1:-1, 1:-1] = mean * ((i + j) % 2 == a["colour"]) + u[1:-1, 1:-1] * ((i + j) % 2 != a["colour"])
    return {"u": u}


_UPDATE = "u[j, i] = 0.25 * (u[j, i - 1] + u[j, i + 1] + u[j - 1, i] + u[j + 1, i])"

RED_BLACK = Algorithm(
    red_black,
    (2, 3),
    (16, 4),
    lambda: {"u": reals(10, 21), "colour": 1},
    _one_colour,
    (
        Mutant(
            "both colours at once", "race", _UPDATE, "u", ("if inner and (i + j) % 2 == colour:", "if inner:")
        ),
        Mutant(
            "colours by row number, not by diagonal",
            "race",
            _UPDATE,
            "u",
            ("if inner and (i + j) % 2 == colour:", "if inner and j % 2 == colour:"),
        ),
        Mutant(
            "a diagonal neighbour, of the same colour",
            "race",
            "u[j, i] = 0.25 * (u[j - 1, i - 1] + u[j, i + 1] + u[j - 1, i] + u[j + 1, i])",
            "u",
            (_UPDATE, "u[j, i] = 0.25 * (u[j - 1, i - 1] + u[j, i + 1] + u[j - 1, i] + u[j + 1, i])"),
        ),
    ),
)


def _divergence(a):
    T, out = a["T"], a["out"].copy()
    out[1:-1] = T[2:] - 2 * T[1:-1] + T[:-2]
    return {"q": [*(T[1:] - T[:-1]), a["q"][-1]], "out": out}


_LEFT_FLUX = "left = q[i - 1] if cuda.threadIdx.x > 0 else T[i] - T[i - 1]"

FLUX_DIVERGENCE = Algorithm(
    flux_divergence,
    (3,),
    (BLOCK,),
    lambda: {"T": reals(150), "q": reals(150), "out": reals(150)},
    _divergence,
    (
        Mutant(
            "reads what another block writes",
            "race",
            "left = q[i - 1]",
            "q",
            (_LEFT_FLUX, "left = q[i - 1]"),
            other="q[i] = T[i + 1] - T[i]",
        ),
        Mutant(
            "no barrier between the phases",
            "race",
            _LEFT_FLUX,
            "q",
            ("cuda.syncthreads()", "pass"),
            other="q[i] = T[i + 1] - T[i]",
        ),
        Mutant(
            "flux and divergence share their memory",
            "race",
            "out[i] = q[i] - left",
            "out",
            arguments=lambda a: a.update(out=a["q"]),
            other=_LEFT_FLUX,
        ),
    ),
)

ALGORITHMS = (SECOND_DIFFERENCE, MOVING_SUM, LAPLACIAN_MARCHING, LAPLACIAN_3D, RED_BLACK, FLUX_DIVERGENCE)
