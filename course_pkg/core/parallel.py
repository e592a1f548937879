"""Compile a loop for all cores of the CPU, once per machine."""

from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LOCKED: set[Path] = set()  # locked by this process; compiling a loop may ask for its lock again


def parallel(**options):
    """Return Numba's ``njit(parallel=True)``, which also stores the machine code on disk for later processes.

    Compiling one loop takes seconds. The machine code is stored in ``__pycache__`` beside the source, or in the user's
    cache folder if ``__pycache__`` cannot be written. If neither can be written, each process compiles the loop again.
    Numba notices a change of the loop's source file, but not of other files. So a function that the loop calls has to
    be defined in the same file.

    If several processes need a loop at the same time, such as the ranks of a program, one of them compiles it, and the
    others wait for its machine code.

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
        with suppress(RuntimeError):  # no folder can be written, or the function is not defined in a file
            compiled.enable_caching()
            compiled.compile = _one_at_a_time(compiled.compile, _lock_file(compiled))
        return compiled

    return decorate


def _lock_file(compiled) -> Path:
    """Return the file to lock, one for each index file of Numba; loops of the same name and line share an index."""
    code = compiled.py_func.__code__
    name = f"{Path(code.co_filename).stem}.{code.co_name}-{code.co_firstlineno}.lock"
    return Path(compiled.stats.cache_path) / name


def _one_at_a_time(compile_, path):
    """Return a function that compiles while no other process does, or loads machine code that another has stored.

    Numba replaces its index as a whole, and then writes the machine code. Without a lock, two processes may store
    different machine code under one name. A third process may then load code that does not belong to its index.
    """

    def alone(signature):
        # The lock among threads comes first. Otherwise a thread that has locked the file could wait for a thread that
        # is compiling, which in turn waits for the file.
        with global_compiler_lock, _locked(path):
            return compile_(signature)

    return alone


@contextmanager
def _locked(path: Path):
    """Keep other processes out of a block of code; if the file cannot be locked, run the block without a lock."""
    if fcntl is None or path in _LOCKED:
        yield
        return
    with ExitStack() as stack:
        with suppress(OSError):  # a folder that can no longer be written, or a file system without locks
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        _LOCKED.add(path)
        stack.callback(_LOCKED.discard, path)
        yield
