"""``python -m course_pkg.witness.launch NAME…``: launch each case once, in this order, under a profiler.

Compilation launches nothing, and neither do copies to the GPU, so that every launch which a profiler sees is a case's.
"""

import sys

import numpy as np

from course_pkg.core import CourseError
from course_pkg.witness.cases import choose


def main(names) -> int:
    """Launch the cases; return the exit status."""
    from course_pkg import cuda

    try:
        cases = choose(names)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    for case in cases:
        args = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in case.args()]
        case.configured(*args)
        cuda.synchronize()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
