"""The streaming operations, the sums and the transpose in plain NumPy: the oracle of every other file in this topic.

copy, scale, add, triad are the four kernels of STREAM (J. D. McCalpin, Memory Bandwidth and Machine Balance in Current
High Performance Computers, IEEE TCCA Newsletter, 1995). Each of the others adds one thing: ``dot`` and ``reduce_sum``
add a reduction; ``horner`` adds any amount of arithmetic to the traffic of a copy; ``copy_strided`` adds gaps between
the elements that are read; the cumulative sums add a loop in which each step needs the one before it; ``transpose``
changes the order of the elements. ``chase`` computes nothing. It follows links, to measure the latency of a memory.

Shapes and dtypes, for every file of this topic:

a, b : array, shape (n,), float64 or float32
    Inputs, which are not changed; ``a`` and ``b`` may be the same array. For a cumulative sum and a transpose, ``a``
    has shape (ny, nx); for ``copy_strided``, ``a`` has at least ``stride (n - 1) + 1`` elements, where ``out`` has n.
stride : int, at least 1
    Distance of the elements that are read, in elements.
s : float
    Scalar, converted to the precision of the arrays.
out : array, shape (n,), for ``dot`` and ``reduce_sum`` (1,), for a cumulative sum (ny, nx), for a transpose (nx, ny)
    Overwritten; shares no memory with the inputs.
degree : int, at least 0
    Of the polynomial.

``reduce_sum`` and the cumulative sums accumulate in float64 and round once to the precision of ``out``. CuPy's
accumulate in the precision of the arrays.
"""

import numpy as np


def copy(a, out):
    """Compute ``out = a``.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> copy(a, out); out
    array([1., 2.])
    """
    np.copyto(out, a)


def copy_strided(a, stride, out):
    """Compute ``out[i] = a[stride * i]``.

    Examples
    --------
    >>> a, out = np.arange(7.0), np.empty(3)
    >>> copy_strided(a, 3, out); out
    array([0., 3., 6.])
    """
    np.copyto(out, a[: stride * (out.size - 1) + 1 : stride])


def scale(a, s, out):
    """Compute ``out = s * a``.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> scale(a, 3.0, out); out
    array([3., 6.])
    """
    np.multiply(a, a.dtype.type(s), out=out)


def add(a, b, out):
    """Compute ``out = a + b``.

    Examples
    --------
    >>> a, out = np.array([1.0, 2.0]), np.empty(2)
    >>> add(a, a, out); out
    array([2., 4.])
    """
    np.add(a, b, out=out)


def triad(a, b, s, out):
    """Compute ``out = a + s * b``, in two sweeps: NumPy writes ``s * b`` to memory and reads it again.

    Examples
    --------
    >>> a, b, out = np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.empty(2)
    >>> triad(a, b, 3.0, out); out
    array([31., 62.])
    """
    np.multiply(b, b.dtype.type(s), out=out)
    np.add(out, a, out=out)


def dot(a, b, out):
    """Compute ``out[0] = sum(a * b)``; ``out`` has shape (1,).

    Examples
    --------
    >>> out = np.empty(1)
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]), out); out
    array([11.])
    """
    out[0] = np.dot(a, b)


def horner(a, degree, out):
    """Compute the polynomial ``out = 1 + a (1 + a (1 + …))`` with ``degree`` multiply-adds per element.

    A compiled variant sweeps over memory once, whatever the degree. NumPy sweeps over it twice for each multiply-add.

    Examples
    --------
    >>> out = np.empty(2)
    >>> horner(np.array([2.0, 10.0]), 3, out); out  # 1 + 2 + 4 + 8
    array([  15., 1111.])
    """
    out[:] = 1
    for _ in range(degree):
        out *= a
        out += 1


def reduce_sum(a, out):
    """Compute ``out[0] = sum(a)``; ``out`` has shape (1,).

    Examples
    --------
    >>> out = np.empty(1)
    >>> reduce_sum(np.array([1.0, 2.0, 3.0]), out); out
    array([6.])
    """
    out[0] = np.sum(a, dtype=np.float64)


def cumsum_columns(a, out):
    """Compute ``out[y, x] = sum(a[:y + 1, x])``: the cumulative sum along y, down each column.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> cumsum_columns(np.ones((2, 3)), out); out
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    np.cumsum(a, axis=0, dtype=np.float64, out=out)


def cumsum_rows(a, out):
    """Compute ``out[y, x] = sum(a[y, :x + 1])``: the cumulative sum along x, through each row.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> cumsum_rows(np.ones((2, 3)), out); out
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """
    np.cumsum(a, axis=1, dtype=np.float64, out=out)


def transpose(a, out):
    """Compute ``out[x, y] = a[y, x]``.

    Examples
    --------
    >>> out = np.empty((2, 3))
    >>> transpose(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), out); out
    array([[1., 3., 5.],
           [2., 4., 6.]])
    """
    np.copyto(out, a.T)


def chase(ring, steps, at):
    """Follow the links of a ring: ``steps`` times ``at[0] = ring[at[0]]``; both are uint32, ``at`` has shape (1,).

    Examples
    --------
    >>> at = np.zeros(1, np.uint32)
    >>> chase(np.array([2, 0, 1], np.uint32), 4, at); at  # 0 -> 2 -> 1 -> 0 -> 2
    array([2], dtype=uint32)
    """
    i = int(at[0])
    for _ in range(steps):
        i = int(ring[i])
    at[0] = i
