"""Landlock, a feature of Linux: a process gives up access to most files, for itself and for all that it starts.

If bubblewrap is missing, the worker calls :func:`confine` before it reads any of the learner's code. Otherwise that
code could write a mark into the gradebook or read the solution. If root grades, the worker then becomes another user
by :func:`give_up_root`. Landlock can forbid only TCP sockets. So :func:`refuse_calls` forbids all sockets, by the
filter that bubblewrap would have set. Landlock hides less than bubblewrap: other processes are visible, and a
repository inside Python's own folder is readable. So the report still says that the submission was graded without
isolation.

Source: https://docs.kernel.org/userspace-api/landlock.html. The worker loads this file by its path, without the course.
"""

import ctypes
import os
import struct
import sys

# numbers of system calls, the same on every processor
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << bit for bit in range(4))
TRUNCATE, IOCTL_DEVICE = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS = (0, 13, 14, 15, 15, 16)  # number of rights on files in each version of Landlock
CAPABILITIES = 0x20080522  # version of the kernel's interface to capabilities
READ_ALL_FILES = 2  # number of the capability to read files of any user; Landlock still decides which
KEEP_CAPABILITIES, AMBIENT, RAISE = 8, 47, 2
SECCOMP, BY_FILTER, BYTES_OF_AN_INSTRUCTION = 22, 2, 8
TCP, OTHERS = 3, 3  # bits: bind and connect by TCP; signal other processes, use their abstract sockets


def version() -> int:
    """Return the version of Landlock that this kernel offers; 0 if it offers none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return max(ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION), 0)
    except (OSError, AttributeError):
        return 0


def confine(readable: list, writable: list) -> bool:
    """Give up access to all files outside these paths and, if the kernel can do that, to TCP and other processes.

    Parameters
    ----------
    readable : list of str
        Files and folders that may be read and executed. Those that do not exist are ignored.
    writable : list of str
        Files and folders that may also be written.

    Returns
    -------
    bool
        True if the process is confined; False if the kernel does not offer Landlock.

    Raises
    ------
    OSError
        If the kernel offers Landlock, but the call fails.
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
    return True


def give_up_root(uid: int, folder: str) -> bool:
    """Become another user, who keeps one of root's rights: to read every file that Landlock allows.

    The programs that this process starts keep this right, too. All other rights of root are given up. The kernel's
    limit on the number of processes applies to the new user; it would not apply to root.

    Parameters
    ----------
    uid : int
        A number that no other process has as its user.
    folder : str
        A folder that is to belong to this user.

    Returns
    -------
    bool
        False if this system has no such user, as in a container that the machine's root did not start. Then the
        process keeps its user and gives up only the rights.

    Raises
    ------
    OSError
        If the kernel refuses to take the rights away.
    """
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    try:
        os.chown(folder, uid, uid)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        os.chown(folder, 0, -1)
        uid = 0
    kept = 1 << READ_ALL_FILES
    rights = struct.pack("=6I", kept, kept, kept if uid else 0, 0, 0, 0)
    if library.capset(struct.pack("=Ii", CAPABILITIES, 0), rights):
        raise OSError(ctypes.get_errno(), "capset refused to give up what root may do")
    if uid:
        library.prctl(AMBIENT, RAISE, READ_ALL_FILES, 0, 0)
    return bool(uid)


def refuse_calls(program: bytes) -> None:
    """Refuse system calls from now on, for this process and for all that it starts.

    Parameters
    ----------
    program : bytes
        A filter of :mod:`course_pkg.grading.seccomp`. An empty one refuses nothing.

    Raises
    ------
    OSError
        If the kernel does not accept it.
    """
    if not program:
        return
    library = ctypes.CDLL(None, use_errno=True)
    held = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("@HP", len(program) // BYTES_OF_AN_INSTRUCTION, ctypes.addressof(held))
    if library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or library.prctl(
        SECCOMP, BY_FILTER, ctypes.c_char_p(described), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "prctl refused the filter of system calls")


def _allow(rules: int, path: str, rights: int) -> None:
    """Add a rule that gives rights on a path; links are followed."""
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
    """Make a system call; raise an OSError if it fails."""
    library = ctypes.CDLL(None, use_errno=True)
    result = library.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
