"""The command `course slides`."""

import argparse
from pathlib import Path

from course_pkg.paths import repo_root
from course_pkg.slides.build import build
from course_pkg.slides.errors import SlidesError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``course slides``."""
    parser.add_argument(
        "lectures", nargs="*", metavar="LECTURE", help="start of a lecture's name, such as 02 (default: all)"
    )
    parser.add_argument("--pdf", action="store_true", help="also print each deck to PDF")
    parser.add_argument("--no-check", action="store_true", help="do not check the slides in a browser")
    parser.add_argument(
        "--shots", type=Path, metavar="DIR", help="write pictures of all slides into this folder"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the decks (default: build/slides)")


def run(args: argparse.Namespace) -> int:
    """Build the chosen decks, print where they are, and return 0.

    Raises
    ------
    CourseError
        If something is wrong; the message says how to fix it.
    """
    root = repo_root()
    sources = choose(sorted((root / "lectures").glob("*.py")), args.lectures)
    if args.shots and args.no_check:
        raise SlidesError("--shots needs the browser, which --no-check forbids: omit one of the two options.")
    out = args.out or root / "build" / "slides"
    decks = build(
        sources,
        out,
        pdf=args.pdf,
        check=not args.no_check,
        shots=args.shots,
        executed_dir=root / "build" / "executed",
    )
    for deck in decks:
        checked = "" if deck.report is None else ", checked"
        print(f"{deck.html}  {deck.slides} slides{checked}{', PDF' if deck.pdf else ''}")
    print(f"Open {out / 'index.html'} in a browser.")
    return 0


def choose(sources: list[Path], prefixes: list[str]) -> list[Path]:
    """Return the lectures whose name begins with one of `prefixes`, or all.

    Raises
    ------
    SlidesError
        If there is no lecture, or if no lecture's name begins with a prefix.
    """
    if not sources:
        raise SlidesError(
            "lectures/ contains no lecture (*.py): download the complete course again, or write one."
        )
    for prefix in prefixes:
        if not any(source.stem.startswith(prefix) for source in sources):
            names = ", ".join(source.stem for source in sources)
            raise SlidesError(f"No lecture begins with {prefix!r}: there are {names}.")
    return [s for s in sources if not prefixes or any(s.stem.startswith(prefix) for prefix in prefixes)]
