"""Sentences that begin with the text of the learner's own line."""

from course_pkg.simt.errors import Raised, Unsupported
from course_pkg.simt.front.source import Program


def placed(program: Program, error: Exception) -> str:
    """Return the sentence of an error; if it is about lines of this kernel, their text stands at its beginning.

    Advice to try another simulator is left out.

    Examples
    --------
    >>> from course_pkg.simt import Kernel, SimtError
    >>> program = Kernel.from_source("def kernel(a):\\n    a[9] = 1", "kernel", {}).program
    >>> placed(program, SimtError.at("kernel", 2, "a thread uses a[9]."))
    'Line 2, `a[9] = 1`: a thread uses a[9].'
    >>> placed(program, SimtError.at("helper", 7, "the name n is not defined."))
    'helper, line 7: the name n is not defined.'
    """
    whole = error.advising() if isinstance(error, Unsupported) else str(error)
    hazard = getattr(error, "hazard", None)
    place = error if hazard is None else hazard
    if getattr(place, "function", None) != program.name:
        return whole
    if hazard is not None:
        lines, said = hazard.lines, f"{hazard.event}{hazard.rest}"
    elif isinstance(error, Unsupported) and error.refusal:
        lines, said = (error.line,), error.refusal.sentence()
    else:
        lines, said = (error.line,), f"it {error.said}" if isinstance(error, Raised) else error.said
    where = " and ".join(map(str, lines)), " and ".join(quoted(program, line) for line in lines)
    return f"Line{'s' * (len(lines) > 1)} {where[0]}, {where[1]}: {said}"


def quoted(program: Program, line: int) -> str:
    """Return a line's text in code quotes."""
    return f"`{program.source.text(line)}`"
