"""Colours of code on a slide: few, calm, and different from those of memory, compute, bound and gain."""

from pygments.formatters import HtmlFormatter
from pygments.style import Style
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token


class Light(Style):
    """Every colour has a contrast of at least 4.5 on the background of a code cell."""

    background_color = "#f5f6f8"
    styles = {  # noqa: RUF012  (Pygments reads a plain class attribute)
        Token: "#1b1f24",
        Comment: "italic #59636e",
        Keyword: "#6a3cae",
        Operator.Word: "#6a3cae",
        Name.Builtin: "#6a3cae",
        Name.Decorator: "#9a2f6b",
        Name.Function: "bold #1b1f24",
        Name.Class: "bold #1b1f24",
        String: "#75560a",
        Number: "#75560a",
    }


class Dark(Style):
    """The colours of the same tokens on the dark background."""

    background_color = "#1d232b"
    styles = {  # noqa: RUF012
        Token: "#e8ebef",
        Comment: "italic #a0abb8",
        Keyword: "#c8adff",
        Operator.Word: "#c8adff",
        Name.Builtin: "#c8adff",
        Name.Decorator: "#ff9fcd",
        Name.Function: "bold #ffffff",
        Name.Class: "bold #ffffff",
        String: "#e5cb86",
        Number: "#e5cb86",
    }


def stylesheet() -> str:
    """Return the CSS of highlighted code for both themes."""
    light = HtmlFormatter(style=Light).get_style_defs(".highlight")
    dark = HtmlFormatter(style=Dark).get_style_defs(":root[data-theme=dark] .highlight")
    return f"{light}\n{dark}\n"
