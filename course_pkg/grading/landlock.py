"""Landlock, a part of Linux: a process gives up access to all files but some, for itself and for what it starts.

Where bubblewrap is missing, the worker calls :func:`confine` before it reads any of the learner's code: without it
that code could write a mark into the gradebook or read the solution. It hides less than bubblewrap does (other
processes are seen, and a repository that lies inside of Python's own folder is readable), so a grade still says that
it ran without isolation.

Source: https://docs.kernel.org/userspace-api/landlock.html. Loaded by its path, without the course.
"""

import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every processor
VERSION, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS = (0, 13, 14, 15, 15, 16)  # how many rights on files each version of Landlock knows
CAPABILITIES = 0x20080522  # the version of the kernel's interface to them
READ_ALL_FILES = 1 << 2  # Landlock says which
TCP, OTHERS = 3, 3  # both rights on TCP; signals and abstract sockets that leave the process


def version() -> int:
    """Return the version of Landlock that this kernel offers; 0 without any."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return max(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION), 0)
    except (OSError, AttributeError):
        return 0


def confine(readable: list, writable: list) -> bool:
    """Give up every file that is not beneath these paths, and where the kernel can, TCP and other processes.

    Root also gives up all that root may do besides: to boot the machine, set its clock, go before other processes.

    Parameters
    ----------
    readable : list of str
        Files and folders to read and to execute. What does not exist is left out.
    writable : list of str
        Files and folders to write as well.

    Returns
    -------
    bool
        Whether the wall stands; False where the kernel has none.

    Raises
    ------
    OSError
        If the kernel offers Landlock and refuses it.
    """
    known = version()
    if not known:
        return False
    everything = (1 << RIGHTS[min(known, len(RIGHTS) - 1)]) - 1
    attribute = struct.pack("=Q", everything)
    attribute += struct.pack("=Q", TCP) if known >= 4 else b""
    attribute += struct.pack("=Q", OTHERS) if known >= 6 else b""
    rules = _call(CREATE_RULESET, attribute, ctypes.c_size_t(len(attribute)), 0)
    try:
        for paths, rights in ((readable, READ), (writable, everything)):
            for path in paths:
                _allow(rules, path, rights & everything)
        if ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError("prctl refused to give up new privileges")
        _call(RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    if os.geteuid() == 0:
        _drop_capabilities()
    return True


def _drop_capabilities() -> None:
    """Keep what root needs to read files that are another user's; no program that is started gets more back."""
    library = ctypes.CDLL(None, use_errno=True)
    kept = struct.pack("=6I", READ_ALL_FILES, READ_ALL_FILES, 0, 0, 0, 0)
    if library.capset(struct.pack("=Ii", CAPABILITIES, 0), kept):
        raise OSError(ctypes.get_errno(), "capset refused to give up what root may do")


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule for a path; links are followed."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights &= -1 if os.path.isdir(path) else OF_FILES
        _call(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments) -> int:
    """Make a system call; raise what it returns as an error."""
    library = ctypes.CDLL(None, use_errno=True)
    result = library.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
