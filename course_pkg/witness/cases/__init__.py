"""All cases by name: the cases of this folder, which test one counting rule each, and those of the topics' kernels.

There is no list of cases. They are collected from the names ``cases``, ``large``, ``racy`` and ``fixed`` in the modules
of this folder and in the topics' ``cases.py`` and ``traffic.py``. Kernels are imported only on request: they import
``course_pkg.cuda``.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from course_pkg.core import CourseError
from course_pkg.device.case import Case
from course_pkg.topics import with_module


@cache
def all_cases() -> dict[str, Case]:
    """Return every correct case by name, in the order of the modules.

    Raises
    ------
    CourseError
        If two modules use one name.
    """
    return _collect("cases")


@cache
def racy_cases() -> dict[str, Case]:
    """Return the racy cases by name; ``case.hazard`` says what is wrong with each."""
    return _collect("racy")


@cache
def fixed_cases() -> dict[str, Case]:
    """Return the corrected copies of the racy cases, under the same names followed by ``_fixed``."""
    return _collect("fixed")


@cache
def large_cases() -> dict[str, Case]:
    """Return launches on grids larger than any cache, by name; ``case.cost`` gives the bytes that must move.

    Examples
    --------
    >>> large_cases()["cg_search_250"].cost.bytes > 60e6
    True
    """
    return _collect("large")


def topic_of(case: Case) -> str:
    """Return the package with a case's kernel: a topic, or ``"witness"``.

    Examples
    --------
    >>> topic_of(large_cases()["cg_search_250"])
    'cg'
    """
    return case.kernel.py_func.__module__.split(".")[1]


def choose(names: Iterable[str], among: dict[str, Case] | None = None) -> list[Case]:
    """Return the cases with these names, of any kind. Without names, return all correct cases that are not large.

    Parameters
    ----------
    among : dict of Case
        If no case has a given name, it stands for the cases in ``among`` whose names begin with it: ``laplacian_flat``
        stands for ``laplacian_flat_512`` and ``laplacian_flat_1024``. By default, these are the correct cases that are
        not large.

    Raises
    ------
    CourseError
        If a name is unknown; it lists the nearest ones.
    """
    names = list(names)
    if not names:
        return list(all_cases().values())
    known = {**all_cases(), **racy_cases(), **fixed_cases(), **large_cases()}
    return [
        known[found]
        for name in names
        for found in _meant(name, known, all_cases() if among is None else among)
    ]


def _meant(name: str, known: dict[str, Case], among: dict[str, Case]) -> list[str]:
    if name in known:
        return [name]
    longer = [other for other in among if other.startswith(f"{name}_")]
    if not longer:
        kin = [other for other in known if other.startswith(name.split("_")[0])]
        near = difflib.get_close_matches(name, kin or known, n=8, cutoff=0.0 if kin else 0.5)
        hint = f"choose from {', '.join(near)}, or " if near else ""
        raise CourseError(
            f"No case is called {name!r}: {hint}run `course verify counters --list` or `traffic --list`."
        )
    return longer


def _collect(kind: str) -> dict[str, Case]:
    found = {}
    for module in _modules():
        for case in getattr(importlib.import_module(module), kind, ()):
            if case.name in found:
                raise CourseError(f"Two cases are called {case.name!r}: rename the one in {module}.")
            found[case.name] = case
    return found


def _modules() -> list[str]:
    """Return the modules that hold cases: the witness' own, then each topic's ``cases.py`` and ``traffic.py``."""
    own = sorted(f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    return own + [
        f"course_pkg.{t}.{module}"
        for module in ("cases", "traffic")
        for t in with_module(module)
        if t != "witness"
    ]
