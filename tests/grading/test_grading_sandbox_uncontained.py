"""Without bubblewrap, the sandbox reports that, refuses to start if isolation is required, and keeps all limits."""

import os
import secrets
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sandbox_cases import alive, lost, need_filter, raised

from course_pkg.core.errors import CourseError
from course_pkg.grading import bubblewrap, landlock, seccomp
from course_pkg.grading.sandbox import Limits, Sandbox
from course_pkg.paths import repo_root

pytestmark = [pytest.mark.bare, pytest.mark.usefixtures("no_bubblewrap")]


def test_note():
    with Sandbox() as sandbox:
        assert sandbox.contained is False
        assert (
            sandbox.note
            == "This code ran without a sandbox, not isolated: bubblewrap is missing: install it."
        )


def test_refused_where_required():
    with pytest.raises(
        CourseError, match=r"^A sandbox is required, but it cannot be made here: bubblewrap is missing"
    ):
        Sandbox(require=True)


@pytest.mark.parametrize("value", ["true", "1", "True"])
def test_refused_on_ci(monkeypatch, value):
    monkeypatch.setenv("CI", value)
    with pytest.raises(CourseError, match="required"):
        Sandbox()


def test_values_and_kernels():
    with Sandbox() as sandbox:
        sandbox.run(
            "from course_pkg import cuda\n"
            "@cuda.jit\ndef twice(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] *= 2\n"
            "def run(a):\n    d = cuda.to_device(a)\n    twice[1, 32](d)\n    return d.copy_to_host()\n",
            "cell",
        )
        np.testing.assert_array_equal(sandbox.call("run", (np.arange(5.0),))[0], 2 * np.arange(5.0))
        assert raised(sandbox, "1 / 0").kind == "ZeroDivisionError"


def test_what_it_sees(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_TEACHER", "42")
    with Sandbox() as sandbox:
        sandbox.run(
            "import os, sys\nfound, path, here = dict(os.environ), list(sys.path), os.getcwd()", "cell"
        )
        assert set(sandbox.get("found")) == set(bubblewrap.environment("", "")), "the same as with bubblewrap"
        assert str(repo_root()) not in sandbox.get("path")
        here = sandbox.get("here")
        for module in ("course_pkg.vector.reference", "course_pkg.stencil", "course_pkg.grading.judge"):
            assert raised(sandbox, f"import {module}").kind == "ModuleNotFoundError"
    assert not os.path.exists(here)


def test_loop_that_ignores_signals():
    source = "import signal\nfor s in (1, 2, 15, 24): signal.signal(s, signal.SIG_IGN)\nwhile True: pass"
    with Sandbox(Limits(call_s=1)) as sandbox:
        assert (
            lost(sandbox, source)
            == "your code took more than 1 s of processor time: is there an endless loop?"
        )


def test_memory_file_and_output_are_limited():
    with Sandbox() as sandbox:
        assert raised(sandbox, "import numpy as np\nnp.ones(10**11)").kind == "MemoryError"
        assert "File too large" in raised(sandbox, "open('big', 'wb').write(bytes(64 << 20))").message
        sandbox.run("for _ in range(100): print('x' * 10**6)", "cell")
        assert len(sandbox.output) == 1 << 20


def test_os_exit():
    with Sandbox() as sandbox:
        assert lost(sandbox, "import os\nos._exit(0)").startswith("your code ended the Python process")


OUT = {  # ways out of the process that Landlock leaves open, or that lead to memory of no process
    "a packet": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "a neighbour": "socket.socket(socket.AF_UNIX)",
    "another machine": "socket.socket(40, socket.SOCK_STREAM)",
    "a pair": "socket.socketpair()",
    "memory of no process": "os.memfd_create('x')",
    "a shared mapping": "mmap.mmap(-1, 1 << 20)",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the filter is Linux's")
def test_the_filter_of_system_calls_holds_without_bubblewrap():
    need_filter()
    source = "import mmap, os, socket, subprocess, sys\nopen_ways = []\n" + "".join(
        f"try:\n    {call}\n    open_ways.append({way!r})\nexcept PermissionError:\n    pass\n"
        for way, call in OUT.items()
    )
    with Sandbox() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("open_ways") == []
        sandbox.run("subprocess.run([sys.executable, '-S', '-c', ''], check=True)", "cell")


def test_a_missing_filter_is_told_besides(monkeypatch):
    monkeypatch.setattr(seccomp, "program", lambda: b"")
    with Sandbox() as sandbox:
        sandbox.run("import socket\nmade = socket.socketpair() is not None", "cell")
        assert sandbox.get("made")
        assert sandbox.note.startswith("This code ran without a sandbox")
        assert sandbox.note.endswith("so system calls are not filtered: `pip install pyseccomp`.")


def test_fork_bomb_is_stopped():
    marker = secrets.token_hex(16)
    source = f"""
import os, subprocess, sys, time
while True:
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)", "{marker}"])
    time.sleep(0.01)
"""
    stopped = pytest.raises(CourseError, match=r"started 12 processes or more|unavailable")
    with Sandbox(Limits(processes=12)) as sandbox, stopped:
        sandbox.run(source, "cell")
    assert not alive(marker)


def test_left_behind_process_is_dead_afterwards():
    marker = secrets.token_hex(16)
    source = f"""
import os, subprocess, sys
heard, said = os.pipe()
if os.fork() == 0:
    os.setsid()
    command = [sys.executable, "-S", "-c", "import time; time.sleep(600)", "{marker}"]
    left = subprocess.Popen(command, start_new_session=True)
    os.write(said, b"lives" if left.poll() is None else b"has ended")
    os._exit(0)
os.wait()
left = os.read(heard, 100).decode()
"""
    with Sandbox() as sandbox:
        sandbox.run(source, "cell")
        assert sandbox.get("left") == "lives", "else this test shows nothing"
    assert not alive(marker)


@pytest.mark.skipif(os.geteuid() != 0 or not landlock.version(), reason="only root becomes another user")
def test_root_becomes_a_user_for_whom_the_limit_on_processes_holds():
    """The kernel exempts root from it, so a fork bomb would grow for as long as nobody looks."""
    source = """
import os, resource, subprocess, sys
ids, limit = sorted({*os.getresuid(), *os.getresgid(), *os.getgroups()}), resource.getrlimit(resource.RLIMIT_NPROC)
subprocess.run([sys.executable, "-S", "-c", "import os; os.kill(os.getppid(), 0); open('theirs', 'w')"], check=True)
theirs = os.stat("theirs").st_uid
"""
    with Sandbox(Limits(processes=20)) as sandbox, Sandbox() as other:
        for one in (sandbox, other):
            one.run(source, "cell")
        (mine,) = sandbox.get("ids")
        assert sandbox.get("theirs") == mine >= bubblewrap.FIRST_UID
        assert tuple(sandbox.get("limit")) == (20, 20)
        assert other.get("ids") != [mine]


LEFT_BEHIND = """
import os, time
if os.fork() == 0:
    os.setsid()
    for k in range(3):
        if os.fork() == 0:
            held = b"x" * (90 << 20)
            time.sleep(60)
            os._exit(0)
    os._exit(0)
os.wait()
time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a process adopt others")
def test_what_is_left_behind_counts_against_the_limits():
    """A child of the judge adopts these processes; so the test is one, too, and runs in a process of its own."""
    script = f"""
        from course_pkg.grading import bubblewrap, leftovers
        from course_pkg.grading.sandbox import Limits, Sandbox, SandboxLost
        bubblewrap.obstacle = lambda: "hidden"
        leftovers.adopt()
        with Sandbox(Limits(memory_bytes=200 << 20)) as sandbox:
            try:
                sandbox.run({LEFT_BEHIND!r}, "cell")
            except SandboxLost as lost:
                print(lost.reason)
        print(leftovers.adopted())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.splitlines() == ["your code took more than 200 MiB of memory", "[]"], done.stderr


TWO = """
from course_pkg.grading import leftovers
from course_pkg.grading.sandbox import Limits, Sandbox, SandboxLost
leftovers.adopt()
with Sandbox() as one, Sandbox(Limits(call_s=0.5)) as other:
    one.run("x = 1.5", "cell")
    try:
        other.run("while True: pass", "cell")
    except SandboxLost as lost:
        print(lost.reason)
    print(one.get("x"), leftovers.sandboxes == {one._channel.watch._pid})
print(leftovers.sandboxes)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a process adopt others")
def test_a_sandbox_that_ends_takes_no_other_one_of_its_judge_with_it():
    done = subprocess.run(
        [sys.executable, "-c", TWO], capture_output=True, text=True, timeout=300, check=False
    )
    lines = [
        "your code took more than 0.5 s of processor time: is there an endless loop?",
        "1.5 True",
        "set()",
    ]
    assert done.stdout.splitlines() == lines, done.stderr
