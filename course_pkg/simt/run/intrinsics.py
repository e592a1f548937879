"""CUDA's own functions: indices, barriers, and operations on bits."""

import ast

import numpy as np
from numba.core import types

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.given import index_value
from course_pkg.simt.front.instead import of_call
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.front.typing import INT64, dtype_of, unify
from course_pkg.simt.front.vectors import parts_of
from course_pkg.simt.memory.unwritten import first_of, of_either, together
from course_pkg.simt.run import atomics, hindsight, hints, pairs, warp
from course_pkg.simt.run.allocation import array, array_like
from course_pkg.simt.run.constructs import unsupported
from course_pkg.simt.run.cooperative import this_grid
from course_pkg.simt.run.expressions import cast
from course_pkg.simt.run.halves import met_at_barrier
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.tuples import vector
from course_pkg.simt.run.values import Value
from course_pkg.simt.run.warp_meetings import met_in_warp

WITHOUT_ARGUMENTS = (
    *("syncthreads", "syncwarp", "threadfence", "threadfence_block", "threadfence_system"),
    *("activemask", "lanemask_lt"),
)

_VOTES = ("syncthreads_count", "syncthreads_and", "syncthreads_or")
_TAKES = {
    **dict.fromkeys((*_VOTES, "popc", "brev", "clz", "ffs", "cbrt", "nanosleep"), 1),
    "fma": 3,
    "selp": 3,
}


def intrinsic(run, frame, node, name, arguments, named, mask):
    """Run one of CUDA's functions, such as ``cuda.grid``."""
    if name.startswith("atomic."):
        return atomics.atomic(run, frame, node, name.removeprefix("atomic."), arguments, mask)
    most = 1 if name == "syncwarp" else 0
    if name in WITHOUT_ARGUMENTS and len(arguments) > most:
        what = "at most the mask of the lanes" if most else "nothing"
        raise SimtError.at(frame.program.name, node.lineno, f"cuda.{name} takes {what} in its brackets.")
    takes = _TAKES.get(name)
    if takes is not None and (len(arguments) != takes or not all(isinstance(a, Value) for a in arguments)):
        some = "one number" if takes == 1 else f"{takes} numbers"
        raise SimtError.at(frame.program.name, node.lineno, f"cuda.{name} takes {some} in its brackets.")
    if name in warp.FUNCTIONS:
        function = warp.FUNCTIONS[name]
        if name in warp.ALONE:
            return function(run, frame, node, name, arguments, mask)
        return met_in_warp(run, frame, node, name, arguments, mask, function)
    handler = _INTRINSICS.get(name) or (vector if parts_of(name) else None)
    if handler is None:
        raise unsupported(frame, node, of_call(name))
    return handler(run, frame, node, name, arguments, named, mask)


def _grid(run, frame, node, name, arguments, named, mask):
    arguments = arguments or [named[k] for k in ("ndim",) if k in named]
    if len(arguments) != 1 or not arguments[0].constant or arguments[0].number not in (1, 2, 3):
        raise SimtError.at(frame.program.name, node.lineno, f"cuda.{name} takes 1, 2 or 3.")
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


def _syncthreads(run, frame, node, name, arguments, named, mask):
    where = SourceLine(frame.program.name, node.lineno)
    if arguments and not isinstance(arguments[0].type, types.Integer):
        given = ast.unparse(node.args[0]) if node.args else "condition"
        raise SimtError.at(
            *(where.function, where.line),
            f"Numba's cuda.{name} takes an integer, and no {arguments[0].type}: write "
            f"cuda.{name}(1 if {given} else 0).",
        )
    wave = run.wave
    here = living = np.count_nonzero(wave.spread(mask.full), axis=1)
    alive = wave.everyone.minus(run.exited) if run.exited else wave.everyone
    if run.half is not None:
        alive = run.half.own(alive)
    if mask is not alive and mask.threads != alive.threads:
        living = np.count_nonzero(wave.spread(alive.full), axis=1)
        torn = (here > 0) & (here < living)
        if torn.any():
            run.log.divergent(run, where, mask, alive, torn)

    def count(data, lanes):
        return np.count_nonzero(wave.spread(data != 0) & wave.spread(lanes.full), axis=1)

    yes = count(arguments[0].data, mask) if arguments else here
    *others, passed, peers = met_at_barrier(run, where, mask, living, yes, asked=arguments)
    run.ledger.barrier(passed, mask)
    run.ledger.flush()
    run.kill("global", "shared")
    if name == "syncthreads":
        return None

    operand, everyone = arguments[0], mask
    for lanes, value in peers:
        operand, everyone, others[0] = merge(run, lanes, value, operand), everyone.union(lanes), 0

    def counted(data):
        every, total = count(data, everyone) + others[0], here + others[1]
        found = {"count": every, "and": every == total, "or": every > 0}[name.rpartition("_")[2]]
        return found.astype(np.int32).reshape(*wave.count, 1, 1, 1)

    value = run.fresh(counted(operand.data), types.int32, arguments, mask, moved=arguments[0])
    voters = wave.spread(everyone.full) if operand.unwritten else None

    def first(numbers):
        found = first_of(wave.spread(numbers), voters)
        return wave.whole(found.reshape(*wave.count, 1, 1, 1))

    value.unwritten = tuple(one.moved(first) for one in operand.unwritten)
    return hindsight.follow_vote(value, counted, operand)


def _fence(run, frame, node, name, arguments, named, mask):
    run.in_parts = True
    if run.half is not None:
        run.half.makes_ready()
    run.clock.pass_fence(run.wave.spread(mask.full), for_device=name != "threadfence_block")
    run.ledger.flush()
    run.kill("global", "shared")


def _bits(run, frame, node, name, arguments, named, mask):
    value = arguments[0]
    run.ledger.demand(value, mask)
    key = run.numbering.of((name, value.type), value.key)  # the number of leading zeros depends on the type
    given = value.type if isinstance(value.type, types.Integer) else types.int8
    kind, width = given, given.bitwidth
    if name == "ffs":
        kind, width = types.uint32, max(width, 32)
    elif name == "brev":  # Numba has it only for unsigned types; int64 becomes uint32
        kind = types.uint64 if given == types.uint64 else types.uint32
        width = kind.bitwidth
    unsigned = np.dtype(f"uint{width}").type

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


_CHOSEN = {getattr(types, f"{sign}int{bits}") for sign in ("", "u") for bits in (16, 32, 64)} | {
    types.float32,
    types.float64,
}


def _selp(run, frame, node, name, arguments, named, mask):
    test, a, b = arguments
    kind = a.type
    if kind != b.type or kind not in _CHOSEN or not isinstance(test.type, types.Boolean):
        raise SimtError.at(
            frame.program.name,
            node.lineno,
            f"cuda.selp takes a truth value and two numbers of one type of "
            f"16 bits or more, and gets {test.type}, {kind} and {b.type}: write `a if condition else b`.",
        )
    key = run.numbering.of("selp", test.key, a.key, b.key)

    def chosen(test, a, b):
        return np.where(test != 0, a, b)

    value = run.derived(chosen(test.data, a.data, b.data), kind, key, (test, a, b), mask)
    value.unwritten = together(test.unwritten, of_either(mask.narrow(test.data != 0), a, b))
    return hindsight.follow(value, chosen, test, a, b)


def _nanosleep(run, frame, node, name, arguments, named, mask):
    """Do nothing, because all threads run in lockstep."""
    run.ledger.demand(arguments[0], mask)


_INTRINSICS = {
    "nanosleep": _nanosleep,
    "cg.this_grid": this_grid,
    "grid": _grid,
    "gridsize": _grid,
    "shared.array": array,
    "local.array": array,
    "const.array_like": array_like,
    **dict.fromkeys(("syncthreads", *_VOTES), _syncthreads),
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
