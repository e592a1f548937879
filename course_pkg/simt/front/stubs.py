"""The names of ``numba.cuda`` that have a meaning only inside a kernel.

Kernel code contains ``cuda.grid(1)`` or ``cuda.threadIdx.x``. When the interpreter looks up such a name, it finds a
:class:`KernelName`, which identifies the name. Host code that uses a :class:`KernelName` gets an error.
"""

from numbers import Number
from typing import NoReturn

from course_pkg.core.errors import CourseError


class KernelName:
    """A name that only the interpreter understands; on the host, every use of it raises a CourseError.

    Parameters
    ----------
    simt_name : str
        The name after ``cuda.``, such as ``"grid"``, ``"threadIdx.x"`` or ``"shared.array"``.
    meaning : str
        What it does in a kernel; this is its docstring.
    """

    simt_name, _owner = "", "cuda."

    def __init__(self, simt_name: str, meaning: str, owner: str = "cuda."):
        self.simt_name = simt_name
        self._owner = owner
        self.__doc__ = meaning

    def __repr__(self):
        return f"<{self._owner}{self.simt_name}, for kernels>"

    def _refuse(self, *args, **kwargs) -> NoReturn:
        raise CourseError(
            f"{self._owner}{self.simt_name} works inside a kernel only: use it in a function with @cuda.jit, and "
            "launch this function with kernel[blocks, threads_per_block](…)."
        )

    def __getattr__(self, name):
        known = _members(self.simt_name)
        if name.startswith("__") or not known:
            raise AttributeError(f"{self._owner}{self.simt_name} has no attribute {name!r}")
        raise AttributeError(f"{self._owner}{self.simt_name} has no {name!r}: it has {', '.join(known)}.")

    __hash__ = object.__hash__

    def __eq__(self, other):
        if isinstance(other, Number) and not isinstance(other, bool):
            self._refuse()  # otherwise `cuda.threadIdx.x == 0` would silently be False on the host
        return self is other

    def __dir__(self):
        return [*super().__dir__(), *_members(self.simt_name)]


# operations that host code might apply to an index or a function: without a refusal, each would silently give a wrong
# result, or raise an error whose message does not mention kernels
_OPERATIONS = (
    "call iter getitem setitem len bool int float index neg pos abs invert lt le gt ge "
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow "
    "and rand or ror xor rxor lshift rlshift rshift rrshift"
)
for _operation in _OPERATIONS.split():
    setattr(KernelName, f"__{_operation}__", KernelName._refuse)
del _operation

_INDEX = "{}, in direction {} (int32)."
_WARP = "lanes of the warp that mask names"

MEANINGS = {
    "grid": "grid(ndim): number of this thread in the whole grid, (x, y, z) where ndim is 2 or 3.",
    "gridsize": "gridsize(ndim): threads in the whole grid, by direction where ndim is 2 or 3.",
    "threadIdx": "Number of this thread in its block.",
    "blockIdx": "Number of this block in the grid.",
    "blockDim": "Threads in a block.",
    "gridDim": "Blocks in the grid.",
    "laneid": "Number of this thread in its warp, 0 to 31.",
    "warpsize": "Threads in a warp: 32.",
    "syncthreads": "syncthreads(): wait until all threads of the block are here.",
    "syncthreads_count": "syncthreads_count(predicate): wait, and return for how many threads it is true.",
    "syncthreads_and": "syncthreads_and(predicate): wait, and return whether it is true for all threads.",
    "syncthreads_or": "syncthreads_or(predicate): wait, and return whether it is true for any thread.",
    "syncwarp": f"syncwarp(mask=0xffffffff): wait for the {_WARP}.",
    "shfl_sync": "shfl_sync(mask, value, src_lane): return the value of lane src_lane.",
    "shfl_up_sync": "shfl_up_sync(mask, value, delta): return the value of the lane delta below.",
    "shfl_down_sync": "shfl_down_sync(mask, value, delta): return the value of the lane delta above.",
    "shfl_xor_sync": "shfl_xor_sync(mask, value, lane_mask): return the value of lane laneid ^ lane_mask.",
    "ballot_sync": f"ballot_sync(mask, predicate): return a bit for each of the {_WARP}.",
    "any_sync": f"any_sync(mask, predicate): is it true for any of the {_WARP}?",
    "all_sync": f"all_sync(mask, predicate): is it true for all {_WARP}?",
    "eq_sync": f"eq_sync(mask, predicate): is it the same for all {_WARP}?",
    "match_any_sync": f"match_any_sync(mask, value): return a bit for each of the {_WARP} with the same value.",
    "match_all_sync": f"match_all_sync(mask, value): (bits, whether all {_WARP} have the same value).",
    "activemask": "activemask(): return a bit for each active lane of the warp.",
    "lanemask_lt": "lanemask_lt(): return a bit for each lane of the warp below this one.",
    "cg": "Cooperative groups.",
    "cg.this_grid": "this_grid(): all threads of the launch; its sync() waits for all of them.",
    "nanosleep": "nanosleep(ns): let the thread sleep for about so many nanoseconds.",
    "popc": "popc(x): return how many bits of x are set.",
    "brev": "brev(x): return x with its bits reversed.",
    "clz": "clz(x): return how many leading bits of x are zero.",
    "ffs": "ffs(x): return the position of the lowest bit that is set, counted from 1; 0 if none is set.",
    "fma": "fma(a, b, c): return a * b + c, rounded once.",
    "cbrt": "cbrt(x): return the cube root of x.",
    "selp": "selp(condition, a, b): return a where the condition holds, else b.",
    "threadfence": "threadfence(): other threads see what this thread wrote before it, before what it writes after it.",
    "threadfence_block": "threadfence_block(): the same, but only for the threads of its block.",
    "threadfence_system": "threadfence_system(): the same, also for the host and other GPUs.",
    "ldca": "ldca(array, index): array[index], kept in L1 and L2, as every load is.",
    "ldcg": "ldcg(array, index): array[index], kept in L2 but not in L1.",
    "ldcs": "ldcs(array, index): array[index], the first to leave the caches: it is read once.",
    "ldlu": "ldlu(array, index): array[index], read for the last time.",
    "ldcv": "ldcv(array, index): array[index], fetched again, whatever a cache holds.",
    "stcg": "stcg(array, index, value): array[index] = value, kept in L2.",
    "stcs": "stcs(array, index, value): array[index] = value, the first to leave the caches.",
    "stwb": "stwb(array, index, value): array[index] = value, as every store is.",
    "stwt": "stwt(array, index, value): array[index] = value, written through the caches to memory.",
    "shared": "Memory that the threads of a block share.",
    "shared.array": "array(shape, dtype): shared memory of a fixed shape; with shape 0, what the launch provides.",
    "local": "Memory of one thread.",
    "local.array": "array(shape, dtype): memory of one thread, of a fixed shape.",
    "const": "Memory that kernels can only read.",
    "const.array_like": "array_like(array): a copy of a host array in constant memory.",
    "atomic": "Operations on an element that no other thread can interrupt; each returns the old value.",
    "atomic.add": "add(array, index, value): array[index] += value.",
    "atomic.sub": "sub(array, index, value): array[index] -= value.",
    "atomic.and_": "and_(array, index, value): array[index] &= value.",
    "atomic.or_": "or_(array, index, value): array[index] |= value.",
    "atomic.xor": "xor(array, index, value): array[index] ^= value.",
    "atomic.inc": "inc(array, index, value): count up to value, then from 0 again.",
    "atomic.dec": "dec(array, index, value): count down to 0, then from value again.",
    "atomic.exch": "exch(array, index, value): array[index] = value.",
    "atomic.max": "max(array, index, value): array[index] = max(array[index], value).",
    "atomic.min": "min(array, index, value): array[index] = min(array[index], value).",
    "atomic.nanmax": "nanmax(array, index, value): the same as max, but NaN is ignored.",
    "atomic.nanmin": "nanmin(array, index, value): the same as min, but NaN is ignored.",
    "atomic.cas": "cas(array, index, old, value): array[index] = value where it equals old.",
    "atomic.compare_and_swap": "compare_and_swap(array, old, value): array[0] = value where it equals old.",
}
for _name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
    for _direction in "xyz":
        MEANINGS[f"{_name}.{_direction}"] = _INDEX.format(MEANINGS[_name].rstrip("."), _direction)
del _name, _direction


CUDA = KernelName("", "The module itself, in kernel code that the interpreter writes.", "cuda")
for_the_host: set[str] = set()  # all other names of ``cuda``; course_pkg.simt.api defines and adds them


def _members(simt_name: str) -> list[str]:
    return [name.removeprefix(f"{simt_name}.") for name in MEANINGS if name.startswith(f"{simt_name}.")]


def kernel_names() -> dict[str, KernelName]:
    """Return the names without a dot, such as ``shared``; members such as ``shared.array`` are their attributes."""
    names = {name: KernelName(name, meaning) for name, meaning in MEANINGS.items()}
    for name, value in names.items():
        owner, dot, member = name.rpartition(".")
        if dot:
            setattr(names[owner], member, value)
    return {name: value for name, value in names.items() if "." not in name}
