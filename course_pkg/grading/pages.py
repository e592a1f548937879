"""What the pages of grades and of feedback share: the look, and how a mark is shown."""

from html import escape
from typing import NamedTuple

STYLE = """
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1b1f24; --muted: #59636e; --rule: #d8dce2; --code-bg: #f5f6f8;
  --full: #0069a5; --part: #75560a; --none: #ad4b00; --bar: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --bg: #12161b; --fg: #e8ebef; --muted: #a0abb8; --rule: #363f4a;
  --code-bg: #1d232b; --full: #6cc0ef; --part: #e5cb86; --none: #f39b5c; --bar: #4fb3ea; } }
body { font: 16px/1.5 -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial,
  system-ui, sans-serif; background: var(--bg); color: var(--fg); }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin-top: 2.2rem; }
a { color: var(--full); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--rule); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
summary { cursor: pointer; padding: .15rem 0; }
.full { color: var(--full); } .part { color: var(--part); } .none { color: var(--none); }
.full, .part, .none { font-weight: 600; }
td.mark { white-space: nowrap; }
.quiet { color: var(--muted); }
code, pre { font-family: ui-monospace, "SF Mono", SFMono-Regular, "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono",
  monospace; font-size: .9em; }
code, td { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
"""
# nothing is loaded and nothing runs, whatever a learner has written
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
FULL, PART, NONE, WAITS = "full", "part", "none", "waits"


class Mark(NamedTuple):
    """How a number of points is shown: by a sign, a word and a class of the style sheet."""

    kind: str
    sign: str
    words: str

    def __str__(self):
        return f"{self.sign} {self.words}"


def mark(points: float, most: float) -> Mark:
    """Return the mark for the points of a test or of a submission; it is understood without its colour.

    Examples
    --------
    >>> [str(mark(points, 2)) for points in (2, 1.5, 0)]
    ['✓ all points', '◐ some points', '✗ no points']
    """
    if points >= most:
        return Mark(FULL, "✓", "all points")
    return Mark(PART, "◐", "some points") if points > 0 else Mark(NONE, "✗", "no points")


def number(value: float) -> str:
    """Return a number without trailing zeros.

    Examples
    --------
    >>> number(2.0), number(1.5), number(1 / 3)
    ('2', '1.5', '0.3333333333333333')
    """
    return f"{value:g}" if value == round(value, 4) else repr(float(value))


def page(title: str, body: str, style: str = "") -> str:
    """Return a page that needs no other file and no network.

    Parameters
    ----------
    title : str
        Text; it is escaped.
    body : str
        HTML.
    style : str
        Rules of this page, after those of all pages.
    """
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title>'
        f"<style>{STYLE}{style}</style></head>\n<body>\n{body}</body>\n</html>\n"
    )


def with_code(text: str) -> str:
    """Return a sentence as HTML; what stands in backquotes is code.

    Examples
    --------
    >>> with_code("Line 2, `a < b`: no.")
    'Line 2, <code>a &lt; b</code>: no.'
    """
    parts = escape(text).split("`")
    if len(parts) % 2 == 0:  # a backquote without its partner
        return "`".join(parts)
    return "".join(f"<code>{part}</code>" if k % 2 else part for k, part in enumerate(parts))
