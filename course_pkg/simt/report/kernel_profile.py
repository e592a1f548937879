"""The profile of a launch: the counters that Nsight Compute would show, and hazards, which it would not show."""

import dataclasses
import math
from dataclasses import dataclass, field, replace

import numpy as np

from course_pkg.core.access import WARP, WarpAccess
from course_pkg.core.cost import Cost
from course_pkg.core.machine import Machine
from course_pkg.simt.counting.banks import distinct, wavefronts
from course_pkg.simt.counting.certainty import Doubtful
from course_pkg.simt.counting.sites import Site, sector_numbers
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import FunctionSource, SourceLine
from course_pkg.simt.memory.hazard import Hazard
from course_pkg.simt.memory.places import place
from course_pkg.simt.report.quantities import LineCounts


@dataclass(repr=False)
class KernelProfile(LineCounts):
    """The counters of a launch.

    Attributes
    ----------
    kernel : str
    grid, block : tuple of int, (x, y, z)
    global_load, global_store, shared_load, shared_store, local_load, local_store, constant_load : AccessCounts
    global_atomics, shared_atomics : AccessCounts
        Atomic operations are counted separately from loads and stores, as in Nsight Compute:
        ``l1tex__t_requests_pipe_lsu_mem_global_op_red.sum`` plus ``…_op_atom.sum``,
        ``smsp__inst_executed_op_shared_atom.sum``. ``atomics`` is the sum of both.
    by_line : dict of SourceLine to LineCounts
    by_array : dict of str to LineCounts
    flops : Flops
    integer_ops : int
        Integer additions, comparisons and so on in the source; compiled code has more or fewer of them.
    active_lanes : float
        Mean number of active lanes per operation of the source, 32 without divergence; similar to
        ``smsp__thread_inst_executed_per_inst_executed.ratio``.
    barriers : int
        Block-wide barriers, summed over blocks.
    hazards : list of Hazard
    doubtful : dict of str to Doubtful
        The counters that may differ from the hardware's, by names such as ``"global_load.requests"``.
    notes : list of Hazard
        First, code that looks like a hazard but does no harm with any arguments: threads that skip a barrier only to
        leave the kernel (``skipped_barrier``), threads that write the same constant to an element in any order
        (``same_value``), and reads of unwritten memory whose values are not used (``unused_read``). Second, likely
        mistakes: a thread reads a variable that it has not set (``unset_variable``), or the kernel stores results in
        an argument that is a number (``lost_store``). Third, waste: fields of records that are accessed byte by byte
        (``packed_record``).
    in_registers : tuple of str
        Local arrays whose indices are all known to the compiler, which keeps them in registers; they are not counted.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import triad_kernel
    >>> found = simt.profile(triad_kernel[2, 32], np.ones(64), np.ones(64), 3.0, np.empty(64))
    >>> found.kernel, found.cost().bytes, found.active_lanes, found.hazards
    ('triad_kernel', 1536, 32.0, [])
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
    notes: list[Hazard] = field(default_factory=list)
    doubtful: dict[str, Doubtful] = field(default_factory=dict)

    def cost(self, reuse: str = "none") -> Cost:
        """Return the bytes that the launch moved to and from global memory, and its flops, as a Cost.

        An atomic operation counts as a read and a write of its element.

        Parameters
        ----------
        reuse : str
            ``"none"``: every request goes to memory; ``"block"``: each block reads an element only once;
            ``"perfect"``: the whole launch reads it only once.

        Raises
        ------
        SimtError
            If ``reuse`` is another word.
        """
        names = {"none": "bytes_requested", "block": "block_unique_bytes", "perfect": "unique_bytes"}
        if reuse not in names:
            raise SimtError(f"reuse is {reuse!r}: use none, block or perfect.")
        read, written, both = (
            getattr(counts, names[reuse])
            for counts in (self.global_load, self.global_store, self.global_atomics)
        )
        return Cost(bytes_read=read + both, bytes_written=written + both, flops=self.flops.total)

    def certainty(self, counter: str) -> str:
        """Return how the hardware's number compares with a counter of this profile.

        ``"exact"`` stands for equal, ``"at most"`` and ``"at least"`` for a number that may be smaller or larger, and
        ``"about"`` for either. The attribute ``doubtful`` says why: the source has a form for which the compiler is
        known to do something that the interpreter's model of it does not.

        Parameters
        ----------
        counter : str
            ``"global_load.requests"``, ``"shared_store.wavefronts"``, ``"flops.float64.fma"`` and similar.

        Examples
        --------
        >>> from course_pkg import simt
        >>> from course_pkg.vector.gpu_numba import triad_kernel
        >>> found = simt.profile(triad_kernel[2, 32], np.ones(64), np.ones(64), 3.0, np.empty(64))
        >>> found.certainty("global_load.requests")
        'exact'
        """
        return self.doubtful[counter].word if counter in self.doubtful else "exact"

    def time_floor_s(self, machine: Machine) -> float:
        """Return the least time in seconds on a machine: the longer of the times for its bytes and for its flops."""
        arithmetic = sum(
            Cost(flops=counts.total).time_floor_s(machine, precision)
            for precision, counts in self.flops.by_precision.items()
        )
        return max(replace(self.cost("perfect"), flops=0).time_floor_s(machine), arithmetic)

    def accesses(self, line, block: int = 0) -> list[WarpAccess]:
        """Return the requests of a block's warps on a line, ordered by warp and repetition.

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
        blocks, warps = math.prod(self.grid), -(-math.prod(self.block) // WARP)
        if not 0 <= block < blocks or not 0 <= warp < warps:
            raise SimtError(
                f"There is no warp {warp} of block {block}: the launch has {blocks} blocks of {warps} warps."
            )
        raise SimtError(
            f"No request number {repetition} of warp {warp} of block {block} on line {line} was kept. "
            "Requests are kept for the first 64 blocks, or for those in simt.profile(…, trace_blocks=[…])."
        )

    def show_access(self, line, block: int = 0, warp: int | None = None):
        """Draw the 32 lanes above the sectors or banks that they touch; a slider selects warp and repetition.

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
        if not isinstance(line, (int, tuple)):
            raise SimtError(
                f"The line is {line!r}: give its number, such as 12, or a SourceLine of profile.by_line."
            )
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
        for numbers, offsets in site.passes:
            for row_of_block in offsets[numbers == block]:
                for warp, row in enumerate(row_of_block):
                    if (row >= 0).any():
                        repetition = passed.get(warp, 0)
                        passed[warp] = repetition + 1
                        yield self._warp_access(site, source, block, warp, repetition, row)

    def _warp_access(self, site, source, block, warp, repetition, row):
        elements = np.where(row < 0, -1, row // site.itemsize)[None, :]
        shared = site.space == "shared"
        return WarpAccess(
            space=site.space, kind=site.kind, array=site.array, itemsize=site.itemsize * site.width,
            offsets=row,
            line=site.where.line, source=source.text(site.where.line), function=site.where.function,
            block=place(block, self.grid), thread=place(warp * WARP, self.block), warp=warp, repetition=repetition,
            sectors=0 if shared else int(distinct(sector_numbers(elements, site, 0))[0]),
            wavefronts=int(wavefronts(row[None, :], site.itemsize, site.kind)[0][0]) if shared else 0,
        )  # fmt: skip

    def to_dict(self) -> dict:
        """Return everything except the kept addresses as numbers, strings, lists and dicts, ready for JSON."""
        whole = {name: getattr(self, name) for name in ("kernel", "integer_ops", "active_lanes", "barriers")}
        whole |= {"grid": list(self.grid), "block": list(self.block), "in_registers": list(self.in_registers)}
        whole |= super().to_dict()
        whole["hazards"] = [dataclasses.asdict(h) for h in self.hazards]
        whole["doubtful"] = {name: dataclasses.asdict(one) for name, one in self.doubtful.items()}
        whole["notes"] = [dataclasses.asdict(n) for n in self.notes]
        whole["by_line"] = [
            {"function": where.function, "line": where.line, **counts.to_dict()}
            for where, counts in self.by_line.items()
        ]
        whole["by_array"] = {name: counts.to_dict() for name, counts in self.by_array.items()}
        return whole

    def __repr__(self):
        from course_pkg.simt.report.page import as_text

        return as_text(self)

    def _repr_html_(self):
        from course_pkg.simt.report.page import html

        return html(self)
