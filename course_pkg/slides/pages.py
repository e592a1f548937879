"""Write the pages that stand beside the decks, from templates of the theme."""

from pathlib import Path

import jinja2

from course_pkg.slides.assets import THEME
from course_pkg.slides.convert import COURSE_NAME, LICENCE


def write_page(path: Path, template: str, **values) -> Path:
    """Fill a template with values, the course's name and its licence; write the page, and return its path."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(THEME), autoescape=True, undefined=jinja2.StrictUndefined
    )
    html = templates.get_template(template).render(course=COURSE_NAME, licence=LICENCE, **values)
    path.write_text(html, encoding="utf-8")
    return path
