"""The command line: ``course doctor | lab | sync | slides | …``.

Each subcommand has a module of its own, which is imported only when the subcommand is chosen, so that ``course --help``
answers at once. Such a module defines ``add_arguments(parser)`` and ``run(args) -> int``.
"""

import argparse
import difflib
import importlib
import os
import re
import sys
from typing import NoReturn

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
    "site": ("course_pkg.site.command", "build the whole course as one static site, which needs no network"),
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
    "check": (
        "course_pkg.commands.check",
        "find hazards and wasted traffic in the kernels of any file or notebook, without a GPU",
    ),
    "clean": ("course_pkg.commands.clean", "remove build products"),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence: what is wrong, what to write instead, and where to read more."""

    def error(self, message: str) -> NoReturn:
        """Say in one line on stderr what is wrong, and end with status 2."""
        said, prog = self._instead(message), self.prog
        unknown = re.fullmatch(r"unrecognized arguments: (\S+).*", message)
        if unknown:  # reported by the main parser, which does not know the options of the subcommands
            chosen = self._chosen()
            prog, said = chosen.prog, _unknown(unknown[1], chosen)
        print(f"{prog}: {said.rstrip('.')} (usage: `{prog} --help`).", file=sys.stderr)
        self.exit(2)

    def _instead(self, message: str) -> str:
        choice = re.fullmatch(r"argument .*: invalid choice: '(.*)' \(choose from (.*)\)", message)
        if choice:
            wrong, there = choice[1], choice[2].replace("'", "")
            return f"there is no {wrong!r}{_hint(wrong, there.split(', '))}; choose from {there}"
        missing = re.fullmatch(r"the following arguments are required: ([^,]*).*", message)
        if missing:
            named = (a for a in self._actions if missing[1] in (a.metavar, a.dest) and a.choices)
            choices = next((f"choose from {', '.join(a.choices)}" for a in named), None)
            return f"{missing[1]} is missing; {choices or f'write `{self.prog} {missing[1]}`'}"
        return message

    def _chosen(self) -> "Parser":
        """Return the parser of the chosen subcommand, whose module was imported, or else this parser."""
        groups = [a for a in self._actions if isinstance(a, argparse._SubParsersAction)]
        return next((p for g in groups for p in g.choices.values() if p.get_default("run")), self)


def _unknown(argument: str, parser: Parser) -> str:
    """Return the message for an argument that a parser does not know."""
    if not argument.startswith("-"):
        return f"there is one argument too many, {argument!r}; leave it out"
    options = sorted(parser._option_string_actions)
    there = ", ".join(option for option in options if option.startswith("--"))
    return f"there is no {argument}{_hint(argument.split('=')[0], options)}; the options are {there}"


def _hint(wrong: str, there: list[str]) -> str:
    near = difflib.get_close_matches(wrong, there, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def build_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser; only the module of the chosen subcommand is imported, for its arguments."""
    parser = Parser(prog="course", description="At the Speed of Memory: the course's tools.")
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

    A `CourseError` prints its message on stderr and gives status 1. Wrong usage gives 2, and Ctrl-C gives 130. If the
    program that reads the output ends early, as ``head`` does, the status is 141. Any other exception is a bug and
    shows its traceback. Arguments after ``--`` are kept in ``args.extra``, for the tool that the subcommand starts.
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
    except BrokenPipeError:
        # the program that read the output has ended, as in `course bench … | head`, so the rest is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
