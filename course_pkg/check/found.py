"""What a check finds: launches with their profiles, and for each kernel its hazards and its verdict."""

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from course_pkg.core.machine import Machine
from course_pkg.core.occupancy import MOST_REGISTERS, Occupancy, occupancy
from course_pkg.simt import Hazard, KernelProfile

CLEAN, HAZARDS, NOT_RUN = 0, 1, 2  # exit statuses
WORDS = {CLEAN: "clean", HAZARDS: "hazards", NOT_RUN: "could not run"}
WRAPPED = "negative_index"  # Numba defines what such an index means, so it is noted as a likely mistake
UNEVEN = "At a size that the block divides, this does not happen."


@dataclass
class Trial:
    """A launch of a kernel in the interpreter.

    Attributes
    ----------
    kernel : str
    file : str
        Where the kernel is defined.
    line : int
    origin : str
        Who launched the kernel, in words: a line of the file, or ``course check``.
    arguments : str
        Names, types and shapes of the arguments.
    grid, block : tuple of int
    dynamic_shared : int
        Bytes of dynamic shared memory per block.
    profile : KernelProfile or None
        None if the launch was refused.
    error : str
        Why the launch was refused or stopped; empty otherwise.
    made, even : bool
        Whether ``course check`` made the inputs, and whether with a size that is a multiple of the block's.
    too_large : bool
        Whether it was refused or stopped because of its size.
    """

    kernel: str
    file: str
    line: int
    origin: str
    arguments: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared: int = 0
    profile: KernelProfile | None = None
    error: str = ""
    made: bool = False
    even: bool = False
    too_large: bool = False

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory per block: of the arrays that the launch touched, or of the dynamic part if more."""
        regions: dict[int, int] = {}
        for site in self.profile.sites if self.profile else ():
            if site.space == "shared":
                regions[site.region] = max(regions.get(site.region, 0), prod(site.shape) * site.itemsize)
        return max(self.dynamic_shared, sum(regions.values()))

    def occupancy(self, machine: Machine) -> tuple[Occupancy, int]:
        """Return the occupancy if registers are no limit, and the most registers per thread that still allow it."""
        threads, shared = prod(self.block), self.shared_bytes
        best = occupancy(machine, threads, registers_per_thread=1, shared_bytes=shared)
        most = 1
        for registers in range(8, MOST_REGISTERS + 1, 8):
            if registers * threads > machine.registers_per_sm:
                break
            with_them = occupancy(machine, threads, registers_per_thread=registers, shared_bytes=shared)
            if with_them.share == best.share:
                most = registers
        return best, most


@dataclass
class Checked:
    """A kernel with all its trials.

    Attributes
    ----------
    name, file : str
    line : int
    trials : list of Trial
    """

    name: str
    file: str
    line: int
    trials: list[Trial] = field(default_factory=list)

    @cached_property
    def hazards(self) -> list[tuple[Hazard, Trial]]:
        """The hazards of all trials, one for each place in the source, each with the first trial that found it.

        Negative indices that wrap to the other end are among the notes: Numba defines what they mean.
        """
        return [(hazard, trial) for hazard, trial in self._once("hazards") if hazard.kind != WRAPPED]

    @cached_property
    def notes(self) -> list[tuple[Hazard, Trial]]:
        """The notes of all trials (:mod:`course_pkg.simt.memory.notes`), each with the first trial that found it."""
        wrapped = [(hazard, trial) for hazard, trial in self._once("hazards") if hazard.kind == WRAPPED]
        return [*wrapped, *self._once("notes")]

    def _once(self, what) -> list[tuple[Hazard, Trial]]:
        found = {}
        for trial in self.trials:
            for hazard in getattr(trial.profile, what, ()) if trial.profile else ():
                found.setdefault((hazard.kind, hazard.function, hazard.line, hazard.array), (hazard, trial))
        return list(found.values())

    def remark(self, hazard: Hazard) -> str:
        """Return a remark if an index is out of bounds only at sizes that the block does not divide, else ``""``."""
        even = [t for t in self.trials if t.even and t.profile]
        if hazard.kind != "out_of_bounds" or not even:
            return ""
        there = {(h.kind, h.function, h.line, h.array) for t in even for h in t.profile.hazards}
        return "" if (hazard.kind, hazard.function, hazard.line, hazard.array) in there else UNEVEN

    @property
    def shown(self) -> Trial | None:
        """The trial whose counts are shown: the first with a hazard or, if there is none, the largest trial."""
        run = [t for t in self.trials if t.profile]
        if self.hazards:
            return self.hazards[0][1]
        return max(run, key=lambda t: prod(t.grid) * prod(t.block), default=None)

    @property
    def errors(self) -> list[str]:
        """Why launches were refused or stopped, each reason once."""
        return list(dict.fromkeys(t.error for t in self.trials if t.error))

    @property
    def verdict(self) -> str:
        """The status in words. If a kernel ran only with made inputs, it is called clean with these inputs."""
        only_made = self.status == CLEAN and all(t.made for t in self.trials)
        return WORDS[self.status] + (", with inputs that were made for it" if only_made else "")

    @property
    def status(self) -> int:
        """0: clean, 1: hazards, 2: a launch was refused or stopped, or there was none."""
        if self.hazards:
            return HAZARDS
        return NOT_RUN if self.errors or self.shown is None else CLEAN


@dataclass
class Report:
    """The result of ``course check`` for a file.

    Attributes
    ----------
    file : str
    kernels : list of Checked
    notes : list of str
        What happened to the host's part of the file.
    error : str
        Why the file could not be checked at all, or was stopped; empty otherwise.

    Examples
    --------
    >>> Report("empty.py", error="empty.py has no CUDA kernel.").status
    2
    """

    file: str
    kernels: list[Checked] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def status(self) -> int:
        """The exit status: 1 if a kernel has a hazard, else 2 if something could not run, else 0."""
        found = {kernel.status for kernel in self.kernels}
        if HAZARDS in found:
            return HAZARDS
        return NOT_RUN if self.error or NOT_RUN in found or not found else CLEAN
