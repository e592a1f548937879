"""The warm parent, from which the judge's children start: what they share, and how it ends."""

import contextlib
import os
import signal
import tempfile
import threading
import time

import nbformat
import psutil
import pytest
import submissions as s
from test_grading_alone import graded

from course_pkg.grading import leftovers, warm

# ---- the warm parent


def test_children_share_nothing_that_one_of_them_changed():
    """Two submissions after each other: the first one's kernel module and names are gone."""
    first = graded(nbformat.writes(s.submission({"triad": "import numpy\nSPOILT = 1"})).encode())
    assert first.points < 20
    assert graded(nbformat.writes(s.solved()).encode()).points == 20


@pytest.mark.bare
def test_stopping_ends_children_at_once_and_tells_who_waits():
    nb = s.submission({"gain": "import time\ntime.sleep(600)\ndef remaining_gain(a, b, share): return 1"})
    found = []

    def ask():
        try:
            graded(nbformat.writes(nb).encode())
        except warm.Gone as error:
            found.append(error)

    graded(b"{}", given=True)  # the warm parent is there, and its trial of bubblewrap is no child any more
    waiting = threading.Thread(target=ask)
    waiting.start()
    zygote = _wait_for(lambda: warm.parent()._process)
    child = _wait_for(lambda: psutil.Process(zygote.pid).children())[0]
    _wait_for(lambda: child.children())  # its sandbox
    family = [psutil.Process(zygote.pid), *psutil.Process(zygote.pid).children(recursive=True)]
    begin = time.monotonic()
    warm.parent().stop()
    waiting.join(60)
    assert time.monotonic() - begin < 60 and len(found) == 1, "it does not wait for what sleeps for 600 s"
    assert psutil.wait_procs(family, 60)[1] == []


def test_a_warm_parent_that_does_not_listen_is_ended_with_all_it_began(tmp_path, monkeypatch):
    """It may be importing the judge for a long time; nobody waits for that after Ctrl-C."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = warm.WarmParent()

    def ask():
        with contextlib.suppress(warm.Gone):
            own.ask({"do": "read"}, b"{}", 60.0)

    asking = threading.Thread(target=ask)
    asking.start()
    process = _wait_for(lambda: own._process)
    process.send_signal(signal.SIGSTOP)
    (tmp_path / f"{leftovers.FOLDER}{process.pid}-x" / "deep").mkdir(parents=True)
    begin = time.monotonic()
    own.stop()
    assert time.monotonic() - begin < 60, "it does not wait for what has stopped"
    asking.join(60)
    assert not asking.is_alive() and process.poll() is not None
    assert list(tmp_path.iterdir()) == []


def _wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it never came")


@pytest.mark.bare
def test_a_warm_parent_that_was_killed_is_replaced():
    assert graded(b"{}", given=True).notes
    os.kill(warm.parent()._process.pid, signal.SIGKILL)
    warm.parent()._process.wait()
    assert graded(b"{}", given=True).notes == [
        "The file is JSON, but not a notebook: hand in the .ipynb file."
    ]
