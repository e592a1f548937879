"""Attacks on the sandbox, each with the exact result that it must have."""

import gc
import os
import secrets
import time

import psutil
import pytest
from sandbox_cases import alive, contained, lost, need_bubblewrap, raised

from course_pkg.grading import leftovers, procfs
from course_pkg.grading.sandbox import LearnerError, SandboxLost

pytestmark = pytest.mark.slow(40)

LOOP = "your code took more than 1 s of processor time: is there an endless loop?"
ASLEEP = "your code did not come back within 1 s: is there an endless loop?"
ENDED = "your code ended the Python process that runs it: leave out os._exit and similar calls"


# --------------------------------------------------------------------------------------------------- time and ends


def test_endless_loop():
    with contained(call_s=1) as sandbox:
        assert lost(sandbox, "while True: pass") == LOOP


def test_code_that_sleeps_for_ever():
    with contained(call_s=1) as sandbox:
        assert lost(sandbox, "import time\ntime.sleep(1000)") == ASLEEP


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of calls are this machine's")
def test_a_vfork_whose_child_sleeps_is_sleep():
    """The parent is in the state of one who waits for a disk."""
    source = "import ctypes\nlibc = ctypes.CDLL(None)\n"
    source += "if libc.syscall(58) == 0:\n    libc.sleep(600)\n    libc._exit(0)"
    with contained(call_s=1) as sandbox:
        begin = time.monotonic()
        assert lost(sandbox, source) == ASLEEP
        assert time.monotonic() - begin < 30


def test_sleeping_and_waking_again_does_not_stretch_the_time():
    with contained(call_s=1) as sandbox:
        begin = time.monotonic()
        reason = lost(sandbox, "import time\nwhile True:\n    time.sleep(0.002)")
        assert reason in (LOOP, ASLEEP)
        assert time.monotonic() - begin < 30


def test_code_that_waits_for_a_core_is_not_ended(monkeypatch):
    """What a busy machine looks like: runnable all the time, and next to no processor time."""
    seen = []

    def starved(members):
        seen.append(1)
        return procfs.Taken(processes=2, cpu_s=0.001 * len(seen), busy=True)

    monkeypatch.setattr(procfs, "taken", starved)
    with contained(call_s=0.5) as sandbox:
        sandbox.run("import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass", "cell")
    assert len(seen) > 10, "it was looked at all the time"


def test_endless_loop_that_ignores_signals():
    source = """
import os, signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
while True:
    try:
        while True: pass
    except BaseException: pass
"""
    with contained(call_s=1) as sandbox:
        begin = time.monotonic()
        assert lost(sandbox, source) == LOOP
        assert time.monotonic() - begin < 60


def test_all_calls_together_are_limited():
    with contained(call_s=9, total_s=2) as sandbox:
        sandbox.run("import time\ndef nap(): time.sleep(1.6)", "cell")
        sandbox.call("nap")
        with pytest.raises(SandboxLost, match=r"^your code took more than 2 s in all"):
            sandbox.call("nap")


def test_processor_time_is_limited():
    with contained(cpu_s=1) as sandbox:
        reason = lost(sandbox, "while True: pass")
    assert reason == "your code took more than 1 s of processor time: is there an endless loop?"


def test_sys_exit_is_an_error_of_the_cell(shared):
    error = raised(shared, "import sys\nsys.exit(0)")
    assert (error.kind, error.line) == ("SystemExit", 2)
    error = raised(shared, "raise KeyboardInterrupt")
    assert (error.kind, error.line) == ("KeyboardInterrupt", 1)
    assert shared.names() is not None


@pytest.mark.parametrize("status", [0, 1, 7])
def test_os_exit(status):
    with contained() as sandbox:
        assert lost(sandbox, f"import os\nos._exit({status})") == ENDED


def test_crash():
    with contained() as sandbox:
        reason = lost(sandbox, "import ctypes\nctypes.string_at(0)")
    assert reason == "your code crashed Python, or killed it (signal 11)"


def test_killing_the_parent_has_no_effect(shared):
    source = """
import os, signal
for pid in (os.getppid(), 1, -1):
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass
survived = True
"""
    shared.run(source, "cell")
    assert shared.get("survived") is True


def test_left_behind_process_is_dead_afterwards():
    marker = secrets.token_hex(16)
    source = f"""
import os, subprocess, sys
code = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(600)"
if os.fork() == 0:
    os.setsid()
    subprocess.Popen([sys.executable, "-S", "-c", code, "{marker}"], env={{}}, start_new_session=True)
    os._exit(0)
os.wait()
"""
    with contained() as sandbox:
        sandbox.run(source, "cell")
        assert alive(marker), "the process must have lived, else this test shows nothing"
    assert not alive(marker)


def test_left_behind_process_cannot_hold_the_pipe_open():
    with contained(call_s=300, total_s=300) as sandbox:
        begin = time.monotonic()
        source = "import os, time\nif os.fork() == 0: time.sleep(600)\nos._exit(0)"
        assert lost(sandbox, source) == ENDED
        assert time.monotonic() - begin < 100


def test_a_forked_copy_does_not_answer(shared):
    shared.run("import os\ndef twin(): return os.fork() == 0", "cell")
    for _ in range(5):
        assert shared.call("twin") == (False, [])


# --------------------------------------------------------------------------------------------------------- bombs


def test_memory_bomb(shared):
    error = raised(shared, "import numpy as np\n\nx = np.ones(10**11)")
    assert (error.kind, error.line) == ("MemoryError", 3)
    assert error.message == "your code asked for more than 2048 MiB of memory"


def test_memory_bomb_in_small_steps():
    with contained(memory_bytes=600 << 20) as sandbox:
        assert raised(sandbox, "x = []\nwhile True: x.append(bytearray(1 << 20))").kind == "MemoryError"


def test_memory_bomb_in_many_processes():
    source = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        x = bytearray(os.urandom(1 << 20)) * 200
        time.sleep(600)
time.sleep(600)
"""
    with contained(memory_bytes=600 << 20) as sandbox:
        assert lost(sandbox, source) == "your code took more than 600 MiB of memory"


def test_fork_bomb():
    marker = secrets.token_hex(16)
    source = f"""
import gc
import os
marker = "{marker}"
while True:
    try: os.fork()
    except OSError: pass
"""
    with contained() as sandbox:
        begin = time.monotonic()
        assert lost(sandbox, source) == "your code started 64 processes or more"
        assert time.monotonic() - begin < 60


def test_thread_bomb_meets_the_kernels_limit():
    source = """
import threading
started, end = 0, threading.Event()
try:
    while started < 200:
        threading.Thread(target=end.wait, daemon=True).start()
        started += 1
finally:
    end.set()
"""
    with contained(processes=20) as sandbox:
        try:
            error, started = raised(sandbox, source), sandbox.get("started")
        except SandboxLost as lost:  # on a busy machine, the watch may see the threads before they end
            assert lost.reason == "your code started 20 processes or more"
            return
        assert (error.kind, error.message) == ("RuntimeError", "can't start new thread")
        assert 0 < started < 20


def test_300_mb_of_output_cost_nothing(shared):
    source = """
import os, sys
for _ in range(300): print("x" * 1_000_000)
for _ in range(300): os.write(1, b"y" * 1_000_000); os.write(2, b"z" * 1_000_000)
sys.stdout.buffer.write(b"more")
done = 1
"""
    shared.run(source, "cell")
    assert len(shared.output) == 1 << 20
    assert set(shared.output) == {"x", "\n"}
    assert shared.get("done") == 1


def test_huge_file(shared):
    error = raised(shared, "open('big', 'wb').write(bytes(64 << 20))")
    assert (error.kind, "File too large" in error.message) == ("OSError", True)


def test_many_files(shared):
    source = "for k in range(20): open(f'many{k}', 'wb').write(bytes(15 << 20))"
    error = raised(shared, source)
    assert (error.kind, "No space left" in error.message) == ("OSError", True)
    shared.run("import os\nfor name in os.listdir(): os.remove(name)", "cell")


# ------------------------------------------------------------------------------------------------------ start and end


def test_a_sandbox_ends_with_its_block_and_says_so():
    with contained() as sandbox:
        sandbox.run("x = 1", "cell")
        assert (sandbox.contained, sandbox.note) == (True, "")
    with pytest.raises(SandboxLost, match="closed"):
        sandbox.get("x")
    sandbox.close()


def test_starting_many_leaves_nothing_behind():
    need_bubblewrap()
    own = psutil.Process()
    gc.collect()
    before = own.num_fds(), len(own.children(recursive=True))
    many = 4
    for _ in range(many):
        with contained() as sandbox:
            sandbox.run("x = 1", "cell")
            assert own.num_fds() > before[0]
    gc.collect()
    # one sandbox may open what all of them share; what each of them leaves behind counts at least `many`
    assert own.num_fds() - before[0] < many
    assert len(own.children(recursive=True)) <= before[1]


def test_a_sandbox_that_is_never_used_ends():
    contained().close()
    with pytest.raises(LearnerError), contained() as sandbox:
        sandbox.run("raise ValueError", "cell")


def test_what_a_killed_sandbox_left_behind_is_gone_before_the_next_one_starts(monkeypatch):
    """On a busy machine, its processes may still be ending, and would count as those of the next sandbox."""
    need_bubblewrap()
    left = psutil.Process(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600"))
    with contained():
        monkeypatch.setattr(leftovers, "adopted", lambda known=(): [left] if left.is_running() else [])
    assert not psutil.pid_exists(left.pid)
