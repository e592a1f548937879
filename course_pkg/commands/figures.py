"""``course figures``: run every script in ``figures/``, write its pictures, and put its tables into the README.

Each script defines ``pictures() -> dict[str, Picture]``. It may also define ``tables() -> dict[str, str]``: the table
called NAME, in Markdown, replaces the lines between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` in README.md. And
it may define ``pages() -> dict[str, str]``: whole files, such as ``docs/finds.md``, by their path in the repository.
"""

import re
import runpy

from course_pkg.core import CourseError
from course_pkg.core.files import read_text, write
from course_pkg.paths import figure, repo_root


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument("--check", action="store_true", help="write nothing; fail if something would change")


def run(args) -> int:
    """Write what has changed, or only check; return the exit status."""
    readme = repo_root() / "README.md"
    old_text = text = read_text(readme)
    wanted = {}
    for script in sorted((repo_root() / "figures").glob("*.py")):
        offered = runpy.run_path(str(script))
        for name, picture in offered["pictures"]().items():
            wanted[figure(f"{name}.svg")] = picture.svg
        for name, page in offered.get("pages", dict)().items():
            wanted[repo_root() / name] = page
        for name, table in offered.get("tables", dict)().items():
            text = put_table(text, name, table)
    if text != old_text:
        wanted[readme] = text
    stale = [path for path, content in wanted.items() if not path.exists() or read_text(path) != content]
    names = [str(path.relative_to(repo_root())) for path in stale]
    if args.check and stale:
        raise CourseError(f"Not up to date: {', '.join(names)}; run `course figures` and commit the result.")
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, wanted[path])
    print(f"Written: {', '.join(names)}." if stale else "All figures and tables are up to date.")
    return 0


def put_table(text: str, name: str, table: str) -> str:
    """Return the text with the table between the two marks of ``name`` replaced.

    Raises
    ------
    CourseError
        If the text has no such marks.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(f"({re.escape(begin)}\\n).*?({re.escape(end)})", re.DOTALL)
    if not pattern.search(text):
        raise CourseError(
            f"README.md has no place for the table {name!r}: put {begin} and {end} on two lines of it."
        )
    return pattern.sub(lambda m: f"{m[1]}{table}\n{m[2]}", text)
