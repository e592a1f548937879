"""``course grade FILE|DIR``: points and feedback for submissions, without nbgrader."""

import json
import os
import sys
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.grading.names import printable
from course_pkg.grading.result import Report


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument(
        "submission", metavar="FILE|DIR", type=Path, help="a notebook, an archive, or a folder of them"
    )
    parser.add_argument("--json", action="store_true", help="print reports as JSON")
    parser.add_argument(
        "--seed", type=int, help="number that determines the random inputs, to repeat a grading"
    )
    parser.add_argument("--require-sandbox", action="store_true", help="refuse to grade without isolation")
    parser.add_argument(
        "--solution", type=Path, help="the exercise's NN_topic.py, if ids and names do not identify it"
    )
    folder = parser.add_argument_group("folders")
    folder.add_argument("--jobs", type=int, help="submissions at a time (default: one for each core)")
    folder.add_argument(
        "--out", type=Path, metavar="DIR", help="keep results here, with grades.csv and grades.html"
    )
    folder.add_argument(
        "--executor", choices=["local", "dask"], default="local", help="where to grade a folder"
    )
    folder.add_argument(
        "--scheduler", metavar="ADDRESS", help="Dask's scheduler, such as tcp://10.0.0.1:8786"
    )


def run(args) -> int:
    """Grade; return the exit status: 1 if something could not be graded. It does not depend on the marks."""
    _check(args)
    if args.submission.is_dir():
        reports = _folder(args)
    else:
        from course_pkg.grading import alone

        reports = [
            alone.grade_file(
                args.submission,
                solution=args.solution,
                seed=args.seed,
                require_sandbox=args.require_sandbox,
            )
        ]
    if args.json:
        told = [report.to_dict() for report in reports]
        print(json.dumps(told if args.submission.is_dir() else told[0], indent=1))
    elif args.submission.is_dir():
        _print_table(reports)
    else:
        _print_report(reports[0])
    for note in sorted({note for report in reports for note in report.notes if not report.contained}):
        print(printable(note), file=sys.stderr)
    return 1 if any(report.ungraded for report in reports) else 0


def _check(args) -> None:
    if not os.path.lexists(args.submission):
        raise CourseError(
            f"{args.submission} does not exist: name a notebook, an archive or a folder of them."
        )
    if args.solution and not args.solution.is_file():
        raise CourseError(f"{args.solution} does not exist: name the exercise's NN_topic.py.")
    if args.out and not args.submission.is_dir():
        raise CourseError(
            f"--out keeps the results of a folder, and {args.submission} is one file: name its folder, or write what "
            "is printed into a file, as in --json > report.json."
        )
    if args.jobs is not None and args.jobs < 1:
        raise CourseError(f"--jobs {args.jobs} grades nothing: give at least 1.")
    if args.seed is not None and args.seed < 0:
        raise CourseError(f"--seed {args.seed} is negative: give 0 or more.")


def _folder(args) -> list[Report]:
    from course_pkg.grading import batch

    return batch.grade_folder(
        args.submission,
        jobs=args.jobs,
        out=args.out,
        seed=args.seed,
        executor=args.executor,
        scheduler=args.scheduler,
        require_sandbox=args.require_sandbox,
        solution=args.solution,
    )


def _print_report(report: Report) -> None:
    width = max((len(cell.grade_id) for cell in report.cells), default=0)
    for cell in report.cells:
        said = printable(cell.feedback)
        print(f"{cell.grade_id:{width}}  {cell.points:g}/{cell.max_points:g}  {said}".rstrip())
    points = "not graded" if report.ungraded else f"{report.points:g} of {report.max_points:g} points"
    print(f"{report.exercise or 'no exercise'}: {points}.")
    for note in report.notes if report.contained else []:
        print(printable(note))


def _print_table(reports: list[Report]) -> None:
    width = max(len(report.student) for report in reports)
    for report in reports:
        notes = f"  {printable(report.notes[0])}" if report.notes and report.contained else ""
        points = "–" if report.ungraded else f"{report.points:g}"
        print(
            f"{printable(report.student):{width}}  {report.exercise}  {points}/{report.max_points:g}{notes}"
        )
