"""The command line: ``course doctor | lab | sync | slides | …``.

Each subcommand has a module of its own, which is imported only when the subcommand is chosen, so that ``course --help``
answers at once. Such a module defines ``add_arguments(parser)`` and ``run(args) -> int``.
"""

import argparse
import importlib
import sys

from course_pkg import __version__
from course_pkg.core.errors import CourseError

# name: (module, help)
ROOMS = {
    "doctor": (
        "course_pkg.commands.doctor",
        "check this machine: packages, GPU, bandwidth, browser, sandbox",
    ),
    "lab": ("course_pkg.commands.lab", "open the lectures in JupyterLab"),
    "sync": (
        "course_pkg.commands.sync",
        "update lectures/*.ipynb from lectures/*.py, or the other way round",
    ),
    "slides": ("course_pkg.slides.command", "build the slide decks"),
    "exercises": ("course_pkg.grading.command", "generate exercises/ from solutions/"),
    "grade": ("course_pkg.grading.grade_command", "grade submissions: points and feedback for each"),
    "figures": (
        "course_pkg.commands.figures",
        "redraw the figures, and the README's tables, from recorded data",
    ),
    "bench": (
        "course_pkg.commands.bench",
        "measure the course's kernels on this machine, and record the results",
    ),
    "verify": (
        "course_pkg.commands.verify",
        "compare the interpreter with a GPU's own counters and race checker",
    ),
    "clean": ("course_pkg.commands.clean", "remove build products"),
}


def build_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; only the module of the chosen subcommand is imported, for its arguments."""
    parser = argparse.ArgumentParser(prog="course", description="At the Speed of Memory: the course's tools.")
    parser.add_argument("--version", action="version", version=f"course {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, help_text) in ROOMS.items():
        sub = subparsers.add_parser(
            name, help=help_text, description=help_text[0].upper() + help_text[1:] + "."
        )
        if name == chosen:
            room = importlib.import_module(module)
            room.add_arguments(sub)
            sub.set_defaults(run=room.run)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; return its exit status.

    A `CourseError` prints its sentence on stderr and gives status 1, wrong usage gives 2, Ctrl-C gives 130. Any other
    exception is a bug and shows its traceback. Arguments after ``--`` are kept in ``args.extra``, for the tool that the
    subcommand starts.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    cut = argv.index("--") if "--" in argv else len(argv)
    argv, extra = argv[:cut], argv[cut + 1 :]
    chosen = next((word for word in argv if word in ROOMS), None)
    try:
        args = build_parser(chosen).parse_args(argv)
        args.extra = extra
        return int(args.run(args) or 0)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    except MemoryError:
        print(
            "There is not enough memory: close other programs, or use smaller sizes (--quick).",
            file=sys.stderr,
        )
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("course_pkg"):
            raise
        print(
            f"{error.name} is not installed: `make test` installs everything that the course can use.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
