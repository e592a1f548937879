"""The topics of the course. There is no list of them: every folder of the package with a ``problem.py`` is a topic."""

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


@cache
def topics() -> tuple[str, ...]:
    """Return the names of the topics in alphabetical order, without importing them.

    Examples
    --------
    >>> "stencil" in topics()
    True
    """
    return with_module("problem")


def with_module(module: str) -> tuple[str, ...]:
    """Return the names of the packages that have a certain module, such as ``"suite"``, in alphabetical order.

    Examples
    --------
    >>> "vector" in with_module("cases")
    True
    """
    return tuple(sorted(path.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob(f"*/{module}.py")))
