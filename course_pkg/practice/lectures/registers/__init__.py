"""The steps of lecture 4: offsets, queues, pairs, bytes in flight, and threads that exchange registers."""

from course_pkg.practice.lectures.registers import in_flight, marching, shuffles

STEPS = (*marching.STEPS, *in_flight.STEPS, *shuffles.STEPS)
