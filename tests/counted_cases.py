"""What the interpreter counts of a topic's cases, each launched once."""

from functools import cache
from importlib import import_module

from course_pkg import simt


@cache
def profile(topic, name):
    """Return the profile of the case ``name`` in a topic's ``cases.py``."""
    case = next(c for c in import_module(f"course_pkg.{topic}.cases").cases if c.name == name)
    return simt.profile(case.configured, *case.args())


def moved(found):
    """Return the bytes of global memory that a launch reads and writes, each element once."""
    counts = found.by_array.values()
    return sum(c.global_load.unique_bytes for c in counts), sum(c.global_store.unique_bytes for c in counts)
