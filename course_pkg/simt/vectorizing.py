"""``vectorize`` and ``guvectorize`` for ``target="cuda"``: turn a function of numbers into a function of arrays.

Each makes a kernel around the learner's function and launches it, as Numba does on a GPU.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import signatures as front
from course_pkg.simt.front.stubs import CUDA
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.memory.device_array import DeviceArray
from course_pkg.simt.reducing import THREADS, Reduce
from course_pkg.simt.run.kernel import Kernel


class Watcher(Protocol):
    """Sees the functions that ``vectorize`` and ``guvectorize`` make, and launches their kernels."""

    def function(self, made: "_Made") -> None:
        """Note a function."""

    def launch(self, launch, arguments: tuple, made: "_Made") -> None:
        """Run the launch of the kernel that was made around a function."""


_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let a watcher see the functions that are made in a ``with`` block, and launch their kernels."""
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


def vectorize(ftylist_or_function=(), **options) -> Callable:
    """Return a decorator that turns a function of numbers into a function of arrays, for the given signatures.

    Examples
    --------
    >>> def plus(a, b):
    ...     return a + b
    >>> from course_pkg.simt.run.kernel import Kernel
    >>> add = Vectorized(Kernel.from_source("def plus(a, b): return a + b", "plus", {}, device=True))
    >>> add.add("float64(float64, float64)")
    >>> add(np.arange(3.0), 1.0)
    array([1., 2., 3.])
    """
    signatures = [ftylist_or_function] if isinstance(ftylist_or_function, str) else ftylist_or_function

    def wrap(function):
        made = Vectorized(function)
        for one in signatures:
            made.add(one)
        return made.build_ufunc()

    if callable(signatures):
        raise _without_signatures("vectorize")
    return wrap


def guvectorize(ftylist, signature: str, **options) -> Callable:
    """Return a decorator that applies a function of small arrays to each part of larger arrays.

    ``signature`` names the dimensions of the parts: ``"(n),(n)->()"`` takes two vectors and returns a number.
    """

    def wrap(function):
        made = Generalized(function, signature)
        for one in [ftylist] if isinstance(ftylist, str) else ftylist:
            made.add(one)
        return made.build_ufunc()

    return wrap


def _without_signatures(name: str) -> SimtError:
    return SimtError(
        f'{name} for a GPU needs signatures: write @{name}(["float32(float32, float32)"], target="cuda").'
    )


class _Made:
    """The base class of :class:`Vectorized` and :class:`Generalized`: a device function with its signatures."""

    what = "vectorize"

    def __init__(self, function):
        self.function = function if isinstance(function, Kernel) else Kernel(function, device=True)
        self.__name__ = self.function.__name__
        self.signatures: list[front.Signature] = []

    def add(self, signature) -> None:
        """Add a signature, such as ``"float32(float32)"``."""
        self.signatures += front.read(signature, device=True)

    def disable_compile(self) -> None:
        """Do nothing: the interpreter compiles nothing, and the types follow from the signatures."""

    def build_ufunc(self):
        """Return the object with which the decorator replaces the function."""
        if not self.signatures:
            raise _without_signatures(self.what)
        if (watcher := _WATCHER.get()) is not None:
            watcher.function(self)
        return self

    def _launch(self, text: str, signature, count: int, *arrays) -> None:
        """Launch a kernel of a text that calls the function, in one thread for each of ``count`` parts.

        Its arrays have the names of the function's parameters, as messages about them should; its own names end in _.
        """
        function = self.function
        typed = Kernel(function.py_func, device=True, program=function.program, signatures=(signature,))
        kernel = Kernel.from_source(text, "kernel", {"cuda_": CUDA, "function_": typed})
        if not count:
            return
        launch, watcher = kernel[-(-count // THREADS), THREADS], _WATCHER.get()
        if watcher is None:
            launch(*arrays)
        else:
            watcher.launch(launch, arrays, self)

    def _chosen(self, arrays: list, given: tuple):
        """Return the first signature whose dtypes are those of the arguments; scalar arguments may be converted."""
        for signature in self.signatures:
            wanted = [_dtype(kind) for kind in signature.arguments][: len(arrays)]
            fits = (
                array.dtype == dtype or (not np.ndim(one) and np.can_cast(array.dtype, dtype, "same_kind"))
                for array, one, dtype in zip(arrays, given, wanted, strict=True)
            )
            if all(fits):
                return signature, wanted
        kinds = ", ".join(str(array.dtype) for array in arrays)
        raise SimtError(
            f"{self.__name__} has no version for ({kinds}): on a GPU the dtypes have to be those of a signature, "
            f"{' or '.join(map(str, self.signatures))}; convert the arrays by .astype(…)."
        )

    def _arrays(self, given: tuple, wanted: int) -> list:
        if len(given) != wanted:
            raise SimtError(f"{self.__name__} takes {wanted} argument(s) and gets {len(given)}.")
        return [np.asarray(getattr(one, "host", one)) for one in given]


def _dtype(kind) -> np.dtype:
    return dtype_of(getattr(kind, "dtype", kind))


class Vectorized(_Made):
    """A function of arrays that calls a device function for each element; all arrays are broadcast together."""

    def __call__(self, *given, out=None, stream=0):
        """Return the results: a device array if an argument is one, otherwise a NumPy array or a number."""
        count = len(self.signatures[0].arguments)
        if len(given) == count + 1 and out is None:
            *given, out = given
        arrays = self._arrays(tuple(given), count)
        signature, wanted = self._chosen(arrays, tuple(given))
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        flat = [
            np.ascontiguousarray(np.broadcast_to(a.astype(d, copy=False), shape)).reshape(-1)
            for a, d in zip(arrays, wanted, strict=True)
        ]
        result = np.empty(flat[0].size, _dtype(signature.result))
        names = self.function.program.parameters
        text = (
            f"def kernel({', '.join(names)}, out_):\n    i_ = cuda_.grid(1)\n    if i_ < out_.size:\n"
            f"        out_[i_] = function_({', '.join(f'{n}[i_]' for n in names)})\n"
        )
        self._launch(text, signature, result.size, *flat, result)
        return _delivered(result.reshape(shape), given, out)

    def reduce(self, arg, stream=0):
        """Reduce a vector to one number with this function, which takes two numbers."""
        return Reduce(self.function)(np.asarray(getattr(arg, "host", arg)), init=None)


class Generalized(_Made):
    """A function of arrays that calls a device function for each part of the arrays."""

    what = "guvectorize"

    def __init__(self, function, signature: str):
        from numba.np.ufunc.sigparse import parse_signature

        super().__init__(function)
        try:
            self.inputs, self.outputs = parse_signature(signature)
        except ValueError as error:
            raise SimtError(
                f"guvectorize cannot read {signature!r} ({error}): write it as '(n),(n)->()'."
            ) from None

    def add(self, signature) -> None:
        """Add a signature, such as ``"void(float32[:], float32[:])"``."""
        for one in front.read(signature, device=True):
            if len(one.arguments) != len(self.inputs) + len(self.outputs):
                raise SimtError(
                    f"The signature {one} of {self.__name__} has {len(one.arguments)} types, for "
                    f"{len(self.inputs)} inputs and {len(self.outputs)} outputs."
                )
            self.signatures.append(one)

    def __call__(self, *given, out=None, stream=0):
        """Return the outputs; with ``out``, write them to ``out`` and return it."""
        several = len(self.outputs) > 1
        if len(given) == len(self.inputs) + len(self.outputs) and out is None:
            given, out = given[: len(self.inputs)], given[len(self.inputs) :]
            out = out if several else out[0]
        arrays = self._arrays(tuple(given), len(self.inputs))
        signature, wanted = self._chosen(arrays, tuple(given))
        sizes: dict = {}
        for array, names in zip(arrays, self.inputs, strict=True):
            self._measure(array, names, sizes)
        outer = np.broadcast_shapes(
            *(a.shape[: a.ndim - len(n)] for a, n in zip(arrays, self.inputs, strict=True))
        )
        parts = [
            self._laid_out(a.astype(d, copy=False), outer, names)
            for a, names, d in zip(arrays, self.inputs, wanted, strict=True)
        ]
        kinds = signature.arguments[len(self.inputs) :]
        shapes = [tuple(self._size(n, sizes) for n in names) for names in self.outputs]
        count = int(np.prod(outer, dtype=int))
        results = [np.zeros((count, *shape), _dtype(k)) for shape, k in zip(shapes, kinds, strict=True)]
        self._run(signature, count, parts, results)
        made = [r.reshape(*outer, *shape) for r, shape in zip(results, shapes, strict=True)]
        outs = out if several and out is not None else (out,) * len(made)
        found = tuple(_delivered(one, given, into) for one, into in zip(made, outs, strict=True))
        return found if several else found[0]

    def _size(self, name, sizes: dict) -> int:
        if name not in sizes:
            raise SimtError(f"The extent {name} of an output of {self.__name__} stands in no input.")
        return sizes[name]

    def _measure(self, array, names, sizes: dict) -> None:
        if array.ndim < len(names):
            raise SimtError(
                f"{self.__name__} gets an array of {array.ndim} dimension(s) where {len(names)} are needed."
            )
        for name, n in zip(names, array.shape[array.ndim - len(names) :], strict=True):
            if sizes.setdefault(name, n) != n:
                raise SimtError(
                    f"{self.__name__} gets arrays in which {name} is {sizes[name]} and {n}: they must agree."
                )

    @staticmethod
    def _laid_out(array, outer, names):
        core = array.shape[array.ndim - len(names) :]
        return np.ascontiguousarray(np.broadcast_to(array, (*outer, *core))).reshape(-1, *core)

    def _run(self, signature, count, parts, results) -> None:
        arrays = [*parts, *results]
        names = self.function.program.parameters
        calls = [
            f"{name}[i_:i_ + 1]" if array.ndim == 1 and hasattr(kind, "ndim") else f"{name}[i_]"
            for name, array, kind in zip(names, arrays, signature.arguments, strict=True)
        ]
        text = (
            f"def kernel({', '.join(names)}):\n    i_ = cuda_.grid(1)\n    if i_ < {names[-1]}.shape[0]:\n"
            f"        function_({', '.join(calls)})\n"
        )
        self._launch(text, signature, count, *arrays)


def _delivered(result: np.ndarray, given, out):
    """Write a result to ``out``; without ``out``, return it: a device array if an argument is one."""
    if out is not None:
        into = getattr(out, "host", out)
        if into.shape != result.shape:
            raise SimtError(f"out has the shape {into.shape} and the result {result.shape}: they must agree.")
        into[...] = result
        return out
    if any(isinstance(one, DeviceArray) for one in given):
        return DeviceArray(result)
    return result if result.ndim else result[()]
