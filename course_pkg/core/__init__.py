"""Vocabulary of the course: machines, occupancy, costs, solutions, checks."""

from course_pkg.core.cost import Cost
from course_pkg.core.errors import CourseError
from course_pkg.core.machine import Machine, catalogue, find_machine, machine
from course_pkg.core.occupancy import Occupancy, occupancy
from course_pkg.core.solution import Solution, Status

__all__ = [
    "Cost",
    "CourseError",
    "Machine",
    "Occupancy",
    "Solution",
    "Status",
    "catalogue",
    "find_machine",
    "machine",
    "occupancy",
]
