"""Arrays drawn as images, side by side: pictures, or a number for each unknown in each iteration."""

import numpy as np
from matplotlib import colormaps

from course_pkg.core import CourseError
from course_pkg.viz.axes import note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.style import COMPUTE, RULE

MOST = 4


def images_picture(
    images, *, xlabel="", ylabel="", ticks=None, marked="", told="", flat=True, note=""
) -> Picture:
    """Draw arrays as images: the smallest number is lightest, the largest darkest; NaN has a colour of its own.

    Parameters
    ----------
    images : dict of str to ndarray, shape (rows, columns)
        At most four, by title.
    xlabel, ylabel : str
        What the columns and the rows are.
    ticks : dict of int to str, optional
        Words at some columns; without them the axes have no numbers.
    marked : str
        What NaN means; named above the images.
    told : str
        What the images show, for people who cannot see them; the titles by default.
    flat : bool
        True if pixels are squares; else each image fills its place.
    note : str
        Where the numbers come from.

    Raises
    ------
    CourseError
        If there is no image, if there are too many, or if an array is not two-dimensional or contains no number.

    Examples
    --------
    >>> images_picture({"before": np.eye(3), "after": np.zeros((3, 3))}, told="Three bright pixels, then none.").alt
    'Three bright pixels, then none. before: 3×3; after: 3×3.'
    """
    images = {name: np.asarray(a, float) for name, a in images.items()}
    if not 1 <= len(images) <= MOST:
        raise CourseError(f"There is room for 1 to {MOST} images, not for {len(images)}.")
    for name, a in images.items():
        if a.ndim != 2 or np.isnan(a).all():
            raise CourseError(f"{name!r} has shape {a.shape}: an image has two dimensions, and some numbers.")

    def plot(figure):
        for place, (ax, (name, a)) in enumerate(
            zip(figure.subplots(1, len(images), squeeze=False)[0], images.items(), strict=True)
        ):
            _image(ax, a, flat)
            ax.set_title(name, fontsize=14)
            ax.grid(visible=False)
            ax.set(xticks=list(ticks or []), yticks=[], xlabel=xlabel, ylabel="" if place else ylabel)
            if ticks:
                ax.set_xticklabels(ticks.values())
                if max(ticks) > 0.9 * a.shape[1]:
                    ax.get_xticklabels()[-1].set_ha("right")  # or it touches the next image's first number
        if marked:
            figure.suptitle(
                f"\N{BLACK SQUARE} {marked}", color=COMPUTE, fontsize=14, weight="bold", x=0.99, ha="right"
            )
        note_below(figure, note)

    sizes = "; ".join(f"{name}: {a.shape[0]}×{a.shape[1]}" for name, a in images.items())
    said = f"{told} {sizes}." + (f" {marked} is marked." if marked else "") + (f" {note}" if note else "")
    return draw(plot, said.strip(), size=_size(len(images), flat, bool(marked)))


def _size(many, flat, marked):
    """Return width and height in inches; square images with square pixels fill their places."""
    if not flat:
        return 9.6, 4.2
    width = min(9.6, 4.0 * many)
    return width, width / many + 0.55 + 0.4 * marked


def _image(ax, a, flat):
    colours = colormaps["Blues"].with_extremes(bad=COMPUTE)
    aspect = "equal" if flat else "auto"
    ax.imshow(np.ma.masked_invalid(a), cmap=colours, aspect=aspect, interpolation="nearest", resample=False)
    for side in ax.spines.values():
        side.set_visible(True)
        side.set_color(RULE)
