"""The machine that runs Python."""

import os


def available_cores() -> int:
    """Return the number of cores that this process may run on.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return os.cpu_count() or 1
