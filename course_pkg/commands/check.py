"""``course check FILE``: hazards and traffic of the kernels of any file, on a machine without a GPU."""

import sys
from pathlib import Path

from course_pkg.core.errors import CourseError
from course_pkg.core.files import write


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a .py file or a notebook; its code is run")
    parser.add_argument(
        "--inputs",
        metavar="FILE[:FUNCTION]",
        help="launch the kernels by this function, launches(module), and not by what the file does itself",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=N",
        action="append",
        default=[],
        dest="values",
        help="another whole number for a name at the file's left margin, such as a size",
    )
    parser.add_argument("--kernel", metavar="NAME", help="only this kernel")
    parser.add_argument(
        "--gpu", default="h200", help="whose occupancy is shown: h200 (the default), h100, a100 …"
    )
    parser.add_argument("--json", action="store_true", help="print JSON: every hazard, launch and count")
    parser.add_argument(
        "--html",
        metavar="PAGE",
        type=Path,
        help="write a page: annotated source, pictures of the worst lines",
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time for the file's own run (default 20)"
    )
    parser.add_argument(
        "--steps", type=int, default=20_000, help="most statements of a launch before it is taken to hang"
    )


def run(args) -> int:
    """Print what was found; return 0 if all is clean, 1 if a kernel has a hazard, 2 if something could not run."""
    from course_pkg.check import Report, check_file
    from course_pkg.check.found import HAZARDS
    from course_pkg.check.show import as_html, as_json, as_text
    from course_pkg.core import machine

    try:
        gpu, values = machine(args.gpu), dict(map(_value, args.values))
        if gpu.kind != "gpu":
            raise CourseError(f"{args.gpu} is not a GPU: name one, such as --gpu h200.")
        if args.seconds <= 0 or args.steps <= 0:
            raise CourseError("--seconds and --steps are positive numbers.")
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    reports = []
    for file in args.files:
        options = {"inputs": args.inputs, "only": args.kernel, "seconds": args.seconds, "steps": args.steps}
        try:
            reports.append(check_file(file, values=values, **options))
        except CourseError as error:
            reports.append(Report(file, error=str(error)))
        if not args.json:
            report = reports[-1]
            told = as_text(report, gpu) if report.kernels else report.error
            print(told, file=sys.stdout if report.kernels else sys.stderr, flush=True)
    if args.json:
        print(as_json(reports, gpu))
    if args.html:
        write(args.html, as_html(reports, gpu))
    found = [report.status for report in reports]
    return HAZARDS if HAZARDS in found else max(found)


def _value(given: str) -> tuple[str, int]:
    name, _, number = given.partition("=")
    try:
        if not name.isidentifier():
            raise ValueError
        return name, int(number.replace("_", ""), 0)
    except ValueError:
        raise CourseError(f"--set {given} is not NAME=N: write, for example, --set n=1000.") from None
