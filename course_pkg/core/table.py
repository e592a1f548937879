"""Tables: text in a terminal, HTML in a notebook and on a slide."""

import html
import re

_LETTERS = re.compile(r"[^\W\d_]{3,}")  # a word, not a unit
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|(?:[GMK]i?B|[kMGT]?B|[mµn]?s)\b)")
_POWER = re.compile(r"\d[\d.]*e[-+]?\d+")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")


def text_table(rows: list[dict]) -> str:
    """Return rows as aligned text; all rows must have the same keys. The values of a tuple stand side by side."""
    head = list(rows[0])
    cells = [head] + [[_said(row[k]) for k in head] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def html_table(rows: list[dict], caption: str = "") -> str:
    """Return rows as an HTML table; all rows must have the same keys, and the first column holds the row headings.

    Columns of words have the class ``words``: they are aligned left, and numbers are aligned right. The values of a
    tuple stand one below the other, whatever the width of the table.
    """
    words = {name: ' class="words"' if _of_words(row[name] for row in rows) else "" for name in rows[0]}
    head = "".join(f'<th scope="col"{words[name]}>{html.escape(str(name))}</th>' for name in rows[0])
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{_narrow(v)}</th>' if i == 0 else f"<td{words[name]}>{_narrow(v)}</td>"
            for i, (name, v) in enumerate(row.items())
        )
        + "</tr>"
        for row in rows
    )
    under = f"<caption>{with_code(caption)}</caption>" if caption else ""
    return f'<table class="course-table">{under}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _narrow(cell) -> str:
    """Return a cell as HTML: a number with its power and unit is on one line; a name may break after a low line.

    Examples
    --------
    >>> _narrow("4e-06"), _narrow("2 GB/s")
    ('<span style="white-space:nowrap">4e-06</span>', '2\\xa0GB/s')
    >>> _narrow(("4%", "5%"))
    '<div style="white-space:nowrap">4%</div><div style="white-space:nowrap">5%</div>'
    """
    if isinstance(cell, tuple):
        return "".join(f'<div style="white-space:nowrap">{_narrow(value)}</div>' for value in cell)
    text = _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", html.escape(str(cell))).replace("_", "_<wbr/>")
    return _POWER.sub(r'<span style="white-space:nowrap">\g<0></span>', text)


def _of_words(cells) -> bool:
    """Return True if a column holds sentences, and not only numbers, units and single words."""
    return any(len(_LETTERS.findall(str(value))) > 2 for cell in cells for value in _values(cell))


def _said(cell) -> str:
    """Return a cell as text."""
    return ", ".join(map(str, _values(cell)))


def _values(cell) -> tuple:
    return cell if isinstance(cell, tuple) else (cell,)


def with_code(text: str) -> str:
    """Return a text as HTML: text in backquotes becomes code, and a date is kept on one line.

    Examples
    --------
    >>> with_code("Recorded by `course bench cg` at 2 < 3.")
    'Recorded by <code>course bench cg</code> at 2 &lt; 3.'
    >>> with_code("Live, 2026-11-22.")
    'Live, <span class="whole">2026-11-22</span>.'
    """
    pieces = html.escape(text).split("`")
    if len(pieces) % 2 == 0:
        pieces = [html.escape(text)]
    return "".join(
        f"<code>{piece}</code>" if n % 2 else _DATE.sub(r'<span class="whole">\g<0></span>', piece)
        for n, piece in enumerate(pieces)
    )


class Table:
    """A table that is printed as text, and shown as HTML in notebooks.

    Examples
    --------
    >>> Table([{"variant": "copy", "time": "1.6 ms"}, {"variant": "triad", "time": "2.4 ms"}])
    variant    time
    -------  ------
    copy     1.6 ms
    triad    2.4 ms
    """

    def __init__(self, rows: list[dict], caption: str = ""):
        self.rows, self.caption = rows, caption

    def __str__(self):
        return text_table(self.rows) + (f"\n{self.caption}" if self.caption else "")

    __repr__ = __str__

    def _repr_html_(self):
        return html_table(self.rows, self.caption)
