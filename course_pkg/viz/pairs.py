"""A figure of several devices: side by side, on the same scales, each under its device's name."""

from html import escape

import ipywidgets as W
import matplotlib as mpl

from course_pkg.core import CourseError, short_name
from course_pkg.core.sources import together
from course_pkg.viz.axes import letters, note_below
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.strip import folded
from course_pkg.viz.widgets import Controls, slider

WIDTH = 11.4  # inches, about the width of a slide: letters keep their size, and panels are narrower
TITLE, LINE = 0.3, 0.24  # inches: for the devices' names, and for a line of a note or a legend


def on_each(draw_one, records) -> Picture | Controls:
    """Return one figure of all recorded devices, side by side; if there is one device, return its figure.

    Some figures are laid out by hand and do not define how to join several of them. Side by side they would be too
    small, so the result is a slider over the devices. A note names devices whose record lacks what the figure shows.

    Parameters
    ----------
    draw_one : callable
        Takes one of the records and returns a :class:`Picture`.
    records : sequence
        What ``bench.records(topic)`` returns, or objects that have one of them as ``found``.

    Examples
    --------
    >>> from course_pkg import bench
    >>> from course_pkg.viz import Rung, ladder_picture
    >>> on_each(lambda record: ladder_picture([Rung("flat", 0.8)]), bench.records("stencil")).alt
    'Share of copy. H100: flat: 80%. H200: flat: 80%.'
    """
    by_name = {short_name(getattr(one, "found", one).device.name): one for one in records}
    if not by_name:
        raise CourseError("There is no record to draw: record one with `course bench TOPIC --record`.")
    pictures, why = {}, {}
    for name, one in by_name.items():
        try:
            pictures[name] = draw_one(one)
        except CourseError as error:  # its record lacks something that the figure shows
            why[name] = error
    if not pictures:
        raise next(iter(why.values()))
    if why:
        return _with_absent(pictures, {name: str(error) for name, error in why.items()})
    if len(pictures) == 1 or all(p.joined or p.panel for p in pictures.values()):
        return side_by_side(pictures)
    return slider(pictures.__getitem__, list(pictures), label="GPU", start=list(pictures)[-1])


def _with_absent(pictures, why):
    """Return the figure of the devices that can be drawn; a note below it says what the others lack."""
    words = " ".join(f"{name}: not recorded. {reason}" for name, reason in why.items())
    drawn = side_by_side(pictures) if all(p.joined or p.panel for p in pictures.values()) else None
    drawn = drawn or list(pictures.values())[-1]
    return Controls([W.HTML(drawn._repr_html_()), W.HTML(f"<p>{escape(words)}</p>")])


def side_by_side(pictures: dict[str, Picture]) -> Picture:
    """Join pictures of one kind, each named by its device.

    Parameters
    ----------
    pictures : dict of str to Picture

    Raises
    ------
    CourseError
        If there is no picture, or one cannot be joined to others.

    Examples
    --------
    >>> from course_pkg.viz import relative_bars
    >>> times = {"H100": {"a": 3.0, "b": 6.0}, "H200": {"a": 2.0, "b": 5.0}}
    >>> side_by_side({name: relative_bars({"time": of}, xlabel="times a") for name, of in times.items()}).alt
    'H100: time: a 1.00, b 2.00 (times a). H200: time: a 1.00, b 2.50 (times a).'
    """
    if not pictures:
        raise CourseError("There is nothing to draw: pass at least one picture.")
    first = next(iter(pictures.values()))
    if len(pictures) == 1:
        return first
    if first.joined:
        return first.joined[0]({name: picture.joined[1] for name, picture in pictures.items()})
    if apart := [name for name, picture in pictures.items() if not picture.panel]:
        raise CourseError(f"The picture of {', '.join(apart)} cannot stand beside another one: use a slider.")
    high = max(picture.panel[1][1] for picture in pictures.values())
    return draw(
        lambda figure: _panels(figure, pictures),
        " ".join(f"{name}: {picture.alt}" for name, picture in pictures.items()),
        size=(WIDTH, high + TITLE),
    )


def _panels(figure, pictures):
    figure.names_later, figure.notes_later = [], []
    parts = figure.subfigures(1, len(pictures), wspace=0.02)
    for part, (name, picture) in zip(parts, pictures.items(), strict=True):
        picture.panel[0](part)
        part.axes[0].set_title(name, pad=10)
    for of_each in zip(*(part.axes for part in parts), strict=True):
        _share(of_each)
    names, notes = figure.names_later, figure.notes_later
    figure.names_later = figure.notes_later = None
    note = together(notes)
    note_below(figure, note)
    alone = max((len(folded(one, letters(wide))) for one, wide in _own(notes, pictures)), default=0)
    rows = max((one.get_window_extent().height / figure.dpi / LINE for one in parts[0].legends), default=1)
    more = len(folded(note, letters(WIDTH))) - alone + max(0, round(rows) - 1)
    figure.set_figheight(figure.get_figheight() + LINE * more)
    for write, size in names:
        with mpl.rc_context({"font.size": size}):
            write()


def _own(notes, pictures):
    """Return each device's note with the width of that device's own picture."""
    return zip(notes, (picture.panel[1][0] for picture in pictures.values()), strict=False)


def _share(axes):
    """Give axes with the same labels the same limits, so that lengths compare across panels."""
    for limits, label, put in (
        ("get_xlim", "get_xlabel", "set_xlim"),
        ("get_ylim", "get_ylabel", "set_ylim"),
    ):
        if len({getattr(ax, label)() for ax in axes}) > 1:
            continue
        found = [getattr(ax, limits)() for ax in axes]
        if all(low < high for low, high in found):
            for ax in axes:
                getattr(ax, put)(min(low for low, _ in found), max(high for _, high in found))
