"""Stencils in three dimensions: a queue of registers, and a thread for each point."""

from mutants.algorithm import Algorithm, Mutant, reals

from course_pkg import cuda


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


ALGORITHMS = (LAPLACIAN_MARCHING, LAPLACIAN_3D)
