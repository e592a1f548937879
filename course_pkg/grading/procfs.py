"""Read from ``/proc`` how much time and memory the processes of a sandbox use, and whether one waits for a core."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass

import psutil

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
# the process runs or waits for a core; state D does not count: a parent has it while its vforked child sleeps
RUNNABLE = "R"
# memory that has no file on a disk and remains when it is unmapped: anonymous shared memory, memfd, System V
SHARED = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) ...s \S+ (\S+) (\d+)\s+(/dev/zero|/memfd:|/SYSV|/dev/shm/)", re.M
)


@dataclass
class Taken:
    """Number and processor time of a process and its descendants.

    Attributes
    ----------
    processes : int
        Number of processes and threads together.
    cpu_s : float
        Processor time of the living processes, and of ended child processes that they have waited for.
    busy : bool
        Whether one of them runs or waits for a core.
    """

    processes: int = 0
    cpu_s: float = 0.0
    busy: bool = False


def family(pid: int, adopts: int = 0, others=frozenset()) -> list[tuple[int, list[str]]]:
    """Return a process and its descendants, each with the fields of its ``stat`` file, beginning with the state.

    If a descendant's parent has ended, the kernel gives the descendant to the process ``adopts``, if that process has
    asked for this. So all children of ``adopts`` are returned, too, except ``others`` and their descendants.
    """
    table, below = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := _stat(f"/proc/{name}/stat")):
            table[int(name)] = fields
            below.setdefault(int(fields[1]), []).append(int(name))
    found, todo = [], list({pid, *(below.get(adopts, []) if adopts else [])} - set(others))
    while todo:
        one = todo.pop()
        if one in table:
            found.append((one, table[one]))
        todo += below.get(one, [])
    return found


def taken(members: list[tuple[int, list[str]]]) -> Taken:
    """Add up the time and the number of processes."""
    total = Taken()
    for pid, fields in members:
        threads = int(fields[17])
        total.processes += max(threads, 1)
        total.cpu_s += sum(int(n) for n in fields[11:15]) / TICKS
        total.busy = total.busy or fields[0] == RUNNABLE or (threads > 1 and _a_thread_runs(pid))
    return total


def memory_bytes(pids: list[int], enough: int) -> int:
    """Return the memory of processes. Each page counts once; shared memory counts whether it is mapped or not.

    A quick count comes first; it counts a page that forked processes share once for each of them. If the result exceeds
    `enough`, an exact count follows, which takes longer.
    """
    shared: dict[tuple, int] = {}
    private = 0
    for pid in pids:
        private += _private(pid)
        _shared(pid, shared)
    if private + sum(shared.values()) > enough:
        private = sum(_proportional(pid) for pid in pids)
    return private + sum(shared.values())


def portable(pid: int) -> tuple[Taken, int]:
    """Return what processes use on a system without ``/proc``: less exactly, and without shared memory."""
    total, memory = Taken(), 0
    try:
        first = psutil.Process(pid)
        members = [first, *first.children(recursive=True)]
    except psutil.Error:
        return total, memory
    for one in members:
        with suppress(psutil.Error):
            times = one.cpu_times()
            total.cpu_s += times.user + times.system
            total.processes += one.num_threads()
            total.busy = total.busy or one.status() == psutil.STATUS_RUNNING
            memory += one.memory_info().rss
    return total, memory


def _read(path: str) -> str:
    try:
        # ten times a second for each process: no decoder, no buffer
        with open(path, "rb", buffering=0) as file:
            return file.read().decode("utf-8", errors="replace")
    except OSError:  # the process has ended, or it belongs to another user
        return ""


def _stat(path: str) -> list[str]:
    return _read(path).rpartition(")")[2].split()


def _a_thread_runs(pid: int) -> bool:
    with suppress(OSError):
        return any(
            (_stat(f"/proc/{pid}/task/{tid}/stat") or "S")[0] == RUNNABLE
            for tid in os.listdir(f"/proc/{pid}/task")
        )
    return False


def _fields(text: str, *names: str) -> int:
    """Return the sum of some lines of a ``/proc`` table, in bytes."""
    return sum(int(n) << 10 for name, n in re.findall(r"^(\w+):\s+(\d+) kB", text, re.M) if name in names)


def _private(pid: int) -> int:
    return _fields(_read(f"/proc/{pid}/status"), "RssAnon", "VmSwap", "VmPTE")


def _proportional(pid: int) -> int:
    text = _read(f"/proc/{pid}/smaps_rollup")
    page_tables = _fields(_read(f"/proc/{pid}/status"), "VmPTE")
    return _fields(text, "Pss_Anon", "SwapPss") + page_tables if text else _private(pid)


def _shared(pid: int, found: dict[tuple, int]) -> None:
    """Enter the pieces of shared memory that a process maps or holds open, each with its size.

    A mapping counts with its whole length, because its pages stay in memory even if no process maps them any more.
    """
    sizes: dict[tuple, int] = {}
    for begin, end, device, inode, _ in SHARED.findall(_read(f"/proc/{pid}/maps")):
        key = device, inode
        sizes[key] = sizes.get(key, 0) + int(end, 16) - int(begin, 16)
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            with suppress(OSError):
                if os.readlink(path).startswith(("/memfd:", "/dev/shm/")):
                    about = os.stat(path)
                    key = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}", str(about.st_ino)
                    sizes[key] = max(sizes.get(key, 0), about.st_blocks * 512)
    for key, size in sizes.items():
        found[key] = max(found.get(key, 0), size)
