"""Vocabulary of the course: machines, costs, solutions, checks."""

from course_pkg.core.cost import Cost
from course_pkg.core.errors import CourseError
from course_pkg.core.machine import Machine, catalogue, find_machine, machine
from course_pkg.core.solution import Solution

__all__ = ["Cost", "CourseError", "Machine", "Solution", "catalogue", "find_machine", "machine"]
