"""The command `course site`."""

import argparse
import shutil
from pathlib import Path

from course_pkg.paths import repo_root
from course_pkg.site.build import build
from course_pkg.site.shots import SHOTS, photograph
from course_pkg.slides import build as build_decks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``course site``."""
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the site (default: build/site)")
    parser.add_argument("--no-check", action="store_true", help="do not look at the pages in a browser")
    parser.add_argument(
        "--photograph", action="store_true", help="only take the README's photographs of slides again"
    )
    parser.add_argument("--no-api", action="store_true", help="leave out the pages about the package")


def run(args: argparse.Namespace) -> int:
    """Build the site, or take the photographs; print where they are, and return 0."""
    root = repo_root()
    if args.photograph:
        wanted = dict.fromkeys(shot.lecture for shot in SHOTS)
        decks = root / "build" / "slides"
        build_decks([root / "lectures" / f"{name}.py" for name in wanted], decks, check=False)
        for path in photograph(root, decks):
            print(path)
        return 0
    out = args.out or root / "build" / "site"
    if not args.out:
        shutil.rmtree(out, ignore_errors=True)  # remove what an earlier build has published
        shutil.rmtree(root / "build" / "site-doctrees", ignore_errors=True)
    site = build(root, out, root / "build", api=not args.no_api, check=not args.no_check)
    looked = site.looked
    if looked:
        print(
            f"{looked.pages} pages looked at: {len(looked.outbound)} requests left the machine, "
            f"{len(looked.console_errors)} errors in the console."
        )
    print(f"{site.pages} pages. Open {site.index} in a browser.")
    return 0
