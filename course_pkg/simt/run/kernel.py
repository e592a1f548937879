"""``@cuda.jit`` without a GPU: kernels, their launches, and the limits that CUDA sets."""

import functools
import operator
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np

from course_pkg.core.limits import (
    DYNAMIC_SHARED_BYTES,
    MOST_BLOCKS_ALONG,
    MOST_THREADS,
    MOST_THREADS_ALONG,
)
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import Program, program_from_text, program_of

_COMPILED = (  # attributes of a compiled kernel in Numba, which do not exist here
    *("overloads", "nopython_signatures", "stats", "get_regs_per_thread", "get_const_mem_size"),
    *(
        "get_shared_mem_per_block",
        "get_local_mem_per_thread",
        "get_max_threads_per_block",
        "ptx",
        "definition",
    ),
)


def jit(func_or_sig=None, *, device=False, signature=None, **options):
    """Make a kernel from a Python function, or with ``device=True`` a function that kernels call.

    Parameters
    ----------
    func_or_sig : callable, signature or list of signatures
        A signature such as ``"void(float32[:], int32)"`` fixes the types of the arguments: numbers are converted to
        them, and arrays of other types are refused.
    device : bool
    signature : signature or list of signatures, optional
        Another way to give the signatures: by keyword.
    **options
        Options of ``numba.cuda.jit`` for its compiler; they are accepted and ignored.

    Raises
    ------
    SimtError
        If a signature cannot be read, or Numba refuses an option.

    Examples
    --------
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> kernel = jit(copy_kernel.py_func)  # what @cuda.jit does where there is no GPU
    >>> kernel.__name__, kernel.device
    ('copy_kernel', False)
    >>> a, out = np.ones(4, np.float32), np.zeros(4, np.float32)
    >>> jit("void(float32[:], float32[:])")(copy_kernel.py_func)[1, 32](a, out); out
    array([1., 1., 1., 1.], dtype=float32)
    """
    _check_options(options)
    if isinstance(func_or_sig, (str, tuple, list)) or hasattr(func_or_sig, "return_type"):
        func_or_sig, signature = None, func_or_sig
    signatures = ()
    if signature is not None:
        from course_pkg.simt.front import signatures as front  # Numba's types take a second to import

        signatures = front.read(signature, device)
    if func_or_sig is None:
        return functools.partial(_made, device=device, signatures=signatures)
    return _made(func_or_sig, device=device, signatures=signatures)


def _made(function, *, device, signatures):
    if callable(function) and not hasattr(function, "__code__") and not isinstance(function, (type, Kernel)):
        raise SimtError(
            f"cuda.jit is given {function!r}, which only behaves like a function: write @cuda.jit above a def, and "
            "pass to its launch what it needs of this object."
        )
    if not callable(function) or isinstance(function, type):
        raise SimtError(
            f"cuda.jit is given {function!r}, which is neither a function nor a signature: write @cuda.jit above a def."
        )
    return Kernel(function, device=device, signatures=signatures)


def _check_options(options: dict) -> None:
    """Refuse the options that Numba refuses."""
    for old in ("argtypes", "restype", "bind"):
        if options.get(old) is not None:
            raise SimtError(
                f"Numba no longer takes {old}=: write the signature first, as in "
                '@cuda.jit("void(float32[:], int32)").'
            )
    if options.get("boundscheck"):
        raise SimtError(
            "Numba has no boundscheck=True for a GPU: leave it out; the interpreter checks each index anyway."
        )


class Kernel:
    """A kernel or a device function, kept as Python source.

    Attributes
    ----------
    py_func : callable
        The Python function.
    device : bool
        True if kernels call it; False if the host launches it.
    signatures : tuple of Signature
        The declared signatures; empty if the types follow from each call.
    prints : bool
        Whether a launch shows the output of ``print``. If False, calls of ``print`` are skipped, including the memory
        reads in their arguments, unless a call does more than print.

    Examples
    --------
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> a, out = np.ones(4), np.zeros(4)
    >>> jit(copy_kernel.py_func)[1, 32](a, out); out
    array([1., 1., 1., 1.])
    """

    prints = True

    def __init__(self, function, *, device=False, program: Program | None = None, signatures: tuple = ()):
        self.py_func, self.device, self.signatures = function, device, signatures
        self._program = program
        self.sketches: dict = {}
        self.meeting: dict = {}  # {launch: where its threads came to a barrier}: see run/order.py
        functools.update_wrapper(self, function)

    @classmethod
    def from_source(cls, source: str, name: str, names: dict, *, device=False, file="<source>") -> "Kernel":
        """Make a kernel from a text.

        Parameters
        ----------
        source : str
            Source text that contains the function without indentation; decorators are ignored.
        name : str
            The function's name.
        names : dict
            The global names that the kernel may use: modules, constants, device functions.
        """
        program = program_from_text(source, name, names, file)

        def function(*arguments):
            raise SimtError(f"{name} is a kernel: launch it with {name}[blocks, threads](…).")

        function.__name__ = function.__qualname__ = name
        return cls(function, device=device, program=program)

    @property
    def program(self) -> Program:
        """The function's syntax tree and global names."""
        if self._program is None:
            self._program = program_of(self.py_func)
        return self._program

    def __getitem__(self, configuration) -> "Launch":
        if self.device:
            raise SimtError(f"{self.__name__} is a device function: kernels call it, it is not launched.")
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise SimtError(
                f"A launch is {self.__name__}[blocks, threads_per_block](…), with a stream and a number of bytes of "
                "dynamic shared memory after them if need be."
            )
        if isinstance(configuration[-1], tuple) and len(configuration) == 3:
            raise SimtError(
                f"A launch of {self.__name__} takes [blocks, threads per block]; what stands third is a stream. For "
                f"two dimensions write a pair for each: {self.__name__}[(blocks along x, along y), (threads along x, "
                "along y)]."
            )
        return Launch(self, *configuration)

    def configure(self, griddim, blockdim, stream=0, sharedmem: int = 0) -> "Launch":
        """Return a launch, as ``kernel[griddim, blockdim, stream, sharedmem]`` does."""
        return self[griddim, blockdim, stream, sharedmem]

    def forall(self, ntasks: int, tpb: int = 0, stream=0, sharedmem: int = 0) -> "Launch":
        """Return a one-dimensional launch with at least ``ntasks`` threads."""
        threads = tpb or 256
        return Launch(self, -(-ntasks // threads), threads, stream, sharedmem)

    def specialize(self, *arguments) -> "Kernel":
        """Return the kernel itself, because the interpreter does not compile it for particular types."""
        return self

    @contextmanager
    def _doing(self, other: "Kernel"):
        """In a ``with`` block, make this kernel object run another kernel's code, for all names and launches of it."""
        before = dict(vars(self))
        vars(self).update(
            {name: vars(other)[name] for name in ("py_func", "signatures", "_program", "sketches", "meeting")}
        )
        try:
            yield
        finally:
            vars(self).update(before)

    def __getattr__(self, name):
        if name.startswith("inspect_") or name in _COMPILED:
            raise AttributeError(
                f"{name} shows what Numba compiled for a GPU, and the interpreter compiles nothing: "
                "simt.profile(…) counts what the kernel does."
            )
        raise AttributeError(f"a kernel has no attribute {name!r}")

    def __call__(self, *arguments):
        raise SimtError(
            f"{self.__name__} is called without a grid: "
            + (
                "it is a device function, which kernels call."
                if self.device
                else f"launch it with {self.__name__}[blocks, threads_per_block](…)."
            )
        )

    def __repr__(self):
        return f"<{'device function' if self.device else 'kernel'} {self.__name__}, interpreted>"


class Launch:
    """A kernel with its grid and block, ready to be called.

    Attributes
    ----------
    kernel : Kernel
    grid, block : tuple of int, (x, y, z)
    dynamic_shared : int
        Bytes of dynamic shared memory per block.

    Examples
    --------
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> jit(copy_kernel.py_func)[2, (32, 4)]
    <launch of copy_kernel with grid (2, 1, 1) and block (32, 4, 1)>
    """

    run: Callable  # run/start.py assigns it: what runs a launch has kernels of its own, so it cannot stand below

    def __init__(self, kernel, grid, block, stream=0, dynamic_shared=0):
        self.kernel = kernel
        self.grid, self.block = extents("grid", grid), extents("block", block)
        self.dynamic_shared = _bytes(dynamic_shared)
        _check(kernel.__name__, self.grid, self.block)

    def __call__(self, *arguments, **named):
        """Run the kernel without counting; an index out of bounds or a divergent barrier raises an error."""
        if named:
            raise SimtError(
                f"A launch of {self.kernel.__name__} gives arguments by their place, as on a GPU: leave out "
                f"{' and '.join(f'{name}=' for name in named)}."
            )
        self.run(arguments)

    def __repr__(self):
        return f"<launch of {self.kernel.__name__} with grid {self.grid} and block {self.block}>"


def extents(what: str, given) -> tuple[int, int, int]:
    """Return a grid's or a block's extents as (x, y, z).

    Raises
    ------
    SimtError
        If they are not one to three integers.
    """
    given = given if isinstance(given, (tuple, list)) else (given,)
    try:
        numbers = tuple(operator.index(n) for n in given)
    except TypeError:
        raise SimtError(
            f"The {what} is {given!r}: it is one to three integers; for a quotient use (n + b - 1) // b."
        ) from None
    if not 1 <= len(numbers) <= 3:
        raise SimtError(f"The {what} has {len(numbers)} dimensions: it has one to three.")
    return (*numbers, 1, 1)[:3]


def _bytes(given) -> int:
    try:
        number = operator.index(given)
    except TypeError:
        raise SimtError(f"Dynamic shared memory is {given!r}: give its size in bytes, an integer.") from None
    if not 0 <= number <= DYNAMIC_SHARED_BYTES:
        raise SimtError(f"{number} bytes of dynamic shared memory: 0 to {DYNAMIC_SHARED_BYTES} are possible.")
    return number


def _check(name, grid, block) -> None:
    for what, given, limit in (("grid", grid, MOST_BLOCKS_ALONG), ("block", block, MOST_THREADS_ALONG)):
        for axis, n, most in zip("xyz", given, limit, strict=True):
            if n < 1:
                raise SimtError(f"{name}: the {what} {given} has {n} in {axis}: each extent is at least 1.")
            if n > most:
                raise SimtError(f"{name}: the {what} {given} has {n} in {axis}: CUDA allows {most}.")
    if np.prod(block) > MOST_THREADS:
        raise SimtError(
            f"{name}: a block of {block} has {int(np.prod(block))} threads and CUDA allows {MOST_THREADS}: "
            "take a smaller block and more of them."
        )
