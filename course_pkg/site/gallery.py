"""The figures that scripts draw, each with the sentence that describes it and the lectures that show it."""

import html
import re
import runpy
from pathlib import Path

from course_pkg.viz import Picture
from course_pkg.viz.picture import FOLLOWS_THEME


def gallery(root: Path) -> str:
    """Return all figures as HTML; if several pictures are the steps of one slider, only the last one is shown.

    Parameters
    ----------
    root : Path
        The course. Its figures are those of the scripts in ``figures/``.
    """
    shown = "\n".join(
        _figure(name, picture, _lectures_with(root, name)) for name, picture in pictures(root).items()
    )
    return f'<div class="gallery">\n{shown}\n</div>{FOLLOWS_THEME}\n'


def pictures(root: Path) -> dict[str, Picture]:
    """Return the figures by name, in the order of the scripts."""
    found: dict[str, Picture] = {}
    for script in sorted((Path(root) / "figures").glob("*.py")):
        steps = {}
        for name, picture in runpy.run_path(str(script))["pictures"]().items():
            steps[re.sub(r"_\d+$", "", name)] = (name, picture)
        found |= dict(steps.values())
    return found


def _lectures_with(root: Path, name: str) -> list[Path]:
    stem = re.escape(re.sub(r"_\d+$", "", name))
    return [
        path
        for path in sorted((Path(root) / "lectures").glob("[0-9]*.py"))
        if re.search(rf"\b{stem}(_\{{|_\d+)?[^/\n]*\.svg", path.read_text(encoding="utf-8"))
    ]


def _figure(name: str, picture: Picture, lectures: list[Path]) -> str:
    where = ", ".join(
        f'<a href="lectures/{path.stem}.html">lecture {int(path.stem[:2])}</a>' for path in lectures
    )
    file, alt = f"figures/output/{name}.svg", html.escape(picture.alt, quote=True)
    said = html.escape(picture.alt) + (f" Shown in {where}." if where else "")
    return (
        f'<figure><a href="{file}"><img class="course-figure" loading="lazy" src="{file}" alt="{alt}"></a>'
        f"<figcaption>{said}</figcaption></figure>"
    )
