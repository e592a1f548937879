"""The steps of lecture 9: who owns what, what is beyond a rank's own part, sums, overlap, and what a run will take."""

from course_pkg.practice.lectures.many_gpus import forecasts, ownership, talking

STEPS = (*ownership.STEPS, *talking.STEPS, *forecasts.STEPS)
