"""Bytes and flops of the stencils.

A pass reads or writes every point of one array once: neighbours are taken to come from a cache. Boundaries are
counted in the flops of the Laplacian and ignored in those of the diffusion step, where they are a surface against
a volume.
"""

from math import prod

import numpy as np

from course_pkg.core import Cost


def copy(shape, dtype="float64") -> Cost:
    """Cost of ``out = u``: the traffic of a Laplacian and no arithmetic."""
    size = prod(shape) * np.dtype(dtype).itemsize
    return Cost(bytes_read=size, bytes_written=size)


def centre(shape, dtype="float64") -> Cost:
    """Cost of ``out = 6 u``: what is left of the Laplacian when its neighbours are stripped."""
    return copy(shape, dtype) + Cost(flops=prod(shape))


def laplacian(shape, dtype="float64") -> Cost:
    """Cost of ``A u``: one multiplication a point, and one subtraction a neighbour that exists."""
    n = prod(shape)
    missing = sum(2 * n // length for length in shape)
    size = n * np.dtype(dtype).itemsize
    return Cost(bytes_read=size, bytes_written=size, flops=7 * n - missing)


def cross_mean(shape, halo, dtype="float64") -> Cost:
    """Cost of the mean over a cross of ``4 halo + 1`` points: as many additions less one, and a division, a point."""
    return copy(shape, dtype) + Cost(flops=(4 * halo + 1) * prod(shape))


def laplacian_arrays(shape, dtype="float64") -> Cost:
    """Cost of ``A u`` in NumPy or CuPy: one multiplication, then six subtractions in place; 20 passes for 2."""
    size = prod(shape) * np.dtype(dtype).itemsize
    moved = Cost(size, size) + 6 * Cost(2 * size, size)
    return moved.with_fields(unknown_bytes=0, known_bytes=2 * size) + Cost(flops=laplacian(shape).flops)


def diffusion_step(shape, dtype="float64") -> Cost:
    """Cost of the fused step: T and Cp are read, the new T is written; D_u is T, D_k is Cp."""
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    flops_a_point = 2 * len(shape) + 1 + 3  # neighbours, 2d T, then factor, division, update
    return Cost(2 * size, size, flops_a_point * points, unknown_bytes=size, known_bytes=size)


def diffusion_step_2d_four_statements(shape, dtype="float64") -> Cost:
    """Cost of the same step in four statements: 11 passes where 3 suffice.

    ``qx``: reads T, writes qx. ``qy``: reads T, writes qy. ``dTdt``: reads qx, qy, Cp, writes dTdt.
    ``out``: reads T, dTdt, writes out.
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    flux = Cost(size, size, 2 * points)  # a difference, times -lam / h
    divergence = Cost(3 * size, size, 5 * points)
    update = Cost(2 * size, size, 2 * points)
    return (2 * flux + divergence + update).with_fields(unknown_bytes=size, known_bytes=size)


def diffusion_step_2d_arrays(shape, dtype="float64") -> Cost:
    """Cost of the four statements in NumPy or CuPy, where each operation is a pass and makes a temporary.

    A flux takes 3 operations and a store (8 passes: a difference of one array reads it once), the divergence a fill,
    7 operations and a store (19), the update 2 operations and a store (7): 42 passes in all.
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
    """Cost of the fused formula in NumPy or CuPy: the sum over neighbours grows by one operation each.

    In d dimensions: the first term 2 passes, each of 2 d neighbours 3, the copy to ``out`` 2, the scaled sum 2, the
    division 3, the update 3; 12 + 6 d in all.
    """
    points = prod(shape)
    size = points * np.dtype(dtype).itemsize
    unary, binary, copy = Cost(size, size, points), Cost(2 * size, size, points), Cost(size, size)
    total = unary + 2 * len(shape) * binary
    return (total + copy + unary + binary + binary).with_fields(unknown_bytes=size, known_bytes=size)
