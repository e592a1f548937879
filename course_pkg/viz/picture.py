"""A figure with its alternative text, which every function of this package returns."""

import base64
import html
import io
import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.viz.style import DEJAVU, MONO, RC, SANS

_FAMILY = re.compile(rf"font-family: '{DEJAVU}( Mono)?'[^;\"]*")
# The selectors of a dark page: in JupyterLab; in Colab; in VS Code, two; in Sphinx and on this course's site.
DARK_PAGES = (
    "[data-jp-theme-light=false]",
    "html[theme=dark]",
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    "[data-theme=dark]",
)
_FIGURES = ":is(.course-figure,.course-here,.course-threads):not(.reveal *)"  # a deck has its own rules
# This inverts lightness and keeps the hue; the blend mode `screen` turns the white ground into the page's ground.
_TURNED = "{filter:invert(1) hue-rotate(180deg);mix-blend-mode:screen}"
FOLLOWS_THEME = (
    f"<style>:is({','.join(DARK_PAGES)}) {_FIGURES}{_TURNED}"
    f"@media (prefers-color-scheme:dark){{[data-theme=auto] {_FIGURES}{_TURNED}}}</style>"
)
_STEP = re.compile(r'<g id="step-(\d+)[^"]*"')
LEGIBLE = 11.0  # px: where a column has no room for letters of this size, a picture scrolls
_LETTERS = re.compile(r'font(?:-size)?(?:="|:[^;"]*?)([\d.]+)(?:px|")')
_SHEET = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ')
PX_PER_UNIT = 4 / 3  # the largest scale of a picture: a unit of its SVG is a point


class Picture:
    """An SVG figure with alternative text, shown by a notebook and by a slide alike.

    Parameters
    ----------
    svg : str
    alt : str
        What the figure shows, in a sentence, with the numbers that matter.

    Examples
    --------
    >>> Picture("<svg></svg>", alt="An empty sheet.")
    <Picture: An empty sheet.>
    """

    def __init__(self, svg: str, alt: str):
        if not alt.strip():
            raise CourseError("A picture needs alternative text: say in a sentence what it shows.")
        self.svg, self.alt = svg, " ".join(alt.split())
        self.panel = None  # (plot, size in inches) if it can be redrawn as a panel beside others
        self.joined = (
            None  # (draw, data) if draw() makes one picture from the data of several pictures, by name
        )

    def save(self, path) -> Path:
        """Write the SVG to a file, completely or not at all, and return the file's path."""
        path = Path(path)
        write(path, self.svg)
        return path

    @classmethod
    def load(cls, path, alt: str) -> "Picture":
        """Read an SVG file that a script in ``figures/`` drew."""
        path = Path(path)
        if not path.is_file():
            raise CourseError(f"{path} is not there: draw it with `course figures`.")
        return cls(path.read_text(encoding="utf-8"), alt)

    def __repr__(self):
        return f"<{type(self).__name__}: {self.alt}>"

    def _repr_html_(self):
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(self.alt, quote=True)
        # a dark page may lack the style that inverts a figure's dark lines, as on GitHub: so the ground is white
        # the style sheet that keeps a notebook's pictures within their column does not apply to a slider's picture
        ground = f'style="background:#fff;max-width:100%;height:auto;--least:{least_width(self.svg):.0f}px"'
        return f'<img class="course-figure" {ground} src="data:image/svg+xml;base64,{data}" alt="{alt}">{FOLLOWS_THEME}'


class Steps(Picture):
    """A picture that a slide builds up, key by key; a notebook shows all of it.

    Its SVG is part of the page itself, where reveal.js shows the groups of class ``fragment`` one after the other.
    """

    def _repr_html_(self):
        alt = html.escape(self.alt, quote=True)
        svg = self.svg[self.svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
        style = f"background:#fff;--least:{least_width(self.svg):.0f}px"
        return f'<div class="course-figure course-steps" style="{style}">{svg}</div>{FOLLOWS_THEME}'


def least_width(svg: str) -> float:
    """Return the width in px at which the smallest letters of a figure can be read; at most its own width.

    ``notebook.css`` of the course's JupyterLab uses it: in a narrower column, a figure scrolls.

    Examples
    --------
    >>> least_width('<svg viewBox="0 0 800 300"><text font-size="16">a</text><text style="font: 20px x">b</text></svg>')
    550.0
    """
    sheet, letters = _SHEET.search(svg), [float(size) for size in _LETTERS.findall(svg)]
    if not sheet or not letters:
        return 0.0
    return float(sheet[1]) * min(PX_PER_UNIT, LEGIBLE / min(letters))


class _Figure(Figure):
    """A figure that is drawn only once: Matplotlib would draw it a first time merely to lay out its axes."""

    _laid_out = False

    def draw(self, renderer):
        """Lay out the axes when called for the first time, if there is an engine for it; then draw."""
        engine = self.get_layout_engine()
        if engine is None or self._laid_out:
            return super().draw(renderer)
        self._laid_out = True
        if self.axes:
            engine.execute(self)
        return None


def draw(plot, alt: str, *, size=None, steps=False, layout="constrained") -> Picture:
    """Draw with the course's style and return the picture.

    Parameters
    ----------
    plot : callable
        Receives a fresh ``matplotlib.figure.Figure``.
    alt : str
        Alternative text.
    size : tuple of float, optional
        Width and height in inches.
    steps : bool
        Return a :class:`Steps`: the first key press shows what has a gid that begins with ``step-1``, the next one
        ``step-2``, and so on.
    layout : str, optional
        Matplotlib's layout engine. ``None`` if ``plot`` places the axes itself, which halves the time.

    Examples
    --------
    >>> draw(lambda figure: figure.add_subplot().plot([0, 1]), alt="A line from 0 to 1.").alt
    'A line from 0 to 1.'
    """
    with mpl.rc_context(RC):
        figure = _Figure(**({"figsize": size} if size else {}), layout=layout)
        plot(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        panel = isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine) and (
            plot,
            tuple(figure.get_size_inches()),
        )
    svg = _FAMILY.sub(_in_the_pages_font, buffer.getvalue())
    if steps:
        return Steps(_STEP.sub(_fragment, svg), alt)
    picture = Picture(svg, alt)
    picture.panel = panel or None
    return picture


def _in_the_pages_font(found):
    return "font-family: " + (MONO if found[1] else SANS).replace('"', "'")


def _fragment(found):
    return f'<g class="fragment" data-fragment-index="{int(found[1]) - 1}"'
