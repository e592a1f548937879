"""Stencils in one and two dimensions: three points, a radius in shared memory, red-black, two phases."""

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

ALGORITHMS = (SECOND_DIFFERENCE, MOVING_SUM, RED_BLACK, FLUX_DIVERGENCE)
