"""Sentences that begin with the text of the learner's own line."""

import re

from course_pkg.simt.front.source import Program


def placed(program: Program, said: str) -> str:
    """Return a sentence of the interpreter that begins with the text of the lines of this kernel that it names.

    Examples
    --------
    >>> from course_pkg.simt import Kernel
    >>> program = Kernel.from_source("def kernel(a):\\n    a[9] = 1", "kernel", {}).program
    >>> placed(program, "kernel, line 2: a thread uses a[9].")
    'Line 2, `a[9] = 1`: a thread uses a[9].'
    """
    begins = re.match(rf"{re.escape(program.name)}, lines? (\d+)(?: and (\d+))?: ?", said)
    if begins is None:
        return said
    lines = [int(number) for number in begins.groups() if number]
    where = " and ".join(map(str, lines)), " and ".join(quoted(program, line) for line in lines)
    rest = said[begins.end() :]
    rest = f"it {rest}" if rest.startswith("raises ") else rest
    return f"Line{'s' * (len(lines) > 1)} {where[0]}, {where[1]}: {rest}"


def quoted(program: Program, line: int) -> str:
    """Return a line's text in code quotes."""
    return f"`{program.source.text(line)}`"
