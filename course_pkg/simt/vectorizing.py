"""``vectorize`` and ``guvectorize`` for ``target="cuda"``: turn a function of numbers into a function of arrays.

Each makes a kernel around the learner's function and launches it, as Numba does on a GPU.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Protocol

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front import signatures as front
from course_pkg.simt.front.source import FunctionSource
from course_pkg.simt.front.stubs import CUDA
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.device_array import DeviceArray, unwritten
from course_pkg.simt.reducing import THREADS, Reduce
from course_pkg.simt.run.kernel import Kernel
from course_pkg.simt.vectorized_memory import delivered, flat_input, flat_output, in_parts, require_fit


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
        _told_at(kernel.program, function.program)
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

    def _inputs(self, given: tuple, wanted: int) -> list:
        """Return the inputs: device arrays as they are, anything else as a NumPy array."""
        if len(given) != wanted:
            raise SimtError(f"{self.__name__} takes {wanted} argument(s) and gets {len(given)}.")
        return [one if isinstance(one, DeviceArray) else np.asarray(one) for one in given]


def _told_at(program, function) -> None:
    """Let messages about a kernel that was made around a function name the line of the function's ``def``."""
    tree, source = function.tree, function.source
    for node in walk(program.tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = tree.lineno
    line = source.lines[tree.lineno - source.first_line]
    program.source = FunctionSource(program.name, source.file, tree.lineno, [line])


def _dtype(kind) -> np.dtype:
    return dtype_of(getattr(kind, "dtype", kind))


class Vectorized(_Made):
    """A function of arrays that calls a device function for each element; all arrays are broadcast together."""

    def __call__(self, *given, out=None, stream=0):
        """Return the results: a device array if an argument is one, otherwise a NumPy array or a number."""
        count = len(self.signatures[0].arguments)
        if len(given) == count + 1 and out is None:
            *given, out = given
        inputs = self._inputs(tuple(given), count)
        signature, wanted = self._chosen(inputs, tuple(given))
        shape, dtype = np.broadcast_shapes(*(a.shape for a in inputs)), _dtype(signature.result)
        if out is not None:
            require_fit(out, shape, dtype)
        result = flat_output(out) if isinstance(out, DeviceArray) else unwritten((prod(shape),), dtype)
        names = self.function.program.parameters
        to = "out_" if "out" in names else "out"
        text = (
            f"def kernel({', '.join(names)}, {to}):\n    i_ = cuda_.grid(1)\n    if i_ < {to}.size:\n"
            f"        {to}[i_] = function_({', '.join(f'{n}[i_]' for n in names)})\n"
        )
        flat = (flat_input(one, d, shape) for one, d in zip(inputs, wanted, strict=True))
        self._launch(text, signature, result.size, *flat, result)
        return delivered(result.host.reshape(shape), any(isinstance(one, DeviceArray) for one in given), out)

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
        inputs = self._inputs(tuple(given), len(self.inputs))
        signature, wanted = self._chosen(inputs, tuple(given))
        sizes: dict = {}
        for array, names in zip(inputs, self.inputs, strict=True):
            self._measure(array, names, sizes)
        outer = self._outer(inputs)
        cores = (one.shape[one.ndim - len(names) :] for one, names in zip(inputs, self.inputs, strict=True))
        parts = [in_parts(one, d, outer, c) for one, d, c in zip(inputs, wanted, cores, strict=True)]
        outs = list(out) if several and out is not None else [out] * len(self.outputs)
        stays = any(isinstance(one, DeviceArray) for one in (*given, *outs))
        results = []
        for one, names, kind in zip(outs, self.outputs, signature.arguments[len(inputs) :], strict=True):
            shape, dtype = tuple(self._size(n, sizes) for n in names), _dtype(kind)
            if one is not None:
                require_fit(one, (*outer, *shape), dtype)
            if one is None or not stays:
                one = unwritten((*outer, *shape), dtype)  # Numba does not copy what out= holds to the GPU
            results.append(in_parts(one, dtype, outer, shape))
        self._run(signature, prod(outer), parts, results)
        found = tuple(
            delivered(result.host.reshape(*outer, *result.shape[1:]), stays, into)
            for result, into in zip(results, outs, strict=True)
        )
        return found if several else found[0]

    def _outer(self, inputs: list) -> tuple:
        """Return the shape of the array of parts: that of the input with most of them."""
        shapes = [a.shape[: a.ndim - len(names)] for a, names in zip(inputs, self.inputs, strict=True)]
        most = max(shapes, key=prod)
        for shape, names in zip(shapes, self.inputs, strict=True):
            if shape != most and shape != () and (names or shape != (1,)):
                raise SimtError(
                    f"{self.__name__} gets inputs with {most} and {shape} parts: on a GPU, each input has as many as "
                    "the others, or is a single part without an axis for them."
                )
        return most

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
