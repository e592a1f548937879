"""Compile a loop for all cores of the CPU, once per machine."""

from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from numba import njit
from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LOCKED: set[Path] = set()  # files that this process has locked: while a loop is compiled, it may need itself


def parallel(**options):
    """Return Numba's ``njit(parallel=True)`` that keeps the machine code on disk, for the next process.

    Compiling one loop takes seconds. The machine code is stored in ``__pycache__`` beside the source, or in the user's
    cache folder if that cannot be written; if neither can, each process compiles anew. Numba notices a change of the
    source file itself, but not of other files: a function that the loop calls has to stand in the same file.

    Of several processes that need a loop at the same time, such as the ranks of a program, one compiles it, and the
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
        with suppress(RuntimeError):  # no folder can be written, or the function stands in no file
            compiled.enable_caching()
            compiled.compile = _one_at_a_time(compiled.compile, _lock_file(compiled))
        return compiled

    return decorate


def _lock_file(compiled) -> Path:
    """Return the file to lock: one for each index of Numba's, which loops of the same name and line share."""
    code = compiled.py_func.__code__
    name = f"{Path(code.co_filename).stem}.{code.co_name}-{code.co_firstlineno}.lock"
    return Path(compiled.stats.cache_path) / name


def _one_at_a_time(compile_, path):
    """Return a function that compiles while no other process does so, or loads what that one has stored.

    Numba replaces its index as a whole and writes the machine code after it. Without a lock, two processes may store
    different machine code under one name, and a third may load what its index does not mean.
    """

    def alone(signature):
        # first the lock among threads: one that held the file and waited for it would stop a thread that compiles
        with global_compiler_lock, _locked(path):
            return compile_(signature)

    return alone


@contextmanager
def _locked(path: Path):
    """Keep other processes out; where a file cannot be locked, go on without."""
    if fcntl is None or path in _LOCKED:
        yield
        return
    with ExitStack() as stack:
        with suppress(OSError):  # a folder that can no longer be written, or a file system without locks
            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        _LOCKED.add(path)
        stack.callback(_LOCKED.discard, path)
        yield
