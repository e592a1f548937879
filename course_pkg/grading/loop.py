"""The event loop of a sandbox, for ``await`` outside functions of a cell; the worker loads this file by its path.

asyncio wakes its event loop through a pair of sockets, which a filter forbids in the sandbox. This loop uses a pipe.
"""

import asyncio
import os


class _End:
    """One end of a pipe, with the methods of a socket that asyncio calls."""

    def __init__(self, fd: int):
        self.fd = fd
        os.set_blocking(fd, False)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self.fd

    def recv(self, size: int) -> bytes:
        """Read the bytes that have arrived."""
        return os.read(self.fd, size)

    def send(self, data: bytes) -> int:
        """Write bytes without waiting."""
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
    """Return a loop that all cells use, as in a notebook."""
    loop = _Loop()
    asyncio.set_event_loop(loop)
    return loop
