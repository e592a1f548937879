"""A figure with its alternative text, which every function of this package returns."""

import base64
import html
import io
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from course_pkg.core import CourseError
from course_pkg.core.files import write
from course_pkg.viz.style import RC


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

    def save(self, path) -> Path:
        """Write the SVG, whole or not at all, and return its path."""
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
        return f"<Picture: {self.alt}>"

    def _repr_html_(self):
        data = base64.b64encode(self.svg.encode()).decode()
        alt = html.escape(self.alt, quote=True)
        # figures are drawn in ink: a notebook's dark theme needs a light ground beneath them; slides blend it away
        ground = 'style="background:#fff"'
        return f'<img class="course-figure" {ground} src="data:image/svg+xml;base64,{data}" alt="{alt}">'


def draw(plot, alt: str, *, size=None) -> Picture:
    """Draw with the course's style and return the picture.

    Parameters
    ----------
    plot : callable
        Receives a fresh ``matplotlib.figure.Figure``.
    alt : str
        Alternative text.
    size : tuple of float, optional
        Width and height in inches.

    Examples
    --------
    >>> draw(lambda figure: figure.add_subplot().plot([0, 1]), alt="A line from 0 to 1.").alt
    'A line from 0 to 1.'
    """
    with mpl.rc_context(RC):
        figure = Figure(**({"figsize": size} if size else {}), layout="constrained")
        plot(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(buffer.getvalue(), alt)
