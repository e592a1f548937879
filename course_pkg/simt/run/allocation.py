"""Arrays that a kernel creates in shared, local or constant memory."""

import ast
from dataclasses import replace

import numpy as np
from numba.core import types

from course_pkg.core.limits import LOCAL_BYTES, SHARED_BYTES
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import INT64, dtype_of, type_of
from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.regions import Array, Region, new_storage, row_major, shape_values, unit_of
from course_pkg.simt.run.halves import Half
from course_pkg.simt.run.values import TypeName, Value


def array(run, frame, node, name, arguments, named, mask):
    """Run ``shared.array`` or ``local.array``; each such call in the source makes one allocation."""
    where = frame.program.name, node.lineno
    shape, dtype = _shape_and_dtype(run, frame, node, name, arguments, named)
    site = (
        id(frame.program),
        node.lineno,
        node.col_offset,
        shape,
        str(dtype),
    )  # functions made by one factory have the same line numbers
    space = name.partition(".")[0]
    dynamic = space == "shared" and shape == (0,)
    if dynamic:
        shape = (run.launch.dynamic_shared // dtype.itemsize,)
        site = "dynamic", str(dtype)
    made = run.allocations.get(site)
    if made is None:
        size = int(np.prod(shape, dtype=object))
        if size <= 0 and not dynamic:
            raise SimtError.at(*where, f"{name} of shape {shape} holds nothing.")
        memory, region = _allocate(run, where, space, dtype, size, site, node.col_offset)
        extents = _known_at_launch(run, shape[0]) if dynamic else shape_values(run.constant, shape)
        made = run.allocations[site] = Array(
            "", space, dtype, type_of(dtype), memory, size, extents, row_major(shape), 0, 0, region,
            run.numbering.fresh(),
        )  # fmt: skip
        if space == "local" and not run.dry:
            run.launch.local_arrays.append(made)
    if space == "local" and site not in frame.filled:
        frame.filled.add(site)
        run.ledger.local_array(made, SourceLine(*where), frame.entry, lambda: frame.entry.minus(run.exited))
    return made


def _known_at_launch(run, size: int) -> tuple[Value]:
    """Return the size of dynamic shared memory as a shape; the launch sets it, so the compiler does not know it."""
    return (run.given(np.array(size).reshape((1,) * 6), INT64, ("dynamic", size)),)


def _shape_and_dtype(run, frame, node, name, arguments, named):
    arguments = [*arguments, *(named[k] for k in ("shape", "dtype") if k in named)]
    alignment = [*arguments[2:], *(named[k] for k in ("alignment",) if k in named)]
    arguments = arguments[:2]
    if len(arguments) != 2 or len(alignment) > 1:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"cuda.{name} takes a shape and a dtype, as in cuda.{name}(32, numba.float32).",
        )
    shape, dtype = arguments
    shape = shape if isinstance(shape, tuple) else (shape,)
    if any(isinstance(n, Value) and not n.constant for n in shape):
        raise SimtError.at(frame.program.name, node.lineno, _only_at_run_time(node, name))
    made = any(isinstance(n, Value) and n.constant and not run.constant.is_literal(n) for n in shape)
    if made or _computed(node):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba does not compute in the shape of cuda.{name}: compute it "
            "before, outside the kernel, as in `PADDED = WIDTH + 1`, and write its name.",
        )
    if not all(isinstance(n, Value) and n.constant and isinstance(n.type, types.Integer) for n in shape):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"the shape of cuda.{name} must be known when the kernel is "
            "compiled: use numbers, or names of the module or of an enclosing function.",
        )
    if isinstance(dtype, TypeName) and dtype.of_python:
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"Numba takes no type of Python as the dtype of cuda.{name}: write numba.{dtype.type}.",
        )
    if not isinstance(dtype, TypeName):
        raise SimtError.at(
            frame.program.name, node.lineno, f"the dtype of cuda.{name} is a type such as numba.float64."
        )
    return tuple(n.number for n in shape), dtype_of(dtype.type)


def _only_at_run_time(node, name: str) -> str:
    """Return what to write in place of a shape that only the launch knows."""
    written = ast.unparse(node.args[0]) if node.args else "the shape"
    instead = (
        f"or write cuda.{name}(0, dtype) and let the launch give the bytes, as in "
        "kernel[blocks, threads, 0, size * 8](…)"
        if name == "shared.array"
        else "such as the largest that is needed"
    )
    return (
        f"the shape of cuda.{name} must be known when the kernel is compiled, and {written} is known only while it "
        f"runs: use a number, or a name of the module or of a function around the kernel, {instead}."
    )


def _computed(node) -> bool:
    """Tell whether a shape has a call, an attribute, or a product of tuples: these are not literals for Numba."""
    written = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "shape")]
    return any(
        isinstance(part, ast.Call)
        or (isinstance(part, ast.Attribute) and part.attr != "ndim")
        or (isinstance(part, ast.BinOp) and isinstance(part.left, ast.Tuple))
        for one in written
        for part in walk(one)
    )


def _allocate(run, where, space, dtype, size, site, column):
    """Return the memory of all copies of an array, and its region."""
    place = *where, column
    number = run.launch.number(site)
    nbytes, units = size * dtype.itemsize, size * (dtype.itemsize // unit_of(dtype))
    if space == "local":
        if nbytes > LOCAL_BYTES:
            raise SimtError.at(
                *where, f"a local array of {nbytes} bytes is over the limit of {LOCAL_BYTES} a thread."
            )
        region = _region(run, number, "thread", units, dtype, place)
        region.initialised = np.zeros(run.wave.threads * region.size, bool)
        return new_storage(run.wave.threads, size, dtype), region
    if site[0] == "dynamic":
        return _dynamic(run, dtype)
    of_all = run if run.half is None else run.half.shared or run
    of_all.static_shared += nbytes
    if of_all.static_shared > SHARED_BYTES:
        raise SimtError.at(
            *where,
            f"the block's static shared arrays need {of_all.static_shared} bytes and {SHARED_BYTES} is the "
            "limit: make the tile smaller, or use dynamic shared memory.",
        )
    region = _region(run, number, "block", units, dtype, place)
    region.initialised = np.zeros(run.wave.blocks * region.size, bool)
    return _shared(run, site, size, dtype), region


def _region(run, number, owner, units, dtype, place) -> Region:
    region = Region(number, owner, units, unit_of(dtype), place=place)
    region.divide(run.launch.narrowest.get(place, region.unit))
    return region


def _shared(run, site, size, dtype):
    """Return new memory for all blocks; both halves of the warps (:mod:`.halves`) get the same."""
    if not isinstance(run.half, Half):
        return new_storage(run.wave.blocks, size, dtype)
    return run.half.storage(site, lambda: new_storage(run.wave.blocks, size, dtype))


def _dynamic(run, dtype):
    """Return an array in dynamic shared memory, where arrays of all dtypes share the same bytes."""
    nbytes = run.launch.dynamic_shared
    if "dynamic" not in run.allocations:
        region = Region(run.launch.number("dynamic"), "block", nbytes, 1)
        region.initialised = np.zeros(run.wave.blocks * nbytes, bool)
        run.allocations["dynamic"] = _shared(run, "dynamic", nbytes, np.dtype(np.uint8)), region
    memory, region = run.allocations["dynamic"]
    if nbytes % dtype.itemsize:
        raise SimtError(
            f"{nbytes} bytes of dynamic shared memory hold no whole number of {dtype}: make it a multiple of "
            f"{dtype.itemsize}."
        )
    return memory.view(dtype), region


def array_like(run, frame, node, name, arguments, named, mask):
    """Run ``const.array_like``."""
    (data,) = arguments
    if not isinstance(data, Array) or data.space != "constant":
        raise SimtError.at(
            frame.program.name, node.lineno, "cuda.const.array_like takes a NumPy array of the module."
        )
    return replace(data, name="")  # the array gets the name of the variable that it is assigned to
