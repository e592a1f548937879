"""Values that a kernel does not compute: the indices of its threads, and the constant arrays of its module."""

import numpy as np
from numba.core import types

from course_pkg.core.limits import CONSTANT_BYTES
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.typing import type_of
from course_pkg.simt.memory.regions import Array, Region, row_major, shape_values
from course_pkg.simt.run.needed import THREE
from course_pkg.simt.run.values import Intrinsic


def index_value(run, name):
    """Return the value of a name such as ``threadIdx.x``; for any other name, return an Intrinsic."""
    group, _, axis = name.partition(".")
    if name in ("warpsize", "laneid"):
        data = np.array(32) if name == "warpsize" else run.wave.thread_in_block % 32
        return run.given(
            data.astype(np.int32).reshape((1,) * (6 - data.ndim) + data.shape), types.int32, name
        )
    if group not in THREE or not axis:
        return Intrinsic(name)
    d = "zyx".index(axis)
    if group == "threadIdx":
        data = run.wave.thread_index(axis)
    elif group == "blockIdx":
        data = run.wave.block_index(axis)
    else:
        extent = run.wave.block[d] if group == "blockDim" else run.wave.grid[d]
        data = np.full((1,) * 6, extent, np.int32)
    return run.given(data, types.int32, name)


def constant_array(run, frame, node, data: np.ndarray) -> Array:
    """Return an array of the module, placed in constant memory as Numba and ``cuda.const.array_like`` do.

    Raises
    ------
    SimtError
        If the array contains anything but numbers, or does not fit into constant memory.
    """
    site = "const", id(data)
    where = frame.program.name, node.lineno
    if site not in run.allocations:
        if data.dtype.kind not in "biufc":
            raise SimtError.at(*where, f"the module's array of {data.dtype} holds no numbers.")
        run.constant_bytes += data.nbytes
        if run.constant_bytes > CONSTANT_BYTES:
            raise SimtError.at(
                *where,
                f"the kernel's constant arrays need {run.constant_bytes} bytes and {CONSTANT_BYTES} is the "
                "limit: pass the array as an argument.",
            )
        flat = np.ascontiguousarray(data).reshape(-1)
        region = Region(run.launch.number(site), "launch", flat.nbytes, 1, written=False)
        shape = shape_values(run.constant, data.shape)
        run.allocations[site] = Array(
            getattr(node, "id", ""), "constant", flat.dtype, type_of(flat.dtype), flat, flat.size, shape,
            row_major(data.shape), 0, 0, region, run.numbering.fresh(),
        )  # fmt: skip
    return run.allocations[site]
