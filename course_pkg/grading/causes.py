"""Why a kernel moves more than it needs, as its recorded accesses show: strides, repetition, bank conflicts."""

import numpy as np

from course_pkg.core.access import BANK_BYTES, BANKS
from course_pkg.grading.limits import counter


def why(profile, bound) -> str:
    """Return a colon and why a kernel moves more than it needs; an empty string if its accesses do not show why."""
    space, _, what = bound.name.partition(".")
    if bound.atomics and bound.found - bound.atomics <= bound.limit * bound.needed:
        return ": atomic operations count among them, since each reads and writes"
    if not hasattr(profile, "sites"):
        return ""
    if what == "wavefronts":
        why = _conflict(profile, space)
    elif what == "sectors":
        why = _stride(profile, space) or _repetition(counter(profile, space), space)
    else:
        why = ""
    return f": {why}" if why else ""


def _stride(profile, space: str) -> str:
    """Say how far apart the addresses of neighbouring lanes are."""
    strides = []
    for where, access in _accesses(profile, space):
        lanes = np.asarray(access.offsets)
        steps = np.abs(np.diff(lanes[lanes >= 0]))
        if steps.size:
            strides.append((int(np.median(steps)), access.itemsize, access.line, where))
    stride, itemsize, _, where = max(strides, default=(0, 0, 0, None))
    if stride <= itemsize:
        return ""
    return f"neighbouring threads touch addresses {stride} B apart on {_line(profile, where)}"


def _repetition(counts, space: str) -> str:
    """Say how many times each element is accessed, on average."""
    times = counts.bytes_requested / counts.unique_bytes if counts.unique_bytes else 0.0
    done = {"load": "read", "store": "written"}.get(space.rpartition("_")[2], "updated")
    return f"each element is {done} {times:.1f} times on average" if times >= 1.5 else ""


def _conflict(profile, space: str) -> str:
    """Say how many lanes of a warp access the same bank."""
    found = max(_accesses(profile, space), key=lambda one: one[1].wavefronts, default=None)
    if found is None:
        return ""
    where, worst = found
    # halves of a warp for 8-byte elements, quarters for 16-byte ones: the banks serve them one after another
    halves = worst.offsets.reshape(max(1, worst.itemsize // BANK_BYTES), -1)
    least = int((halves >= 0).any(axis=1).sum())
    lanes = max(_lanes_in_one_bank(half) for half in halves)
    if worst.wavefronts <= least or lanes == 1:
        return ""
    part = {1: "", 2: " of a half-warp"}.get(len(halves), " of a quarter of it")
    return (
        f"on {_line(profile, where)}, a warp takes {worst.wavefronts} passes over the banks where {least} would do, "
        f"because {lanes} lanes{part} meet in one bank"
    )


def _lanes_in_one_bank(offsets) -> int:
    """Return the largest number of distinct elements that begin in the same bank."""
    begins = np.unique(offsets[offsets >= 0]) // BANK_BYTES % BANKS
    return int(np.bincount(begins).max()) if begins.size else 0


def _accesses(profile, space: str):
    """Yield the kept requests to which the name of a counter refers, each with its line."""
    memory, _, kind = space.rpartition("_")
    kind = "atomic" if kind == "atomics" else kind
    for where, counts in profile.by_line.items():
        if getattr(counts, space):
            for access in profile.accesses(where):
                if access.kind == kind and memory in ("", access.space):
                    yield where, access


def _line(profile, where) -> str:
    """Return the number of a line and its text."""
    return f"line {where.line}, `{profile.sources[where.function].text(where.line)}`"
