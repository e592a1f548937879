"""Steps in which neighbours matter: two dimensions, a transpose, coalesced accesses, a stencil."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.grading import check
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import Step, Trial, WhatIf


def _square(shape, rng):
    a = numbers(shape, rng)
    return Trial({"a": a, "out": unwritten(shape)}, {"out": a + 10}, blocks_for(shape, (4, 4)), (4, 4))


def _transposed_read(shape, rng):
    a = numbers(shape, rng)
    least = np.ceil(check.sectors(a.size))
    needed = {"global_load.sectors": least, "global_store.sectors": least}
    out, common = unwritten(shape[::-1]), unwritten(shape[::-1])
    rows, columns = shape
    common[:rows, :columns] = a.T[:rows, :columns]
    mistakes = {
        "Only places that a has, too, were written: let the guard count rows and columns of out, and let thread (x, y) "
        "write out[y, x].": {"out": common}
    }
    blocks = blocks_for(out.shape, (8, 1))
    return Trial({"a": a, "out": out}, {"out": a.T}, blocks, (8, 1), needed, mistakes=mistakes)


def _broadcast(shape, rng):
    column, row = numbers(shape[0], rng), numbers(shape[1], rng)
    return Trial(
        {"column": column, "row": row, "out": unwritten(shape)},
        {"out": column[:, None] + row},
        blocks_for(shape, (4, 4)),
        (4, 4),
    )


def _coalesced(n, rng):
    a = numbers((n, n), rng)
    least = check.sectors(n * n)
    needed = {"global_load.sectors": least, "global_store.sectors": least}
    return Trial({"a": a, "out": unwritten((n, n))}, {"out": a + 10}, 1, n, needed)


def _stencil(n, rng):
    a = numbers(n, rng)
    right = a.copy()
    right[1:-1] = (a[:-2] + a[2:]) / 2
    return Trial({"a": a, "out": unwritten(n)}, {"out": right}, grid=blocks_for(n, 8), block=8)


STEPS = (
    Step(
        name="square",
        title="Two dimensions",
        ask="Let each thread add 10 to one element of the matrix a; x counts columns, y counts rows.",
        trial=_square,
        sizes=((6, 9), (9, 6), (4, 4)),
        timed=(1 << 12, 1 << 12),
        needs="blocks",
        tell="each thread of the two-dimensional grid had one element, or none",
        hints=(
            "`cuda.grid(2)` gives two numbers, first along x, then along y.",
            "NumPy counts rows first: a[row, column]. Which of them is x?",
            "`if y < a.shape[0] and x < a.shape[1]:` before `out[y, x] = a[y, x] + 10`",
        ),
        what_if=(
            WhatIf(
                "Swap the names: `y, x = cuda.grid(2)`.",
                "On a square matrix the result stays right. What changes?",
                "Neighbouring threads then touch elements a whole row apart, and each needs a sector of its own.",
            ),
        ),
    ),
    Step(
        name="transposed_read",
        title="Transposed reading",
        ask="Let each thread write one element of out, the transpose of a: out[y, x] is a[x, y].",
        trial=_transposed_read,
        sizes=((12, 4), (4, 12), (5, 3), (8, 8)),
        timed=(1 << 12, 1 << 12),
        needs="square",
        tell="neighbours wrote neighbours, and read down a column of a",
        hints=(
            "out has as many rows as a has columns. Which of the two arrays does the grid fit?",
            "Each thread has an element of out: guard x and y by the shape of out, and swap the indices of a.",
            "`if y < out.shape[0] and x < out.shape[1]:` before `out[y, x] = a[x, y]`",
        ),
        what_if=(
            WhatIf(
                "Compare the two lines of the counts.",
                "48 elements are read and 48 are written. Why do the loads need four times as many sectors?",
                "Neighbouring threads write neighbours, four of them in one sector. What they read lies a row of a "
                "apart: each element comes in a sector of its own, and three quarters of it are not used.",
            ),
            WhatIf(
                "Let the grid fit a instead, and let thread (x, y) write `out[x, y] = a[y, x]`.",
                "The loads then need few sectors. Is the kernel cured?",
                "No: now neighbours write down a column of out, and the stores need four times as many. One side is "
                "scattered whichever way the threads are numbered; lecture 3 cures it by a tile in shared memory.",
            ),
        ),
    ),
    Step(
        name="broadcast",
        title="A column plus a row",
        ask="Let out[y, x] be column[y] + row[x].",
        trial=_broadcast,
        sizes=((6, 7), (4, 9), (5, 1)),
        timed=(1 << 12, 1 << 12),
        needs="square",
        tell="the threads of a row shared one element, and those of a column another",
        hints=(
            "Point at an element of row in the picture: which threads should read it?",
            "NumPy repeats the shorter arrays. A kernel needs no copy: many threads read the same element.",
            "`out[y, x] = column[y] + row[x]`",
        ),
        what_if=(
            WhatIf(
                "Count the threads that read row[0].",
                "Does memory move it as often?",
                "No: the lanes of a warp that ask for one element get it by one sector, which caches keep near by.",
            ),
        ),
    ),
    Step(
        name="coalesced",
        title="Neighbours read neighbours",
        ask="A block has one thread for each column: write the loop's body so that neighbours read neighbours.",
        trial=_coalesced,
        sizes=(8, 32),
        untimed="one block has at most 1,024 threads, and the matrix that they can work on fits into the L2 cache.",
        needs="square",
        limits={"global_load.sectors": 1, "global_store.sectors": 1},
        tell="in every request, neighbouring threads touched neighbouring elements",
        hints=(
            "Think of all threads in trip k of the loop. Which elements do they read in it?",
            "An array lies in memory row by row: a[k, 0], a[k, 1], a[k, 2] are neighbours.",
            "`out[k, t] = a[k, t] + 10`",
        ),
        what_if=(
            WhatIf(
                "Write `out[t, k] = a[t, k] + 10`.",
                "The result is the same. Why are there four times as many sectors?",
                "In each trip the threads now touch elements a row apart, each in a sector of its own, and one element "
                "of four in a sector is used. Reads by neighbours from neighbours are called coalesced.",
            ),
        ),
    ),
    Step(
        name="stencil",
        title="A stencil",
        ask="Let out[i] be the mean of a[i - 1] and a[i + 1]; the first and the last element are copied.",
        trial=_stencil,
        sizes=(20, 8, 33),
        timed=1 << 24,
        needs="blocks",
        tell="inner threads read two neighbours, and the two at the ends copied",
        hints=(
            "Which threads have no left or no right neighbour?",
            "Three kinds of threads: inside, at an end, and beyond the array. That is an `if` with an `elif`.",
            "`if 0 < i < a.size - 1:` … `elif i < a.size:` …",
        ),
        what_if=(
            WhatIf(
                "Guard with `if i < a.size - 1:` alone.",
                "Thread 0 reads a[-1]. Why does nothing crash?",
                "Numba counts a negative index from the end, as NumPy does. The number is wrong, and a GPU says "
                "nothing; only the interpreter reports it.",
            ),
        ),
    ),
)
