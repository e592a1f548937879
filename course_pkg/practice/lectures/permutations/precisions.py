"""The step on a vector in two precisions: the product writes both of them."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.practice.lectures.permutations.orders import random_matrix
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf
from course_pkg.simt import KernelProfile

READ, WRITTEN = "global_load.bytes_requested", "global_store.bytes_requested"


def _both_precisions(size, rng):
    n, times = size
    A = random_matrix((n, n), rng, shortest=1, longest=4)
    data = (A.data / 9).astype(np.float32)  # a float32 cannot represent products of such numbers exactly
    row = np.repeat(np.arange(n), np.diff(A.indptr))

    def product(x32, exact=True):
        products = data.astype(np.float64) * x32[A.indices] if exact else data * x32[A.indices]
        return np.bincount(row, products, n)

    found = [rng.random(n)]
    rounded = found[:]
    for _ in range(times):
        found.append(product(found[-1].astype(np.float32)))
        rounded.append(product(rounded[-1].astype(np.float32), exact=False))
    mistakes = {
        "A product of two float32 numbers is rounded to float32: make both of them float64 before you multiply.": {
            RESULT: rounded[-1]
        },
        "This is x64 as it was before the first product: after each launch, x64 and y64 change places, and so do x32 "
        "and y32.": {RESULT: found[0]},
        "y64 was copied to x64: let the names change places instead.": {
            "x64" if times % 2 else "y64": found[-1]
        },
    }
    if times > 1:
        said = "Every launch read the first x32: this pair of names has to change places, too."
        mistakes[said] = {RESULT: found[1]}
    even, odd = (found[-1], found[-2]) if times % 2 == 0 else (found[-2], found[-1])
    arguments = {"indptr": A.indptr, "indices": A.indices, "data": data}
    arguments |= {"x32": found[0].astype(np.float32), "x64": found[0].copy()}
    arguments |= {"y32": unwritten(n, np.float32), "y64": unwritten(n), "times": times}
    right = {"x64": even, "y64": odd, "x32": even.astype(np.float32), "y32": odd.astype(np.float32)}
    needed = {READ: 8 * n + 12 * A.nnz, WRITTEN: 12 * n}
    return Trial(arguments, {RESULT: found[-1], **right}, needed=needed, mistakes=mistakes)


def _no_copy(profile: KernelProfile, trial: Trial) -> str | None:
    """Return a sentence if a launch is not a product."""
    if profile.global_load.bytes_requested < trial.needed[READ]:
        return "one of the launches only copies: write y32 while the sum is still in a register."
    return None


STEPS = (
    Step(
        name="both_precisions",
        title="A product that leaves two precisions",
        ask="Write each sum as float64 and as float32, and let the vectors change places, so that `times` products "
        "follow each other without a copy.",
        trial=_both_precisions,
        sizes=((12, 3), (7, 2), (40, 1)),
        needs="one_row_each",
        limits={READ: 1, WRITTEN: 1},
        also=_no_copy,
        tell="12 bytes were written per row, nothing was copied, and no sum was kept in single precision",
        hints=(
            "The sum is in a variable of the thread when the row is done. In how many vectors is it needed?",
            "y32 gets the sum rounded by np.float32(…). After the launch, y is the next x, in both precisions, "
            "and the old x is where the next y goes.",
            "`total += np.float64(data[k]) * np.float64(x32[indices[k]])`; `y64[row] = total`, "
            "`y32[row] = np.float32(total)`; then `x64, y64 = y64, x64`, and the same for x32 and y32",
        ),
        what_if=(
            WhatIf(
                "Save y32: let the kernel write the rounded sum into x32.",
                "Why is that a race, if the write into y64 is none?",
                "Other threads still read x32: each row needs elements of x that belong to other rows. Nobody reads "
                "y64.",
            ),
            WhatIf(
                "Write only y64 here, and let a second kernel read y64 and write x32.",
                "It reads 8 bytes more per row. Which memory does it save?",
                "y32, 4 bytes per row: when the second kernel runs, the product has ended, and nobody reads the old "
                "x32 any more.",
            ),
            WhatIf(
                "Keep no x32 at all: read x64, and round each number in the kernel.",
                "Which bytes are saved, and of which are there more?",
                "4 bytes less are written per row. But each nonzero fetches 8 bytes of x instead of 4, and a sector "
                "holds 4 numbers of x instead of 8.",
            ),
        ),
    ),
)
