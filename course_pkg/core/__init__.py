"""The terms that the whole course uses: machines, occupancy, costs, solutions, checks."""

from course_pkg.core.cost import Cost
from course_pkg.core.errors import CourseError
from course_pkg.core.machine import Machine, catalogue, find_machine, machine, short_name
from course_pkg.core.occupancy import Occupancy, occupancy
from course_pkg.core.solution import Solution, Status
from course_pkg.core.variant import Implementation, Library, Variant, Variants, variant_of

__all__ = [
    "Cost",
    "CourseError",
    "Implementation",
    "Library",
    "Machine",
    "Occupancy",
    "Solution",
    "Status",
    "Variant",
    "Variants",
    "catalogue",
    "find_machine",
    "machine",
    "occupancy",
    "short_name",
    "variant_of",
]
