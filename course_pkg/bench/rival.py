"""Another library's way to do the same, in a form that can be timed."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rival:
    """An operation on given data, in another library's hands.

    Attributes
    ----------
    call : callable
        Asks for the operation; it may run in the library's own queue. Its arguments are the topic's to say.
    wait : callable
        Waits until all that was asked for is done.
    result : callable
        Returns the last result as an array of the library that the data came from: NumPy's or CuPy's.
    version : str
        Of the library.
    """

    call: Callable
    wait: Callable
    result: Callable
    version: str
