"""The steps of lecture 8: updates of a quadratic program, when it is solved, its zeros, and many small problems."""

from course_pkg.practice.lectures.quadratic_programming import updates, zeros

STEPS = (*updates.UPDATES, *zeros.TESTS, *updates.MANY)
