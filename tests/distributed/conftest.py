"""Every rank of these tests has one thread: threads of many ranks that wait for a core would take most of the time."""

import numba
import pytest

from course_pkg.distributed.serial import SerialRank


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Give this thread, and that of each rank in this process, one thread of Numba's."""
    before, made = numba.get_num_threads(), SerialRank.__init__

    def init(self, *arguments):
        numba.set_num_threads(1)  # it holds for the calling thread, and a rank is made in its own
        made(self, *arguments)

    monkeypatch.setattr(SerialRank, "__init__", init)
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)
