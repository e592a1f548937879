"""Random numbers of tests: in a notebook new ones each time, in the judge those that its seed determines."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

_SEED: list[int] | None = None


def rng() -> np.random.Generator:
    """Return a random generator: in a notebook a new one each time, in the judge one that its seed determines.

    Examples
    --------
    >>> rng().random(4).shape
    (4,)
    """
    global _SEED
    if _SEED is None:
        return np.random.default_rng()
    _SEED = [*_SEED[:-1], _SEED[-1] + 1]
    return np.random.default_rng(_SEED)


def seed(numbers: list[int] | None) -> None:
    """Let :func:`rng` return generators with seeds from these numbers; None makes them random again."""
    global _SEED
    _SEED = None if numbers is None else [*numbers, 0]


def seeded() -> bool:
    """Return whether a seed determines the numbers, as in the judge.

    Examples
    --------
    >>> seeded()
    False
    """
    return _SEED is not None


@contextmanager
def drawing(numbers: list[int]) -> Iterator[None]:
    """Let :func:`rng` return the same generators in each ``with`` block of the same numbers.

    Examples
    --------
    >>> def draw():
    ...     with drawing([1, 2]):
    ...         return float(rng().random())
    >>> draw() == draw(), seeded()
    (True, False)
    """
    global _SEED
    before = _SEED
    seed(numbers)
    try:
        yield
    finally:
        _SEED = before
