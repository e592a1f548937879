"""Steps of a laboratory: a learner completes a kernel, and one call says what the kernel did.

``practice.check(name, answer)`` ends the cell of a step, and ``practice.progress(lecture)`` lists what is solved.
``practice.watch(kernel, trial)`` shows a kernel of a lecture in the same way. Steps are declared in
:mod:`course_pkg.practice.lectures`.
"""

from course_pkg.practice.checking import check, watch
from course_pkg.practice.page import Result
from course_pkg.practice.remembered import progress
from course_pkg.practice.step import RESULT, Step, Trial, WhatIf

__all__ = ["RESULT", "Result", "Step", "Trial", "WhatIf", "check", "progress", "watch"]
