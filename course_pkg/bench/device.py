"""The device on which a measurement ran, with the names that the system gives it."""

import platform
import re
import subprocess
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

from course_pkg.core import find_machine
from course_pkg.core.host import available_cores

_PACKAGES = ("numpy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x")


@dataclass(frozen=True)
class Device:
    """A device and its software.

    Attributes
    ----------
    kind : str
        ``"cpu"``, ``"gpu"`` or ``"simt"`` (kernels run in the SIMT interpreter, whose times say nothing about a GPU).
    name, driver, cuda : str
        As the system or the driver prints them; empty if they do not exist.
    units : int
        Number of cores of a CPU, or of streaming multiprocessors of a GPU.
    memory_bytes, llc_bytes : int
        Size of main memory and of the last-level cache; 0 if it is not known.
    versions : dict
        Versions of Python and of the packages that influence the times.

    Examples
    --------
    >>> Device("gpu", "NVIDIA H200", 132, 2**37, 2**26).slug
    'nvidia-h200'
    """

    kind: str
    name: str
    units: int
    memory_bytes: int
    llc_bytes: int
    driver: str = ""
    cuda: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        """The name of the device's folder in ``figures/data``."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower().replace("(r)", "").replace("(tm)", "")).strip("-")

    def to_dict(self) -> dict:
        """Return all fields, for JSON."""
        return asdict(self)


@cache
def cpu() -> Device:
    """Describe this machine's CPU; ``units`` is the number of cores that this process may use.

    Examples
    --------
    >>> cpu().kind, cpu().units >= 1
    ('cpu', True)
    """
    return Device(
        kind="cpu",
        name=_cpu_name(),
        units=available_cores(),
        memory_bytes=psutil.virtual_memory().total,
        llc_bytes=_cpu_llc_bytes(),
        versions=_versions(),
    )


@cache
def gpu() -> Device:
    """Describe the GPU that ``course_pkg.cuda`` uses, or the SIMT interpreter if there is none.

    Examples
    --------
    >>> gpu().kind in ("gpu", "simt")  # simt: the interpreter, where there is no GPU
    True
    """
    from course_pkg import cuda

    if getattr(cuda, "BACKEND", "gpu") == "simt":
        return Device("simt", f"SIMT interpreter on {_cpu_name()}", 0, 0, 0, versions=_versions())
    device = cuda.get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
    runtime = ".".join(map(str, cuda.runtime.get_version()))
    return Device(
        kind="gpu",
        name=name,
        units=device.MULTIPROCESSOR_COUNT,
        memory_bytes=int(cuda.current_context().get_memory_info()[1]),
        llc_bytes=int(device.L2_CACHE_SIZE),
        driver=_driver_version(),
        cuda=runtime,
        versions=_versions(),
    )


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        match = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.M)
        if match:
            return match[1].strip()
    if platform.system() == "Darwin":
        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        if asked.returncode == 0:
            return asked.stdout.strip()
    return platform.processor() or platform.machine() or "unknown CPU"


def _cpu_llc_bytes() -> int:
    sizes = []
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        text = (index / "size").read_text().strip()
        sizes.append(int(text[:-1]) * {"K": 1024, "M": 1024**2}[text[-1]])
    if sizes:
        return max(sizes)
    known = find_machine(_cpu_name())
    return known.l2_kib * 1024 if known else 0


def _driver_version() -> str:
    return next(iter(_nvidia_smi("driver_version")), "")


def gpu_clocks() -> dict[str, int]:
    """Return the clock rates of the multiprocessors and of the memory of this process's GPU, in MHz.

    They come from ``nvidia-smi``. A clock that it does not report is missing from the dictionary.
    """
    from course_pkg import cuda

    uuid = getattr(cuda.get_current_device(), "uuid", "")  # nvidia-smi may number GPUs in another way
    told = _nvidia_smi("clocks.sm,clocks.mem", *(("-i", str(uuid)) if uuid else ()))
    return {
        name: int(mhz)
        for name, mhz in zip(("sm_mhz", "memory_mhz"), told, strict=False)
        if mhz.isdigit()  # "[N/A]" where a clock cannot be read
    }


def _nvidia_smi(query: str, *options: str) -> list[str]:
    """Return the queried fields of the first GPU that ``nvidia-smi`` prints, or an empty list if it fails."""
    try:
        asked = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", *options],
            capture_output=True,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = asked.stdout.splitlines() if asked.returncode == 0 else []
    return [field.strip() for field in lines[0].split(",")] if lines else []


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
