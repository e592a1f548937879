"""The steps of lecture 7: sums of a round, coefficients on the host, and vectors of a block in one sweep."""

from course_pkg.practice.lectures.sstep_cg import coefficients, sums, vectors

STEPS = (*sums.STEPS, *coefficients.STEPS, *vectors.STEPS)
