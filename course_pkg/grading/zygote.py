"""The warm parent: a process that imports the judge once and then forks one child for each request.

It is started by ``python -m course_pkg.grading.zygote``. Its standard input is a socket. Each message on it contains
two file descriptors: one connects the child with the process that asked, and to the other one this process writes how
the child ended. This process has one thread and reads nothing of a submission. When the other end of the socket is
closed, it ends all children and itself.
"""

import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from course_pkg.grading import bubblewrap, child, leftovers, seccomp, warm


def main() -> None:
    """Serve until the other end of the socket is closed."""
    control = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)
    bubblewrap.obstacle()  # its answer is cached, for all children
    seccomp.program()
    leftovers.sweep()
    leftovers.adopt()
    gc.collect()
    gc.freeze()  # a child's garbage collection then skips objects that it shares with this process, and copies none
    _Nursery(control).serve()


class _Nursery:
    """Forks children, waits for them, and reports how each ended."""

    def __init__(self, control: socket.socket):
        self.control, self.running = control, {}
        self.woken, waker = os.pipe()
        for fd in (self.woken, waker):
            os.set_blocking(fd, False)
        self.waker = waker
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker)

    def serve(self) -> None:
        """Fork one child per request; when the socket is closed, end all children."""
        while True:
            ready, _, _ = select.select([self.control, self.woken], [], [])
            if self.woken in ready:
                with suppress(BlockingIOError):
                    os.read(self.woken, 4096)
                self.reap()
            if self.control in ready:
                message, fds, _, _ = socket.recv_fds(self.control, 1, 2)
                if not message:
                    break
                self.fork(*fds)
        for pid in list(self.running):
            warm.end_family(pid)
            os.waitpid(pid, 0)
            leftovers.sweep(pid)

    def fork(self, line: int, status: int) -> None:
        """Start a child that talks on ``line``."""
        pid = os.fork()
        if pid == 0:
            self._be_child(line, status)
        os.close(line)
        self.running[pid] = status

    def _be_child(self, line: int, status: int) -> None:
        code = 70
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for fd in (self.woken, self.waker, status, *self.running.values()):
                os.close(fd)
            self.control.close()
            code = child.main(line)
        finally:
            os._exit(code)

    def reap(self) -> None:
        """Collect the exit codes of the children that have ended, and report them."""
        while self.running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            told = self.running.pop(pid, None)
            if told is None:
                continue
            code = os.waitstatus_to_exitcode(status)
            if code:
                leftovers.sweep(pid)  # a child that failed may not have cleaned up
                for process in leftovers.adopted(self.running):
                    warm.end_family(process.pid)
            with suppress(OSError):
                os.write(told, b"%d" % code)
            os.close(told)


if __name__ == "__main__":
    sys.exit(main())
