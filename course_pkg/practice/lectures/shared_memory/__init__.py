"""The steps of lecture 3: shapes of blocks, tiles with a halo, barriers, banks, a tile that is not needed."""

from course_pkg.practice.lectures.shared_memory import neighbours, order

STEPS = (*order.FIRST, *neighbours.FIRST, *order.BANKS, *neighbours.LAST)
