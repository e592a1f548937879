"""The steps of lecture 1: from one thread per element to sums that move no byte twice."""

from course_pkg.practice.lectures.first_kernels import alone, neighbours, together

STEPS = (*alone.STEPS, *neighbours.STEPS, *together.STEPS)
