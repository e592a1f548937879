"""The steps of lecture 5: an iteration of conjugate gradient, fused into two kernels that stop by themselves."""

from course_pkg.practice.lectures.fusion import dots, maps

STEPS = (*maps.STEPS, *dots.STEPS)
