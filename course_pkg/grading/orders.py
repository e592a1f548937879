"""Repeat a test with the warps of each block in other orders: a result that depends on the order is wrong."""

import functools

from course_pkg.grading.draws import drawing, rng
from course_pkg.grading.explain import Failed

ORDERS = {0: "even", 1: "odd"}
MOST_BARRIERS = 64  # barriers behind which a launch runs in another order
TOO_MANY = (
    "A block passes {} barriers, and the kernel uses what its atomics find: the test looks at the order of warps "
    f"behind each barrier, and at most {MOST_BARRIERS} are possible."
)
TOO_MANY_BARRIERS = (
    "The kernel uses what its atomics find, and passes more barriers than the test can look at."
)
MORE_DRAWS = 3  # repetitions with other data if data decide where threads meet


def in_each_order(run):
    """Return a function that runs a test in lock step, then with other warps first, and returns the first result.

    Between two barriers, a GPU may run the warps of a block in any order. So the test fails if its checks fail when the
    warps with even numbers are first, or those with odd numbers, or if the kernel does not end then. A kernel that uses
    what its atomics find could test in which order it runs. So it is also tried in lock step up to each of its
    barriers, with one half of the warps first from there on; more than 64 barriers fail the test. If data decide which
    barriers threads come to, all of this is repeated with other data: no mark may depend on luck.

    In all orders, the test draws the same random numbers. It must make its arrays itself, and launch its kernel by a
    plain launch or by ``simt.profile``.

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

    return _repeated(run, always=True)


def again_in_doubt(run):
    """Return a function that runs a test, once more in other orders or with other data only if that may matter.

    It matters in other orders if a kernel uses what its atomics find, because the finder of races may miss something
    there; it matters with other data if data decide which barriers threads come to. Then the test does what
    :func:`in_each_order` does, and must keep the same rules. All other kernels cost nothing more.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda, simt
    >>> from course_pkg.grading import check
    >>> text = "def last(a):\\n    a[0] = cuda.atomic.exch(a, 1, cuda.threadIdx.x)"
    >>> last = simt.Kernel.from_source(text, "last", {"cuda": cuda})
    >>> @again_in_doubt
    ... def run_last():
    ...     a = np.zeros(2, np.int64)
    ...     last[1, 64](a)
    ...     check.close(a[1], 63, "a")
    >>> run_last()
    Traceback (most recent call last):
    course_pkg.grading.explain.Failed: a: found 31, expected 63. This happens if the warps with odd ...
    """
    return _repeated(run, always=False)


def _repeated(run, *, always: bool):
    @functools.wraps(run)
    def repeated(*args, **kwargs):
        found, launches = _in_orders(lambda: run(*args, **kwargs), always)
        if any(one.by_data for one in launches):
            for _ in range(MORE_DRAWS):
                _in_orders(lambda: run(*args, **kwargs), always)
        return found

    return repeated


def _in_orders(run, always: bool) -> tuple:
    """Run a test in each order with the same random numbers; return its first result, and its launches."""
    from course_pkg import simt  # not visible in the sandbox

    same, parts = rng().integers(1 << 30, size=4).tolist(), rng().random(MOST_BARRIERS)
    with drawing(same), simt.observed() as launches:
        found = run()
    if not always and not any(one.fetches for one in launches):
        return found, launches
    many = max((one.barriers for one in launches if one.fetches), default=0)
    if many > MOST_BARRIERS:
        raise Failed(TOO_MANY.format(many), "", TOO_MANY_BARRIERS)
    behind = [(number + part) / many for number, part in enumerate(parts[:many])]
    for parity, barrier in ((0, None), (1, None), *((_parity(one), one) for one in behind)):
        _in_order(run, same, parity, barrier)
    return found, launches


def _parity(part: float) -> int:
    """Return which half of the warps goes first behind a drawn barrier."""
    return int(part * 1e6) % 2


def _in_order(run, same: list[int], parity: int, behind: float | None) -> None:
    """Run a test in one other order.

    Raises
    ------
    Failed
        If the test fails in this order, or does not end.
    """
    from course_pkg import simt

    which = f"if the warps with {ORDERS[parity]} numbers are first"
    if behind is not None:
        which += " behind a barrier up to which all threads run in lock step"
    try:
        with drawing(same), simt.warps_first(parity, behind):
            run()
    except simt.NoOrder as error:
        raise Failed(
            f"{error} This happens {which}.", "", "In some order of the warps, the kernel does not end."
        ) from None
    except Failed as error:
        why = f"This happens {which}: threads use what other threads have not stored yet, or no longer need."
        verdict = "The result depends on which warps of a block are first."
        raise Failed(f"{error} {why}", error.about, verdict) from None
