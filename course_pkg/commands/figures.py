"""``course figures``: run every script in ``figures/`` and write its pictures to ``figures/output``."""

import runpy

from course_pkg.core import CourseError
from course_pkg.paths import figure, repo_root


def add_arguments(parser):
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a figure would change")


def run(args) -> int:
    stale = []
    scripts = sorted((repo_root() / "figures").glob("*.py"))
    for script in scripts:
        for name, picture in runpy.run_path(str(script))["pictures"]().items():
            path = figure(f"{name}.svg")
            if path.exists() and path.read_text(encoding="utf-8") == picture.svg:
                continue
            stale.append(path.name)
            if not args.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                picture.save(path)
                print(f"drew {path.relative_to(repo_root())}")
    if args.check and stale:
        raise CourseError(f"Not up to date: {', '.join(stale)}; run `course figures` and commit the result.")
    if not stale:
        print("All figures are up to date.")
    return 0
