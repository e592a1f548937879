"""Repeat a test with the warps of each block in other orders: a result that depends on the order is wrong."""

import functools

from course_pkg.grading.draws import drawing, rng
from course_pkg.grading.explain import Failed

ORDERS = {0: "even", 1: "odd"}


def in_each_order(run):
    """Return a function that runs a test in lock step, then with other warps first, and returns the first result.

    Between two barriers, a GPU may run the warps of a block in any order. So the test fails if its checks fail in one
    of three orders, or if the kernel does not end in it: warps with even numbers first, those with odd numbers first,
    and one of these two behind a drawn barrier, with lock step up to it. The third finds kernels that test in which
    order they run. In all orders, the test draws the same random numbers. It must make its arrays itself, and launch
    its kernel by a plain launch or by ``simt.profile``.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda, simt
    >>> from course_pkg.grading import check
    >>> text = "def turn(a):\\n    t = cuda.threadIdx.x\\n    x = a[63 - t]\\n    a[t] = x"
    >>> turn = simt.Kernel.from_source(text, "turn", {"cuda": cuda})
    >>> @in_each_order
    ... def run_turn():
    ...     a = np.arange(64)
    ...     simt.profile(turn[1, 64], a)
    ...     check.close(a, np.arange(64)[::-1], "a")
    >>> run_turn()
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: a: 32 of 64 elements are wrong; ... This happens if the warps with even ...
    """

    @functools.wraps(run)
    def repeated(*args, **kwargs):
        from course_pkg import simt  # not visible in the sandbox

        same, part = rng().integers(1 << 30, size=4).tolist(), rng().random()
        with drawing(same):
            found = run(*args, **kwargs)
        for parity, behind in ((0, None), (1, None), (same[0] % 2, part)):
            which = f"if the warps with {ORDERS[parity]} numbers are first"
            if behind is not None:
                which += " behind a barrier up to which all threads run in lock step"
            try:
                with drawing(same), simt.warps_first(parity, behind):
                    run(*args, **kwargs)
            except simt.NoOrder as error:
                why = f"This happens {which}."
                raise Failed(
                    f"{error} {why}", "", "In some order of the warps, the kernel does not end."
                ) from None
            except Failed as error:
                why = f"This happens {which}: threads use what other threads have not stored yet, or no longer need."
                verdict = "The result depends on which warps of a block are first."
                raise Failed(f"{error} {why}", error.about, verdict) from None
        return found

    return repeated
