"""Make a profile from the counts at each place of the source: sums by line, by array, and in total."""

import dataclasses

import numpy as np

from course_pkg.core.access import BANK_BYTES
from course_pkg.core.limits import REGISTER_BYTES
from course_pkg.simt.counting.certainty import FEW_BYTES, doubtful
from course_pkg.simt.counting.sites import Counters, Site
from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.report.kernel_profile import KernelProfile
from course_pkg.simt.report.quantities import SPACES, AccessCounts, FlopCounts, LineCounts


def build(launch, state, counters: Counters) -> KernelProfile:
    """Return the profile of a launch."""
    registers, selected = _registers(state, counters.in_loops)
    sites = [s for s in counters.sites.values() if s.region not in registers]
    by_line: dict[SourceLine, LineCounts] = {}
    for where in sorted({s.where for s in sites} | set(counters.flops)):
        lines = _line(
            [s for s in sites if s.where == where], counters.group_unique, [counters.flops.get(where)]
        )
        lines.hazards = [h for h in state.log.found if (h.function, h.line) == where]
        by_line[where] = lines
    names = dict.fromkeys(s.array for s in sites)
    by_array = {n: _line([s for s in sites if s.array == n], counters.group_unique, []) for n in names}
    whole = _line(sites, counters.group_unique, counters.flops.values(), by_region=True)
    at_work = counters.lanes_at_work / counters.warp_instructions if counters.warp_instructions else 0.0
    return KernelProfile(
        **{f.name: getattr(whole, f.name) for f in dataclasses.fields(LineCounts) if f.name != "hazards"},
        hazards=state.log.found, kernel=launch.kernel.program.name, grid=launch.grid, block=launch.block,
        by_line=by_line, by_array=by_array, integer_ops=counters.integer_ops, active_lanes=at_work,
        barriers=counters.barriers, sources={p.name: p.source for p in state.programs.values()},
        in_registers=tuple(registers.values()), sites=sites, notes=state.log.notes.found,
        doubtful=doubtful(state.programs.values(), counters, registers, selected),
    )  # fmt: skip


def _registers(state, in_loops: set) -> tuple[dict[int, str], set[int]]:
    """Return the local arrays that a compiler keeps in registers, by the number of their region, and the selected ones.

    The compiler does so if it knows the values of all indices into an array and a thread has enough registers. It also
    does so if a thread needs few words of local memory in all: then it compares an index with each word's, and selects.
    """
    varying = {a.region.number: a for a in state.local_arrays if not a.region.constant_index_only}
    words = all(a.dtype.itemsize == BANK_BYTES for a in varying.values())
    most = min([FEW_BYTES[""], *(FEW_BYTES[kind] for kind in in_loops)])
    few = words and sum(a.region.size * a.region.unit for a in varying.values()) <= most
    spilled = set() if few else set(varying)
    small_first = sorted(state.local_arrays, key=lambda a: a.region.size * a.region.unit)
    kept, room = {}, REGISTER_BYTES
    for array in small_first:
        number = array.region.number
        if number not in spilled and number not in kept:
            room -= array.region.size * array.region.unit
            if room >= 0:
                kept[number] = array.name
    return kept, set(varying) & set(kept)


def _line(sites, unique, operations, by_region=False) -> LineCounts:
    counts = LineCounts()
    for name in SPACES:
        here = [s for s in sites if _space(s) == name]
        if here:
            setattr(counts, name, _total(here, unique, by_region))
    for made in operations:
        for (precision, kind), threads in (made.counts if made else {}).items():
            if threads:
                flops = counts.flops.by_precision.setdefault(precision, FlopCounts())
                setattr(flops, kind, getattr(flops, kind) + threads)
    return counts


def _space(site: Site) -> str:
    return f"{site.space}_{'atomics' if site.kind == 'atomic' else site.kind}"


def _total(sites, unique, by_region=False) -> AccessCounts:
    total = AccessCounts()
    groups: dict = {}
    for s in sites:
        total.thread_accesses += s.thread_accesses
        total.requests += s.requests
        total.sectors += s.sectors
        total.bytes_requested += s.thread_accesses * s.itemsize * s.width
        total.wavefronts += s.wavefronts
        total.bank_conflicts += s.bank_conflicts
        groups.setdefault((s.space, s.kind, s.region, s.itemsize), []).append(s)
    for (space, kind, region, itemsize), members in groups.items():
        touched = [s.touched for s in members if s.touched is not None]
        size = max((t.size for t in touched), default=0)
        union = np.zeros(size, bool)
        for t in touched:
            union[: t.size] |= t
        total.unique_bytes += int(np.count_nonzero(union)) * itemsize
        if len(members) == 1:
            elements = members[0].block_unique
        else:
            who = region if by_region or len({s.array for s in members}) > 1 else members[0].array
            elements = unique.get((space, kind, who, itemsize), sum(s.block_unique for s in members))
        total.block_unique_bytes += elements * itemsize
    return total
