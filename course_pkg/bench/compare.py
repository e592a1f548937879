"""Measure several variants in turn, and compare them with a bound."""

import html
import sys
from collections.abc import Callable
from dataclasses import dataclass

from course_pkg.bench.measure import Run
from course_pkg.bench.measurement import CACHE_STATES, Measurement
from course_pkg.core import Cost, CourseError, Implementation, Machine, Variant
from course_pkg.core.table import html_table, text_table
from course_pkg.core.units import format_time, or_unknown


@dataclass(frozen=True)
class Comparison:
    """Measurements of variants of one operation, and the bandwidth that bounds them.

    Attributes
    ----------
    measurements : tuple of Measurement
        In the order in which they were given.
    t_peak_gb_s : float or None
        Peak bandwidth, which bounds T_eff, in GB/s; None if it was not measured.

    Examples
    --------
    >>> found = compare({"copy": np.copyto}, np.empty(8), np.ones(8), cost=Cost(64, 64), samples=2)
    >>> found["copy"].cost.bytes, found.rows()[0]["speed-up"]
    (128, '1.00×')
    """

    measurements: tuple[Measurement, ...]
    t_peak_gb_s: float | None = None

    def __post_init__(self):
        if not self.measurements:
            raise CourseError("A comparison needs at least one measurement: measure something first.")
        if self.t_peak_gb_s is not None and not self.t_peak_gb_s > 0:
            raise CourseError(f"t_peak_gb_s is {self.t_peak_gb_s!r}: it must be a positive number of GB/s.")

    def __getitem__(self, what: "str | Implementation | Variant") -> Measurement:
        """Return the measurement of a given implementation, or of a given name."""
        wanted = Implementation.of(what)
        for m in self.measurements:
            if m.what == wanted:
                return m
        known = ", ".join(m.label for m in self.measurements)
        raise CourseError(f"No variant {wanted.label!r} was measured; there are {known}.")

    def rows(self) -> list[dict]:
        """Return one dictionary per variant: times, throughputs, speed-up over the first, and share of the bound."""
        first = self.measurements[0]
        return [
            {
                "variant": m.label,
                "time": format_time(m.median_s),
                "spread": f"{m.spread:.1%}",
                "bytes / A_eff": or_unknown(m.cost and m.cost.redundancy, ".2f"),
                "moved GB/s": or_unknown(m.throughput_gb_s),
                "T_eff GB/s": or_unknown(m.t_eff_gb_s),
                "speed-up": f"{first.median_s / m.median_s:.2f}×",
                **({"of T_peak": or_unknown(self._share(m), ".0%")} if self.t_peak_gb_s else {}),
            }
            for m in self.measurements
        ]

    def _share(self, m: Measurement) -> float | None:
        return m.t_eff_gb_s and m.t_eff_gb_s / self.t_peak_gb_s

    def caption(self) -> str:
        """Return the origin of the numbers: one sentence on how and where they were measured."""
        first = self.measurements[0]
        states = ", ".join(sorted({CACHE_STATES[m.cache_state] for m in self.measurements}))
        where = " and ".join(dict.fromkeys(m.device.name for m in self.measurements))
        interpreted = any(m.device.kind == "simt" for m in self.measurements)
        note = " Times of the SIMT interpreter say nothing about a GPU." if interpreted else ""
        return f"Median of {len(first.samples_s)} samples on {where}; {states}.{note}"

    def __str__(self):
        return text_table(self.rows()) + "\n" + self.caption()

    def _repr_html_(self):
        return html_table(self.rows(), self.caption())


def compare(
    variants: dict[str | Implementation, Callable],
    *args,
    cost: Cost | dict | None,
    check: Callable[[], None] | dict | None = None,
    t_peak_gb_s: float | Machine | None = None,
    arguments: dict | None = None,
    samples: int = 20,
    **options,
) -> Comparison:
    """Measure variants in turn: one sample of each variant, then the next sample of each. Show a progress bar.

    Because samples are taken in turn, other programs disturb all variants equally.

    Parameters
    ----------
    variants : dict of str or Implementation to callable
        By name or by implementation; each is called as ``fn(*args)``.
    cost : Cost or dict of Cost
        One cost for all variants, or a dictionary of costs by name; None if the cost is not known.
    check : callable or dict of callable
        Called after the first call of each variant; it must raise an error if the result is wrong.
    t_peak_gb_s : float or Machine
        The bound, in GB/s.
    arguments : dict of tuple
        By name, the arguments of variants that are not called with ``args``. (A GPU variant takes device arrays.)
    samples : int
        Number of samples of each variant.
    **options
        For :class:`~course_pkg.bench.measure.Run`: parameters, warmup, min_sample_s, flush.

    Returns
    -------
    Comparison

    Raises
    ------
    CourseError
        If there are no variants, if ``arguments``, ``cost`` or ``check`` has an unknown name, or if a cost is missing.
    AssertionError
        If a ``check`` raises it.

    Examples
    --------
    >>> found = compare(
    ...     {"copy": np.copyto, "add": lambda out, a: np.add(a, 0, out=out)},
    ...     np.empty(8), np.ones(8), cost=Cost(64, 64), samples=3,
    ... )
    >>> [(m.label, len(m.samples_s)) for m in found.measurements]
    [('copy', 3), ('add', 3)]
    """
    if not variants or not isinstance(variants, dict):
        raise CourseError(
            "compare() needs at least one variant: pass a dict such as {'numpy': reference.triad}."
        )
    if samples < 1:
        raise CourseError(f"samples is {samples}: pass at least 1; with 20, the median is reliable.")
    for what, given in (("cost", cost), ("check", check), ("arguments", arguments)):
        strangers = set(given) - set(variants) if isinstance(given, dict) else set()
        if strangers:
            raise CourseError(
                f"{what} has {', '.join(sorted(map(str, strangers)))}, but no variant has this name: use a "
                "variant's name."
            )
    if isinstance(cost, dict) and set(variants) - set(cost):
        raise CourseError(
            f"cost has no entry for {', '.join(sorted(map(str, set(variants) - set(cost))))}: give each a "
            "Cost, or None."
        )
    runs = []
    with progress(len(variants) + 1) as step:
        for name, fn in variants.items():
            step(str(name))
            own = (arguments or {}).get(name, args)
            its_cost = cost[name] if isinstance(cost, dict) else cost
            its_check = check.get(name) if isinstance(check, dict) else check
            runs.append(Run(fn, own, cost=its_cost, check=its_check, name=name, **options))
        step("all in turn")
        for _ in range(samples):
            for run in runs:
                run.sample()
    peak = t_peak_gb_s.t_peak_gb_s if isinstance(t_peak_gb_s, Machine) else t_peak_gb_s
    return Comparison(tuple(run.finish() for run in runs), peak)


class progress:
    """Show progress over ``n`` steps: a bar in a terminal, a temporary line in a notebook, nothing in a pipe.

    Examples
    --------
    >>> with progress(2) as step:
    ...     step("copy")
    ...     step("triad")
    """

    def __init__(self, n: int):
        self.n, self.done, self.bar, self.handle = n, 0, None, None

    def __enter__(self):
        if _in_notebook():
            from IPython.display import HTML, display

            self.handle = display(HTML(""), display_id=True)
        elif sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=self.n, leave=False)
        return self.step

    def step(self, name: str):
        """Show ``name`` as the step that starts now."""
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(
                HTML(
                    f'<progress value="{self.done}" max="{self.n}"></progress> measuring {html.escape(str(name))} …'
                )
            )
        elif self.bar is not None:
            self.bar.n = self.done
            self.bar.set_description(str(name))
        self.done += 1

    def __exit__(self, *error):
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))
        elif self.bar is not None:
            self.bar.close()


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None
