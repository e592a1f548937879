"""The README's tables on the interpreter: its agreement with Nsight Compute, and its speed."""

from course_pkg import bench
from course_pkg.bench import folder
from course_pkg.core import short_name
from course_pkg.paths import recorded_dir
from course_pkg.viz import Picture
from course_pkg.witness import compare, record, suite
from course_pkg.witness.cases import all_cases

HOST = "intel-xeon-processor"  # the machine on which the interpreter was timed


def pictures() -> dict[str, Picture]:
    """Return no picture: this script has tables only."""
    return {}


def tables() -> dict[str, str]:
    """Return the README's tables as Markdown, keyed by name; a table whose record is missing is left out."""
    found = {"interpreter-speed": _speed()} if _timed().exists() else {}
    return {**found, **({"counters": _agreement()} if _counted() else {})}


def _counted() -> list[record.RecordedCounters]:
    """Return the recorded counters of every GPU."""
    return [
        record.recorded(device=device) for device in folder.devices(record.recorded_dir(), record.COUNTERS)
    ]


def _timed():
    return recorded_dir() / HOST / "simt.json"


def _speed() -> str:
    recorded = bench.recorded("simt", HOST)
    lines = ["| 7-point Laplacian, fp64, block 32 × 4 × 2 | limit | measured |", "|---|---:|---:|"]
    lines += [
        f"| {r['what']} | {r['demand']} | {r['measured']} |" for r in suite.demands(recorded.measurements)
    ]
    return "\n".join([*lines, "", recorded.origin])


def _agreement() -> str:
    """Return how many kernels and launches the interpreter counts exactly, on each GPU.

    One list of exceptions holds for all GPUs: a test compares every case with the record of each.
    """
    listed, records = compare.exceptions(), _counted()
    names = [short_name(one.device.name) for one in records]
    columns = [
        f"{name}: kernels | equal in every counter | launches | equal in every counter" for name in names
    ]
    lines = [f"| trip counts of loops | {' | '.join(columns)} |", "|---|" + "---:|" * 4 * len(records)]
    for data_dependent, words in ((False, "the same for all threads"), (True, "depend on the data")):
        cells = [words]
        for one in records:
            cases = [case for case in all_cases().values() if case.name in one.counters]
            s = compare.summary([case for case in cases if case.data_dependent == data_dependent], listed)
            cells += [f"{s.kernels}", _share(s.exact_kernels, s.kernels)]
            cells += [f"{s.launches}", _share(s.exact_launches, s.launches)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "Equal means equal to the last unit. The counters are requests, sectors, wavefronts, atomics, and, in both "
        "precisions, additions, multiplications and fused multiply-adds. "
        f"{bench.origins(one.origin for one in records)}",
    ]
    for one, name in zip(records, names, strict=True):
        if missing := sum(case not in one.counters for case in all_cases()):
            lines[-1] += f" Not recorded yet on an {name}: {missing} of {len(all_cases())} launches."
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})"
