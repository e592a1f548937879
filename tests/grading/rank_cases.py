"""Arguments of a learner's function on several ranks."""

import numpy as np

from course_pkg.grading import check


def given(count):
    """Return the arguments of each rank: its number from 1 on, and room for two numbers."""
    return [(np.array([rank + 1.0]), check.out(2)) for rank in range(count)]
