"""Build the site: execute what has to be executed, gather the sources, run Sphinx, add the decks, look at the pages."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from course_pkg.core.errors import CourseError
from course_pkg.core.files import write
from course_pkg.site import records
from course_pkg.site.decks import cards, photograph
from course_pkg.site.exercises import exercises
from course_pkg.site.gallery import gallery
from course_pkg.site.links import require_links
from course_pkg.site.look import Looked, look, require_clean
from course_pkg.site.sources import API, PAGES, SERVED, gather
from course_pkg.slides import build as build_decks
from course_pkg.slides.browser import why_no_browser
from course_pkg.slides.execute import execute

DECKS = "slides"
NO_API = "# course_pkg\n\nThis site was built without the pages about the package.\n"


@dataclass(frozen=True)
class Site:
    """A site on disk. `looked` is None if no browser has looked at it."""

    index: Path
    pages: int
    looked: Looked | None


def build(root: Path, out: Path, work: Path, *, api: bool = True, check: bool = True) -> Site:
    """Build the site of a course.

    Parameters
    ----------
    root : Path
        The course.
    out : Path
        The folder of the site. Files of an earlier build stay, except those that this build replaces.
    work : Path
        Holds the executed lectures (``executed``), and what Sphinx reads and remembers (``site-source``).
    api : bool
        Also document the package, which takes a minute.
    check : bool
        Follow the links between pages, and look at the pages in a browser. Without a browser, this is an error on CI
        (``CI`` is set); elsewhere a notice is printed.

    Raises
    ------
    CourseError
        If a lecture cannot be executed, if Sphinx warns, if a link leads nowhere, or if a page requests something from
        another machine or writes an error to the console.
    """
    root, out, work = Path(root).resolve(), Path(out).resolve(), Path(work).resolve()
    lectures = sorted((root / "lectures").glob("[0-9]*.py"))
    if not lectures:
        raise CourseError(f"{root / 'lectures'} has no lecture: download the complete course again.")
    executed = [execute(path, work / "executed") for path in lectures]
    built = build_decks(lectures, out / DECKS, check=False, executed_dir=work / "executed")
    looks = check and _can_look()
    if looks:
        photograph(built)
    fragments = {
        "records.html": records.table(),
        "gallery.html": gallery(root),
        "slides.html": cards(built),
        "exercises.html": exercises(sorted(root.glob("exercises/*/*.ipynb")), executed),
    }
    source = gather(root, executed, fragments, work / "site-source")
    _sphinx(root / PAGES, source, out, work / "site-doctrees", api)
    if check:
        require_links(out)
    looked = None
    if looks:
        looked = look(out)
        require_clean(looked)
    return Site(out / "index.html", sum(1 for _ in out.rglob("*.html")), looked)


def _sphinx(pages: Path, source: Path, out: Path, doctrees: Path, api: bool) -> None:
    """Run Sphinx in a process of its own; treat a warning as an error, since it means that a page is wrong."""
    tags = [] if api else ["-t", "without_api"]
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", *tags]
    command += ["-c", str(pages), "-d", str(doctrees), str(source), str(out)]
    (source / SERVED).mkdir(exist_ok=True)
    instead = source / API / "course_pkg.md"  # left by an earlier build, like the folder with the API's pages
    instead.unlink(missing_ok=True)
    if not api:
        shutil.rmtree(source / API, ignore_errors=True)
        instead.parent.mkdir()
        write(instead, NO_API)
    done = subprocess.run(
        command, env=os.environ | {"COURSE_SITE_SOURCE": str(source)}, capture_output=True, text=True
    )
    if done.returncode:
        raise CourseError(f"Sphinx could not make the site; correct what it names:\n{done.stderr.strip()}")


def _can_look() -> bool:
    missing = why_no_browser()
    if missing is None:
        return True
    if os.environ.get("CI"):
        raise CourseError(f"The site cannot be looked at: {missing}.")
    print(f"Not looked at in a browser: {missing}.")
    return False
