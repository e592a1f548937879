"""Turn names that learners chose into text that is safe to show on a terminal, in a table or on a web page."""

import os

LONGEST = 120


def shown(name) -> str:
    r"""Return a name as printable text on one line, in the manner of ``repr``; no two short names look the same.

    Bytes that are not UTF-8, control characters, marks that change the direction of writing, and the backslash itself
    are written as escapes: ``\xff``, ``\x1b``, ``\u202e``, ``\\``. A very long name is shortened in the middle.

    >>> shown("ann\x1b[2J"), shown(b"caf\xe9"), shown("José")
    ('ann\\x1b[2J', 'caf\\xe9', 'José')
    """
    text = os.fsdecode(name) if isinstance(name, (bytes, os.PathLike)) else str(name)
    whole = "".join(map(_shown, text))
    return whole if len(whole) <= LONGEST else f"{whole[: LONGEST - 30]}…{whole[-29:]}"


def _shown(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if "\udc80" <= character <= "\udcff":  # Python stores a byte that is not UTF-8 like this
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else ascii(character)[1:-1]


def printable(text: str) -> str:
    """Return a sentence that contains such names as one printable line, which cannot control a terminal."""
    return "".join(c if c.isprintable() else " " if c.isspace() else _shown(c) for c in text)
