"""Repeat a test with the warps of each block in other orders: a result that depends on the order is wrong."""

import functools

from course_pkg.grading.draws import drawing, rng
from course_pkg.grading.explain import Failed

ORDERS = {0: "even", 1: "odd"}
MOST_BARRIERS = 64  # informed barriers behind which a launch runs in two other orders
TOO_MANY = (
    "A block passes {} barriers with atomics before them whose results the kernel uses: the test looks at the order of "
    f"warps behind each of them, and at most {MOST_BARRIERS} are possible. Barriers without such atomics do not count."
)
TOO_MANY_BARRIERS = "The kernel uses what its atomics find before more barriers than the test can look at."
MORE_DRAWS = 8  # repetitions in lock step with other data if data decide where threads meet
MORE_ORDERS = 3  # so many of these repetitions run in all orders: those in which threads meet least often


def in_each_order(run):
    """Return a function that runs a test in lock step, then with other warps first, and returns the first result.

    Between two barriers, a GPU may run the warps of a block in any order. So the test fails if its checks fail when the
    warps with even numbers are first, or those with odd numbers, or if the kernel does not end then. A kernel that uses
    what its atomics find could test in which order it runs. It can learn something new
    only before a barrier that has such an atomic before it. So the kernel also runs in lock step up to each of these
    barriers, and from there on with either half of the warps first. With more than 64 such barriers, the test fails. If
    data decide which barriers threads come to, all of this is repeated with other data, for which threads met at other
    barriers: no mark may depend on luck.

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
        def once():
            return run(*args, **kwargs)

        found, launches = _in_orders(once, always, _numbers())
        if any(one.by_data for one in launches):
            met = {_met(launches)}
            draws = [_numbers() for _ in range(MORE_DRAWS)]
            other = {_met(_in_lock_step(once, same)[1]): same for same in draws}
            for where in sorted(set(other) - met)[:MORE_ORDERS]:
                _in_orders(once, always, other[where])
        return found

    return repeated


def _numbers() -> list[int]:
    return rng().integers(1 << 30, size=4).tolist()


def _met(launches) -> tuple:
    """Return where the blocks of launches met: first how often, so that fewest comes first."""
    return tuple(one.barriers for one in launches), tuple(one.pattern for one in launches)


def _in_lock_step(run, same: list[int]) -> tuple:
    """Run a test with some random numbers; return its result, and its launches."""
    from course_pkg import simt  # not visible in the sandbox

    with drawing(same), simt.observed() as launches:
        return run(), launches


def _in_orders(run, always: bool, same: list[int]) -> tuple:
    """Run a test in each order with the same random numbers; return its first result, and its launches."""
    found, launches = _in_lock_step(run, same)
    if not always and not any(one.fetches for one in launches):
        return found, launches
    many = max((one.informed for one in launches if one.fetches), default=0)
    if many > MOST_BARRIERS:
        raise Failed(TOO_MANY.format(many), "", TOO_MANY_BARRIERS)
    for behind in (
        None,
        *((number + 0.5) / many for number in range(many)),
    ):  # groups with fewer take each, too
        for parity in ORDERS:
            _in_order(run, same, parity, behind)
    return found, launches


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
