"""The puzzles of lecture 1: from one thread for each element to a convolution with a halo."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.practice.step import Step, Trial, WhatIf


def _map(n, rng):
    a = np.arange(n, dtype=np.float64)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=1, block=n)


def _guard(n, rng):
    a = np.arange(n, dtype=np.float64)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=1, block=32)


def _blocks(n, rng):
    a = rng.integers(0, 90, n).astype(np.float64)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=blocks_for(n, 8), block=8)


def _square(shape, rng):
    a = rng.integers(0, 90, shape).astype(np.float64)
    grid = blocks_for(shape, (4, 4))
    return Trial({"a": a, "out": unwritten(shape)}, {"out": a + 10}, grid=grid, block=(4, 4))


STEPS = (
    Step(
        name="map",
        title="One thread for each element",
        ask="Let thread i read a[i] and write a[i] + 10 into out[i].",
        trial=_map,
        sizes=(10, 7, 32),
        tell="each thread read one element and wrote one",
        hints=(
            "Every thread runs the whole function. Only its number, i, differs.",
            "Read with a[…] and write with out[…] = …; both take this thread's number.",
            "`out[i] = a[i] + 10`",
        ),
        what_if=(
            WhatIf(
                "Write `out[i] = a[0] + 10`.",
                "How many threads read a[0], and is that a hazard?",
                "All ten. It is no hazard: threads may read one element together, as long as nobody writes it.",
            ),
            WhatIf(
                "Write `out[0] = a[i] + 10`.",
                "Which value is in out[0] afterwards?",
                "Nobody knows: ten threads write it in no order, and one of them is last. That is a race.",
            ),
        ),
    ),
    Step(
        name="guard",
        title="More threads than elements: a guard",
        ask="The block has 32 threads and a only 10 elements: let the threads beyond the end do nothing.",
        trial=_guard,
        sizes=(10, 31, 32, 1),
        needs="map",
        tell="the threads without an element did nothing",
        hints=(
            "Point at thread 10 in the picture: which element does it ask for?",
            "An `if` before the access lets only some threads through; a.size is the number of elements.",
            "`if i < a.size:`",
        ),
        what_if=(
            WhatIf(
                "Write `if i <= a.size:`.",
                "Why does that fail for 10 elements?",
                "The last element is a[9]; thread 10 passes the guard and asks for a[10], which is not there.",
            ),
        ),
    ),
    Step(
        name="blocks",
        title="Many blocks",
        ask="A block has 8 threads and a more elements: let each thread find its own element in the whole grid.",
        trial=_blocks,
        sizes=(20, 8, 65),
        needs="guard",
        tell="every thread of every block had an element of its own, or none",
        hints=(
            "cuda.threadIdx.x begins at 0 in every block. What tells the blocks apart?",
            "Before block number cuda.blockIdx.x there are that many blocks of cuda.blockDim.x threads each.",
            "`i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x`, or in one word, `cuda.grid(1)`.",
        ),
        what_if=(
            WhatIf(
                "Write `i = cuda.threadIdx.x`.",
                "Who writes out[0] now, and who writes out[8]?",
                "Thread 0 of every block writes out[0], and nobody writes out[8].",
            ),
        ),
    ),
    Step(
        name="square",
        title="Two dimensions",
        ask="Let each thread add 10 to one element of the matrix a; x counts columns, y counts rows.",
        trial=_square,
        sizes=((6, 9), (9, 6), (4, 4)),
        needs="blocks",
        limits={"global_load.thread_accesses": 1},
        tell="each thread of the two-dimensional grid had one element",
        hints=(
            "`cuda.grid(2)` gives two numbers, first along x, then along y.",
            "NumPy counts rows first: a[row, column]. Which of them is x?",
            "`x, y = cuda.grid(2)`, and `if y < a.shape[0] and x < a.shape[1]:` before `out[y, x] = a[y, x] + 10`.",
        ),
        what_if=(
            WhatIf(
                "Swap the names: `y, x = cuda.grid(2)`.",
                "On a square matrix the result stays right. What changes?",
                "Neighbouring threads then touch elements a whole row apart, and the memory moves a sector for each.",
            ),
        ),
    ),
)
