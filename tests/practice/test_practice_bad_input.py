"""Answers that loop, recurse, crash or eat memory: a sentence within 5 s, and this process is as it was.

Also on a busy machine the limits end an answer in time. But this process then has to wait for its turn, too: what is
measured here are seconds of the processors, of this process and its children.
"""

import os
import re
import signal
import threading
import time

import numpy as np
import practice_cells as cells
import psutil
import pytest

from course_pkg.practice import apart, attempt
from course_pkg.practice.checking import check_step
from course_pkg.practice.step import Step, Trial

pytestmark = pytest.mark.slow(45)

WITHIN_S = 5.0
GUARD_S = 90.0  # by the clock, only so that a test ends
LINUX = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="a process of its own needs Linux")


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Load what the first launch of a session loads."""
    check_step(KERNEL, cells.kernel("out[0] = a[0]"))


def ones(n, rng):
    a = np.ones(n)
    return Trial({"a": a, "out": np.zeros(n)}, {"out": a}, 1, 32)


KERNEL = Step("ones", "Copy", "Copy a.", ones, (32, 16), ("?", "!"))
FUNCTION = Step("summed", "Sum", "Add up.", cells.ones_to_add, (32, 16), ("?", "!"))


def verdict_of(step, given):
    start, before = time.monotonic(), os.times()
    result = check_step(step, given)
    assert sum(os.times()[:4]) - sum(before[:4]) < WITHIN_S
    assert time.monotonic() - start < GUARD_S
    assert not result.good
    return str(result)


def test_the_limits_leave_time_for_a_verdict():
    assert apart.WALL_S <= WITHIN_S - 1
    of_two_cores = 2 / 5  # where four other processes run
    assert of_two_cores * apart.WALL_S > apart.CPU_S / 2, "then it is plain that a loop is endless"


@LINUX
def test_an_endless_loop_ends_by_the_clock_where_other_programs_take_the_processor(monkeypatch):
    limits = []
    monkeypatch.setattr(apart, "_limit_memory", lambda more: signal.setitimer(signal.ITIMER_PROF, 0))
    monkeypatch.setattr(apart, "_Patience", lambda child, given: limits.append(given) or Busy(child, given))
    said = verdict_of(FUNCTION, cells.function("while True:\n    pass"))
    assert re.search(
        r"Not judged: within \d+ s, other programs left it 0.1 s of a processor. Run the cell", said
    )
    assert "look for a loop that never ends" in said
    assert len(limits) == 1
    assert attempt.LEAST_S <= limits[0].wall_s <= apart.WALL_S
    assert limits[0].most_s <= limits[0].wall_s, "nothing makes it longer"


@LINUX
def test_only_who_asks_for_it_waits_longer_on_a_busy_machine(monkeypatch):
    monkeypatch.setattr(apart, "_Patience", Busy)

    def work():
        time.sleep(0.5)
        yield "done"

    assert list(apart.run(work, wall_s=0.05, most_s=GUARD_S)) == ["done"]
    with pytest.raises(apart.Lost) as lost:
        list(apart.run(work, wall_s=0.05))
    assert lost.value.reason == apart.BUSY


class Busy(apart._Patience):
    """A process that is always ready to run, and has had 0.1 s of a processor; the clock is ahead by 2 s."""

    def __init__(self, child, limits):
        super().__init__(child, limits)
        self.process, self.start = self, self.start - 2.0
        self.until = min(self.until, time.monotonic() + 0.2)

    def cpu_times(self):
        return 0.06, 0.04

    def status(self):
        return psutil.STATUS_RUNNING


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("while True:\n    pass", "runs on and on, and was stopped: look for a loop"),
        ("i = 0\nwhile i < 10:\n    out[0] = i", "runs on and on"),
        ("for k in range(10**12):\n    out[0] = k", "runs on and on"),
        (
            "tile = cuda.shared.array(10**11, np.float64)\ntile[0] = 1",
            "the block's static shared arrays need",
        ),
        ("tile = cuda.local.array(10**11, np.float64)\ntile[0] = 1", "is over the limit of 524288 a thread"),
        ("x = np.zeros(10**11)\nout[0] = x[0]", "a kernel cannot make arrays with numpy.zeros"),
        ("while out[0] == 0:\n    cuda.syncthreads()", "runs on and on"),
        ("x = 2\nfor k in range(60):\n    x = x ** x\nout[0] = x", ""),
    ],
)
def test_a_kernel_that_would_never_end(body, says):
    assert says in verdict_of(KERNEL, cells.kernel(body))


def test_device_functions_that_call_each_other_for_ever():
    names = cells.run_cell(
        "@cuda.jit(device=True)\ndef f(x):\n    return f(x) + 1\n"
        "@cuda.jit\ndef kernel(a, out):\n    out[0] = f(a[0])\n"
    )
    assert verdict_of(KERNEL, names["kernel"])


def children():
    """Return the processes that this one has started and not waited for; other tests may have left some."""
    return {child.pid for child in psutil.Process().children()}


@LINUX
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "while True:\n    pass",
            "It ran on and on, and was stopped: look for a loop that never ends.",
        ),
        ("import time\ntime.sleep(1000)", "It ran on and on"),
        ("return np.ones(10**11 // 8).sum()", "It asked for more memory than a notebook should take"),
        ("x = []\nwhile True:\n    x.append(bytearray(10**8))", "It asked for more memory"),
        ("return np.ones(10**7 * 9)", "It asked for more memory"),
        ("import os\nos._exit(0)", "It ended Python itself"),
        ("import os\nos._exit(3)", "It ended Python itself"),
        ("import ctypes\nctypes.string_at(0)", "It ended Python itself"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "It ended Python itself"),
        ("return function(a)", "It calls itself without end"),
        ("exit()", "SystemExit"),
        (
            "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
            "on and on",
        ),
        ("global KERNEL, a_global\ndel a\nreturn 0", "found 0, expected 32"),
        ("a.resize(0, refcheck=False)\nreturn 32.0", "a was changed"),
        ("return object()", "It returns a object"),
        ("return (x for x in a)", "It returns a generator"),
    ],
)
def test_a_function_that_misbehaves(body, says, monkeypatch):
    if "sleep" not in body:  # on a busy machine, too, it is the processor's time that ends it
        monkeypatch.setattr(apart, "WALL_S", GUARD_S)
    threads, processes = threading.active_count(), children()
    assert says in verdict_of(FUNCTION, cells.function(body))
    assert threading.active_count() == threads
    assert children() <= processes, "no process is left behind"


@LINUX
def test_what_an_answer_changes_is_lost_with_its_process():
    names = cells.run_cell(
        "seen = [1]\ndef function(a):\n    seen.clear()\n    print('x' * 10**6)\n    return 32.0\n"
    )
    assert "with 16 elements" in verdict_of(FUNCTION, names["function"])
    assert names["seen"] == [1]


@LINUX
def test_an_interrupt_ends_the_process_and_is_passed_on():
    def work():
        yield 1
        time.sleep(1000)

    before = children()
    values = apart.run(work)
    assert next(values) == 1
    assert children() > before
    values.close()
    assert children() <= before


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["as usual", "in the background"])
def interrupts(request):
    """What Ctrl-C does: a shell lets it be ignored by what it starts in the background."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    signal.signal(signal.SIGINT, before)


def test_where_nothing_can_be_forked_a_timer_stops_a_loop(monkeypatch, interrupts):
    monkeypatch.setattr(apart.sys, "platform", "darwin")
    monkeypatch.setattr(apart, "WALL_S", 0.5)
    assert "It ran on and on" in verdict_of(FUNCTION, cells.function("while True:\n    pass"))
    assert check_step(FUNCTION, cells.function("return a.sum()")).good
    assert "runs on and on" in verdict_of(KERNEL, cells.kernel("while True:\n    pass"))
