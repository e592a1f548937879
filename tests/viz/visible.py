"""What a reader sees of boxes of widgets."""

import re

import ipywidgets as W


def shown(box):
    """Return the alternative text of the picture that is visible."""
    while not isinstance(box, W.HTML):
        box = box.children[box.selected_index] if isinstance(box, W.Stack) else box.children[-1]
    return re.search(r'alt="([^"]*)"', box.value)[1]
