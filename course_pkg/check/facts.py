"""The numbers of a trial that an engineer asks for: bytes, sectors, bank conflicts, occupancy."""

from dataclasses import asdict, dataclass
from math import prod

from course_pkg.check.found import Trial
from course_pkg.core.access import SECTOR_BYTES
from course_pkg.core.machine import Machine
from course_pkg.core.units import format_bytes

GLOBAL = ("global_load", "global_store", "global_atomics")
SHARED = ("shared_load", "shared_store")
WASTE = 2.0  # a line is reported if it needs this many times the sectors or wavefronts of the best case


@dataclass(frozen=True)
class Line:
    """A source line that moves more sectors, or needs more wavefronts, than its bytes require.

    Attributes
    ----------
    function : str
    line : int
    source : str
    what : str
        ``"sectors"`` or ``"wavefronts"``.
    per_request, would_do : float
        How many sectors or wavefronts the line needs per request, and how many would be enough for the same bytes.
    """

    function: str
    line: int
    source: str
    what: str
    per_request: float
    would_do: float


@dataclass(frozen=True)
class Facts:
    """The numbers of a trial; sectors have 32 bytes, and all other amounts of memory are in bytes.

    Attributes
    ----------
    compulsory_bytes : int
        Bytes of the elements of global memory, where each element counts once if it is read and once if it is written.
    requested_bytes : int
        The bytes of all accesses.
    sector_bytes : int
        The bytes of all sectors that the requests touch: traffic between L1 and L2, if L1 keeps nothing.
    sectors_per_request : float
    sectors_would_do : float
        Sectors per request that the bytes of the accesses would fill.
    bank_conflicts, wavefronts : int
        Counts for shared memory.
    active_lanes : float
    shared_bytes : int
        Per block.
    occupancy : float
        Resident warps divided by the most that fit on a multiprocessor, if registers are no limit.
    limited_by : str
    registers_for_it : int
        The most registers per thread that still allow this occupancy.
    lines : tuple of Line
        The lines that waste most, worst first.
    """

    compulsory_bytes: int
    requested_bytes: int
    sector_bytes: int
    sectors_per_request: float
    sectors_would_do: float
    bank_conflicts: int
    wavefronts: int
    active_lanes: float
    shared_bytes: int
    occupancy: float
    limited_by: str
    registers_for_it: int
    lines: tuple[Line, ...] = ()

    def to_dict(self) -> dict:
        """Return the numbers as a dict, ready for JSON."""
        return asdict(self)


def facts(trial: Trial, machine: Machine) -> Facts:
    """Return the numbers of a trial that has run."""
    profile = trial.profile
    counts = [getattr(profile, space) for space in GLOBAL]
    shared = [getattr(profile, space) for space in SHARED]
    found, registers = trial.occupancy(machine)
    requests, sectors = sum(c.requests for c in counts), sum(c.sectors for c in counts)
    return Facts(
        compulsory_bytes=profile.cost("perfect").bytes,
        requested_bytes=profile.cost().bytes,
        sector_bytes=SECTOR_BYTES * sectors,
        sectors_per_request=sectors / requests if requests else 0.0,
        sectors_would_do=sum(map(_least, counts)) / requests if requests else 0.0,
        bank_conflicts=sum(c.bank_conflicts for c in shared),
        wavefronts=sum(c.wavefronts for c in shared),
        active_lanes=profile.active_lanes,
        shared_bytes=trial.shared_bytes,
        occupancy=found.share,
        limited_by=found.limited_by,
        registers_for_it=registers,
        lines=tuple(_lines(profile)),
    )


def _least(counts) -> int:
    """Return how many sectors would be enough for contiguous accesses; at most the number that was touched."""
    return min(counts.sectors, max(counts.requests, -(-counts.bytes_requested // SECTOR_BYTES)))


def _lines(profile):
    """Return up to 5 lines that need ``WASTE`` times the sectors or wavefronts of the best case; worst first."""
    found = []
    for where, line in profile.by_line.items():
        source = profile.sources[where.function].text(where.line)
        for space in GLOBAL:
            counts = getattr(line, space)
            if counts.sectors >= WASTE * _least(counts) and counts.sectors:
                cost = counts.sectors - _least(counts)
                needs = counts.sectors_per_request, _least(counts) / counts.requests
                found.append((cost, Line(*where, source, "sectors", *needs)))
        for space in SHARED:
            counts = getattr(line, space)
            best = counts.wavefronts - counts.bank_conflicts
            if counts.bank_conflicts and counts.wavefronts >= WASTE * best:
                needs = counts.wavefronts / counts.requests, best / counts.requests
                found.append((counts.bank_conflicts, Line(*where, source, "wavefronts", *needs)))
    return [line for _, line in sorted(found, key=lambda pair: -pair[0])][:5]


def sentences(trial: Trial, machine: Machine) -> list[tuple[str, str]]:
    """Return the numbers of a trial in words, each with its heading."""
    f = facts(trial, machine)
    said = []
    if f.compulsory_bytes:
        said.append(
            (
                "traffic",
                f"{format_bytes(f.compulsory_bytes)} if each element moves once; asked for "
                f"{format_bytes(f.requested_bytes)} ({f.requested_bytes / f.compulsory_bytes:.2f}×), in sectors of "
                f"{format_bytes(f.sector_bytes)} ({f.sector_bytes / f.compulsory_bytes:.2f}×)",
            )
        )
        said.append(
            (
                "sectors",
                f"{f.sectors_per_request:.2f} per request; {f.sectors_would_do:.2f} would do for these bytes",
            )
        )
    if f.wavefronts:
        conflicts = f"{f.bank_conflicts:,} of {f.wavefronts:,} wavefronts are conflicts"
        said.append(
            ("banks", conflicts if f.bank_conflicts else f"no conflicts in {f.wavefronts:,} wavefronts")
        )
    said += [
        (
            f"line {line.line}",
            f"{line.per_request:.1f} {line.what} per request, and {line.would_do:.1f} would do: {line.source}",
        )
        for line in f.lines
    ]
    said.append(
        (
            "occupancy",
            f"at most {f.occupancy:.0%} on an {machine.name}, limited by {f.limited_by}: "
            f"{prod(trial.block)} threads and {format_bytes(f.shared_bytes)} of shared memory per block, and up to "
            f"{f.registers_for_it} registers per thread",
        )
    )
    if f.active_lanes < 31:
        said.append(("lanes", f"{f.active_lanes:.1f} of 32 at work"))
    return said
