"""The budget of a launch: the number of statements that it may interpret, set by :func:`limits`."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from course_pkg.simt.errors import Endless

_STEPS: ContextVar[int | None] = ContextVar("steps", default=None)


@contextmanager
def limits(*, steps: int | None) -> Iterator[None]:
    """Limit the statements of each launch in a ``with`` block, unless the launch sets its own budget.

    Parameters
    ----------
    steps : int or None
        Maximum number of statements that a launch may interpret. Running a statement once, for up to 2^18 threads at
        a time, counts as one. A launch that needs more raises Endless, a SimtError.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> with simt.limits(steps=1):
    ...     simt.profile(copy_kernel[1, 32], np.ones(32), np.empty(32))
    Traceback (most recent call last):
    course_pkg.simt.errors.Endless: ...
    """
    before = _STEPS.set(steps)
    try:
        yield
    finally:
        _STEPS.reset(before)


def steps_now() -> int | None:
    """Return the budget of launches that do not set their own; None if no budget is set."""
    return _STEPS.get()


def endless(run, example: str = "") -> Endless:
    """Return the error for a launch that does not end."""
    return Endless(
        f"{run.launch.name} runs on and on, and was stopped: look for a loop that ends too late, or whose condition "
        f"never becomes false{example}. A thread that waits in a loop for another may wait for ever."
    )
