"""Arrays that stand for arrays in GPU memory on a computer without a GPU.

:class:`DeviceArray` behaves like Numba's ``DeviceNDArray``: it has shape, dtype and strides, it can be sliced and
copied, and it has no arithmetic.
"""

from collections.abc import Iterator

import numpy as np

from course_pkg.core.errors import CourseError

UNWRITTEN = 0xA5  # every byte of integer memory that was never written; floats are NaN


class DeviceArray:
    """A NumPy array that stands for GPU memory.

    Parameters
    ----------
    host : ndarray
        The memory itself, not copied.
    base_array : ndarray, optional
        The whole allocation that ``host`` is a view of; ``host`` itself if it is left out.
    stream : object
        Stored, but never waited for: all work is done when a call returns.
    unwritten : bool
        Whether nobody has written to the memory since it was allocated, so that a launch looks for reads of it.

    Attributes
    ----------
    host : ndarray
        The NumPy array that holds the elements. Only ``course_pkg.simt`` may use it: Numba's device arrays have none.
    base_array : ndarray
        The allocation that this is a view of. A GPU would align its first byte to 256 bytes.
    """

    __cuda_ndarray__ = True  # Numba marks its device arrays with this attribute

    def __init__(
        self, host: np.ndarray, base_array: np.ndarray | None = None, stream=0, unwritten: bool = False
    ):
        self.host = host
        self.base_array = host if base_array is None else base_array
        self.stream, self.unwritten = stream, unwritten

    shape = property(lambda self: self.host.shape, doc="Elements in each direction.")
    dtype = property(lambda self: self.host.dtype, doc="NumPy's dtype of an element.")
    strides = property(
        lambda self: self.host.strides, doc="Bytes from one element to the next, by direction."
    )
    size = property(lambda self: self.host.size, doc="Number of elements.")
    ndim = property(lambda self: self.host.ndim, doc="Number of directions.")
    itemsize = property(lambda self: self.host.itemsize, doc="Bytes of one element.")
    nbytes = property(lambda self: self.host.nbytes, doc="Bytes of all elements, without gaps between them.")
    T = property(lambda self: self.transpose(), doc="The transpose, as a copy.")

    @property
    def alloc_size(self) -> int:
        """Bytes from the first to the last element, with the gaps between them."""
        steps = ((n - 1) * abs(s) for n, s in zip(self.shape, self.strides, strict=True))
        return self.itemsize + sum(steps) if self.size else 0

    @property
    def flags(self) -> dict[str, bool]:
        """Both kinds of contiguity, under NumPy's names."""
        return {"C_CONTIGUOUS": self.is_c_contiguous(), "F_CONTIGUOUS": self.is_f_contiguous()}

    def is_c_contiguous(self) -> bool:
        """Return True when the elements lie row by row, without gaps."""
        return self.host.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        """Return True when the elements lie column by column, without gaps."""
        return self.host.flags.f_contiguous

    def copy_to_host(self, ary: np.ndarray | None = None, stream=0) -> np.ndarray:
        """Copy the elements into a NumPy array and return that.

        Parameters
        ----------
        ary : ndarray, optional
            Receives the elements. It must have the same shape, dtype and order. If it is left out, a new array is made.

        Raises
        ------
        CourseError
            If ``ary`` does not fit. Nothing is written then.
        """
        if any(stride < 0 for stride in self.strides):
            raise CourseError(
                "A reversed view cannot be copied to the host: copy first, then reverse the copy."
            )
        if ary is None:
            return self.host.copy(order="K")
        if not isinstance(ary, np.ndarray):
            raise CourseError(
                f"ary is a {type(ary).__name__}: copy_to_host() fills NumPy arrays; leave it out to get a new one."
            )
        _require_alike("ary", ary, self.host)
        _require_same_order("ary", ary, self.host)
        np.copyto(ary, self.host.reshape(ary.shape))
        return ary

    def copy_to_device(self, ary, stream=0) -> None:
        """Copy the elements of a NumPy array, or of another device array, into this one.

        Raises
        ------
        CourseError
            If shape or dtype differ, or if this array has gaps between its elements. Nothing is written then.
        """
        if not isinstance(ary, (np.ndarray, DeviceArray)):
            raise CourseError(
                f"ary is a {type(ary).__name__}, not an array: pass numpy.asarray(ary, {self.dtype.name!r})."
            )
        source = ary.host if isinstance(ary, DeviceArray) else ary
        _require_alike("ary", source, self.host)
        require_contiguous("the device array", self.host)
        if isinstance(ary, DeviceArray):
            _require_same_order("ary", source, self.host)
        np.copyto(self.host, source.reshape(self.shape))

    def reshape(self, *newshape, order: str = "C") -> "DeviceArray":
        """Return a view of another shape; raise a CourseError if that needs a copy."""
        try:
            return self._view_of(self.host.reshape(*newshape, order=order), "reshape")
        except ValueError as error:
            raise CourseError(f"The array of shape {self.shape} has another size: {error}.") from None

    def ravel(self, order: str = "C", stream=0) -> "DeviceArray":
        """Return a view of one dimension; raise a CourseError if that needs a copy."""
        return self._view_of(self.host.ravel(order=order), "ravel")

    def squeeze(self, axis=None, stream=0) -> "DeviceArray":
        """Return a view without the axes of length 1."""
        return self._view_of(self.host.squeeze(axis), "squeeze")

    def view(self, dtype) -> "DeviceArray":
        """Return the same bytes as elements of another dtype."""
        try:
            return self._view_of(self.host.view(np.dtype(dtype)), "view")
        except ValueError as error:
            raise CourseError(f"The array cannot be seen as {np.dtype(dtype).name}: {error}") from None

    def transpose(self, axes=None) -> "DeviceArray":
        """Return the transpose of a matrix in new, C-contiguous memory, as Numba's transpose kernel does."""
        if axes and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2 or (axes is not None and sorted(axes) != [0, 1]):
            raise CourseError(
                f"Arrays of shape {self.shape} cannot be transposed by {axes} on a GPU: only matrices can; "
                "transpose on the host, before cuda.to_device()."
            )
        return DeviceArray(self.host.T.copy(order="C"), stream=self.stream)

    def split(self, section: int, stream=0) -> Iterator["DeviceArray"]:
        """Yield views of ``section`` elements each; the last one may be shorter."""
        if self.ndim != 1 or not self.is_c_contiguous():
            raise CourseError(
                "Only a vector without gaps can be split: take slices of the array, such as d[0:10]."
            )
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]

    def bind(self, stream=0) -> "DeviceArray":
        """Return the same memory with another default stream."""
        return DeviceArray(self.host, self.base_array, stream)

    def __getitem__(self, index):
        found = self.host[_basic(index)]
        return self._view(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        self.host[_basic(index)] = value.host if isinstance(value, DeviceArray) else value

    def __len__(self):
        if not self.ndim:
            raise TypeError("a device array without dimensions has no len()")
        return self.shape[0]

    def __repr__(self):
        return f"<DeviceArray of {self.dtype.name}, shape {self.shape}: copy_to_host() shows its elements>"

    def __array__(self, dtype=None, copy=None):
        """Return a copy on the host, as Numba's device arrays do. NumPy calls this when it needs the elements."""
        if copy is False:
            raise ValueError("A device array is copied when NumPy reads it: leave out copy=False.")
        return np.array(self.host, dtype=dtype)

    def _view(self, host):
        return DeviceArray(host, self.base_array, self.stream, self.unwritten)

    def _view_of(self, host, what):
        """Return ``host`` as a view of this memory; raise a CourseError if NumPy had to copy."""
        if self.size and not np.may_share_memory(host, self.host):
            raise CourseError(
                f"{what}() would have to copy this array, of shape {self.shape} and strides {self.strides}: "
                f"do it on the host, before cuda.to_device()."
            )
        return self._view(host)


def unwritten(shape: tuple, dtype) -> DeviceArray:
    """Return memory in which a launch looks for reads before the first write, as it does in shared memory."""
    return DeviceArray(poison(np.empty(shape, dtype)), unwritten=True)


def allocate(shape, dtype=np.float64, strides=None, order: str = "C") -> np.ndarray:
    """Return memory filled so that a read before the first write is noticed: floats are NaN, integers an odd pattern.

    Parameters
    ----------
    shape : int or tuple of int
    strides : int or tuple of int, optional
        Bytes from one element to the next along each axis. If left out, the array has no gaps, and ``order`` applies.
    order : {"C", "F"}

    Raises
    ------
    CourseError
        If order, strides or dtype are not possible.
    """
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    dtype = np.dtype(dtype)
    require_plain("the array", dtype)
    if order not in ("C", "F"):
        raise CourseError(f"order is {order!r}: it must be 'C' (rows) or 'F' (columns).")
    if strides is None:
        return poison(np.empty(shape, dtype, order))
    strides = tuple(strides) if np.iterable(strides) else (strides,)
    if len(strides) != len(shape) or any(stride < 0 for stride in strides):
        raise CourseError(f"strides are {strides}: give {len(shape)} of them, none negative.")
    needed = dtype.itemsize + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    memory = np.full(needed if all(shape) else 0, UNWRITTEN, np.uint8)
    return poison(np.ndarray(shape, dtype, memory, strides=strides))


def poison(array: np.ndarray) -> np.ndarray:
    """Fill an array with the pattern of unwritten memory, and return it."""
    if array.dtype.kind in "fc":
        array.fill(complex(np.nan, np.nan) if array.dtype.kind == "c" else np.nan)
    elif array.dtype.kind == "b":
        array.fill(True)
    else:
        array.fill(np.frombuffer(bytes([UNWRITTEN]) * array.itemsize, array.dtype)[0])
    return array


def require_plain(name: str, dtype: np.dtype) -> None:
    """Check that elements are numbers, or records of numbers: GPU memory holds no Python objects and no strings."""
    if dtype.hasobject or dtype.kind in "OSUT":
        raise CourseError(f"{name} has dtype {dtype}: GPU memory holds numbers; use .astype('float64').")


def require_contiguous(name: str, array: np.ndarray) -> None:
    """Check that an array has no gaps: a copy between host and GPU moves one contiguous piece of memory."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise CourseError(
            f"{name} has gaps between its elements (strides {array.strides}), and a copy moves one piece of memory: "
            f"copy a contiguous array, such as numpy.ascontiguousarray(…)."
        )


def _require_alike(name, given, wanted):
    """Check that dtype and shape are the same. As in Numba, axes of length 1 are ignored."""
    if given.dtype != wanted.dtype:
        raise CourseError(
            f"{name} has dtype {given.dtype} but the device array has {wanted.dtype}: "
            f"pass one of dtype {wanted.dtype.name!r}."
        )
    if given.squeeze().shape != wanted.squeeze().shape:
        raise CourseError(
            f"{name} has shape {given.shape} but the device array has {wanted.shape}: they must be equal."
        )


def _require_same_order(name, given, wanted):
    if given.size and given.squeeze().strides != wanted.squeeze().strides:
        raise CourseError(
            f"{name} has strides {given.strides} but the device array has {wanted.strides}: "
            f"pass an array of the same order."
        )


def _basic(index):
    """Return an index of integers and slices unchanged; raise a CourseError for any other, as Numba's arrays do."""
    for part in index if isinstance(index, tuple) else (index,):
        number = isinstance(part, (int, np.integer)) and not isinstance(part, bool)
        if not (number or isinstance(part, slice)):
            raise CourseError(
                f"A device array takes integers and slices as index, not {part!r}: use .copy_to_host() first."
            )
    return index
