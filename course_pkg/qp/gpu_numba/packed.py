"""Updates of a dense copy: rows and columns of the unknowns that are not 0 are gathered once, then read as a stream.

A list of these unknowns saves whole rows, but within a row memory still transfers whole sectors. In the copy, every
byte of a sector is used. Gathering it moves as many bytes as an update by a list, so the copy is made for several
updates: ``cost.updates_that_pay`` says how many. Its size is rounded up to a whole number of sectors; what is added
is 0 in the matrix and in all vectors, so that it changes no sum.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from course_pkg import cuda
from course_pkg.core.checks import require_arrays, require_count, require_ndim
from course_pkg.core.errors import CourseError
from course_pkg.device.launch import blocks_for
from course_pkg.qp.checks import check_pack, check_update
from course_pkg.qp.gpu_numba.active import compact, lists
from course_pkg.qp.gpu_numba.rows import update_rows_kernel
from course_pkg.qp.tuning import GATHERED, PACKED_MULTIPLE, ROWS, THREADS_PER_BLOCK, UNROLL


class Packed(NamedTuple):
    """The arrays of a smaller problem, whose unknowns are those of a list; device memory.

    Attributes
    ----------
    Q : device array, shape (size, size)
    h, shift, x, new, parts : device array, shape (size,)
        ``x`` and ``new`` are the unknowns before and after an update.
    active : device array, uint32, shape (n,)
        The list; only the first ``count[0]`` of it count.
    count : device array, uint32, shape (1,)

    Examples
    --------
    >>> room = room_for(cuda.to_device(np.array([0.0, 2.0, 0.0, 1.0])))
    >>> room.Q.shape, room.count.copy_to_host()
    ((8, 8), array([2], dtype=uint32))
    """

    Q: object
    h: object
    shift: object
    x: object
    new: object
    parts: object
    active: object
    count: object


def room_for(x) -> Packed:
    """List the unknowns that are not 0, and allocate a smaller problem of them: one synchronisation, for their number.

    Examples
    --------
    >>> room_for(cuda.to_device(np.zeros(9))).x.shape
    (8,)
    """
    require_arrays(device=True, x=x)
    require_ndim(1, x=x)
    active, count = lists(x.size)
    compact(x, active, count)
    listed = int(count.copy_to_host()[0])
    if listed == 0:
        # with an empty list, kernels still read the entry of its first index, and use 0 instead
        active.copy_to_device(np.zeros(x.size, np.uint32))
    size = max(1, -(-listed // PACKED_MULTIPLE)) * PACKED_MULTIPLE
    vectors = (cuda.device_array(size, x.dtype) for _ in range(5))
    return Packed(cuda.device_array((size, size), x.dtype), *vectors, active, count)


@cache
def pack_kernel(gathered):
    """Return the kernel whose threads load ``gathered`` numbers of a row before they store one."""

    @cuda.jit
    def pack(Q, h, shift, active, count, packed_Q, packed_h, packed_shift):
        """A block per row of the copy: it gathers by the list, and writes neighbours; beyond the list it writes 0."""
        k, t, zero = np.uint32(cuda.blockIdx.x), np.uint32(cuda.threadIdx.x), h.dtype.type(0)
        listed, size = np.uint32(count[0]), np.uint32(packed_h.size)
        last = np.uint32(max(listed, np.uint32(1)) - np.uint32(1))
        i = np.uint32(active[min(k, last)])
        entries = cuda.local.array(gathered, h.dtype)
        for begin in range(t, size, np.uint32(gathered * THREADS_PER_BLOCK)):
            for u in range(gathered):
                wanted = np.uint32(begin + np.uint32(u * THREADS_PER_BLOCK))
                entries[u] = Q[i, active[min(wanted, last)]]
            for u in range(gathered):
                wanted = np.uint32(begin + np.uint32(u * THREADS_PER_BLOCK))
                if wanted < size:
                    packed_Q[k, wanted] = entries[u] if k < listed and wanted < listed else zero
        if t == 0:
            h_i, shift_i = h[i], shift[i]
            packed_h[k] = h_i if k < listed else zero
            packed_shift[k] = shift_i if k < listed else zero

    return pack


def pack(Q, h, shift, packed) -> None:
    """Copy rows and columns of Q, and h and the shift, of the listed unknowns into ``packed``; no synchronisation.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift : device array, shape (n,)
    packed : Packed
        From :func:`room_for`, of the same n and precision.

    Examples
    --------
    >>> Q, x = cuda.to_device(np.arange(9.0).reshape(3, 3)), cuda.to_device(np.array([1.0, 0.0, 3.0]))
    >>> h, packed = cuda.to_device(np.ones(3)), room_for(x)
    >>> pack(Q, h, h, packed); packed.Q.copy_to_host()[:2, :2]
    array([[0., 2.],
           [6., 8.]])
    """
    check_pack(Q, h, shift, packed)
    kernel = pack_kernel(GATHERED)[packed.x.size, THREADS_PER_BLOCK]
    kernel(Q, h, shift, packed.active, packed.count, packed.Q, packed.h, packed.shift)


@cuda.jit
def gather_kernel(x, active, count, packed_x):
    """A thread per unknown of the copy; beyond the list they are 0."""
    k, listed, zero = np.uint32(cuda.grid(1)), np.uint32(count[0]), x.dtype.type(0)
    if k < packed_x.size:
        packed_x[k] = x[active[k]] if k < listed else zero


@cuda.jit
def spread_kernel(x, active, count, new, packed_parts, out, parts):
    """A thread writes the zeros of unknown i, if x_i is 0, and the results of entry i of the list, if that is not 0."""
    i, zero = np.uint32(cuda.grid(1)), x.dtype.type(0)
    if i < x.size and x[i] == zero:
        out[i] = zero
        parts[i] = zero
    if i < count[0]:
        j = np.uint32(active[i])
        if x[j] != zero:
            out[j] = new[i]
            parts[j] = packed_parts[i]


def update_packed(Q, h, shift, x, out, parts, packed=None, iterations=1):
    """Compute updates and the parts F_i on the GPU, on a dense copy of rows and columns of unknowns that are not 0.

    In between, x stays packed. It is spread to its full length once, after the last update. With ``packed``, Q, h and
    the shift are not read, and nothing is synchronised.

    Parameters
    ----------
    Q : device array, shape (n, n)
    h, shift, x, out, parts : device array, shape (n,)
        ``parts`` are the F_i before the last update.
    packed : Packed, optional
        From :func:`room_for` and :func:`pack`, for this x or one that had fewer zeros; made here if it is not given.
    iterations : int
        Number of updates.

    Examples
    --------
    >>> Q, h, shift = map(cuda.to_device, (np.eye(2), np.array([-3.0, -1.0]), np.zeros(2)))
    >>> x, out, parts = cuda.to_device(np.array([1.0, 0.0])), cuda.device_array(2), cuda.device_array(2)
    >>> update_packed(Q, h, shift, x, out, parts); out.copy_to_host()
    array([3., 0.])
    """
    check_update(Q, h, shift, x, out, parts, device=True)
    require_count(iterations=iterations)
    if iterations < 1:
        raise CourseError("iterations is 0: ask for at least 1 update.")
    if packed is None:
        packed = room_for(x)
        pack(Q, h, shift, packed)
    check_pack(Q, h, shift, packed)
    size, now, new = packed.x.size, packed.x, packed.new
    gather_kernel[blocks_for(size, THREADS_PER_BLOCK), THREADS_PER_BLOCK](x, packed.active, packed.count, now)
    update = update_rows_kernel(ROWS, UNROLL)[-(-size // ROWS), THREADS_PER_BLOCK]
    for _ in range(iterations):
        update(packed.Q, packed.h, packed.shift, now, new, packed.parts)
        now, new = new, now
    spread = spread_kernel[blocks_for(x.size, THREADS_PER_BLOCK), THREADS_PER_BLOCK]
    spread(x, packed.active, packed.count, now, packed.parts, out, parts)
