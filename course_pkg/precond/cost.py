"""Bytes and flops of applying each preconditioner: the products of ``spmv/cost.py``, and the maps between them.

``nnz`` is the number of stored entries of E, including its diagonal. Each sweep reads each of its arrays once.
"""

from dataclasses import replace

import numpy as np

from course_pkg.core import Cost
from course_pkg.spmv.cost import csr
from course_pkg.spmv.jacobi_cost import jacobi_plain


def _map(n, reads, writes, flops, dtype) -> Cost:
    field = np.dtype(dtype).itemsize * n
    return Cost(bytes_read=reads * field, bytes_written=writes * field, flops=flops * n)


def divide(n, dtype="float64") -> Cost:
    """Cost of ``out = r / d``.

    Examples
    --------
    >>> divide(1000).bytes
    24000
    """
    return _map(n, 2, 1, 1, dtype)


def scale(n, dtype="float64") -> Cost:
    """Cost of ``out = a r``.

    Examples
    --------
    >>> scale(1000).bytes
    16000
    """
    return _map(n, 1, 1, 1, dtype)


def add(n, dtype="float64") -> Cost:
    """Cost of ``x = x + change``.

    Examples
    --------
    >>> add(1000).bytes
    24000
    """
    return _map(n, 2, 1, 1, dtype)


def difference(n, dtype="float64") -> Cost:
    """Cost of ``out = d (y - x)``.

    Examples
    --------
    >>> difference(1000).bytes
    32000
    """
    return _map(n, 3, 1, 2, dtype)


def advance(n, dtype="float64") -> Cost:
    """Cost of ``p = a (y - x) + b p`` and ``x = x + p``.

    Examples
    --------
    >>> advance(1000).bytes
    40000
    """
    return _map(n, 3, 2, 5, dtype)


def identity(n, dtype="float64") -> Cost:
    """Cost of no preconditioner: a copy.

    Examples
    --------
    >>> identity(1000).bytes
    16000
    """
    return replace(scale(n, dtype), flops=0)


def diagonal(n, dtype="float64") -> Cost:
    """Cost of a division by a diagonal.

    Examples
    --------
    >>> diagonal(1000).bytes
    24000
    """
    return divide(n, dtype)


def chebyshev(n, nnz, degree=3, dtype="float64") -> Cost:
    """Cost of a polynomial of this degree: ``degree`` times a step of Jacobi's method and a map.

    Examples
    --------
    >>> chebyshev(1000, 7000, degree=0).bytes
    56000
    """
    first = divide(n, dtype) + 2 * scale(n, dtype)
    step = _plain(jacobi_plain(n, nnz, dtype)) + advance(n, dtype)
    return first + degree * step


def vcycle(n, nnz, levels=(), sweeps=1, dtype="float64") -> Cost:
    """Cost of a V-cycle.

    Parameters
    ----------
    n : int
        Unknowns of the finest level.
    nnz : int
        Nonzeros of the inverse of the coarsest matrix.
    levels : sequence of (rows, nonzeros, coarse rows, nonzeros of the prolongation)
        The levels above the coarsest one; ``Multigrid.sizes()`` has them.
    sweeps : int
        Steps of the smoother before, and after, each correction.

    Notes
    -----
    A level takes ``2 sweeps`` products for steps of Jacobi's method, including the step that gives the residual; one
    product with the prolongation, and one with the restriction; and three maps. The first step is one of the maps.

    Examples
    --------
    >>> one = vcycle(1000, 10_000, levels=[(1000, 7000, 100, 3000)])
    >>> two = vcycle(1000, 10_000, levels=[(1000, 7000, 100, 3000)], sweeps=2)
    >>> two.bytes - one.bytes  # two steps more
    240008
    """
    total = Cost()
    for rows, nonzeros, coarse, prolonging in levels:
        maps = divide(rows, dtype) + difference(rows, dtype) + add(rows, dtype)
        transfers = csr(coarse, rows, prolonging, dtype) + csr(rows, coarse, prolonging, dtype)
        total += maps + _plain(transfers) + 2 * sweeps * _plain(jacobi_plain(rows, nonzeros, dtype))
    coarsest = levels[-1][2] if levels else n
    return total + _plain(csr(coarsest, coarsest, nnz, dtype))


def _plain(cost: Cost) -> Cost:
    """Return a cost without the fields of its problem, because the fields of a cycle are not the sum over its steps."""
    return Cost(cost.bytes_read, cost.bytes_written, cost.flops)
