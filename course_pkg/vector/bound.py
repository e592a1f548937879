"""The copy that bounds the measurements of other topics on a GPU: by the driver, of a vector that no cache holds."""

from course_pkg.bench import Measurement, matching
from course_pkg.core import Library
from course_pkg.vector.variants import VARIANTS

COPY = VARIANTS["copy"].by(Library.CUPY)


def bounding_stream(measurements: list[Measurement]) -> Measurement | None:
    """Return the first copy that was measured together with others; None if there is none.

    Examples
    --------
    >>> from course_pkg.bench import recorded
    >>> copy = bounding_stream(recorded("spmv").measurements)
    >>> copy.label, copy.parameters["n"] == 2**27
    ('copy, CuPy', True)
    >>> bounding_stream([]) is None
    True
    """
    return next(iter(matching(measurements, COPY)), None)
