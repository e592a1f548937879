"""``course clean``: remove files that the tools made, and none that a learner wrote."""

import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path

from course_pkg.core.errors import CourseError
from course_pkg.paths import repo_root

# Lectures, backups (*.orig), Jupyter's checkpoints, exercises, grading/ and recorded measurements are the work of
# people, so they are not listed.
PRODUCTS = (
    "build",
    "dist",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".import_linter_cache",
    ".coverage",
)
ENVIRONMENT = (".venv", ".course")
OURS = ("course_pkg", "tests", "figures", "lectures", "solutions")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument("--all", action="store_true", help="also the environment: .venv and .course")


def products(root: Path, everything: bool = False) -> list[Path]:
    """Return the files and folders to remove."""
    names = PRODUCTS + (ENVIRONMENT if everything else ())
    found = [root / name for name in names if (root / name).exists()]
    for folder in OURS:
        found += sorted((root / folder).rglob("__pycache__"))
    return found


def run(args: Namespace) -> int:
    """Remove the build products and print their names; return the exit status."""
    root = repo_root()
    for path in products(root, args.all):
        try:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        except OSError as error:
            raise CourseError(
                f"{path.relative_to(root)} could not be removed ({error.strerror}): close the "
                "programs that use it and run this again."
            ) from error
        print(f"removed {path.relative_to(root)}")
    return 0
