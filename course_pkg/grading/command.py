"""``course exercises``: generate ``exercises/`` from ``solutions/``, never over a learner's work."""

from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.grading import release
from course_pkg.paths import repo_root


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if an exercise would change"
    )

    parser.add_argument(
        "--register",
        action="store_true",
        help="for teachers: also enter the assignments into nbgrader's gradebook, so that it can grade",
    )


def run(args) -> int:
    """Generate the exercises, or only check them; return the exit status."""
    stale, kept = [], []
    for source in release.sources():
        path, text = release.released(source), release.release_text(source)
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        name = path.relative_to(repo_root())
        if args.check:
            stale.append(str(name))
        elif path.exists() and not release.is_untouched(path):
            kept.append(str(name))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, text)
            print(f"{name} written.")
    if stale:
        raise CourseError(
            f"Not up to date: {', '.join(stale)}; run `course exercises` and commit the result."
        )
    if kept:
        raise CourseError(
            f"{', '.join(kept)} holds somebody's work and is left as it is: move it away, then run this again."
        )
    if args.register:
        for source in release.sources():
            release.register(source)
            print(
                f"{source.stem} is in nbgrader's gradebook: `nbgrader autograde {source.stem}` can grade it."
            )
    return 0
