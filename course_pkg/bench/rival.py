"""The same operation by another library, in a form that can be timed."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rival:
    """An operation on given data, done by another library.

    Attributes
    ----------
    call : callable
        Starts the operation, which may run in the library's own queue. The topic decides which arguments it takes.
    wait : callable
        Waits until all operations are done.
    result : callable
        Returns the last result as a NumPy or CuPy array, depending on which of the two the data are.
    version : str
        Version of the library.
    """

    call: Callable
    wait: Callable
    result: Callable
    version: str
