"""A variant is an object: one way to compute an operation, its cost, and where its functions and kernels are.

Each topic lists its variants once, in its ``variants.py``, where suites, tables, figures, lectures and tests look them
up. Nothing here needs a GPU: a variant stores the names of its functions, and imports them only on request.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from importlib import import_module

from course_pkg.core.checks import FLOATS
from course_pkg.core.cost import Cost
from course_pkg.core.errors import CourseError


class Library(StrEnum):
    """The library that compiles or runs a variant; ``module`` is the module of a topic with its functions.

    Examples
    --------
    >>> print(Library.CUPY, Library.CUPY.module, Library.JAX.module)
    CuPy gpu_cupy rivals
    """

    NUMPY = "NumPy"
    NUMBA_CPU = "Numba CPU"
    C = "C"
    NUMBA_CUDA = "Numba CUDA"
    CUPY = "CuPy"
    SCIPY = "SciPy"
    JAX = "JAX"
    PYTORCH = "PyTorch"
    OSQP = "OSQP"
    MPAX = "MPAX"

    @property
    def module(self) -> str:
        """Name of the module in a topic; ``rivals`` for a library that has the whole operation ready-made."""
        return _MODULES.get(self, "rivals")


_MODULES = {
    Library.NUMPY: "reference",
    Library.NUMBA_CPU: "cpu_numba",
    Library.C: "cpu_c",
    Library.NUMBA_CUDA: "gpu_numba",
    Library.CUPY: "gpu_cupy",
}
# these libraries work on whole arrays, so each statement is a separate sweep over memory
_ARRAY_LIBRARIES = (Library.NUMPY, Library.CUPY)


@dataclass(frozen=True)
class Implementation:
    """A variant of an operation by one library: the object of a measurement.

    Attributes
    ----------
    operation : str
        Such as ``"laplacian"``; empty for a function that is only known by a name.
    variant : str
        The name of the variant, such as ``"tiled"``, or the name of the function; empty for the plain variant.
    library : str
        Such as ``"Numba CUDA"``, see :class:`Library`; empty for a function that is only known by a name.

    Examples
    --------
    >>> Implementation("laplacian", "marching_tiled", Library.NUMBA_CUDA).label
    'laplacian marching tiled, Numba CUDA'
    """

    operation: str
    variant: str = ""
    library: str = ""

    @classmethod
    def of(cls, what: "str | Implementation | Variant") -> "Implementation":
        """Return ``what`` if it is an implementation, a variant's only implementation, or a new one for a name."""
        if isinstance(what, Variant):
            return what.by()
        return what if isinstance(what, Implementation) else cls("", what)

    @property
    def label(self) -> str:
        """The name of this implementation in tables and plots. It is for people, and programs must not parse it."""
        return f"{self.words}, {self.library}" if self.library else self.words

    @property
    def words(self) -> str:
        """The label without the library.

        Examples
        --------
        >>> Implementation("laplacian", "marching_tiled", Library.NUMBA_CUDA).words
        'laplacian marching tiled'
        """
        return (
            f"{self.operation} {self.variant}".strip().replace("_", " ") if self.operation else self.variant
        )

    def __str__(self):
        return self.label


@dataclass(frozen=True)
class Variant:
    """One way to compute an operation.

    Attributes
    ----------
    topic, operation : str
    name : str
        The suffix of its functions: ``laplacian_tiled`` is the variant ``tiled`` of ``laplacian``. Empty for functions
        that have the name of the operation.
    idea : str
        One line for people.
    cost : callable
        Takes the size and dtype from the parameters of a measurement, and returns a :class:`Cost`. It is
        :func:`unknown` if the bytes that a library moves have not been counted.
    libraries : tuple of Library
        The libraries for which the topic has a function of this variant.
    arrays : callable or None
        The cost for a library that works on whole arrays, NumPy or CuPy, if it differs from ``cost``.
    kernels : tuple
        The kernels that its Numba CUDA function launches. Each is the name of a kernel in ``gpu_numba``, or a tuple of
        the name of a function that makes a kernel and its arguments (names of constants in ``gpu_numba``, or numbers).
        By default, one kernel: the function's name followed by ``_kernel``.
    rivals : dict of Library to str
        Functions in ``rivals.py`` that make a :class:`~course_pkg.bench.rival.Rival` of this variant.
    width : int
        Numbers that a thread of its Numba CUDA function loads and stores together: 2 for pairs.
    dtypes : tuple of str
        Dtypes of the arrays that its functions accept.
    example : dict
        A small size, in the parameters of ``cost``, for which the tests ask the cost. It may hold more than one cost
        takes, so that a topic can give the same to all its variants.
    result : str
        The argument of its functions that becomes the result: what is written, or a solver's first guess.
    known : tuple of str
        Arguments of the operation that its functions leave out, such as the matrix of a stencil.
    called : str
        What lectures and figures call it beside methods of other topics, if ``title`` would say too little there; see
        :meth:`titled`.

    Examples
    --------
    >>> from course_pkg.stencil.variants import VARIANTS
    >>> tiled = VARIANTS["laplacian_tiled"]
    >>> tiled.function(Library.NUMBA_CUDA).__name__, tiled.by().label
    ('laplacian_tiled', 'laplacian tiled, Numba CUDA')
    """

    topic: str
    operation: str
    name: str
    idea: str
    cost: Callable[..., Cost | None]
    libraries: tuple[Library, ...] = (Library.NUMBA_CUDA,)
    arrays: Callable[..., Cost | None] | None = None
    kernels: tuple = ()
    rivals: dict[Library, str] = field(default_factory=dict, hash=False)
    width: int = 1
    dtypes: tuple[str, ...] = FLOATS
    example: dict = field(default_factory=dict, hash=False)
    result: str = "out"
    known: tuple[str, ...] = ()
    called: str = ""

    @property
    def function_name(self) -> str:
        """The name of its functions, which is the same in every module."""
        return f"{self.operation}_{self.name}" if self.name else self.operation

    @property
    def title(self) -> str:
        """Its name in words, for a table of variants of one operation."""
        return (self.name or self.operation).replace("_", " ")

    def titled(self, **settings) -> str:
        """Return its name in lectures and figures, followed by settings that are not None.

        Examples
        --------
        >>> from course_pkg.sstep.variants import VARIANTS
        >>> VARIANTS["pcg_sstep_moments"].titled(s=4)
        'moments, s = 4'
        """
        chosen = (f"{name} = {value}" for name, value in settings.items() if value is not None)
        return ", ".join([self.called or self.title, *chosen])

    def by(self, library: Library | str | None = None) -> Implementation:
        """Return this variant's implementation by a library; by default, its only implementation.

        Raises
        ------
        CourseError
            If the library does not have it, or if none is named and several have it.
        """
        there = (*self.libraries, *self.rivals)
        if library is None and len(there) == 1:
            (library,) = there
        if library not in there:
            raise CourseError(
                f"{self.function_name} has no implementation by {library or 'one library alone'}: choose from "
                f"{', '.join(there)}."
            )
        return Implementation(self.operation, self.name, Library(library))

    def cost_by(self, library: Library | str) -> Callable[..., Cost | None]:
        """Return the function that computes its cost for a library."""
        return self.arrays if self.arrays and library in _ARRAY_LIBRARIES else self.cost

    def function(self, library: Library | str) -> Callable:
        """Import and return the function of this variant for a library."""
        self.by(library)
        return getattr(self._module(Library(library)), self.function_name)

    def rival(self, library: Library | str) -> Callable:
        """Import and return the function that makes another library's :class:`~course_pkg.bench.rival.Rival`."""
        self.by(library)
        return getattr(import_module(f"course_pkg.{self.topic}.rivals"), self.rivals[Library(library)])

    def kernel_objects(self) -> tuple:
        """Import and return the kernels that its Numba CUDA function launches, in order."""
        self.by(Library.NUMBA_CUDA)
        module = self._module(Library.NUMBA_CUDA)
        return tuple(_kernel(module, kernel) for kernel in self.kernels or (f"{self.function_name}_kernel",))

    def _module(self, library):
        return import_module(f"course_pkg.{self.topic}.{library.module}")


class Variants:
    """The variants of a topic, in the order of the lectures.

    Examples
    --------
    >>> from course_pkg.stencil.variants import VARIANTS
    >>> VARIANTS["laplacian_tiled"].idea
    'neighbours through a tile with halo in shared memory'
    """

    def __init__(self, *variants: Variant):
        self._by_name: dict[str, Variant] = {}
        for variant in variants:
            if variant.function_name in self._by_name:
                raise CourseError(f"{variant.function_name} is listed twice: list each variant once.")
            self._by_name[variant.function_name] = variant

    def __getitem__(self, function_name: str) -> Variant:
        """Return the variant whose functions have this name."""
        if function_name not in self._by_name:
            raise CourseError(
                f"No variant is called {function_name!r}: choose from {', '.join(self._by_name)}."
            )
        return self._by_name[function_name]

    def __iter__(self) -> Iterator[Variant]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def of(self, operation: str, library: Library | str | None = None) -> tuple[Variant, ...]:
        """Return all variants of an operation, or only those that a given library has."""
        return tuple(
            v for v in self if v.operation == operation and (library is None or library in v.libraries)
        )


def _kernel(module, kernel):
    if isinstance(kernel, str):
        return getattr(module, kernel)
    make, *arguments = kernel
    return getattr(module, make)(*(getattr(module, a) if isinstance(a, str) else a for a in arguments))


def unknown(*size, **parameters) -> None:
    """Return None, the cost of an implementation whose bytes have not been counted."""


def variant_of(topic: str, **common) -> Callable[..., Variant]:
    """Return a function that makes variants of a topic: :class:`Variant` with the topic and what is common filled in.

    Examples
    --------
    >>> make = variant_of("vector", example={"n": 4096})
    >>> two = make("copy", "two", "two elements per thread", unknown)
    >>> two.function_name, two.example
    ('copy_two', {'n': 4096})
    """
    return partial(Variant, topic, **common)
