"""A child of the warm parent: it reads one submission and grades it, within limits of its own.

Only such a child unpacks and parses a submission. If it hangs, crashes or uses too much memory, this affects only its
own submission; :mod:`~.alone` describes what happens then. Each step (to read the submission, to run a test) has a
budget of processor time, which does not depend on what else the machine does. The kernel ends a process that exceeds
it.
"""

import ctypes
import json
import os
import signal
import socket
import sys
import time
from contextlib import contextmanager

import numpy as np

from course_pkg.core import CourseError
from course_pkg.grading import archive, bubblewrap, intake, judge, leftovers
from course_pkg.grading.sandbox import TooBusy

READ_CPU_S = 20.0
READ_BYTES = 768 << 20  # memory to read a submission, in addition to what the process already has
MEMORY_BYTES = 4 << 30  # memory of the process when it interprets kernels; the sandbox has less
PARENT_DEATH_SIGNAL = 1


def main(line: int) -> int:
    """Answer the one request that arrives through a socket."""
    parent = os.getppid()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        return 1
    leftovers.adopt()
    with socket.socket(fileno=line) as end, end.makefile("rb") as heard, end.makefile("wb") as told:

        def tell(**news) -> None:
            told.write(json.dumps(news).encode() + b"\n")
            told.flush()

        tell(pid=os.getpid())
        np.random.seed()  # the parent's state is the same for all children
        lengths = [int(n) for n in heard.readline().split()]
        request, data = json.loads(heard.read(lengths[0])), heard.read(lengths[1])
        try:
            _DO[request["do"]](request, data, tell, heard)
        except intake.Refused as error:
            tell(refused=str(error))
        except CourseError as error:
            tell(cannot=str(error))
        except TooBusy as error:
            tell(busy=str(error))
        except OutOfTime:
            tell(out_of_time=True)
    return 0


class OutOfTime(BaseException):
    """A submission has used all its time. No ``except Exception`` of a test catches it."""


def _grade(request: dict, data: bytes, tell, heard) -> None:
    """Find the exercise of a submission, ask for the exercise's cells, and grade."""
    tell(contained=not bubblewrap.obstacle())
    with _reading():
        unpacked, refusal = b"", None
        try:
            unpacked = archive.unpacked(data)
        except intake.Refused as error:
            refusal = error
        known = {name: {i.encode() for i in ids} for name, ids in request["exercises"].items()}
        exercise = next(iter(known)) if request["given"] else intake.belongs(unpacked, request["path"], known)
        tell(exercise=exercise)
        if refusal:
            raise refusal
        if exercise is None:
            raise intake.Refused(
                "It belongs to no exercise of the course: hand in the exercise's own notebook."
            )
        cells = json.loads(heard.readline())
        submitted = _plain(intake.parse(unpacked))
    del unpacked, data
    _limit(MEMORY_BYTES)
    part_s, left_s, endless = request["part_cpu_s"], request["left_s"], request["endless"]
    _budget(min(part_s, left_s))

    def hear(at=None, cell=None, sandbox_s=0.0) -> None:
        spent_s = time.process_time() + sandbox_s
        tell(spent_s=spent_s, endless=endless, **({"at": at} if at else {"cell": vars(cell)}))
        if spent_s > left_s:
            raise OutOfTime
        _budget(min(part_s, left_s - spent_s))

    report = judge.grade_cells(
        submitted,
        cells,
        exercise=exercise.rpartition(".")[0],
        seed=request["seed"],
        require_sandbox=request["require_sandbox"],
        skip=request["skip"],
        endless=endless,
        heard=hear,
    )
    tell(report=report.to_dict())


def _read(request: dict, data: bytes, tell, heard) -> None:
    """Return a notebook's cells."""
    with _reading():
        cells = _plain(intake.parse(archive.unpacked(data)))
    tell(cells=cells)


_DO = {"grade": _grade, "read": _read}


def _plain(notebook) -> list[dict]:
    """Return the cells with their texts and, of the metadata, only the ids by which answers are found."""
    cells = []
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader") or {}
        kept = {"nbgrader": {"grade_id": about["grade_id"]}} if about.get("grade_id") else {}
        cells.append({"cell_type": cell.cell_type, "metadata": kept, "source": cell.source})
    return cells


@contextmanager
def _reading():
    """Limit memory and time to read a submission: a small file can unpack to much data or to many JSON objects."""
    _limit(_data_bytes() + READ_BYTES)
    _budget(READ_CPU_S)
    try:
        yield
    except MemoryError:
        raise intake.Refused(
            f"It takes more than {READ_BYTES >> 20} MiB to read: hand in the exercise's own notebook, its outputs "
            "cleared."
        ) from None


def _budget(seconds: float) -> None:
    """Let the kernel end this process once it has used ``seconds`` more of processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit(data_bytes: int) -> None:
    """Limit the memory of this process: an allocation beyond the limit fails."""
    import resource

    for what, most in ((resource.RLIMIT_DATA, data_bytes), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, hard))


def _data_bytes() -> int:
    """Return how much memory this process has, counted as the limit counts it."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData:"))
    except (OSError, StopIteration):  # not on Linux
        return 1 << 30
