"""Write the HTML of one deck from an executed lecture."""

import base64
import mimetypes
import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from course_pkg.slides import lecture
from course_pkg.slides.errors import SlidesError
from course_pkg.slides.layout import lay_out

COURSE_NAME = "At the Speed of Memory"
LICENCE = "CC BY 4.0"
WIDTH, HEIGHT = 1280, 720  # px, the size that a slide is designed for; reveal.js scales it to the screen
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Deck:
    """A deck's HTML and what the table of contents says about it."""

    html: str
    title: str
    promise: str
    slides: int


def convert(executed: Path, *, lecture_dir: Path | None = None) -> Deck:
    """Return the deck of an executed notebook.

    Parameters
    ----------
    executed : Path
        The notebook that `execute` wrote.
    lecture_dir : Path, optional
        The folder to which addresses of images in the text are relative; the images are embedded.
    """
    import nbformat
    from nbconvert.exporters import HTMLExporter

    nb = nbformat.read(executed, as_version=4)
    title, promise = lecture.title_of(nb, executed.stem), lecture.promise_of(nb)
    number = re.match(r"\d+", executed.stem)
    eyebrow = f"{COURSE_NAME} · Lecture {int(number[0])}" if number else COURSE_NAME
    try:
        slides = lay_out(nb, eyebrow, f'<div class="title-art">{motif()}</div>')
    except SlidesError as error:
        raise SlidesError(f"{executed.stem}: {error}") from error
    exporter = HTMLExporter(
        template_name="template",
        extra_template_basedirs=[str(_HERE)],
        exclude_anchor_links=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    deck = {
        "assets": "assets", "course": COURSE_NAME, "licence": LICENCE, "title": title, "promise": promise,
        "width": WIDTH, "height": HEIGHT,
    }  # fmt: skip
    metadata = {"name": executed.stem, "path": str(lecture_dir or executed.parent)}
    html, _ = exporter.from_notebook_node(nb, {"deck": deck, "metadata": metadata})
    # nbconvert gives pictures without a description this one; it is removed so that the check reports these pictures.
    html = html.replace(' alt="No description has been provided for this image"', "")
    return Deck(_embed_images(html, Path(metadata["path"])), title, promise, slides)


def _embed_images(html: str, folder: Path) -> str:
    """Embed in the page those pictures that a lecture names by a relative path.

    nbconvert's own `embed_images` closes every inline tag at once: ``<span>a</span>`` becomes
    ``<span></span>a``.
    """

    def embed(match: re.Match) -> str:
        path = folder / unquote(unescape(match[2]))
        kind = mimetypes.guess_type(path.name)[0]
        if not (kind and path.is_file()):
            return match[0]  # the check will report that the picture cannot be shown
        return f"{match[1]}data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}{match[3]}"

    return re.sub(r'(<img\b[^>]*?\ssrc=")([^":]+)(")', embed, html)


def motif() -> str:
    """Return the course's emblem, inline SVG: a warp's 32 lanes read every second word of 8 sectors."""
    return (_HERE / "theme" / "motif.svg").read_text(encoding="utf-8")
