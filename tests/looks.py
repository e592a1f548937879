"""What pages of the site and JupyterLab are asked alike: whether a date is whole, and a list's arrow seen."""

import re

WIDTHS = list(range(120, 480))
BROKEN = """(caption, widths) => {
  const date = caption.querySelector('.whole');
  return widths.filter((width) => {
    caption.closest('table').style.width = `${width}px`;
    return date.getClientRects().length > 1;
  });
}"""
ARROW = "e => { const s = getComputedStyle(e); return [s.backgroundImage, s.backgroundColor]; }"


def broken_dates(caption) -> list[int]:
    """Return the widths of a table at which the date in its caption is broken."""
    return caption.evaluate(BROKEN, WIDTHS)


def contrast_of_arrow(choice) -> float:
    """Return the contrast between a list's arrow, a picture that names its colour, and the list's ground."""
    picture, ground = choice.evaluate(ARROW)
    assert "%23" in picture, "the arrow is a picture of ipywidgets"
    ink = [int(picture.split("%23")[1][k : k + 2], 16) for k in (0, 2, 4)]
    paper = [int(part) for part in re.findall(r"\d+", ground)[:3]]
    light, dark = sorted((_luminance(ink), _luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
