"""Find and remove the processes and folders that untrusted code leaves behind, even if it hides them."""

import contextlib
import ctypes
import itertools
import os
import secrets
import sys
import tempfile
from pathlib import Path

import psutil

MARK = "SANDBOX_OF"  # its value begins with the pid of the process that made the sandbox
FOLDER = "course-grading-"  # followed by the number of the process that made the folder
BECOME_SUBREAPER = 36
_adopts = False
sandboxes: set[int] = set()  # first pid of each sandbox of this process that has not ended


def marked(mark: str) -> list:
    """Return this user's processes that have an environment variable ``MARK`` whose value begins with ``mark``."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK, "").startswith(mark):
                found.append(process)
    return found


def adopt() -> None:
    """Let the kernel make this process the parent of processes that its children leave behind; see :func:`adopted`."""
    global _adopts
    if sys.platform.startswith("linux"):
        _adopts = ctypes.CDLL(None).prctl(BECOME_SUBREAPER, 1, 0, 0, 0) == 0


def adopter() -> int:
    """Return the pid of this process if it adopts the processes that its children leave behind, else 0."""
    return os.getpid() if _adopts else 0


def adopted(known=()) -> list:
    """Return all descendants of this process except the known children and theirs; empty before :func:`adopt`."""
    if not _adopts:
        return []
    with contextlib.suppress(psutil.Error):
        strange = [one for one in psutil.Process().children() if one.pid not in known]
        return [*strange, *(below for one in strange for below in one.children(recursive=True))]
    return []


def remove(folder) -> None:
    """Remove a folder of any depth: the content of each subfolder is moved up, level by level."""
    names = map((secrets.token_hex(8) + "-{}").format, itertools.count())
    with contextlib.suppress(OSError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            while inner := _emptied(top):
                for name in inner:
                    _lift(top, name, names)
        finally:
            os.close(top)
        os.rmdir(folder)


def _emptied(place: int) -> list[str]:
    """Remove the files of an open folder; return the names of its folders."""
    inner = []
    with os.scandir(place) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=place)
    return inner


def _lift(top: int, name: str, names) -> None:
    """Remove a folder and its files, after moving its subfolders up into the top folder."""
    os.chmod(name, 0o700, dir_fd=top)
    place = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for inner in _emptied(place):
            os.chmod(inner, 0o700, dir_fd=place)  # a folder that is moved must be writable
            os.rename(inner, next(names), src_dir_fd=place, dst_dir_fd=top)
    finally:
        os.close(place)
    os.rmdir(name, dir_fd=top)


def folder_for(pid: int) -> str:
    """Make a folder for the sandbox of a process; :func:`sweep` removes it if the process was killed."""
    return tempfile.mkdtemp(prefix=f"{FOLDER}{pid}-")


def sweep(pid: int | None = None) -> None:
    """Remove the folder of a killed process, and kill the processes that still run there.

    If ``pid`` is None, do so for every process that has ended.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        owner = folder.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdigit() and (int(owner) == pid if pid is not None else not psutil.pid_exists(int(owner))):
            for process in marked(f"{owner}-"):
                with contextlib.suppress(psutil.Error):
                    process.kill()
            remove(folder)


def processes_now() -> int:
    """Count this user's processes and threads; without a user namespace, all of them count against the limit."""
    own, total = psutil.Process().username(), 0
    for process in psutil.process_iter(["username", "num_threads"]):
        if process.info["username"] == own:
            total += process.info["num_threads"] or 1
    return total
