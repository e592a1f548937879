"""CUDA's own functions: indices, arrays in shared and local memory, barriers, and operations on bits."""

from dataclasses import replace

import numpy as np
from numba.core import types

from course_pkg.core.limits import LOCAL_BYTES, SHARED_BYTES
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.given import index_value
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import INT64, dtype_of, type_of, unify
from course_pkg.simt.front.vectors import parts_of
from course_pkg.simt.memory.regions import (
    Array,
    Region,
    new_storage,
    row_major,
    shape_values,
    unit_of,
)
from course_pkg.simt.run import atomics, hindsight, hints, pairs, warp
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.cooperative import this_grid
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.tuples import vector
from course_pkg.simt.run.values import TypeName, Value


def intrinsic(run, frame, node, name, arguments, named, mask):
    """Run one of CUDA's functions."""
    if name.startswith("atomic."):
        return atomics.atomic(run, frame, node, name.removeprefix("atomic."), arguments, mask)
    if name in warp.FUNCTIONS:
        return warp.FUNCTIONS[name](run, frame, node, name, arguments, mask)
    handler = _INTRINSICS.get(name) or (vector if parts_of(name) else None)
    if handler is None:
        raise unsupported(frame, node, f"a call of cuda.{name}")
    return handler(run, frame, node, name, arguments, named, mask)


def _grid(run, frame, node, name, arguments, named, mask):
    if len(arguments) != 1 or not arguments[0].constant or arguments[0].number not in (1, 2, 3):
        raise SimtError(f"{frame.program.name}, line {node.lineno}: cuda.{name} takes 1, 2 or 3.")
    values = tuple(_one_axis(run, name, axis) for axis in "xyz"[: arguments[0].number])
    return values[0] if len(values) == 1 else values


def _one_axis(run, name, axis):
    extent = index_value(run, f"blockDim.{axis}")
    other = index_value(run, f"{'blockIdx' if name == 'grid' else 'gridDim'}.{axis}")
    data = extent.data.astype(np.int64) * other.data
    what, keys = ("mul", INT64), sorted((extent.key, other.key))
    if name == "grid":
        thread = index_value(run, f"threadIdx.{axis}")
        data = data + thread.data
        what, keys = ("add", INT64), sorted((run.numbering.of(what, *keys), thread.key))
    return run.given(data, INT64, what, *keys)


def _array(run, frame, node, name, arguments, named, mask):
    """Run ``shared.array`` or ``local.array``; each call in the source has one allocation."""
    where = f"{frame.program.name}, line {node.lineno}"
    shape, dtype = _shape_and_dtype(run, frame, node, name, arguments, named)
    site = (
        id(frame.program),
        node.lineno,
        node.col_offset,
        shape,
        str(dtype),
    )  # several functions from one factory have the same line
    space = name.partition(".")[0]
    dynamic = space == "shared" and shape == (0,)
    if dynamic:
        shape = (run.launch.dynamic_shared // dtype.itemsize,)
        site = "dynamic", str(dtype)
    array = run.allocations.get(site)
    if array is None:
        size = int(np.prod(shape, dtype=object))
        if size <= 0 and not dynamic:
            raise SimtError(f"{where}: {name} of shape {shape} holds nothing.")
        array = _allocate(run, where, space, dtype, size, site)
        extents = _known_at_launch(run, shape[0]) if dynamic else shape_values(run.constant, shape)
        array = run.allocations[site] = Array(
            "", space, dtype, type_of(dtype), array[0], size, extents, row_major(shape), 0, 0, array[1],
            run.numbering.fresh(),
        )  # fmt: skip
        if space == "local" and not run.dry:
            run.launch.local_arrays.append(array)
    return array


def _known_at_launch(run, size: int) -> tuple[Value]:
    """Return the extent of dynamic shared memory, which is known at the launch but not to the compiler."""
    return (run.given(np.array(size).reshape((1,) * 6), INT64, ("dynamic", size)),)


def _shape_and_dtype(run, frame, node, name, arguments, named):
    arguments = [*arguments, *(named[k] for k in ("shape", "dtype") if k in named)]
    if len(arguments) != 2:
        raise SimtError(f"{frame.program.name}, line {node.lineno}: cuda.{name} takes a shape and a dtype.")
    shape, dtype = arguments
    shape = shape if isinstance(shape, tuple) else (shape,)
    if any(isinstance(n, Value) and n.constant and not run.constant.is_literal(n) for n in shape):
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: Numba does not compute in the shape of cuda.{name}: compute it "
            "before, outside the kernel, as in `PADDED = WIDTH + 1`, and write its name."
        )
    if not all(isinstance(n, Value) and n.constant and isinstance(n.type, types.Integer) for n in shape):
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: the shape of cuda.{name} must be known when the kernel is "
            "compiled: use numbers, or names of the module or of an enclosing function."
        )
    if not isinstance(dtype, TypeName):
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: the dtype of cuda.{name} is a type such as numba.float64."
        )
    return tuple(n.number for n in shape), dtype_of(dtype.type)


def _allocate(run, where, space, dtype, size, site):
    """Return the memory of all copies of an array, and its region."""
    number = run.launch.number(site)
    nbytes, units = size * dtype.itemsize, size * (dtype.itemsize // unit_of(dtype))
    if space == "local":
        if nbytes > LOCAL_BYTES:
            raise SimtError(
                f"{where}: a local array of {nbytes} bytes is over the limit of {LOCAL_BYTES} a thread."
            )
        region = Region(number, "thread", units, unit_of(dtype))
        region.initialised = np.zeros(run.wave.threads * units, bool)
        return new_storage(run.wave.threads, size, dtype), region
    if site[0] == "dynamic":
        return _dynamic(run, dtype)
    run.static_shared += nbytes
    if run.static_shared > SHARED_BYTES:
        raise SimtError(
            f"{where}: the block's static shared arrays need {run.static_shared} bytes and {SHARED_BYTES} is the "
            "limit: make the tile smaller, or use dynamic shared memory."
        )
    region = Region(number, "block", units, unit_of(dtype))
    region.initialised = np.zeros(run.wave.blocks * units, bool)
    return new_storage(run.wave.blocks, size, dtype), region


def _dynamic(run, dtype):
    """Return an array in dynamic shared memory, where arrays of all dtypes share the same bytes."""
    nbytes = run.launch.dynamic_shared
    if "dynamic" not in run.allocations:
        region = Region(run.launch.number("dynamic"), "block", nbytes, 1)
        region.initialised = np.zeros(run.wave.blocks * nbytes, bool)
        run.allocations["dynamic"] = new_storage(run.wave.blocks, nbytes, np.dtype(np.uint8)), region
    memory, region = run.allocations["dynamic"]
    if nbytes % dtype.itemsize:
        raise SimtError(
            f"{nbytes} bytes of dynamic shared memory hold no whole number of {dtype}: make it a multiple of "
            f"{dtype.itemsize}."
        )
    return memory.view(dtype), region


def _array_like(run, frame, node, name, arguments, named, mask):
    (data,) = arguments
    if not isinstance(data, Array) or data.space != "constant":
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: cuda.const.array_like takes a NumPy array of the module."
        )
    return replace(data, name="")  # the variable that it is assigned to gives it its name


def _syncthreads(run, frame, node, name, arguments, named, mask):
    where = SourceLine(frame.program.name, node.lineno)
    wave = run.wave
    here = np.count_nonzero(wave.spread(mask.full), axis=1)
    alive = wave.everyone.minus(run.exited) if run.exited else wave.everyone
    if mask is not alive and mask.threads != alive.threads:
        living = np.count_nonzero(wave.spread(alive.full), axis=1)
        torn = (here > 0) & (here < living)
        if torn.any():
            run.log.divergent(run, where, mask, alive, torn)
    run.clock.pass_barrier(here > 0)
    run.ledger.barrier(int((here > 0).sum()), mask)
    run.ledger.flush()
    run.kill("global", "shared")
    if name == "syncthreads":
        return None

    def counted(data):
        predicate = wave.spread(data != 0) & wave.spread(mask.full)
        count = np.count_nonzero(predicate, axis=1)
        found = {"count": count, "and": count == here, "or": count > 0}[name.rpartition("_")[2]]
        return found.astype(np.int32).reshape(*wave.count, 1, 1, 1)

    value = run.fresh(counted(arguments[0].data), types.int32, arguments, mask)
    return hindsight.follow_vote(value, counted, arguments[0])


def _fence(run, frame, node, name, arguments, named, mask):
    run.in_parts = True
    run.clock.pass_fence(run.wave.spread(mask.full), for_device=name != "threadfence_block")
    run.ledger.flush()
    run.kill("global", "shared")


def _bits(run, frame, node, name, arguments, named, mask):
    value = arguments[0]
    run.ledger.demand(value, mask)
    key = run.numbering.of((name, value.type), value.key)  # the number of leading zeros depends on the type
    width = 64 if value.type.bitwidth > 32 else 32
    unsigned = np.uint64 if width == 64 else np.uint32
    kind = types.int32 if name != "brev" else types.uint64 if width == 64 else types.uint32

    def counted(data):
        places = np.arange(width, dtype=unsigned)
        bits = (data.astype(unsigned)[..., None] >> places) & unsigned(1)
        some = bits.any(axis=-1)
        if name == "popc":
            found = bits.sum(axis=-1)
        elif name == "brev":
            found = (bits << places[::-1]).sum(axis=-1, dtype=unsigned)
        elif name == "ffs":
            found = np.where(some, bits.argmax(axis=-1) + 1, 0)
        else:
            found = np.where(some, bits[..., ::-1].argmax(axis=-1), width)
        return found.astype(dtype_of(kind))

    return hindsight.follow(run.derived(counted(value.data), kind, key, (value,), mask), counted, value)


def _fma(run, frame, node, name, arguments, named, mask):
    kind = arguments[0].type
    for a in arguments[1:]:
        kind = unify(kind, a.type)
    kind = kind if isinstance(kind, types.Float) else types.float64
    a, b, c = (cast(run, v, kind) for v in arguments)
    for v in (a, b, c):
        run.ledger.use(v)
    wide = np.longdouble if kind == types.float64 else np.float64

    def computed(a, b, c):
        return (a.astype(wide) * b + c).astype(dtype_of(kind))

    data = computed(a.data, b.data, c.data)
    value = run.derived(data, kind, run.numbering.of("fma", a.key, b.key, c.key), (a, b, c), mask)
    hindsight.follow(value, computed, a, b, c)
    where = SourceLine(frame.program.name, node.lineno)
    run.ledger.flop(value, "fma", dtype_of(kind).name, where, (a, b, c), mask)
    return value


def _cbrt(run, frame, node, name, arguments, named, mask):
    kind = arguments[0].type if isinstance(arguments[0].type, types.Float) else types.float64
    a = cast(run, arguments[0], kind)
    value = run.derived(np.cbrt(a.data), kind, run.numbering.of("cbrt", a.key), (a,), mask)
    hindsight.follow(value, np.cbrt, a)
    where = SourceLine(frame.program.name, node.lineno)
    run.ledger.flop(value, "special", dtype_of(kind).name, where, (a,), mask)
    return value


def _selp(run, frame, node, name, arguments, named, mask):
    test, a, b = arguments
    kind = unify(a.type, b.type)
    a, b = cast(run, a, kind), cast(run, b, kind)
    key = run.numbering.of("selp", test.key, a.key, b.key)

    def chosen(test, a, b):
        return np.where(test != 0, a, b)

    value = run.derived(chosen(test.data, a.data, b.data), kind, key, (test, a, b), mask)
    return hindsight.follow(value, chosen, test, a, b)


def _nanosleep(run, frame, node, name, arguments, named, mask):
    """Do nothing: all threads run in lock step."""
    if len(arguments) != 1:
        raise SimtError(
            f"{frame.program.name}, line {node.lineno}: cuda.nanosleep takes a number of nanoseconds."
        )
    run.ledger.demand(arguments[0], mask)


_INTRINSICS = {
    "nanosleep": _nanosleep,
    "cg.this_grid": this_grid,
    "grid": _grid,
    "gridsize": _grid,
    "shared.array": _array,
    "local.array": _array,
    "const.array_like": _array_like,
    **dict.fromkeys(("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or"), _syncthreads),
    **dict.fromkeys(("threadfence", "threadfence_block", "threadfence_system"), _fence),
    **dict.fromkeys(("popc", "brev", "clz", "ffs"), _bits),
    "fma": _fma,
    "cbrt": _cbrt,
    "selp": _selp,
    "load_pair": pairs.load_pair,
    "store_pair": pairs.store_pair,
    **dict.fromkeys(hints.LOADS, hints.hinted_load),
    **dict.fromkeys(hints.STORES, hints.hinted_store),
}
