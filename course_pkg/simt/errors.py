"""Errors of the interpreter."""

from course_pkg.core.errors import CourseError


class SimtError(CourseError):
    """A kernel, a launch or an argument is invalid: CUDA or Numba would also refuse it.

    Attributes
    ----------
    said : str
        The message without the place.
    function, line : str and int, or None
        The place, if the error is about a line of a kernel or of a function that the kernel calls.

    Examples
    --------
    >>> from course_pkg import simt
    >>> simt.profile("no launch")
    Traceback (most recent call last):
    course_pkg.simt.errors.SimtError: simt.profile takes a launch, ...
    """

    function: str | None = None
    line: int | None = None
    _passed: frozenset = frozenset()  # names of the functions whose lines are noted

    def __init__(self, message: str):
        super().__init__(message)
        self.said = message

    @classmethod
    def at(cls, function: str, line: int, said: str):
        """Return an error about a line of a function; ``said`` begins with a small letter and ends with a full stop."""
        error = cls(f"{function}, line {line}: {said}")
        error.function, error.line, error.said = function, line, said
        return error

    def passes(self, source, line: int) -> None:
        """Note the line of a function at which the error arose, unless a line of this function is already noted.

        Parameters
        ----------
        source : FunctionSource
        line : int
        """
        if source.name not in self._passed:
            self._passed |= {source.name}
            self.lines += (f"In {source.name}, line {line}:  {source.text(line)}",)


class Unsupported(SimtError):
    """The interpreter does not support a construct. Numba may support it.

    Attributes
    ----------
    refusal : front.instead.Refusal or None
        What the message says of the construct, in parts.

    Examples
    --------
    >>> issubclass(Unsupported, SimtError)
    True
    """

    refusal = None

    @classmethod
    def of(cls, refusal):
        """Return an error that says a refusal; its place is not known yet."""
        error = cls(str(refusal))
        error.refusal = refusal
        return error

    def advising(self, advice: str = "") -> str:
        """Return the message with other advice, a whole sentence, in place of that to try another simulator.

        Examples
        --------
        >>> from course_pkg.simt.front.instead import refusal
        >>> recursion = refusal("recursion", compiled=True)
        >>> error = Unsupported.at("kernel", 3, str(recursion))
        >>> error.refusal = recursion
        >>> error.advising("Write a loop.")
        'kernel, line 3: recursion is outside what the interpreter runs. Write a loop.'
        """
        if self.refusal is None:
            return str(self)
        return str(self.at(self.function, self.line, self.refusal.sentence(advice)))


class Endless(SimtError):
    """A launch that does not end was stopped.

    Examples
    --------
    >>> issubclass(Endless, SimtError)
    True
    """


class NoIndex(SimtError):
    """An index of an array is not an integer.

    Attributes
    ----------
    what : str
        Which index of which array, and its type: ``index 0 of a is a float64``.
    type : str
        The type alone.

    Examples
    --------
    >>> issubclass(NoIndex, SimtError)
    True
    """

    what: str = ""
    type: str = ""


class Raised(SimtError):
    """A kernel came to a raise statement.

    Attributes
    ----------
    name : str
        The name of the exception.
    exception : str
        The name of the exception, and its text if that is a literal.

    Examples
    --------
    >>> issubclass(Raised, SimtError)
    True
    """

    name: str = ""
    exception: str = ""


class HazardError(SimtError):
    """A launch outside ``profile`` had a hazard that, on a GPU, could destroy data or never end.

    Attributes
    ----------
    hazard : Hazard

    Examples
    --------
    >>> issubclass(HazardError, SimtError)
    True
    """

    def __init__(self, hazard):
        super().__init__(str(hazard))
        self.hazard = hazard
        self.function, self.line, self.said = hazard.function, hazard.line, f"{hazard.event}{hazard.rest}"
