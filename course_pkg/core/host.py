"""The machine that runs Python: its cores and its memory, as far as this process may use them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from course_pkg.core.errors import CourseError

MIB = 2**20
MEMORY = "COURSE_MEMORY_MIB"  # the environment variable that limits what measurements take
GROUPS = Path("/sys/fs/cgroup")
# names of the files: version 2 of control groups, which has one hierarchy, and version 1
VERSION_2 = ("memory.max", "memory.current", "inactive_file")
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def available_cores() -> int:
    """Return the number of cores that this process may run on.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows
        return os.cpu_count() or 1


def free_memory() -> int:
    """Return how many bytes of memory this process may still take.

    That is what the machine has free. In a container it is at most what the container's limit leaves. It is at most
    ``COURSE_MEMORY_MIB`` MiB if this environment variable is set: then measurements take smaller arrays.

    Raises
    ------
    CourseError
        If ``COURSE_MEMORY_MIB`` is no positive number.

    Examples
    --------
    >>> free_memory() > 2**20
    True
    """
    import psutil  # the interpreter's launches, which ask for the cores, do not need it

    return min(psutil.virtual_memory().available, *_left_by_groups(), *_allowed())


def _allowed() -> Iterator[int]:
    """Yield what ``COURSE_MEMORY_MIB`` allows, in bytes, if it is set."""
    text = os.environ.get(MEMORY, "")
    if text:
        if not text.isdecimal() or not int(text):
            raise CourseError(
                f"{MEMORY} is {text!r}: set it to how many MiB of memory measurements may take, such as 2048, or "
                "unset it."
            )
        yield int(text) * MIB


def _left_by_groups() -> Iterator[int]:
    """Yield how many bytes the limit of each of this process's control groups leaves."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                yield from _left_in(GROUPS, path, VERSION_2)
            elif "memory" in controllers.split(","):
                yield from _left_in(GROUPS / "memory", path, VERSION_1)


def _left_in(root: Path, path: str, names: tuple) -> Iterator[int]:
    limit, used, cache = names
    group = Path(root, path.lstrip("/"))
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            return
        with suppress(OSError, ValueError):  # no such file: the root; "max": no limit
            most = int((folder / limit).read_text())
            pairs = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
            held = {name: int(number) for name, number in pairs}
            # what the group holds of files can be freed at once
            yield max(0, most - int((folder / used).read_text()) + held.get(cache, 0))
