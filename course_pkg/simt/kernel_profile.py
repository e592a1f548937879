"""What a profiled launch did: the counters that Nsight Compute would show, and the hazards it would not."""

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from course_pkg.core.access import WARP, WarpAccess
from course_pkg.simt.counters import Counters, Site, distinct, sector_numbers, wavefronts
from course_pkg.simt.errors import SimtError
from course_pkg.simt.hazards import Hazard
from course_pkg.simt.source import FunctionSource, SourceLine

SPACES = (
    "global_load", "global_store", "shared_load", "shared_store", "local_load", "local_store",
    "constant_load", "atomics",
)  # fmt: skip
KINDS = ("add", "mul", "fma", "div", "sqrt", "special")


@dataclass
class AccessCounts:
    """Accesses to one memory.

    Attributes
    ----------
    thread_accesses : int
        Elements asked for, one for each thread that takes part.
    requests : int
        Instructions of whole warps. Global loads: ``l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum``; stores
        ``…_op_st.sum``; local ``…_mem_local_op_ld.sum``; shared ``smsp__inst_executed_op_shared_ld.sum``.
    sectors : int
        Pieces of 32 bytes that they move: ``l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum`` and its like; 0 for
        shared memory.
    bytes_requested : int
        Bytes of the elements asked for.
    unique_bytes : int
        The same, each element of the launch counted once: the traffic behind a perfect cache.
    block_unique_bytes : int
        The same, each element counted once for each block: the traffic behind a perfect L1 and nothing else.
    wavefronts : int
        Passes over the 32 banks: ``smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum`` and its like.
    bank_conflicts : int
        Wavefronts beyond those that the same lanes would need without any conflict:
        ``smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`` and its like.
    """

    thread_accesses: int = 0
    requests: int = 0
    sectors: int = 0
    bytes_requested: int = 0
    unique_bytes: int = 0
    block_unique_bytes: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Sectors that one request moves, on average; 0.0 without requests."""
        return self.sectors / self.requests if self.requests else 0.0

    def __bool__(self):
        return self.thread_accesses > 0


@dataclass
class FlopCounts:
    """Floating-point operations of one precision, one for each thread that does them.

    Attributes
    ----------
    add, mul : int
        Additions (and subtractions) and multiplications on their own:
        ``smsp__sass_thread_inst_executed_op_dadd_pred_on.sum``, ``…_dmul_…``; ``fadd``, ``fmul`` in single precision.
    fma : int
        Pairs of a multiplication and an addition in one instruction, not counted again above: ``…_dfma_…``,
        ``…_ffma_…``.
    div, sqrt, special : int
        Divisions, square roots and transcendental functions in the source; a GPU computes each by several instructions.
    """

    add: int = 0
    mul: int = 0
    fma: int = 0
    div: int = 0
    sqrt: int = 0
    special: int = 0

    @property
    def total(self) -> int:
        """Flops: 2 for an fma, 1 for anything else."""
        return self.add + self.mul + 2 * self.fma + self.div + self.sqrt + self.special


EXPANDED = {
    ("float64", "div"): {("float64", "mul"): 1, ("float64", "fma"): 7, ("float32", "fma"): 1},
    ("float32", "div"): {("float32", "fma"): 5},
    ("float64", "sqrt"): {("float64", "mul"): 3, ("float64", "fma"): 5},
    ("float32", "sqrt"): {("float32", "mul"): 2, ("float32", "fma"): 2},
}  # instructions for ordinary operands on compute capability 9.0, besides one of the special function unit


@dataclass
class Flops:
    """Floating-point operations by precision, such as ``by_precision["float64"]``."""

    by_precision: dict[str, FlopCounts] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Flops of all precisions."""
        return sum(counts.total for counts in self.by_precision.values())

    def instructions(self, precision: str, kind: str) -> int:
        """Return how many additions, multiplications or multiply-adds a GPU executes.

        Those of the source, and those that divisions and square roots are made of.

        Parameters
        ----------
        precision : str
            ``"float64"`` or ``"float32"``.
        kind : str
            ``"add"``, ``"mul"`` or ``"fma"``.
        """
        total = getattr(self[precision], kind)
        for (source, operation), made in EXPANDED.items():
            total += getattr(self[source], operation) * made.get((precision, kind), 0)
        return total

    def __getitem__(self, precision: str) -> FlopCounts:
        return self.by_precision.get(precision, FlopCounts())


@dataclass
class LineCounts:
    """The counters of one source line or one array."""

    global_load: AccessCounts = field(default_factory=AccessCounts)
    global_store: AccessCounts = field(default_factory=AccessCounts)
    shared_load: AccessCounts = field(default_factory=AccessCounts)
    shared_store: AccessCounts = field(default_factory=AccessCounts)
    local_load: AccessCounts = field(default_factory=AccessCounts)
    local_store: AccessCounts = field(default_factory=AccessCounts)
    constant_load: AccessCounts = field(default_factory=AccessCounts)
    atomics: AccessCounts = field(default_factory=AccessCounts)
    flops: Flops = field(default_factory=Flops)
    hazards: list[Hazard] = field(default_factory=list)


@dataclass(repr=False)
class KernelProfile(LineCounts):
    """The counters of a launch.

    Attributes
    ----------
    kernel : str
    grid, block : tuple of int, (x, y, z)
    global_load … constant_load, atomics : AccessCounts
        Atomic operations on global and shared memory are counted apart from loads and stores:
        ``l1tex__t_requests_pipe_lsu_mem_global_op_red.sum`` plus ``…_op_atom.sum``.
    by_line : dict of SourceLine to LineCounts
    by_array : dict of str to LineCounts
    flops : Flops
    integer_ops : int
        Integer additions, comparisons and so on in the source; a compiler needs more, or fewer.
    active_lanes : float
        Lanes at work per warp instruction, 32 without divergence: like
        ``smsp__thread_inst_executed_per_inst_executed.ratio``, over the operations of the source.
    barriers : int
        Block-wide barriers, summed over blocks.
    hazards : list of Hazard
    in_registers : tuple of str
        Local arrays whose indices are all known to the compiler: they live in registers and are not counted.
    """

    kernel: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    by_line: dict[SourceLine, LineCounts] = field(default_factory=dict)
    by_array: dict[str, LineCounts] = field(default_factory=dict)
    integer_ops: int = 0
    active_lanes: float = float(WARP)
    barriers: int = 0
    sources: dict[str, FunctionSource] = field(default_factory=dict)
    in_registers: tuple[str, ...] = ()
    sites: list[Site] = field(default_factory=list)

    def global_bytes(self, reuse: str = "none") -> int:
        """Return bytes of global memory read and written.

        Parameters
        ----------
        reuse : str
            ``"none"``: every request goes to memory; ``"block"``: each block fetches an element once; ``"perfect"``:
            the launch does.
        """
        names = {"none": "bytes_requested", "block": "block_unique_bytes", "perfect": "unique_bytes"}
        if reuse not in names:
            raise SimtError(f"reuse is {reuse!r}: use none, block or perfect.")
        of_global = (self.global_load, self.global_store, *(c for c in (self._global_atomics(),) if c))
        return sum(getattr(counts, names[reuse]) for counts in of_global)

    def _global_atomics(self) -> AccessCounts:
        return _total([s for s in self.sites if s.kind == "atomic" and s.space == "global"], {})

    def intensity(self, reuse: str = "none") -> float:
        """Return flops per byte of global memory, at a reuse that :meth:`global_bytes` names."""
        moved = self.global_bytes(reuse)
        return self.flops.total / moved if moved else float("inf")

    def time_floor_s(self, machine) -> float:
        """Return the seconds below which no implementation comes on a machine: its bytes or its flops, each at best.

        Parameters
        ----------
        machine : core.Machine
        """
        memory = self.global_bytes("perfect") / (machine.bandwidth_gb_s * 1e9)
        arithmetic = 0.0
        for precision, counts in self.flops.by_precision.items():
            peak = machine.fp32_gflop_s if precision == "float32" else machine.fp64_gflop_s
            arithmetic += counts.total / (peak * 1e9)
        return max(memory, arithmetic)

    def accesses(self, line, block: int = 0) -> list[WarpAccess]:
        """Return the requests that the warps of a block made on a line, by warp and pass.

        Parameters
        ----------
        line : int or SourceLine
        block : int
            Number of the block in the launch; x runs fastest.
        """
        return [access for site in self._at(line) for access in self._of_site(site, block)]

    def access(self, line, block: int = 0, warp: int = 0, repetition: int = 0) -> WarpAccess:
        """Return one request of one warp."""
        for access in self.accesses(line, block):
            if (access.warp, access.repetition) == (warp, repetition):
                return access
        raise SimtError(
            f"Warp {warp} of block {block} made no request number {repetition} on line {line} that was kept: "
            "the first 64 blocks are, or those named in simt.profile(…, trace_blocks=[…])."
        )

    def show_access(self, line, block: int = 0, warp: int | None = None):
        """Draw the 32 lanes above the sectors, or the banks, that they touch; a slider walks over warps and passes.

        Parameters
        ----------
        line : int or SourceLine
        block : int
        warp : int, optional
            Only this warp.
        """
        from course_pkg.viz import access_strips

        found = [a for a in self.accesses(line, block) if warp is None or a.warp == warp]
        if not found:
            self.access(line, block, warp or 0)
        return access_strips(found)

    def _at(self, line) -> list[Site]:
        here = [s for s in self.sites if s.where == line] if isinstance(line, tuple) else []
        for name in [] if isinstance(line, tuple) else self.sources:
            here = here or [s for s in self.sites if s.where == (name, line)]
        if not here:
            lines = sorted({s.where.line for s in self.sites})
            raise SimtError(
                f"Line {line} touches no memory; these do: {', '.join(map(str, lines))}."
                if lines
                else f"{self.kernel} touches no memory."
            )
        return here

    def _of_site(self, site: Site, block: int):
        passed: dict[int, int] = {}
        source = self.sources[site.where.function]
        for number, offsets in site.passes:
            if number != block:
                continue
            for warp, row in enumerate(offsets):
                if not (row >= 0).any():
                    continue
                repetition = passed.get(warp, 0)
                passed[warp] = repetition + 1
                yield self._warp_access(site, source, block, warp, repetition, row)

    def _warp_access(self, site, source, block, warp, repetition, row):
        elements = np.where(row < 0, -1, row // site.itemsize)[None, :]
        shared = site.space == "shared"
        return WarpAccess(
            space=site.space, kind=site.kind, array=site.array, itemsize=site.itemsize, offsets=row,
            line=site.where.line, source=source.text(site.where.line), function=site.where.function,
            block=_xyz(block, self.grid), thread=_xyz(warp * WARP, self.block), warp=warp, repetition=repetition,
            sectors=0 if shared else int(distinct(sector_numbers(elements, site, 0))[0]),
            wavefronts=int(wavefronts(row[None, :], site.itemsize)[0]) if shared else 0,
        )  # fmt: skip

    def to_dict(self) -> dict:
        """Return everything but the kept addresses as numbers, strings, lists and dicts, ready for JSON."""
        whole = {name: getattr(self, name) for name in ("kernel", "integer_ops", "active_lanes", "barriers")}
        whole |= {"grid": list(self.grid), "block": list(self.block), "in_registers": list(self.in_registers)}
        whole |= _as_dict(self)
        whole["hazards"] = [dataclasses.asdict(h) for h in self.hazards]
        whole["by_line"] = [
            {"function": where.function, "line": where.line, **_as_dict(counts)}
            for where, counts in self.by_line.items()
        ]
        whole["by_array"] = {name: _as_dict(counts) for name, counts in self.by_array.items()}
        return whole

    def __repr__(self):
        from course_pkg.simt.report import text_table

        return text_table(self)

    def _repr_html_(self):
        from course_pkg.simt.report import html

        return html(self)


def build(launch, state, counters: Counters) -> KernelProfile:
    """Put a launch's counters in order."""
    registers = _registers(state)
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
        in_registers=tuple(registers.values()), sites=sites,
    )  # fmt: skip


def _registers(state) -> dict[int, str]:
    """Return the local arrays that a compiler keeps in registers, by the number of their region."""
    spilled = {a.region.number for a in state.local_arrays if not a.constant_index_only}
    return {a.region.number: a.name for a in state.local_arrays if a.region.number not in spilled}


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
    return "atomics" if site.kind == "atomic" else f"{site.space}_{site.kind}"


def _total(sites, unique, by_region=False) -> AccessCounts:
    total = AccessCounts()
    groups: dict = {}
    for s in sites:
        total.thread_accesses += s.thread_accesses
        total.requests += s.requests
        total.sectors += s.sectors
        total.bytes_requested += s.thread_accesses * s.itemsize
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


def _as_dict(counts: LineCounts) -> dict:
    found = {name: dataclasses.asdict(getattr(counts, name)) for name in SPACES if getattr(counts, name)}
    for name in found:
        found[name]["sectors_per_request"] = getattr(counts, name).sectors_per_request
    found["flops"] = {p: dataclasses.asdict(c) for p, c in counts.flops.by_precision.items()}
    found["hazards"] = [h.message for h in counts.hazards]
    return found


def _xyz(number, extent):
    nx, ny, _ = extent
    return int(number % nx), int(number // nx % ny), int(number // (nx * ny))
