"""Words that learners' code writes itself: a forged answer is worth no more than any other value."""

import pickle
import time

import numpy as np
import psutil
import pytest
from sandbox_cases import contained, lost

from course_pkg.grading.sandbox import SandboxLost

# ------------------------------------------------------------------------------------------------------- forged words

PIPE = """
import json, os, struct, fcntl
def pipes():
    for fd in range(3, 256):
        try: mode = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE
        except OSError: continue
        if mode == os.O_WRONLY: return fd
def say(text, data=b"", mark=b"CRS1", most=None):
    fd, frame = pipes(), struct.pack(">4sIQ", mark, len(text), len(data) if most is None else most) + text + data
    while frame: frame = frame[os.write(fd, frame):]
"""


def test_a_forged_answer_is_a_value_like_any_other_and_loses_the_sandbox():
    source = PIPE + (
        "def f():\n"
        '    reply = [["id", 2], ["value", 42], ["args", {"list": []}], ["output", ""]]\n'
        '    say(json.dumps([[], {"dict": reply}]).encode())\n'
        "    return 1"
    )
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.call("f") == (42, [])  # as if the function had returned it; the judge compares
        with pytest.raises(SandboxLost, match="not a result"):
            sandbox.names()


@pytest.mark.parametrize(
    "said",
    [
        "os.write(pipes(), b'garbage' * 100)",
        "say(b'', most=1 << 62)",
        "say(b'[[],null]')",
        "say(b'[' * 100_000)",
        "say(b'[[],{\"object\":1}]')",
        "say(b'[[4],{\"array\":0}]', b'abcd')",
        "say(json.dumps([[], {'dict': [['id', 1], ['error', 5]]}]).encode()[:-1])",
        f"say(b'[[{len(pickle.dumps(print))}],{{\"array\":0}}]', {pickle.dumps(print)!r})",
    ],
)
def test_garbage_loses_the_sandbox(said):
    with contained() as sandbox:
        assert lost(sandbox, PIPE + said).startswith("your code sent something that is not a result")


def test_a_word_that_never_ends_is_too_late():
    with contained(call_s=1) as sandbox:
        reason = lost(sandbox, PIPE + "import time\nos.write(pipes(), b'C')\ntime.sleep(60)")
    assert reason.endswith("is there an endless loop?")


def test_closing_the_pipe():
    with contained() as sandbox:
        reason = lost(sandbox, "import os\nos.closerange(3, 256)")
    assert reason == "your code ended the Python process that runs it: leave out os._exit and similar calls"


def test_a_worker_that_does_not_listen_is_too_late():
    source = """
import os, signal, time
def same(x): return x
pid = os.getpid()
if os.fork() == 0:
    time.sleep(3)  # the answer to the request is long there
    os.kill(pid, signal.SIGSTOP)
    os._exit(0)
"""

    def stopped():
        family = psutil.Process().children(recursive=True)
        return any(process.status() == psutil.STATUS_STOPPED for process in family)

    with contained(call_s=1) as sandbox:
        sandbox.run(source, "cell")
        end = time.monotonic() + 60
        while not stopped() and time.monotonic() < end:
            time.sleep(0.05)
        with pytest.raises(SandboxLost, match="did not come back within 1 s"):
            sandbox.call("same", (np.zeros(10**6),))
