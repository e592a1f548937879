"""The event loop of a sandbox, for ``await`` at the left margin of a cell; loaded there by its path.

A filter refuses sockets in the sandbox, and asyncio wakes its loop by a pair of them: this one does so by a pipe.
"""

import asyncio
import os


class _End:
    """One end of a pipe, with what asyncio asks of a socket."""

    def __init__(self, fd: int):
        self.fd = fd
        os.set_blocking(fd, False)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self.fd

    def recv(self, size: int) -> bytes:
        """Read what is there."""
        return os.read(self.fd, size)

    def send(self, data: bytes) -> int:
        """Write without waiting."""
        return os.write(self.fd, data)

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)


class _Loop(asyncio.SelectorEventLoop):
    def _make_self_pipe(self):
        self._ssock, self._csock = map(_End, os.pipe())
        self._internal_fds += 1
        self._add_reader(self._ssock.fileno(), self._read_from_self)


def make() -> asyncio.AbstractEventLoop:
    """Return a loop that stays the same for all cells, as a notebook's does."""
    loop = _Loop()
    asyncio.set_event_loop(loop)
    return loop
