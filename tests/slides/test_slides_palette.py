"""In both themes text has a contrast of at least 4.5 (WCAG 2.2, 1.4.3), and what carries meaning one of 3."""

import re

import pytest

from course_pkg.slides.assets import THEME
from course_pkg.slides.highlight import Dark, Light

TEXT = ("fg", "muted", "memory-text", "compute-text", "wasted-text", "gain-text", "bound")


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def palettes():
    css = (THEME / "palette.css").read_text()
    blocks = re.findall(r":root(\[data-theme=dark\])? \{(.*?)\n\}", css, re.S)
    colours = r"--([\w-]+): (#\w{6});"
    return {"dark" if dark else "light": dict(re.findall(colours, body)) for dark, body in blocks}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_legible(theme):
    colours = palettes()[theme]
    for name in TEXT:
        for ground in ("bg", "predict-bg"):
            assert contrast(colours[name], colours[ground]) >= 4.5, f"{name} on {ground}"
    assert contrast(colours["fg"], colours["predict-mark"]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_carries_meaning_or_moves_stands_out(theme):
    """A contrast of at least 3 (WCAG 2.2, 1.4.11)."""
    colours = palettes()[theme]
    widgets = (THEME / "widgets.css").read_text()
    moved = re.findall(r"noUi-(?:connects|handle|connect) \{ background: var\(--([\w-]+)\)", widgets)
    edges = re.findall(r"toggle-button \{[^}]*border: 2px solid var\(--([\w-]+)\)", widgets)
    assert len(moved) == 3 and len(edges) == 1
    for name in {"memory", "compute", "wasted", "gain", *moved, *edges}:
        for ground in ("bg", "predict-bg"):
            assert contrast(colours[name], colours[ground]) >= 3, f"{name} on {ground}"


@pytest.mark.parametrize(("theme", "style"), [("light", Light), ("dark", Dark)])
def test_code_is_legible(theme, style):
    assert palettes()[theme]["code-bg"] == style.background_color
    for token, rule in style:
        if rule["color"]:
            assert contrast(f"#{rule['color']}", style.background_color) >= 4.5, token


def test_the_five_colours_of_the_course():
    light = palettes()["light"]
    assert {name: light[name] for name in ("memory", "compute", "bound", "wasted", "gain")} == {
        "memory": "#0072b2",
        "compute": "#d55e00",
        "bound": "#1b1f24",
        "wasted": "#87909b",
        "gain": "#009e73",
    }
