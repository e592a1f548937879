"""All cases by name. The kernels are imported when they are asked for: they need the door to CUDA."""

import importlib
from collections.abc import Iterable
from functools import cache

from course_pkg.core import CourseError
from course_pkg.witness.case import Case

ROOMS = (
    "kernels_global",
    "kernels_blocks",
    "kernels_flow",
    "kernels_branches",
    "kernels_loops",
    "kernels_reuse",
    "kernels_shared",
    "kernels_banks",
    "kernels_together",
    "kernels_arithmetic",
    "kernels_constants",
    "kernels_of_vector",
    "kernels_of_stencil",
    "kernels_of_cg",
)


@cache
def all_cases() -> dict[str, Case]:
    """Return every correct case by name, in the order of the rooms.

    Raises
    ------
    CourseError
        If two rooms use one name.
    """
    return _collect((room, "cases") for room in ROOMS)


@cache
def racy_cases() -> dict[str, Case]:
    """Return the racy cases by name; ``case.hazard`` says what is wrong with each."""
    return _collect([("kernels_racy", "racy")])


@cache
def mended_cases() -> dict[str, Case]:
    """Return the mended twins of the racy cases, under the same names followed by ``_mended``."""
    return _collect([("kernels_racy", "mended")])


@cache
def large_cases() -> dict[str, Case]:
    """Return launches on grids that no cache holds, by name; ``case.cost`` says what must move."""
    return _collect([("kernels_large", "cases")])


def choose(names: Iterable[str]) -> list[Case]:
    """Return the cases with these names, of any kind; all correct ones that are not large when no name is given.

    Raises
    ------
    CourseError
        If a name is unknown; it lists the nearest ones.
    """
    names = list(names)
    if not names:
        return list(all_cases().values())
    known = {**all_cases(), **racy_cases(), **mended_cases(), **large_cases()}
    for name in names:
        if name not in known:
            first = name.split("_")[0]
            near = [other for other in known if other.startswith(first)] or list(known)
            raise CourseError(f"No case is called {name!r}: choose from {', '.join(near)}.")
    return [known[name] for name in names]


def _collect(rooms) -> dict[str, Case]:
    found = {}
    for room, attribute in rooms:
        for case in getattr(importlib.import_module(f"course_pkg.witness.{room}"), attribute):
            if case.name in found:
                raise CourseError(f"Two cases are called {case.name!r}: rename the one in {room}.py.")
            found[case.name] = case
    return found
