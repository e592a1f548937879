"""A case: one launch of one kernel, and what it tests."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from course_pkg.core import Cost, CourseError

SEED = 2027


@dataclass(frozen=True, eq=False)
class Sliced:
    """An argument that is ``array[first:]`` on the device, so it begins inside an allocation, and perhaps in a sector.

    A slice of a NumPy array cannot replace it, because a launch copies the slice to the start of a new allocation.
    """

    array: np.ndarray
    first: int

    def on_device(self):
        """Return such a view of a new device array."""
        from course_pkg import cuda

        return cuda.to_device(self.array)[self.first :]


@dataclass(frozen=True, eq=False)
class Unwritten:
    """An uninitialised argument in GPU memory, for arrays that are too large to be made on the host.

    Attributes
    ----------
    n : int or tuple of int
        Number of elements, or the shape of an array.
    dtype : str
    """

    n: int | tuple[int, ...]
    dtype: str = "float64"

    def on_device(self):
        """Return new device memory."""
        from course_pkg import cuda

        return cuda.device_array(self.n, np.dtype(self.dtype))


@dataclass(frozen=True)
class Case:
    """One launch of one kernel, the same on every machine.

    Attributes
    ----------
    name : str
        Unique among all cases.
    kernel : object
        The result of ``cuda.jit``.
    grid, block : tuple of 3 int
        Blocks of the launch and threads of a block, as (x, y, z).
    make_args : callable
        Returns new arguments with the same values at every call: NumPy arrays (the launcher copies them to the GPU),
        scalars, and objects with ``on_device()``, such as :class:`Sliced` for a view of an array on the device.
    idea : str
        One line: the counting rule that this case tests.
    data_dependent : bool
        True if the trip count of a loop differs between the threads of a warp. The compiler unrolls such loops, and
        this changes which lanes run together.
    shared_bytes : int
        Dynamic shared memory of a block.
    hazard : str
        Kind of the hazard that :mod:`course_pkg.simt` must report; empty for a correct kernel.
    cost : Cost
        Bytes that must move, for cases that are compared with the counters of memory (``traffic.py`` of a topic).
    """

    name: str
    kernel: object
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    make_args: Callable[[], tuple]
    idea: str
    data_dependent: bool = False
    shared_bytes: int = 0
    hazard: str = ""
    cost: Cost = field(default_factory=Cost)

    @property
    def function(self) -> str:
        """The kernel's name, as a profiler shows it."""
        return self.kernel.py_func.__name__

    @property
    def identity(self) -> tuple[str, str]:
        """Module and qualified name of the kernel, which are the same for all its launches."""
        return self.kernel.py_func.__module__, self.kernel.py_func.__qualname__

    def args(self) -> tuple:
        """Return new arguments for a launch; a device argument that occurs twice among them is made only once."""
        made = self.make_args()
        there = {id(a): a.on_device() for a in made if hasattr(a, "on_device")}
        return tuple(there.get(id(a), a) for a in made)

    @property
    def configured(self):
        """The kernel with its launch configuration, ready to be called or profiled."""
        launch = (self.grid, self.block)
        return self.kernel[(*launch, 0, self.shared_bytes) if self.shared_bytes else launch]


class Cases:
    """A list of cases, each with a name of its own."""

    def __init__(self):
        self._cases: dict[str, Case] = {}

    def add(self, kernel, grid, block, make_args, idea, *, name="", **options) -> None:
        """Add a launch of a kernel; by default, its name is that of the kernel.

        Raises
        ------
        CourseError
            If the name is taken.
        """
        name = name or kernel.py_func.__name__
        if name in self._cases:
            raise CourseError(f"Two cases are called {name!r}: pass name= to one of them.")
        self._cases[name] = Case(name, kernel, _three(grid), _three(block), make_args, idea, **options)

    def add_traffic(
        self, kernel, grid, block, make_args, points, reads, writes, name, itemsize=8, unread=0
    ) -> None:
        """Add a launch on fields of ``points`` numbers each; it must read ``reads`` fields and write ``writes`` fields.

        ``unread`` is how many numbers of the fields to be read are not needed, because they lie at the boundary.
        """
        cost = Cost(bytes_read=itemsize * (reads * points - unread), bytes_written=itemsize * writes * points)
        idea = f"{reads} field(s) read, {writes} written, of {points:,} points"
        self.add(kernel, grid, block, make_args, idea, name=name, cost=cost)

    def __iter__(self) -> Iterator[Case]:
        return iter(self._cases.values())

    def __len__(self) -> int:
        return len(self._cases)


def numbers(shape, dtype="float64", seed: int = SEED) -> np.ndarray:
    """Draw an array of small positive numbers, [1, 2) for real and complex types, 1 to 100 for integers."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(1, 101, shape).astype(dtype)
    drawn = 1 + rng.random(shape)
    return (drawn + 1j * (1 + rng.random(shape))).astype(dtype) if dtype.kind == "c" else drawn.astype(dtype)


def zeros(shape, dtype="float64") -> np.ndarray:
    """Return an array for results."""
    return np.zeros(shape, dtype)


def _tuple(value) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _three(value) -> tuple[int, int, int]:
    return (*_tuple(value), 1, 1)[:3]
