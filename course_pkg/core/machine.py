"""Machines: figures from their datasheets, and a measured bandwidth."""

import tomllib
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files

import numpy as np

from course_pkg.core.errors import CourseError


@dataclass(frozen=True)
class Machine:
    """A processor and its memory, described by the datasheet.

    For a CPU, ``sms`` is the number of cores and ``l2_kib`` the size of the last-level cache. ``year`` is the year in
    which it was first sold. ``registers_per_sm`` counts 32-bit registers. ``shared_kib_per_block_max`` is the limit for
    a block that asks for more than 48 KiB. ``sources`` maps the name of each figure to the document it comes from.

    Examples
    --------
    >>> h200 = machine("h200")
    >>> h200.name, h200.t_peak_gb_s, h200.measured(4305).t_peak_gb_s
    ('H200 SXM', 4800, 4305.0)
    >>> round(h200.balance())  # flops in the time in which it moves one double
    57
    """

    key: str
    name: str
    short: str  # the name, shortened as far as it still differs from the other names in the catalogue
    kind: str  # "gpu" or "cpu"
    year: int
    bandwidth_gb_s: float
    fp64_gflop_s: float
    fp32_gflop_s: float
    sms: int
    l2_kib: int
    shared_kib_per_sm: int
    memory_gb: float
    tensor_gflop_s: float | None = None
    tpcs: int | None = None
    fp32_cores_per_sm: int | None = None
    fp64_cores_per_sm: int | None = None
    tensor_cores_per_sm: int | None = None
    compute_capability: str | None = None
    warp_size: int | None = None
    max_warps_per_sm: int | None = None
    max_blocks_per_sm: int | None = None
    max_threads_per_block: int | None = None
    registers_per_sm: int | None = None
    shared_kib_per_block_max: int | None = None
    l1_line_bytes: int | None = None
    sector_bytes: int | None = None
    measured_bandwidth_gb_s: float | None = None
    device_names: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def t_peak_gb_s(self) -> float:
        """Peak bandwidth in GB/s: the measured one or, if none was measured, that of the datasheet."""
        return self.measured_bandwidth_gb_s or self.bandwidth_gb_s

    def peak_gflop_s(self, dtype="float64") -> float:
        """Return the peak arithmetic rate for ``float64`` or ``float32`` numbers, in GFLOP/s."""
        try:
            name = np.dtype(dtype).name
        except TypeError:
            name = repr(dtype)
        if name not in ("float64", "float32"):
            raise CourseError(
                f"The catalogue has peaks for float64 and float32, not for {name}: ask for one of these."
            )
        return self.fp64_gflop_s if name == "float64" else self.fp32_gflop_s

    def balance(self, dtype="float64") -> float:
        """Return the machine balance: the flops that it can do while it moves one number of ``dtype``.

        ``balance = peak flop rate / bandwidth * bytes per number``, with the figures of the datasheet.
        """
        return self.peak_gflop_s(dtype) / self.bandwidth_gb_s * np.dtype(dtype).itemsize

    def ridge(self, dtype="float64") -> float:
        """Return the intensity in flop/byte above which the flop rate is the limit instead of the memory."""
        return self.peak_gflop_s(dtype) / self.t_peak_gb_s

    def attainable_gflop_s(self, intensity, dtype="float64"):
        """Return the roofline: ``min(peak, intensity * T_peak)`` in GFLOP/s.

        Source: Williams, Waterman, Patterson, Roofline, CACM 52(4), 2009.

        Parameters
        ----------
        intensity : float or ndarray
            Arithmetic intensity in flop/byte.
        """
        return np.minimum(self.peak_gflop_s(dtype), np.asarray(intensity, dtype=float) * self.t_peak_gb_s)

    def measured(self, bandwidth_gb_s: float) -> "Machine":
        """Return this machine with a measured peak bandwidth in GB/s."""
        if not (np.isfinite(bandwidth_gb_s) and bandwidth_gb_s > 0):
            raise CourseError(f"The bandwidth is {bandwidth_gb_s!r}: it must be a positive number of GB/s.")
        return replace(self, measured_bandwidth_gb_s=float(bandwidth_gb_s))


FIGURES = tuple(
    f.name
    for f in fields(Machine)
    if f.name not in ("key", "name", "short", "kind", "device_names", "sources", "measured_bandwidth_gb_s")
)


@cache
def catalogue() -> dict[str, Machine]:
    """Return the catalogue of machines by key, ordered by year.

    Examples
    --------
    >>> "h200" in catalogue()
    True
    """
    table = tomllib.loads(files("course_pkg.core").joinpath("machines.toml").read_text(encoding="utf-8"))
    machines = []
    for row in table["machine"]:
        by_document = row.pop("sources")
        sources = {figure: document for document, figures in by_document.items() for figure in figures}
        machines.append(Machine(**{**row, "device_names": tuple(row["device_names"])}, sources=sources))
    return {m.key: m for m in sorted(machines, key=lambda m: (m.year, m.name))}


def machine(key: str) -> Machine:
    """Return the catalogue's machine with this key, for instance ``machine("h200")``.

    Examples
    --------
    >>> machine("h200").kind
    'gpu'
    """
    try:
        return catalogue()[key]
    except KeyError:
        raise CourseError(f"The catalogue has no machine {key!r}; it has {', '.join(catalogue())}.") from None


def find_machine(device_name: str) -> Machine | None:
    """Return the catalogue's machine for a device name as the driver or the system prints it, or None.

    Examples
    --------
    >>> find_machine("NVIDIA H200").key
    'h200'
    >>> find_machine("an unknown machine") is None
    True
    """
    asked = device_name.lower().removeprefix("nvidia ")
    for m in catalogue().values():
        names = [name.lower() for name in m.device_names]
        # the whole name of a GPU must match: an "H200 NVL" or a "GH200 480GB" is not an "H200"
        if asked in names or (m.kind == "cpu" and any(name in asked for name in names)):
            return m
    return None


def short_name(device_name: str) -> str:
    """Return the short form of a device's name, for places with little room, such as beside a slider.

    Examples
    --------
    >>> short_name("NVIDIA H100 80GB HBM3"), short_name("Intel(R) Xeon(R) Processor")
    ('H100', 'Intel Xeon')
    """
    if device_name.startswith("NVIDIA "):
        return device_name.split()[1]
    return device_name.replace("(R)", "").removesuffix(" Processor")
