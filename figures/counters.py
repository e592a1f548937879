"""The README's table of agreement between the interpreter and Nsight Compute."""

from course_pkg.core import CourseError
from course_pkg.viz import Picture
from course_pkg.witness import compare, record
from course_pkg.witness.cases import all_cases


def pictures() -> dict[str, Picture]:
    """Return no picture: this script has a table only."""
    return {}


def tables() -> dict[str, str]:
    """Return the README's table of exact kernels, as Markdown, by the name of its place; none without a record."""
    if not record.path_of().exists():
        return {}
    recorded = record.load(record.path_of())
    cases, listed = list(all_cases().values()), compare.exceptions()
    if missing := [case.name for case in cases if case.name not in recorded.counters]:
        raise CourseError(
            f"Not recorded: {', '.join(missing)}; run `course verify counters --record` on a GPU."
        )
    lines = [
        "| trip counts of loops | kernels | exact in every counter | launches | exact in every counter |",
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
        "Compared to the last unit: requests, sectors, wavefronts, atomics, and additions, multiplications and fused "
        f"pairs of both precisions. {recorded.origin}",
    ]
    return {"counters-h200": "\n".join(lines)}


def _share(part: int, whole: int) -> str:
    return f"{part} ({part / whole:.1%})"
