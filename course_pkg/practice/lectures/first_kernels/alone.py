"""Steps in which a thread has one index: numbers of threads, guards, blocks, a loop over the grid."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.grading import check
from course_pkg.practice.step import Step, Trial, WhatIf

LAUNCH = "one block has at most 1,024 threads, and its time would be that of a launch."


def numbers(shape, rng):
    """Return small whole numbers: they are short to read, and their sums are exact in any order."""
    return rng.integers(0, 90, shape).astype(np.float64)


def _map(n, rng):
    a = numbers(n, rng)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=1, block=n, mistakes=_of_number(n))


def _of_number(n):
    """Return the mistake of taking ``i`` for the element, as in ``for i in a``, and not for its index."""
    return {"This adds 10 to the thread's number i; the element is a[i].": {"out": np.arange(n) + 10.0}}


def _zip(n, rng):
    a, b = numbers(n, rng), numbers(n, rng)
    return Trial({"a": a, "b": b, "out": unwritten(n)}, {"out": a + b}, grid=1, block=n)


def _guard(n, rng):
    a = numbers(n, rng)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=1, block=32, mistakes=_of_number(n))


def _blocks(n, rng):
    a = numbers(n, rng)
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=blocks_for(n, 8), block=8)


def _stride(n, rng):
    a = numbers(n, rng)
    needed = {"global_load.sectors": np.ceil(check.sectors(n))}
    return Trial({"a": a, "out": unwritten(n)}, {"out": a + 10}, grid=2, block=8, needed=needed)


STEPS = (
    Step(
        name="map",
        title="One thread for each element",
        ask="Let thread i read a[i] and write a[i] + 10 into out[i].",
        trial=_map,
        sizes=(10, 7, 32),
        untimed=LAUNCH,
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
        name="zip",
        title="Two arrays",
        ask="Let thread i write a[i] + b[i] into out[i].",
        trial=_zip,
        sizes=(8, 5, 32),
        untimed=LAUNCH,
        needs="map",
        tell="each thread read two elements and wrote one",
        hints=(
            "A thread may read as many elements as it likes.",
            "Both arrays have an element with this thread's number.",
            "`out[i] = a[i] + b[i]`",
        ),
        what_if=(
            WhatIf(
                "Write `b[i] = a[i] + b[i]` before, and then `out[i] = b[i]`.",
                "out is right; why is the verdict not?",
                "b was only to be read: whoever uses it after this kernel finds other numbers in it.",
            ),
        ),
    ),
    Step(
        name="guard",
        title="A guard",
        ask="The block has 32 threads, and the array only 10 elements: let the threads beyond the end do nothing.",
        trial=_guard,
        sizes=(10, 31, 32, 1),
        untimed=LAUNCH,
        needs="map",
        tell="the threads without an element did nothing",
        hints=(
            "The threads are numbered 0 to 31, and the elements 0 to 9: which element would thread 10 ask for?",
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
        ask="A block has 8 threads, and the array more elements: let each thread find its own one in the whole grid.",
        trial=_blocks,
        sizes=(20, 8, 65),
        timed=1 << 23,
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
        name="stride",
        title="Fewer threads than elements",
        ask="The grid has 16 threads for any number of elements: let each thread take every 16th, in a loop.",
        trial=_stride,
        sizes=(40, 16, 5, 100),
        timed=1 << 22,
        needs="blocks",
        tell="a grid of 16 threads went through all elements",
        hints=(
            "After its first element, a thread jumps over those of all other threads.",
            "A loop with three numbers: where it begins, where it ends, how far it jumps. cuda.gridsize(1) is the "
            "number of threads of the grid.",
            "`for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):`",
        ),
        what_if=(
            WhatIf(
                "Let each thread take neighbours instead: `n = (a.size + 15) // 16`, and i from `n * cuda.grid(1)` "
                "to `min(n * cuda.grid(1) + n, a.size)`.",
                "The result stays right. Why do the threads of a warp then need more sectors for each request?",
                "With 40 elements, n is 3: in one request the lanes touch every third element, and the bytes between "
                "are moved for nothing.",
            ),
        ),
    ),
)
