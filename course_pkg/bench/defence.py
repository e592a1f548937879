"""Defend a stated T_peak: answer a sceptic's questions from the measurement behind the number."""

from collections.abc import Iterable
from dataclasses import dataclass

from course_pkg.bench.measurement import Measurement
from course_pkg.core import CourseError, find_machine
from course_pkg.core.checks import require_positive
from course_pkg.core.table import html_table, text_table
from course_pkg.core.units import format_bytes, format_time, three_digits

CACHES = 4  # smallest working set, in multiples of the last-level cache
SPREAD = 0.05  # largest spread of the samples, relative to the median
SAMPLE_S = 1e-3  # shortest sample: more than a thousand times the resolution of the clocks of CPUs and GPUs
SAMPLES = 5  # fewest samples: a median of fewer means little
SAME = 0.01  # a stated number agrees with a measurement if their relative difference is smaller


@dataclass(frozen=True)
class Answer:
    """The answer of a measurement to one question.

    Attributes
    ----------
    question, found : str
        The question, and the number that was found.
    holds : bool or None
        Whether the stated number passes; None if the answer is unknown.
    fix : str
        What to do if the number does not pass, or why the answer is unknown.
    """

    question: str
    found: str
    holds: bool | None
    fix: str = ""


@dataclass(frozen=True)
class Defence:
    """A stated T_peak, and the answers of the measurement that it comes from.

    Attributes
    ----------
    t_peak_gb_s : float
    measurement : Measurement
        The measurement whose T_eff is the stated number.
    answers : tuple of Answer

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> from course_pkg.core import Cost
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), cost=Cost(64, 64), name="copy", samples=5)
    >>> "the arrays must be larger than the caches" in defend(m.t_eff_gb_s, [m]).verdict  # they have 64 bytes
    True
    """

    t_peak_gb_s: float
    measurement: Measurement
    answers: tuple[Answer, ...]

    @property
    def holds(self) -> bool:
        """Whether the stated number passes every question whose answer is known."""
        return all(answer.holds is not False for answer in self.answers)

    @property
    def verdict(self) -> str:
        """The judgement in a sentence."""
        stated = f"{self.t_peak_gb_s:,.1f} GB/s"
        if not self.holds:
            return (
                f"{stated} is not defended: "
                + "; ".join(a.fix for a in self.answers if a.holds is False)
                + "."
            )
        open_ = [a.fix for a in self.answers if a.holds is None]
        by = f"{self.measurement.label} on {self.measurement.device.name}"
        return f"{stated} is defended, by {by}." + (f" Still open: {'; '.join(open_)}." if open_ else "")

    def rows(self) -> list[dict]:
        """Return one dictionary per question: the question, what was found, and whether the number passes."""
        words = {True: "yes", False: "NO", None: "unknown"}
        return [{"question": a.question, "found": a.found, "holds": words[a.holds]} for a in self.answers]

    def __str__(self):
        return f"{text_table(self.rows())}\n{self.verdict}"

    __repr__ = __str__

    def _repr_html_(self):
        return html_table(self.rows(), self.verdict)


def defend(
    t_peak_gb_s: float, measurements: Iterable[Measurement], *, datasheet_gb_s: float | None = None
) -> Defence:
    """Ask the questions of a sceptic about a stated T_peak, and return the answers.

    The answers come from the measurement whose T_eff is the stated number. If several measurements have this T_eff, the
    one on the largest arrays answers.

    Parameters
    ----------
    t_peak_gb_s : float
        The stated number, in GB/s.
    measurements : iterable of Measurement
        Copies, triads or other streams on one device; each moves the bytes of its cost exactly once.
    datasheet_gb_s : float, optional
        The bandwidth in the vendor's datasheet; if left out, it is looked up in the catalogue.

    Returns
    -------
    Defence

    Raises
    ------
    CourseError
        If there are no measurements, one of them has no cost, or they come from several devices.

    Examples
    --------
    >>> from course_pkg.bench import measure
    >>> from course_pkg.core import Cost
    >>> m = measure(np.copyto, np.empty(8), np.ones(8), cost=Cost(64, 64), name="copy", samples=5)
    >>> [row["holds"] for row in defend(1e6, [m]).rows()][:2]  # a number that nothing measured
    ['NO', 'NO']
    """
    require_positive(t_peak_gb_s=t_peak_gb_s)
    if datasheet_gb_s is not None:
        require_positive(datasheet_gb_s=datasheet_gb_s)
    measurements = list(measurements)
    _require_streams(measurements)
    nearest = min(abs(m.t_eff_gb_s - t_peak_gb_s) for m in measurements)
    same = [m for m in measurements if abs(m.t_eff_gb_s - t_peak_gb_s) <= max(nearest, SAME * t_peak_gb_s)]
    m = max(same, key=lambda m: (m.cost.bytes, -abs(m.t_eff_gb_s - t_peak_gb_s)))
    answers = (
        _measured(t_peak_gb_s, m),
        _beyond_caches(m),
        _both_ways(m),
        _quiet(m),
        _long_enough(m),
        _below_datasheet(t_peak_gb_s, m, datasheet_gb_s),
        _best(t_peak_gb_s, m, measurements),
    )
    return Defence(float(t_peak_gb_s), m, answers)


def _require_streams(measurements) -> None:
    if not measurements:
        raise CourseError("There is nothing to defend a T_peak with: pass measurements of a copy or a triad.")
    for m in measurements:
        m.known_cost()
    if len({(m.device.kind, m.device.name) for m in measurements}) > 1:
        raise CourseError("The measurements come from several devices: a T_peak belongs to one of them.")


def _measured(stated, m) -> Answer:
    return Answer(
        "was it measured?",
        f"{m.label}: {m.t_eff_gb_s:,.1f} GB/s",
        abs(m.t_eff_gb_s - stated) <= SAME * stated and m.device.kind != "simt",
        "times of the interpreter say nothing about a GPU"
        if m.device.kind == "simt"
        else f"state a number that was measured; the nearest is {m.t_eff_gb_s:,.1f} GB/s, by {m.label}",
    )


def _beyond_caches(m) -> Answer:
    question, llc = f"arrays ≥ {CACHES} × the last-level cache?", m.device.llc_bytes
    if not llc:
        return Answer(question, format_bytes(m.cost.bytes), None, "how large the last-level cache is")
    return Answer(
        question,
        f"{format_bytes(m.cost.bytes)}: {three_digits(m.cost.bytes / llc)} × {format_bytes(llc)}",
        m.cost.bytes >= CACHES * llc,
        f"the arrays must be larger than the caches, {format_bytes(CACHES * llc)} in all or more",
    )


def _both_ways(m) -> Answer:
    return Answer(
        "read and written counted?",
        f"{format_bytes(m.cost.bytes_read)} read, {format_bytes(m.cost.bytes_written)} written",
        m.cost.bytes_read > 0 and m.cost.bytes_written > 0,
        "count the bytes that are read and those that are written; a kernel that only reads does not measure T_peak",
    )


def _quiet(m) -> Answer:
    return Answer(
        f"spread ≤ {SPREAD:.0%}?",
        f"{m.spread:.1%} of the median",
        m.spread <= SPREAD,
        "the samples scatter too much: close other programs and measure again",
    )


def _long_enough(m) -> Answer:
    n, sample_s = len(m.samples_s), m.median_s * m.calls_per_sample
    return Answer(
        f"≥ {SAMPLES} samples of ≥ {SAMPLE_S * 1e3:g} ms?",
        f"{n} of {format_time(sample_s)}",
        n >= SAMPLES and sample_s >= SAMPLE_S,
        f"take {SAMPLES} samples or more, and let each average calls of {SAMPLE_S * 1e3:g} ms or more together",
    )


def _below_datasheet(stated, m, datasheet_gb_s) -> Answer:
    question = "below the datasheet?"
    known = find_machine(m.device.name)
    promised = datasheet_gb_s or (known and known.bandwidth_gb_s)
    if not promised:
        return Answer(
            question, "not in the catalogue", None, "the datasheet's bandwidth (pass datasheet_gb_s)"
        )
    return Answer(
        question,
        f"{stated / promised:.0%} of {promised:,.0f} GB/s",
        stated < promised,
        "no memory is faster than its datasheet: something else was timed, such as a cache or a launch",
    )


def _best(stated, m, measurements) -> Answer:
    question = "is no measured stream faster?"
    rivals = [r for r in measurements if r.cost.bytes >= m.cost.bytes and r.cost.bytes_written > 0]
    best = max(rivals, key=lambda r: r.t_eff_gb_s, default=m)
    return Answer(
        question,
        f"{best.label}: {best.t_eff_gb_s:,.1f} GB/s",
        best.t_eff_gb_s <= stated * (1 + SAME),
        f"a ceiling must be the highest: {best.label} reached {best.t_eff_gb_s:,.1f} GB/s on arrays as large or larger",
    )
