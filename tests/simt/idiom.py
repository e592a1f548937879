"""The class of idioms: a correct kernel like a published one, and a change that makes it racy."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Idiom:
    """A kernel, its launch, its oracle and its racy twins.

    Attributes
    ----------
    kernel : function
        Not decorated: its text is what is run.
    blocks, threads : int or tuple of int
    arguments : callable
        Returns fresh arguments by parameter.
    expected : callable
        Maps fresh arguments to the arrays that the kernel must leave, by parameter.
    twins : tuple of (str, str) or (str, str, str)
        A piece of the text, there once, and what stands there in a racy twin; then the kind of the hazard, where that
        is no conflict of two accesses.
    shared_bytes : int
        Dynamic shared memory of a block.
    """

    kernel: Callable
    blocks: int | tuple
    threads: int | tuple
    arguments: Callable[[], dict]
    expected: Callable[[dict], dict]
    twins: tuple[tuple[str, ...], ...] = ()
    shared_bytes: int = 0

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.__name__

    @cached_property
    def source(self) -> str:
        """The kernel's text."""
        return textwrap.dedent(inspect.getsource(self.kernel))

    def twin(self, old: str, new: str) -> str:
        """Return the text of a racy twin."""
        assert self.source.count(old) == 1, f"{self.name}: {self.source.count(old)} times {old!r}"
        return self.source.replace(old, new)


def numbers(*shape):
    """Whole numbers as float64, so that sums are exact in any order."""
    return (np.arange(np.prod(shape)) * 7 % 23 - 11.0).reshape(shape)


def zeros(*shape, dtype=np.int32):
    return np.zeros(shape, dtype)
