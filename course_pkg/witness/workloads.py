"""Kernels of the kinds that learners bring, and how long the interpreter may take for each.

``python -m course_pkg.witness.workloads NAME SIZE`` runs one of them in a process of its own, checks its result and
prints the seconds of processor time that it took. Processor time does not depend on what else the machine does.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_pkg import cuda, simt
from course_pkg.simt.errors import Endless

TILE, REACH = 16, 5
WINDOW = (2 * REACH + 1) ** 2


def product_naive(a, b, c):
    """Multiply two matrices: one thread per element of the result."""
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def product_tiled(a, b, c):
    """Multiply two matrices by tiles in shared memory."""
    tile_a = cuda.shared.array((TILE, TILE), np.float64)
    tile_b = cuda.shared.array((TILE, TILE), np.float64)
    row, column = cuda.grid(2)
    y, x = cuda.threadIdx.x, cuda.threadIdx.y
    total = 0.0
    for begin in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, begin + x]
        tile_b[y, x] = b[begin + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total


def median(image, out):
    """Take the median of a window of 11 × 11 pixels, which each thread sorts in local memory by insertion."""
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        window = cuda.local.array(WINDOW, np.float32)
        count = 0
        for i in range(row - REACH, row + REACH + 1):
            for j in range(column - REACH, column + REACH + 1):
                value = image[min(max(i, 0), image.shape[0] - 1), min(max(j, 0), image.shape[1] - 1)]
                place = count
                while place > 0 and window[place - 1] > value:
                    window[place] = window[place - 1]
                    place -= 1
                window[place] = value
                count += 1
        out[row, column] = window[WINDOW // 2]


def endless(x, n):
    """Run for ever: the counter goes the wrong way."""
    i = 0
    while i < n:
        x[0] += 1
        i -= 1


def smallest(x, out):
    """Take the smaller of two numbers."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = min(x[i], 2.0)


@dataclass(frozen=True)
class Workload:
    """Something that the interpreter must do within some seconds of processor time.

    Attributes
    ----------
    what : str
        What is done, in words for a table.
    size : int
        The size of the work to which the time limit applies.
    limit_s : float
    run : callable
        Takes the size, and returns a callable to be timed and a callable that then checks the result.
    """

    what: str
    size: int
    limit_s: float
    run: Callable[[int], tuple[Callable, Callable]]


def _product(kernel):
    def made(n):
        rng = np.random.default_rng(0)
        a, b, c = rng.random((n, n)), rng.random((n, n)), np.full((n, n), np.nan)
        launch = simt.jit(kernel)[(-(-n // TILE),) * 2, (TILE, TILE)]
        return lambda: simt.profile(launch, a, b, c), lambda: np.testing.assert_allclose(c, a @ b)

    return made


def _median(n):
    image = np.random.default_rng(0).random((n, n)).astype(np.float32)
    out, launch = np.full_like(image, np.nan), simt.jit(median)[(-(-n // TILE),) * 2, (TILE, TILE)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, REACH, "edge"), (2 * REACH + 1,) * 2)
    expected = np.median(windows, axis=(2, 3))
    return lambda: simt.profile(launch, image, out), lambda: np.testing.assert_array_equal(out, expected)


def _endless(n):
    stopped = []

    def run():
        try:
            simt.profile(simt.jit(endless)[1, n], np.zeros(1), n)
        except Endless as error:
            stopped.append(error)

    def check():
        assert stopped, "the endless loop was not stopped"

    return run, check


def _smallest(n):
    x, out = np.arange(float(n)), np.empty(n)
    launch = simt.jit(smallest)[1, n]
    simt.jit(product_naive)[1, (1, 1)](*np.ones((3, 1, 1)))  # loads Numba's types, which any kernel needs
    return lambda: launch(x, out), lambda: np.testing.assert_array_equal(out, np.minimum(x, 2))


def _imported(n):
    command = (
        "import time; start = time.process_time(); import course_pkg.simt; print(time.process_time() - start)"
    )
    found = []

    def run():
        from subprocess import run as execute

        done = execute([sys.executable, "-c", command], capture_output=True, text=True, check=True)
        found.append(float(done.stdout))
        return found[0]

    return run, lambda: None


WORKLOADS = {
    "naive": Workload("profile of a naive matrix product", 512, 15.0, _product(product_naive)),
    "tiled": Workload("profile of a tiled matrix product", 256, 5.0, _product(product_tiled)),
    "median": Workload("profile of an 11 × 11 median", 64, 10.0, _median),
    "endless": Workload("an endless loop is named", 32, 5.0, _endless),
    "smallest": Workload("first min", 32, 0.3, _smallest),
    "import": Workload("import of course_pkg.simt", 1, 0.6, _imported),
}


def seconds(name: str, size: int) -> float:
    """Do a piece of work, check its result, and return the seconds of processor time that it took."""
    run, check = WORKLOADS[name].run(size)
    start = time.process_time()
    own = run()
    passed = time.process_time() - start
    check()
    return own if isinstance(own, float) else passed


if __name__ == "__main__":
    print(json.dumps({"samples_s": [seconds(sys.argv[1], int(sys.argv[2]))]}))
