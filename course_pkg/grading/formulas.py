"""Formulas as MathML, which a browser draws without a script and without a network."""

import re
from html import escape
from xml.etree import ElementTree

from latex2mathml.converter import convert

SPACE = "{http://www.w3.org/1998/Math/MathML}"
ELEMENTS = re.compile(
    "math|mrow|mi|mn|mo|mtext|mspace|mfrac|msqrt|mroot|mstyle|mpadded|mphantom|menclose|"
    "msub|msup|msubsup|munder|mover|munderover|mtable|mtr|mtd"
)
# attributes that say how a formula looks, and none that link elsewhere or run a script, such as href and onclick
ATTRIBUTES = re.compile(
    "display|mathvariant|mathsize|stretchy|fence|separator|form|lspace|rspace|minsize|maxsize|movablelimits|"
    "accent|accentunder|linethickness|width|height|depth|columnalign|rowspacing|columnspacing|linebreak|"
    "displaystyle|scriptlevel|notation"
)
LONGEST = 2_000  # characters; a longer text is not a formula, and the converter recurses at each bracket


def mathml(tex: str, display: str = "inline") -> str:
    """Return a formula in LaTeX as MathML, or its source as code if it cannot be converted.

    A learner may have written the formula. So only elements and attributes that draw something are let through.

    Parameters
    ----------
    tex : str
        The formula without its dollar signs.
    display : {"inline", "block"}
        Whether it stands within a line or on lines of its own.

    Examples
    --------
    >>> mathml("x_i")
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">...<msub><mi>x</mi><mi>i</mi></msub>...</math>'
    >>> mathml(r"\\frac{")
    '<code>\\\\frac{</code>'
    """
    try:
        drawn = convert(tex, display=display) if len(tex) <= LONGEST else ""
        root = ElementTree.fromstring(drawn)
    except Exception:  # the converter raises many kinds of errors, and none may prevent the page
        return f"<code>{escape(tex)}</code>"
    return drawn if all(map(_draws, root.iter())) else f"<code>{escape(tex)}</code>"


def _draws(element: ElementTree.Element) -> bool:
    """Return whether an element only draws."""
    space, name = element.tag[: len(SPACE)], element.tag[len(SPACE) :]
    return (
        space == SPACE and bool(ELEMENTS.fullmatch(name)) and all(map(ATTRIBUTES.fullmatch, element.attrib))
    )
