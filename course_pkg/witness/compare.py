"""Compare two witnesses: the interpreter's counts must equal the hardware's to the last unit."""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import read_text
from course_pkg.device.case import Case
from course_pkg.witness.ncu import Counters

LARGEST_CACHE = 128 * 2**20  # bytes: no GPU has a larger cache
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")


@dataclass(frozen=True)
class Quantity:
    """A number that both witnesses count.

    Attributes
    ----------
    name : str
    counter : str
        Its name in a profile, as :meth:`~course_pkg.simt.KernelProfile.certainty` takes it.
    metrics : tuple of tuple of str
        Alternatives, the best one first; the metrics of one alternative are added up.
    count : callable
        Takes a profile of :mod:`course_pkg.simt` and returns the interpreter's number.
    counts_more : bool
        Whether the hardware's counter also counts other things, so that its number may be larger.

    Examples
    --------
    >>> [q.counter for q in QUANTITIES if q.name in ("shared store wavefronts", "atomic sectors", "float64 fma")]
    ['shared_store.wavefronts', 'atomics.sectors', 'flops.float64.fma']
    """

    name: str
    counter: str
    metrics: tuple[tuple[str, ...], ...]
    count: Callable
    counts_more: bool = False

    def measured(self, counters: Counters) -> float | None:
        """Return the hardware's number, by the first alternative that was counted; None if none was."""
        for alternative in self.metrics:
            values = [counters[metric] for metric in alternative if metric in counters]
            if values:
                return sum(values)
        return None


def _memory(space: str, direction: str, what: str, metrics) -> Quantity:
    operation = "ld" if direction == "load" else "st"
    alternatives = tuple((metric.format(operation),) for metric in metrics)
    field, name = f"{space}_{direction}", f"{space} {direction} {what}"
    more = what == "bank_conflicts"
    return Quantity(name, f"{field}.{what}", alternatives, lambda p: getattr(getattr(p, field), what), more)


def _atomics(what: str, *metrics: str) -> Quantity:
    return Quantity(f"atomic {what}", f"atomics.{what}", (metrics,), lambda p: getattr(p.atomics, what))


def _flops(precision: str, letter: str, kind: str) -> Quantity:
    metric = f"smsp__sass_thread_inst_executed_op_{letter}{kind}_pred_on.sum"

    name, counter = f"{precision} {kind}", f"flops.{precision}.{kind}"
    return Quantity(name, counter, ((metric,),), lambda p: p.flops.instructions(precision, kind))


_SPACES = (
    ("global", "requests", ("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",)),
    ("global", "sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",)),
    ("local", "requests", ("l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum",)),
    ("local", "sectors", ("l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum",)),
    # the older smsp__inst_executed_op_shared_st counts atomic operations as well
    ("shared", "requests", ("smsp__sass_inst_executed_op_shared_{}.sum",)),
    # this counter also counts waits for data from the L2 cache; the wavefronts below show each conflict exactly
    ("shared", "bank_conflicts", ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",)),
    (
        "shared",
        "wavefronts",
        (
            # the first counts by instruction; the second also counts waits for a busy pipe
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
        ),
    ),
)
QUANTITIES = (
    *(_memory(space, way, what, metrics) for space, what, metrics in _SPACES for way in ("load", "store")),
    _atomics(
        "requests",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "smsp__inst_executed_op_shared_atom.sum",
    ),
    _atomics(
        "sectors",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    ),
    *(
        _flops(precision, letter, kind)
        for precision, letter in (("float64", "d"), ("float32", "f"))
        for kind in ("add", "mul", "fma")
    ),
)


def by_name(counters: Counters) -> dict[str, float | None]:
    """Return what the hardware counted under the profile's names, such as ``global load sectors``.

    What the device did not count is None.

    Examples
    --------
    >>> by_name({})["global load sectors"] is None
    True
    """
    return {quantity.name: quantity.measured(counters) for quantity in QUANTITIES}


@dataclass(frozen=True)
class Row:
    """One quantity of one case, counted by both witnesses; ``measured`` is None if the device does not count it."""

    case: str
    quantity: str
    counted: int
    measured: float | None
    counts_more: bool = False

    @property
    def equal(self) -> bool:
        """Whether both numbers agree: they are equal, the hardware's is missing, or it is larger and may be so."""
        if self.measured is None or self.counted == self.measured:
            return True
        return self.counts_more and self.counted < self.measured


def profile(case: Case):
    """Run a case in the interpreter and return its profile."""
    from course_pkg import simt

    return simt.profile(case.configured, *case.args())


def compare(case: Case, counters: Counters, profiled=None) -> list[Row]:
    """Return all quantities of a case. The case is run in the interpreter, unless its profile is passed."""
    profiled = profile(case) if profiled is None else profiled
    return [
        Row(case.name, q.name, q.count(profiled), q.measured(counters), q.counts_more) for q in QUANTITIES
    ]


@dataclass(frozen=True)
class Inexact:
    """A case with inexact counts: which quantities are inexact, the reason, and whether it was read in machine code."""

    quantities: tuple[str, ...]
    reason: str
    explained: bool = True


def exceptions(path: Path = EXCEPTIONS) -> dict[str, Inexact]:
    """Return the listed inexact cases by name.

    Raises
    ------
    CourseError
        If an entry lacks its quantities or its reason, names an unknown quantity, or a case is listed twice.
    """
    known = {q.name for q in QUANTITIES}
    found = {}
    try:
        listed = tomllib.loads(read_text(path)).get("inexact", [])
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path.name} is not valid TOML ({error}): correct that line.") from None
    for entry in listed:
        name, quantities, reason = (entry.get(key) for key in ("case", "quantities", "reason"))
        if not name or not quantities or not reason:
            raise CourseError(f"{path.name}: the entry {entry} needs case, quantities and reason.")
        if unknown := set(quantities) - known:
            raise CourseError(
                f"{path.name}: {name} lists {', '.join(sorted(unknown))}; choose from {', '.join(sorted(known))}."
            )
        if name in found:
            raise CourseError(f"{path.name} lists {name} twice: put its quantities into one entry.")
        found[name] = Inexact(tuple(quantities), reason, entry.get("explained", True))
    return found


def verdict(rows: Sequence[Row], listed: Inexact | None) -> list[str]:
    """Return one sentence for each difference that is not listed, and for each quantity that is listed but exact."""
    allowed = set(listed.quantities) if listed else set()
    differing = {row.quantity: row for row in rows if not row.equal}
    troubles = [
        f"{row.case}: {quantity} {row.counted:,} by the interpreter, {row.measured:,} by the hardware."
        for quantity, row in differing.items()
        if quantity not in allowed
    ]
    stale = [q for q in sorted(allowed) if q not in differing]
    return troubles + [f"{rows[0].case}: {q} is exact now: remove it from {EXCEPTIONS.name}." for q in stale]


def too_little(case: Case, counters: Counters, cache_bytes: int = LARGEST_CACHE) -> list[str]:
    """Return sentences that say what is wrong if the hardware moved fewer bytes than a large case must move.

    Parameters
    ----------
    cache_bytes : int
        Size of the last-level cache, which may still hold bytes that were written.
    """
    read, written = counters["dram__bytes_read.sum"], counters["dram__bytes_write.sum"]
    troubles = []
    if read < 0.999 * case.cost.bytes_read:
        troubles.append(f"{case.name}: {read:,} bytes were read, but {case.cost.bytes_read:,} must be read.")
    if written < case.cost.bytes_written - cache_bytes:
        troubles.append(
            f"{case.name}: {written:,} bytes were written, but {case.cost.bytes_written:,} must be written."
        )
    return troubles


@dataclass(frozen=True)
class Summary:
    """The number of kernels and launches, and how many of them are exact in every counter."""

    kernels: int
    exact_kernels: int
    launches: int
    exact_launches: int


def summary(cases: Iterable[Case], listed: dict[str, Inexact]) -> Summary:
    """Count kernels and launches; a kernel is exact if all its launches are.

    A case that is not listed as inexact is exact, because a test compares each case with the recorded counters.
    """
    cases = list(cases)
    inexact = {case.identity for case in cases if case.name in listed}
    kernels = {case.identity for case in cases}
    exact = [case for case in cases if case.name not in listed]
    return Summary(len(kernels), len(kernels - inexact), len(cases), len(exact))
