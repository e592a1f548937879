"""The topics of the course: found by their rooms, not listed. A new folder with a ``problem.py`` is a topic."""

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


@cache
def topics() -> tuple[str, ...]:
    """Return the names of the packages that state a problem, in alphabetical order; nothing is imported.

    Examples
    --------
    >>> "stencil" in topics()
    True
    """
    return with_room("problem")


def with_room(room: str) -> tuple[str, ...]:
    """Return the names of the packages that have a room, such as ``"suite"``, in alphabetical order.

    Examples
    --------
    >>> "vector" in with_room("cases")
    True
    """
    return tuple(sorted(path.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob(f"*/{room}.py")))
