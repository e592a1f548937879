"""Kernels of the kinds that learners bring: points and vectors in space, motion, roots and rows."""

import math

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N, BLOCK = 100, 64


@cuda.jit
def brought_cross(a, b, out):
    """The cross product of vectors, one of each array's rows per thread."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = a[i, 1] * b[i, 2] - a[i, 2] * b[i, 1]
        out[i, 1] = a[i, 2] * b[i, 0] - a[i, 0] * b[i, 2]
        out[i, 2] = a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]


@cuda.jit
def brought_rotate(x, y, cosine, sine):
    """Points in the plane are turned in place."""
    i = cuda.grid(1)
    if i < x.size:
        old = x[i]
        x[i] = cosine * old - sine * y[i]
        y[i] = sine * old + cosine * y[i]


@cuda.jit
def brought_leapfrog(place, speed, stiffness, dt, steps):
    """Oscillators: half a kick, a drift, half a kick."""
    i = cuda.grid(1)
    if i >= place.size:
        return
    x, v = place[i], speed[i]
    for _ in range(steps):
        v -= 0.5 * dt * stiffness[i] * x
        x += dt * v
        v -= 0.5 * dt * stiffness[i] * x
    place[i] = x
    speed[i] = v


@cuda.jit
def brought_lorenz(state, dt, steps):
    i = cuda.grid(1)
    if i < state.shape[0]:
        x, y, z = state[i, 0], state[i, 1], state[i, 2]
        for _ in range(steps):
            dx = 10.0 * (y - x)
            dy = x * (28.0 - z) - y
            dz = x * y - (8.0 / 3.0) * z
            x += dt * dx
            y += dt * dy
            z += dt * dz
        state[i, 0] = x
        state[i, 1] = y
        state[i, 2] = z


@cuda.jit
def brought_advection(u, speed, ratio, out):
    """One upwind step of advection; the speed may have either sign."""
    i = cuda.grid(1)
    n = u.size
    if 0 < i < n - 1:
        change = u[i + 1] - u[i]
        if speed[i] > 0:
            change = u[i] - u[i - 1]
        out[i] = u[i] - ratio * speed[i] * change


@cuda.jit
def brought_polynomial(x, coefficients, out):
    """Horner's rule: the coefficients lie in an array."""
    i = cuda.grid(1)
    if i < x.size:
        total = coefficients[0]
        for k in range(1, coefficients.size):
            total = total * x[i] + coefficients[k]
        out[i] = total


@cuda.jit
def brought_newton(a, out):
    """Square roots by six steps of Newton."""
    i = cuda.grid(1)
    if i < a.size:
        x = a[i]
        for _ in range(6):
            x = 0.5 * (x + a[i] / x)
        out[i] = x


@cuda.jit
def brought_lengths(rows, out):
    """Each row is divided by its length, which two loops need."""
    i = cuda.grid(1)
    if i < rows.shape[0]:
        total = 0.0
        for k in range(rows.shape[1]):
            total += rows[i, k] * rows[i, k]
        length = math.sqrt(total)
        for k in range(rows.shape[1]):
            out[i, k] = rows[i, k] / length


@cuda.jit
def brought_running_sum(table):
    """Running sums of rows, in place."""
    row = cuda.grid(1)
    if row < table.shape[0]:
        total = 0.0
        for k in range(table.shape[1]):
            total += table[row, k]
            table[row, k] = total


@cuda.jit
def brought_outer(a, b, out):
    i, j = cuda.grid(2)
    if i < a.size and j < b.size:
        out[i, j] = a[i] * b[j]


def vectors(seed=0):
    """Return 100 vectors of three numbers."""
    return numbers((N, 3), seed=seed)


for kernel, threads, arguments, title in (
    (brought_cross, BLOCK, lambda: (vectors(), vectors(1), zeros((N, 3))), "cross products of rows"),
    (brought_rotate, BLOCK, lambda: (numbers(N), numbers(N, seed=1), 0.8, 0.6), "points turned in place"),
    (
        brought_leapfrog,
        BLOCK,
        lambda: (numbers(N), numbers(N, seed=1), numbers(N, seed=2), 0.1, 10),
        "a loop that carries two numbers and loads one that no trip changes",
    ),
    (brought_lorenz, BLOCK, lambda: (vectors(), 0.01, 10), "a loop that carries three numbers"),
    (
        brought_polynomial,
        BLOCK,
        lambda: (numbers(N), numbers(7, seed=1), zeros(N)),
        "a polynomial whose coefficients all threads load",
    ),
    (brought_newton, BLOCK, lambda: (numbers(N), zeros(N)), "divisions in a loop that is written out"),
    (brought_lengths, BLOCK, lambda: (numbers((N, 5)), zeros((N, 5))), "rows divided by their lengths"),
    (brought_running_sum, BLOCK, lambda: (numbers((N, 9)),), "running sums of rows, in place"),
):
    cases.add(kernel, 2, threads, arguments, title)
cases.add(
    brought_advection,
    2,
    BLOCK,
    lambda: (numbers(N), numbers(N, seed=1) - 1.5, 0.3, zeros(N)),
    "a difference that looks to one side or to the other",
    data_dependent=True,
)
cases.add(
    brought_outer,
    (2, 4),
    (16, 8),
    lambda: (numbers(30, "float32"), numbers(25, "float32", 1), zeros((30, 25), "float32")),
    "an outer product whose first index runs fastest",
)
