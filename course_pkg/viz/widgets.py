"""Widgets that work in JupyterLab and on a static slide.

A slide has no kernel, so every frame of a slider is drawn beforehand and the browser switches between them; in
JupyterLab it is the same object. :func:`slider` does this for one quantity, :func:`explorer` for several. Where widgets
cannot be shown, or their kernel has ended, the result of :func:`still` takes their place.
"""

from html import escape
from itertools import product
from math import prod

import ipywidgets as W

from course_pkg.core import CourseError
from course_pkg.viz.picture import Picture

MAX_FRAMES = 40
MAX_COMBINATIONS = 120
LEAST_VALUE = 5  # letters: a shorter value has as much room beside its slider


class Controls(W.VBox):
    """Widgets one below the other; where they cannot be shown, a static page takes their place.

    Examples
    --------
    >>> Controls([W.HTML("<p>What is right?</p>")])._repr_mimebundle_()["text/html"]
    '<p>What is right?</p>'
    """

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        return bundle and {**bundle, "text/html": still(self)}


def still(widget: W.Widget) -> str:
    """Return as HTML what a widget shows at this moment.

    Examples
    --------
    >>> still(W.ToggleButtons(options=["as long", "twice as long"], value="as long"))
    '<p><strong>as long</strong> · twice as long</p>'
    """
    if isinstance(widget, W.HTML):
        return widget.value
    if isinstance(widget, W.Stack):
        return "" if widget.selected_index is None else still(widget.children[widget.selected_index])
    if isinstance(widget, W.Box):
        return "".join(map(still, widget.children))
    if isinstance(widget, W.ToggleButtons):
        words = [escape(text) for text in widget.options]
        if widget.index is not None:
            words[widget.index] = f"<strong>{words[widget.index]}</strong>"
        return f"<p>{' · '.join(words)}</p>"
    if isinstance(widget, W.Checkbox):
        return f"<p>{escape(widget.description)}: {'yes' if widget.value else 'no'}</p>"
    return f"<p>{escape(f'{widget.description}: {widget.label}'.removeprefix(': '))}</p>"


def slider(draw, values, *, label: str, start=None) -> Controls:
    """Return a slider that walks through pictures.

    Parameters
    ----------
    draw : callable
        Takes one of ``values`` and returns a :class:`Picture`.
    values : sequence
        At most 40; each is shown as text beside the slider.
    label : str
        What the slider changes, with its unit.
    start : optional
        The value shown first; the middle one by default.

    Examples
    --------
    >>> from course_pkg.viz import tile_picture
    >>> box = slider(lambda n: tile_picture((n, 8)), [8, 16], label="threads along x")
    >>> [type(child).__name__ for child in box.children]
    ['SelectionSlider', 'Stack']
    """
    values = list(values)
    if not values:
        raise CourseError("A slider needs at least one value.")
    if len(values) > MAX_FRAMES:
        raise CourseError(
            f"A slider of {len(values)} frames makes a heavy slide: choose at most {MAX_FRAMES} values."
        )
    if start is not None and start not in values:
        raise CourseError(f"start is {start!r}, which is not one of the slider's values {values}.")
    index = len(values) // 2 if start is None else values.index(start)
    frames = W.Stack([_frame(draw(v), "A slider's draw()") for v in values], selected_index=index)
    control = _control(label, values, index, width="min(760px, 95%)")
    W.jslink((control, "index"), (frames, "selected_index"))
    return Controls([control, frames])


def explorer(make, *, start=None, **choices) -> Controls:
    """Return sliders that together choose one of many pictures: one for each combination of their values.

    Every picture is part of the slide and takes about 0.1 MB: a dozen make a deck about 1 MB larger.

    Parameters
    ----------
    make : callable
        Takes one value of each choice, by name, and returns a :class:`Picture`.
    start : dict, optional
        The values that are shown first, by name of the choice. A choice that is not named starts with its first value.
    **choices : sequence
        Values by name, such as ``padding=(0, 1)``. The name, with spaces for underscores, is the slider's label; the
        values are its text, and a tuple ``(32, 8)`` is shown as "32×8". There may be at most 120 combinations.

    Raises
    ------
    CourseError
        If there is no choice, a choice without values, a start that is not among them, or too many combinations.

    Examples
    --------
    >>> from course_pkg.viz import tile_picture
    >>> box = explorer(lambda n, halo: tile_picture((n, 8), halo=halo), n=[8, 16], halo=[0, 1])
    >>> len(box.children)
    2
    """
    choices = {name: list(values) for name, values in choices.items()}
    at = _starts(choices, dict(start or {}))
    frames = {
        chosen: _frame(
            make(**{name: choices[name][i] for name, i in zip(choices, chosen, strict=True)}),
            "An explorer's make()",
        )
        for chosen in product(*(range(len(values)) for values in choices.values()))
    }
    controls = [
        _control(name.replace("_", " "), values, i, **_room(name, values))
        for (name, values), i in zip(choices.items(), at, strict=True)
    ]
    row = W.HBox(controls, layout=W.Layout(flex_flow="row wrap", width="100%"))
    return Controls([row, _nested(frames, controls, ())])


def _starts(choices, start) -> list[int]:
    """Check an explorer's choices and return the index at which each starts."""
    if not choices:
        raise CourseError("An explorer needs at least one choice, such as padding=(0, 1).")
    for name, values in choices.items():
        if not values:
            raise CourseError(f"The explorer's choice {name} has no values: give it at least one.")
    combinations = prod(map(len, choices.values()))
    if combinations > MAX_COMBINATIONS:
        lengths = " × ".join(str(len(values)) for values in choices.values())
        raise CourseError(
            f"An explorer of {lengths} = {combinations} combinations makes a heavy slide: offer fewer values, at most "
            f"{MAX_COMBINATIONS} combinations in all."
        )
    for name, value in start.items():
        if name not in choices:
            raise CourseError(f"start names {name!r}, and the explorer's choices are {', '.join(choices)}.")
        if value not in choices[name]:
            raise CourseError(
                f"start is {value!r} for {name}, which is not one of its values {choices[name]}."
            )
    return [values.index(start.get(name, values[0])) for name, values in choices.items()]


def _nested(frames, controls, chosen):
    """Return the frame of the choices made so far, or a stack with the frames of the next choice.

    Without a kernel, nothing can be computed: a link can only make one widget follow another. So each choice has stacks
    of its own, one for each combination of the choices before it, and all of them follow the control of their choice.
    """
    if len(chosen) == len(controls):
        return frames[chosen]
    control = controls[len(chosen)]
    stack = W.Stack(
        [_nested(frames, controls, (*chosen, i)) for i in range(len(control.options))],
        selected_index=control.index,
        layout=W.Layout(width="100%"),
    )
    W.jslink((control, "index"), (stack, "selected_index"))
    return stack


def _room(name, values) -> dict[str, str]:
    """Return the layout of a slider beside others: where its words and a track have no room, it begins a row.

    Longer words get more of the row, and a track is about as long as 24 letters. The margin keeps a value from being
    read as a part of the next label.
    """
    longest = max(len(_text(value)) for value in values)
    letters = len(name) + max(longest, LEAST_VALUE)
    return {
        "flex": f"{24 + len(name) + longest} 1 0px",
        "width": "auto",
        # the track, its gaps and the words; on a phone, the row without the margin
        "min_width": f"min(100% - 16px, max(240px, 8em + 50px + {letters}ch))",
        "margin": "2px 14px 2px 2px",
    }


def _control(label, values, index, **layout):
    return W.SelectionSlider(
        options=[(_text(v), i) for i, v in enumerate(values)],
        index=index,
        description=label,
        style={"description_width": "initial"},
        layout=W.Layout(**layout),
    )


def _frame(picture: Picture, whose: str):
    if not isinstance(picture, Picture):
        raise CourseError(f"{whose} must return a Picture, not a {type(picture).__name__}: see viz.draw.")
    return W.HTML(picture._repr_html_(), layout=W.Layout(width="100%"))


def _text(value):
    if isinstance(value, tuple):
        return "×".join(map(_text, value))  # no spaces, because there is little room beside a slider
    return f"{value:.3g}" if isinstance(value, float) else str(value)
