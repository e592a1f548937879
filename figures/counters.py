"""The README's tables on the interpreter: its agreement with Nsight Compute, and its speed."""

from course_pkg import bench
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
    found = {"counters-h200": (record.path_of(), _agreement), "interpreter-speed": (_timed(), _speed)}
    return {name: make() for name, (path, make) in found.items() if path.exists()}


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
    recorded = record.recorded()
    listed = compare.exceptions()
    cases = [case for case in all_cases().values() if case.name in recorded.counters]
    others = len(all_cases()) - len(cases)
    lines = [
        "| trip counts of loops | kernels | equal in every counter | launches | equal in every counter |",
        "|---|---:|---:|---:|---:|",
    ]
    for data_dependent, words in ((False, "the same for all threads"), (True, "depend on the data")):
        s = compare.summary([case for case in cases if case.data_dependent == data_dependent], listed)
        lines.append(
            f"| {words} | {s.kernels} | {_share(s.exact_kernels, s.kernels)} "
            f"| {s.launches} | {_share(s.exact_launches, s.launches)} |"
        )
    lines += [
        "",
        "Equal means equal to the last unit. The counters are requests, sectors, wavefronts, atomics, and, in both "
        f"precisions, additions, multiplications and fused multiply-adds. {recorded.origin}",
    ]
    if others:
        lines[-1] += f" Not recorded yet: {others} of {len(all_cases())} launches."
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})"
