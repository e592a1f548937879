"""The sandbox refuses system calls that bubblewrap alone would allow: unowned memory, sockets, namespaces."""

import errno
import os
import socket
import time

import pytest
from sandbox_cases import contained, need_filter, raised

from course_pkg.grading import seccomp
from course_pkg.grading.sandbox import LearnerError, SandboxLost
from course_pkg.grading.terms import Loss

ROUTES = {  # ways to memory that is no process's own
    "shared mapping": "import mmap\nkept = []\nfor _ in range(30):\n    m = mmap.mmap(-1, 50 << 20)\n"
    "    m.write(bytes(50 << 20))\n    kept.append(m)",
    "forgotten pages": "import mmap\nkept = []\nfor _ in range(30):\n    m = mmap.mmap(-1, 50 << 20)\n"
    "    m.write(bytes(50 << 20))\n    m.madvise(mmap.MADV_DONTNEED)\n    kept.append(m)",
    "memfd": "import os\nfor _ in range(30):\n    fd = os.memfd_create('x')\n"
    "    for _ in range(5): os.write(fd, bytes(10 << 20))",
    "System V": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nkept = []\nfor _ in range(30):\n"
    "    number = libc.shmget(0, 50 << 20, 0o1600)\n    if number < 0: raise OSError(ctypes.get_errno())\n"
    "    libc.shmat.restype = ctypes.c_void_p\n    ctypes.memset(libc.shmat(number, None, 0), 1, 50 << 20)",
    "buffers of sockets": "import socket\nkept = []\nwhile True:\n    kept.append(socket.socketpair())\n"
    "    kept[-1][0].setblocking(False)\n    kept[-1][0].send(bytes(100_000))",
}


@pytest.mark.parametrize("route", ROUTES)
def test_memory_that_is_no_processs_own_is_not_to_be_had(route):
    need_filter()
    with contained(memory_bytes=1 << 30) as sandbox:
        assert raised(sandbox, ROUTES[route]).kind in ("PermissionError", "OSError")


@pytest.mark.parametrize("route", ["shared mapping", "forgotten pages", "memfd"])
def test_without_a_filter_such_memory_is_counted(route, monkeypatch):
    monkeypatch.setattr(seccomp, "program", lambda: b"")
    source = ROUTES[route] + "\nimport time\ntime.sleep(60)"
    with contained(memory_bytes=600 << 20) as sandbox:
        assert sandbox.note.startswith("libseccomp is missing")
        try:
            sandbox.run(source, "cell")
        except SandboxLost as error:
            assert error.reason == "your code took more than 600 MiB of memory"
        except LearnerError as error:  # the kernel was quicker than the watch: no more address space
            assert error.kind in ("MemoryError", "OSError")
        else:
            pytest.fail("nothing stopped it")


def test_memory_taken_behind_the_judges_back_is_noticed():
    """Between two requests nobody waits for the sandbox; it is watched all the same."""
    source = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        time.sleep(3)  # the answer to the request is long there
        x = bytearray(os.urandom(1 << 20)) * 200
        time.sleep(600)
"""
    with contained(memory_bytes=600 << 20) as sandbox:
        sandbox.run(source, "cell")
        end = time.monotonic() + 60
        while not sandbox._channel.watch.loss and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.raises(SandboxLost, match=r"^your code took more than 600 MiB of memory$"):
            sandbox.names()


def test_an_answer_that_is_quicker_than_the_end_of_its_process_does_not_count():
    with contained() as sandbox:
        sandbox.run("x = 1", "cell")
        sandbox._channel.watch.loss = Loss("your code took too much")  # its processes have not ended yet
        with pytest.raises(SandboxLost, match=r"^your code took too much$"):
            sandbox.names()


def test_pages_that_forked_processes_share_count_once():
    source = """
import os, time
x = bytearray(os.urandom(1 << 20)) * 200
if os.fork() and os.fork() and os.fork() and os.fork(): time.sleep(1)
else: time.sleep(600)
"""
    with contained(memory_bytes=600 << 20) as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.names() >= {"x"}


FAMILIES = [n for n in dir(socket) if n.startswith("AF_")]


@pytest.mark.parametrize("call", ["socket.socket({}, t)", "socket.socketpair({}, t)"])
def test_sockets_of_no_family(call):
    need_filter()
    source = f"""
import socket
made = []
for family in range(64):
    for t in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            {call.format("family")}
            made.append(family)
        except PermissionError:
            pass
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("made") == []
    assert max(getattr(socket, n) for n in FAMILIES) < 64


CALLS = {
    "unshare": "libc.unshare({})",
    "clone": "libc.syscall(56, {} | 17, 0, 0, 0, 0)",
    "setns": "libc.setns(0, {})",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls are this machine's")
@pytest.mark.parametrize("call", CALLS)
def test_no_new_namespaces_for_root_either(call):
    need_filter()
    source = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
found = set()
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000):
    if {CALLS[call].format("flag")} == 0 and {call!r} == "clone": os._exit(9)
    found.add(ctypes.get_errno())
found = sorted(found)
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("found") == [errno.EPERM]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls are this machine's")
def test_large_parts_of_the_kernel_are_closed():
    numbers = {"ptrace": 101, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250,
               "io_uring_setup": 425, "mount": 165, "process_vm_readv": 310, "memfd_secret": 447}  # fmt: skip
    need_filter()
    source = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = {{}}
for name, number in {numbers!r}.items():
    libc.syscall(number, 0, 0, 0, 0, 0)
    found[name] = ctypes.get_errno()
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("found") == dict.fromkeys(numbers, errno.EPERM)


def test_threads_processes_and_pipes_still_work():
    source = """
import os, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool: both = list(pool.map(abs, (-1, -2)))
said = subprocess.run([sys.executable, "-S", "-c", "print(3)"], capture_output=True).stdout.decode()
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert (sandbox.get("both"), sandbox.get("said")) == ([1, 2], "3\n")


CHANNELS = {  # what one sandbox does to files that another one sees as well
    "a lock of a file": "import fcntl\nfcntl.flock(open(os.__file__), fcntl.LOCK_SH)",
    "a lock of a process": "import fcntl, struct\nlock = struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 123, 1, 0)\n"
    "fcntl.fcntl(open(os.__file__), fcntl.F_SETLK, lock)",
    "whose lock it is": "import fcntl, struct\nlock = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)\n"
    "fcntl.fcntl(open(os.__file__), fcntl.F_GETLK, lock)",
    "a watch": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if libc.inotify_init1(0) < 0: raise OSError(ctypes.get_errno(), 'no')",
    "pages that are in memory": "os.preadv(os.open(os.__file__, os.O_RDONLY), [bytearray(9)], 0, os.RWF_NOWAIT)",
    "pages that are no longer": "os.posix_fadvise(os.open(os.__file__, os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)",
    "the times of a device": "os.utime('/dev/null')\n"
    "if os.stat('/dev/null').st_mtime < time.time() - 60: raise OSError",
    "what is free": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if libc.sysinfo(ctypes.create_string_buffer(200)) < 0: raise OSError(ctypes.get_errno(), 'no')",
}


@pytest.mark.parametrize("channel", CHANNELS)
def test_files_that_sandboxes_share_carry_no_numbers_between_them(channel):
    need_filter()
    with contained() as sandbox:
        assert raised(sandbox, f"import os, time\n{CHANNELS[channel]}").kind in ("PermissionError", "OSError")


def test_files_are_read_and_devices_written_all_the_same():
    source = """
import os, shutil, subprocess, sys
with open("kept", "wb") as file:
    file.write(b"kept")
shutil.copy2("kept", "copied")
with open(os.devnull, "w") as nowhere:
    print("gone", file=nowhere)
done = subprocess.run(["/usr/bin/cat", "copied"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout == b"kept"
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("done")
