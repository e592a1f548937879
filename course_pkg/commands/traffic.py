"""The table of ``course verify traffic``: bytes that must move, bytes moved, time, clocks, and the one that binds."""

from course_pkg.bench import Limits
from course_pkg.bench.limit import named
from course_pkg.core.units import format_time
from course_pkg.device.case import Case
from course_pkg.witness import clocks

BYTES = ("must read", "read", "", "must write", "written", "")
WIDTHS = (10, 10, 6, 10, 10, 6)
NAMES = (clocks.MEMORY, *clocks.UNITS)


def header() -> str:
    """Return the heading of the table; bytes are in MB, clocks are shares of the time."""
    cells = [f"{name:>{width}}" for name, width in zip(BYTES, WIDTHS, strict=True)]
    return "  ".join([*cells, f"{'time':>8}", *(f"{name:>6}" for name in NAMES), f"{'binds':>6}", " case"])


def row(case: Case, counted: dict, limits: Limits | None) -> str:
    """Return a line of the table; a cell is blank if its value was not counted or cannot be compared."""
    must = (case.cost.bytes_read, clocks.READ), (case.cost.bytes_written, clocks.WRITTEN)
    cells = [_bytes(n, counted[metric]) for n, metric in must]
    time_s = counted.get(clocks.TIME, 0) / 1e9
    cells.append(f"{format_time(time_s) if time_s else '':>8}")
    shares, binds = {}, ""
    if limits and time_s:
        found = clocks.clocks(counted, limits.stream.throughput_gb_s)
        shares, binds = found.shares, found.binds
    cells += [f"{f'{shares[name]:.0%}' if name in shares else '':>6}" for name in NAMES]
    return "  ".join([*cells, f"{binds:>6}", f" {case.name}"])


def notes(limits: dict[str, Limits | None]) -> list[str]:
    """Return sentences on what the numbers mean; ``limits`` are the limits of the topics in the table."""
    found = [
        "Bytes are in MB. If fewer were written than must be, the L2 cache still held the rest when the kernel ended.",
        "Shares are of the time: what a kernel's bytes, traffic in L2 and L1, and instructions take, each alone.",
        f"A share of {clocks.BINDS:.0%} or more binds; where none does, warps wait.",
    ]
    for topic, its in limits.items():
        if its is None:
            found.append(
                f"There are no shares for {topic}: record the copy with `course bench vector --record`."
            )
            continue
        found.append(
            f"memory, {topic}: bytes moved over {its.stream.throughput_gb_s:,.0f} GB/s, {named(its.stream)} on "
            f"{its.stream.device.name}."
        )
    return found


def _bytes(must: int, moved: float) -> str:
    ratio = f"{moved / must:6.3f}" if must else f"{'':6}"
    return f"{must / 1e6:>10.1f}  {moved / 1e6:>10.1f}  {ratio}"
