"""The steps of lecture 9: who owns what, what is beyond a rank's own part, sums, overlap, and the time of a run."""

from course_pkg.practice.lectures.many_gpus import forecasts, ownership, talking

STEPS = (*ownership.STEPS, *talking.STEPS, *forecasts.STEPS)
