"""Photographs of slides for the README, and hashes of their sources, so that a test can find outdated ones."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from course_pkg.core.errors import CourseError
from course_pkg.core.files import write
from course_pkg.slides import lecture
from course_pkg.slides.browser import chromium
from course_pkg.slides.check import open_deck
from course_pkg.slides.convert import HEIGHT, WIDTH

FOLDER, MADE_FROM = Path("docs") / "pictures", "made_from.json"
THEMES = ("light", "dark")


@dataclass(frozen=True)
class Shot:
    """A slide: its lecture, its heading, and the records that it shows, below ``figures/data``."""

    name: str
    lecture: str
    heading: str
    records: tuple[str, ...]


SHOTS = (
    Shot(
        "heat-step",
        "02_memory_bound",
        "The heat step, timed",
        ("nvidia-*/stencil.json", "nvidia-*/vector.json"),
    ),
)


def digest(root: Path, shot: Shot) -> str:
    """Return a hash of what a photograph shows: the cells of its slide, and its records.

    Raises
    ------
    CourseError
        If the lecture has no slide with this heading.
    """
    cells = lecture.read(Path(root) / "lectures" / f"{shot.lecture}.py").cells
    begins = [
        i for i, cell in enumerate(cells) if cell.metadata.get("slideshow", {}).get("slide_type") == "slide"
    ]
    first = next((i for i in begins if cells[i].source.startswith(f"## {shot.heading}\n")
                  or cells[i].source == f"## {shot.heading}"), None)  # fmt: skip
    if first is None:
        raise CourseError(f"{shot.lecture} has no slide “{shot.heading}”: correct SHOTS in site/shots.py.")
    end = next((i for i in begins if i > first), len(cells))
    total = hashlib.sha256("\0".join(cell.source for cell in cells[first:end]).encode())
    for pattern in shot.records:
        for path in sorted((Path(root) / "figures" / "data").glob(pattern)):
            total.update(path.read_bytes())
    return total.hexdigest()


def stale(root: Path) -> list[str]:
    """Return the names of the photographs that are missing, or whose sources have changed since."""
    folder = Path(root) / FOLDER
    record = folder / MADE_FROM
    known = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    return [
        shot.name
        for shot in SHOTS
        if known.get(shot.name) != digest(root, shot)
        or not all((folder / f"{shot.name}-{theme}.png").is_file() for theme in THEMES)
    ]


def photograph(root: Path, decks: Path) -> list[Path]:
    """Photograph the slides, light and dark, from built decks; store hashes of their sources.

    Parameters
    ----------
    root : Path
        The course.
    decks : Path
        The folder of its decks.

    Raises
    ------
    SlidesError
        If there is no browser.
    """
    folder, made = Path(root) / FOLDER, []
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for shot in SHOTS:
            for theme in THEMES:
                context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme)
                page = open_deck(context, Path(decks) / f"{shot.lecture}.html")
                page.evaluate(
                    """(heading) => Reveal.slide(Reveal.getSlides().findIndex(
                      (slide) => slide.querySelector('h2')?.textContent.trim() === heading), 0, 999)""",
                    shot.heading,
                )
                page.wait_for_timeout(500)
                made.append(folder / f"{shot.name}-{theme}.png")
                page.screenshot(path=str(made[-1]))
                context.close()
    known = {shot.name: digest(root, shot) for shot in SHOTS}
    write(folder / MADE_FROM, json.dumps(known, indent=1) + "\n")
    return made
