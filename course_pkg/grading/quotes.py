"""Sentences that begin with the text of the learner's own line."""

import re

from course_pkg.simt.front.source import Program


def placed(program: Program, said: str) -> str:
    """Return a sentence about a kernel with the text of each line that it names, at its beginning or within it.

    Examples
    --------
    >>> from course_pkg.simt import Kernel
    >>> program = Kernel.from_source("def kernel(a):\\n    a[9] = 1", "kernel", {}).program
    >>> placed(program, "kernel, line 2: a thread uses a[9].")
    'Line 2, `a[9] = 1`: a thread uses a[9].'
    >>> placed(program, "kernel makes 8 global store sectors: threads touch addresses 32 B apart on line 2.")
    'kernel makes 8 global store sectors: threads touch addresses 32 B apart on line 2, `a[9] = 1`.'
    """
    begins = re.match(rf"{re.escape(program.name)}, lines? (\d+)(?: and (\d+))?: ?", said)
    if begins is None:
        return _with_text(program, said) if said.startswith(f"{program.name} ") else said
    lines = [int(number) for number in begins.groups() if number]
    where = " and ".join(map(str, lines)), " and ".join(quoted(program, line) for line in lines)
    rest = said[begins.end() :]
    rest = f"it {rest}" if rest.startswith("raises ") else rest
    return f"Line{'s' * (len(lines) > 1)} {where[0]}, {where[1]}: {rest}"


def quoted(program: Program, line: int) -> str:
    """Return a line's text in code quotes."""
    return f"`{program.source.text(line)}`"


def _with_text(program: Program, said: str) -> str:
    """Return a sentence in which each line number is followed by the line's text."""

    def number_and_text(found: re.Match) -> str:
        comma = "" if found["more"] is None else ","
        return f"on line {found['line']}, {quoted(program, int(found['line']))}{comma}"

    return re.sub(r"\bon line (?P<line>\d+)(?P<more>(?= ))?", number_and_text, said)
