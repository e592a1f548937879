"""Compile a loop for all cores of the CPU, once per machine."""

from contextlib import suppress

from numba import njit


def parallel(**options):
    """Return Numba's ``njit(parallel=True)`` that keeps the machine code on disk, for the next process.

    Compiling one loop takes seconds. The machine code is stored in ``__pycache__`` beside the source, or in the user's
    cache folder if that cannot be written; if neither can, each process compiles anew. Numba notices a change of the
    source file itself, but not of other files: a function that the loop calls has to stand in the same file.

    Parameters
    ----------
    **options
        Further options of ``njit``, such as ``fastmath={"contract"}``.

    Examples
    --------
    >>> from numba import prange
    >>> @parallel()
    ... def double(a):
    ...     for i in prange(a.size):
    ...         a[i] *= 2.0
    >>> a = np.ones(3); double(a); a
    array([2., 2., 2.])
    """

    def decorate(function):
        compiled = njit(parallel=True, **options)(function)
        with suppress(RuntimeError):  # no folder can be written, or the function stands in no file
            compiled.enable_caching()
        return compiled

    return decorate
