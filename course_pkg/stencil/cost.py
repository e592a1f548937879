"""Bytes and flops of the stencils.

A pass reads or writes every point of one array once: we assume that neighbours come from a cache. The flops of the
Laplacian are exact at the boundary. Those of the diffusion step count every point as an inner point, because the
boundary is a small part of a large grid.
"""

from math import prod

import numpy as np

from course_pkg.core import Cost


def copy(shape, dtype="float64") -> Cost:
    """Cost of ``out = u``: the traffic of a Laplacian, without arithmetic.

    Examples
    --------
    >>> copy((10, 10, 10)).bytes
    16000
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    return Cost(bytes_read=size, bytes_written=size)


def centre(shape, dtype="float64") -> Cost:
    """Cost of ``out = 6 u``, the Laplacian without its neighbours.

    Examples
    --------
    >>> centre((10, 10, 10)).flops
    1000
    """
    return copy(shape, dtype) + Cost(flops=prod(shape))


def laplacian(shape, dtype="float64") -> Cost:
    """Cost of ``A u``: one multiplication per point, and one subtraction per neighbour inside the grid.

    Examples
    --------
    >>> laplacian((10, 10, 10)).bytes, laplacian((10, 10, 10)).flops  # 6 · 100 points have no neighbour
    (16000, 6400)
    """
    n = prod(shape)
    missing = sum(2 * n // length for length in shape)
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=size, bytes_written=size, flops=7 * n - missing)


def cross_mean(shape, halo, dtype="float64") -> Cost:
    """Cost of the mean over a cross of ``4 halo + 1`` points: ``4 halo`` additions and one division per point.

    Examples
    --------
    >>> cross_mean((10, 10), halo=2).flops
    900
    """
    return copy(shape, dtype) + Cost(flops=(4 * halo + 1) * prod(shape))


def laplacian_arrays(shape, dtype="float64") -> Cost:
    """Cost of ``A u`` in NumPy or CuPy: one multiplication, then six subtractions in place; 20 passes instead of 2.

    Examples
    --------
    >>> laplacian_arrays((10, 10, 10)).redundancy
    10.0
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    moved = Cost(size, size) + 6 * Cost(2 * size, size)
    return moved.with_fields(unknown_bytes=0, known_bytes=2 * size) + Cost(flops=laplacian(shape).flops)


def diffusion_step(shape, dtype="float64") -> Cost:
    """Cost of the fused step: T and Cp are read, and the new T is written. D_u is the size of T, D_k that of Cp.

    Examples
    --------
    >>> step = diffusion_step((10, 10))
    >>> step.bytes == step.a_eff_bytes, step.flops
    (True, 800)
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    # 2 d neighbours in d dimensions, the product 2 d T, then the factor, the division and the update
    flops_a_point = 2 * len(shape) + 1 + 3
    return Cost(2 * size, size, flops_a_point * points, unknown_bytes=size, known_bytes=size)


def diffusion_step_2d_four_statements(shape, dtype="float64") -> Cost:
    """Cost of the same step in four statements: 11 passes where 3 are enough.

    ``qx``: reads T, writes qx. ``qy``: reads T, writes qy. ``dTdt``: reads qx, qy, Cp, writes dTdt.
    ``out``: reads T, dTdt, writes out.

    Examples
    --------
    >>> diffusion_step_2d_four_statements((10, 10)).bytes / diffusion_step((10, 10)).bytes
    3.6666666666666665
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    flux = Cost(size, size, 2 * points)  # a difference, times -lam / h
    divergence = Cost(3 * size, size, 5 * points)
    update = Cost(2 * size, size, 2 * points)
    return (2 * flux + divergence + update).with_fields(unknown_bytes=size, known_bytes=size)


def diffusion_step_2d_arrays(shape, dtype="float64") -> Cost:
    """Cost of the four statements in NumPy or CuPy, where each operation is a sweep of its own and makes a temporary.

    Each of the two fluxes takes 3 operations and a store. These are 8 passes, because both operands of the difference
    are the same array, which is read once. The divergence takes a fill, 7 operations and a store: 19 passes. The update
    takes 2 operations and a store: 7 passes. Together these are 42 passes.

    Examples
    --------
    >>> diffusion_step_2d_arrays((10, 10)).redundancy  # 42 passes where 3 are enough
    14.0
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    unary, binary = Cost(size, size, points), Cost(2 * size, size, points)
    copy, fill = Cost(size, size), Cost(0, size)
    flux = unary + unary + unary + copy  # difference of one array, times -lam, over h, store
    divergence = 2 * (unary + unary) + binary + unary + binary + fill + copy
    update = unary + binary + copy
    return (2 * flux + divergence + update).with_fields(unknown_bytes=size, known_bytes=size)


def diffusion_step_arrays(shape, dtype="float64") -> Cost:
    """Cost of the fused formula in NumPy or CuPy, where each neighbour is added by one operation.

    In d dimensions the first term takes 2 passes, each of the 2 d neighbours 3, the copy to ``out`` 2, the product with
    the factor 2, the division 3, and the update 3: 12 + 6 d passes.

    Examples
    --------
    >>> diffusion_step_arrays((10, 10)).redundancy  # 24 passes where 3 are enough
    8.0
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    unary, binary, copy = Cost(size, size, points), Cost(2 * size, size, points), Cost(size, size)
    total = unary + 2 * len(shape) * binary
    return (total + copy + unary + binary + binary).with_fields(unknown_bytes=size, known_bytes=size)
