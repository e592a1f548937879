"""Nsight Compute: run every case once under the profiler, and read the counters that it prints."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import read_text
from course_pkg.device.case import Case
from course_pkg.paths import repo_root

_BY_DIRECTION = (
    "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_{}.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_{}.sum",
    "smsp__inst_executed_op_shared_{}.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
    "smsp__sass_inst_executed_op_global_{}.sum",
    "smsp__sass_inst_executed_op_local_{}.sum",
    "smsp__sass_inst_executed_op_shared_{}.sum",
)
_FLOPS = [f"{precision}{kind}" for precision in "dfh" for kind in ("add", "mul", "fma")]

METRICS = (
    *(metric.format(direction) for metric in _BY_DIRECTION for direction in ("ld", "st")),
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
        for op in ("red", "atom")
        for what in ("requests", "sectors")
    ),
    *(f"smsp__inst_executed_op_shared_atom{kind}.sum" for kind in ("", "_dot_alu", "_dot_cas")),
    *(f"smsp__sass_thread_inst_executed_op_{flop}_pred_on.sum" for flop in _FLOPS),
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "idc__requests.sum",
    "dram__bytes_read.sum",
    "lts__t_sectors_op_read.sum",
)
# bytes between the GPU and its memory, and how busy the memory, the caches and the schedulers are
TRAFFIC = (
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "sm__cycles_elapsed.max",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
    "lts__d_sectors.avg.pct_of_peak_sustained_elapsed",
    "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
)

Counters = dict[str, float]
_FOLDERS = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")
_NO_PERMISSION = (
    "The driver lets only administrators read this GPU's counters (ERR_NVGPUCTRPERM): run this as root, or have "
    "the driver loaded with NVreg_RestrictProfilingToAdminUsers=0; see https://developer.nvidia.com/ERR_NVGPUCTRPERM."
)
_TIMEOUT_S = 3600


@dataclass(frozen=True)
class Launch:
    """One launch as Nsight Compute saw it.

    Attributes
    ----------
    kernel : str
        The kernel's name with its types, as the profiler prints it.
    grid, block : tuple of 3 int
    counters : dict
        Value by metric; a metric that the device does not offer is absent.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    counters: Counters


@dataclass(frozen=True)
class Collected:
    """What one run of Nsight Compute gave.

    Attributes
    ----------
    counters : dict
        Counters by the case's name.
    absent : tuple of str
        Metrics that were asked for and that this device or this version of the tool does not offer.
    version : str
        Of Nsight Compute.
    """

    counters: dict[str, Counters]
    absent: tuple[str, ...]
    version: str


def find() -> str:
    """Return the path of ``ncu``.

    Raises
    ------
    CourseError
        If it is not installed.
    """
    found = shutil.which("ncu")
    if found is None:
        installed = (p for folder in _FOLDERS for p in Path(folder).glob("**/ncu") if os.access(p, os.X_OK))
        found = next((str(p) for p in sorted(installed, reverse=True) if p.is_file()), None)
    if found is None:
        raise CourseError(
            "Nsight Compute (ncu) is not on the path: install it from https://developer.nvidia.com/nsight-compute "
            "and put its folder on PATH."
        )
    return found


def collect(cases: Sequence[Case], wanted: Sequence[str] = METRICS) -> Collected:
    """Launch every case once under Nsight Compute, in one process, and read the metrics that are wanted.

    Raises
    ------
    CourseError
        If the tool is missing or may not read the counters, a case fails, or the launches are not the cases'.
    """
    ncu, metrics = find(), list(wanted)
    while True:
        log, status = _profile(ncu, metrics, [case.name for case in cases])
        if "ERR_NVGPUCTRPERM" in log:
            raise CourseError(_NO_PERMISSION)
        refused = refused_metrics(log, metrics)
        if not refused or len(refused) == len(metrics):
            break
        metrics = [metric for metric in metrics if metric not in refused]
    if status != 0:
        raise CourseError(
            f"Nsight Compute stopped with status {status} ({_last_words(log)}): fix the cause, then run it again."
        )
    counters = assign(parse(log), cases)
    counted = {metric for values in counters.values() for metric in values}
    return Collected(counters, tuple(m for m in wanted if m not in counted), _version(ncu))


def launch_environment() -> dict[str, str]:
    """Return the environment of ``course_pkg.witness.launch``: it uses the GPU, this package, and the C locale."""
    path = os.pathsep.join(filter(None, (str(repo_root()), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "COURSE_BACKEND": "gpu", "LC_ALL": "C", "PYTHONPATH": path}


def parse(text: str) -> list[Launch]:
    """Read ``ncu --csv --page raw``: a row of names, a row of units, and a row for each launch.

    Lines before the table (the profiler's, the program's) are passed over. Values in other units than the base ones
    are refused, as their digits are rounded.

    Raises
    ------
    CourseError
        If there is no table, or a value cannot be read.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        raise CourseError(
            f"Nsight Compute printed no table ({_last_words(text)}): run it again with --case NAME."
        )
    rows = [row for row in csv.reader(lines[start:]) if row and not row[0].startswith("==")]
    names, units, *launches = rows
    launches = [dict(zip(names, row, strict=True)) for row in launches if len(row) == len(names)]
    units = dict(zip(names, units, strict=True))
    # the tool adds attributes of its own, some of them words
    metrics = [name for name in names if name in METRICS + TRAFFIC]
    return [
        Launch(
            row["Kernel Name"],
            _sizes(row["Grid Size"]),
            _sizes(row["Block Size"]),
            {m: _number(row[m], units[m], m) for m in metrics if row[m] not in ("", "n/a")},
        )
        for row in launches
    ]


def assign(launches: Sequence[Launch], cases: Sequence[Case]) -> dict[str, Counters]:
    """Assign to each case the counters of its launch, which has the same position, kernel, grid and block.

    Raises
    ------
    CourseError
        If there are too few or too many launches, or if a launch is not the one expected at its position.
    """
    for launch, case in zip(launches, cases, strict=False):
        found = (launch.grid, launch.block)
        if not is_kernel(launch.kernel, case.function) or found != (case.grid, case.block):
            raise CourseError(
                f"Nsight Compute saw {launch.kernel[:80]!r} with grid {launch.grid} and block {launch.block} where "
                f"case {case.name!r} launches {case.function} with {case.grid} and {case.block}: make launch.py launch "
                "each case once, in order."
            )
    if len(launches) != len(cases):
        raise CourseError(
            f"Nsight Compute saw {len(launches)} launches of {len(cases)} cases: make every case launch one kernel, "
            "once."
        )
    return {case.name: launch.counters for launch, case in zip(launches, cases, strict=True)}


def is_kernel(printed: str, function: str) -> bool:
    """Tell whether a profiler's name, mangled or not, is that of a Python function compiled by Numba."""
    if f"{len(function)}{function}" in printed:
        return True
    return re.search(rf"(?:^|::|\s){re.escape(function)}(?:\[|\(|<|$)", printed) is not None


def refused_metrics(log: str, metrics: Sequence[str]) -> set[str]:
    """Return the metrics that an error of Nsight Compute names."""
    errors = [
        line.replace("\\", "")
        for line in log.splitlines()
        if line.startswith("==ERROR==") and "metric" in line
    ]
    bases = {metric: metric.rsplit(".", 1)[0] for metric in metrics}
    return {
        m for m, base in bases.items() if any(re.search(rf"(?<!\w){base}(?!\w)", line) for line in errors)
    }


def _profile(ncu, metrics, names) -> tuple[str, int]:
    """Run the tool; return all that it and the program printed, and its status."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        command = [ncu, "--clock-control", "none", "--target-processes", "all", "--csv", "--page", "raw"]
        command += ["--print-units", "base", "--log-file", str(log), "--metrics", ",".join(metrics)]
        command += [sys.executable, "-m", "course_pkg.witness.launch", *names]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=launch_environment(), timeout=_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            raise CourseError(
                f"Nsight Compute did not end within {_TIMEOUT_S} s: see whether one case hangs, with --case NAME."
            ) from None
        printed = read_text(log) if log.exists() else ""
    return "\n".join((done.stdout, done.stderr, printed)), done.returncode


def _version(ncu) -> str:
    done = subprocess.run([ncu, "--version"], capture_output=True, text=True, timeout=60)
    found = re.search(r"Version (\S+)", done.stdout)
    return found[1] if found else ""


def _last_words(log: str) -> str:
    errors = [line for line in log.splitlines() if line.startswith("==ERROR==")]
    lines = errors or [line for line in log.splitlines() if line.strip() and not line.startswith('"')]
    return lines[-1].removeprefix("==ERROR==").strip() if lines else "it said nothing"


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def _number(text: str, unit: str, metric: str) -> float:
    """Return a value in base units; a whole number as int."""
    if re.match(r"[KMGT](byte|sector|inst|request)", unit):
        raise CourseError(f"Nsight Compute gave {metric} in {unit}: pass --print-units base.")
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        raise CourseError(f"Nsight Compute gave {text!r} for {metric}: set LC_ALL=C and run again.") from None
    return int(value) if value.is_integer() else value
