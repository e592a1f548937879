"""A submission has one budget of time, and cannot gain time by sleeping, by ending its process or by a new sandbox."""

import time
from functools import partial

import nbformat
import pytest
import submissions as s
from sandbox_cases import need_bubblewrap
from test_grading_alone import SOLUTION, Children, graded, told
from test_grading_judge_small import code

from course_pkg.grading import alone, judge, procfs, sandbox, warm
from course_pkg.grading.session import Session
from course_pkg.grading.terms import Limits, SandboxLost
from course_pkg.grading.watch import Watch


def looks(watch: Watch, seconds: float, cpu_share: float, *, busy=False, tick_s=0.1):
    """Let a watch look at a process that runs for a share of the time; return when it ends it, and why."""
    now = watch._looked
    for number in range(1, int(seconds / tick_s) + 1):
        taken = procfs.Taken(processes=1, cpu_s=number * tick_s * cpu_share, busy=busy)
        loss = watch._time(taken, now + number * tick_s)
        if loss:
            return number * tick_s, loss
    return None, None


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.9])
def test_code_that_is_awake_now_and_then_has_no_more_time_than_code_that_sleeps(share):
    watch = Watch(0, Limits(call_s=10.0), None)
    watch.begin(10.0)
    at, loss = looks(watch, 100, share)
    assert 10 < at < 10.5 and loss.endless and not loss.in_all


def test_code_that_waits_for_a_core_has_its_time():
    watch = Watch(0, Limits(call_s=10.0), None)
    watch.begin(10.0)
    assert looks(watch, 100, 0.05, busy=True) == (None, None)


def test_a_look_that_came_late_counts_as_one():
    """The watch itself waited for a core: how long, is no learner's fault."""
    watch = Watch(0, Limits(call_s=10.0), None)
    watch.begin(10.0)
    assert looks(watch, 9 * 50, 0.0, tick_s=9.0) == (None, None)


def test_a_watch_goes_on_counting_where_the_one_before_it_stopped():
    watch = Watch(0, Limits(call_s=10.0, total_s=60.0), None, 55.0)
    watch.begin(10.0)
    at, loss = looks(watch, 100, 1.0)
    assert 5 < at < 5.5 and loss.endless and loss.in_all


def test_sandboxes_of_one_session_share_their_time():
    """A function that ends its process brings a new sandbox, in which all cells run again."""
    need_bubblewrap()
    with Session(partial(sandbox.Sandbox, Limits(call_s=4, total_s=3.5))) as session:
        session.run("import time, os\ntime.sleep(0.6)", "slow")
        session.run("\n".join(f"def f{k}(): os._exit(0)" for k in range(9)), "ends")
        lost = []
        for k in range(9):
            with pytest.raises(SandboxLost) as caught:
                session.call(f"f{k}", (), {})
            lost.append(caught.value.loss)
        assert session.spent_s > 3.5
    assert not lost[0].endless and lost[-1].in_all and lost[-1].endless
    assert session.endless == {}, "the time of all is no function's own fault"


@pytest.mark.bare
def test_what_has_no_end_in_the_visible_tests_is_not_tried_again(monkeypatch):
    calls, ask = [], sandbox.Sandbox._ask

    def counted(self, request, call_s=None):
        calls.append(request.get("name"))
        return ask(self, request, call_s)

    monkeypatch.setattr(sandbox.Sandbox, "_ask", counted)
    monkeypatch.setattr(judge, "Sandbox", partial(judge.Sandbox, Limits(call_s=1.0)))
    hidden = "# Hidden tests: others.\n### BEGIN HIDDEN TESTS\nassert {} == 2\n### END HIDDEN TESTS"
    cells = [
        code("loops", "def f():\n    return 2\n\ndef g():\n    return 2", solution=True, locked=False),
        code("never", "h = 2", solution=True, locked=False),
        code("see_f", "assert f() == 2", grade=True, points=1),
        code("see_g", "assert g() == 2", grade=True, points=1),
        code("f_hidden", hidden.format("f()"), grade=True, points=1),
        code("g_hidden", hidden.format("g()"), grade=True, points=1),
        code("h_hidden", hidden.format("h"), grade=True, points=1),
    ]
    text = "def f():\n    while True: pass\n\ndef g():\n    return 2"
    submitted = [
        code("loops", text, solution=True, locked=False),
        code("never", "while True: pass", solution=True, locked=False),
    ]
    report = judge.grade_cells(submitted, cells, exercise="small", seed=1)
    assert s.lost(report) == {"see_f": 1, "f_hidden": 1, "h_hidden": 1}
    assert s.said(report)["f_hidden"] == "Hidden tests: others. Your code does not finish in time."
    assert calls.count("f") == 1 and calls.count("never") == 1


# ---- all children together


def spent(seconds, at, **news):
    return {"at": at, "spent_s": seconds, "endless": {}, **news}


def test_what_one_child_used_the_next_one_has_not(monkeypatch):
    asked = []

    class Asked(Children):
        def ask(self, request, *rest):
            asked.append((request["left_s"], dict(request["endless"])))
            return super().ask(request, *rest)

    window = {"grade_id": "test_window", "points": 1.0, "max_points": 1.0}
    made = Asked(
        told({"cell": window}, spent(70.0, "test_triad", endless={"f": "why"}), status=-27),
        told(spent(90.0, "test_heat"), status=-27),
        told(spent(49.0, "test_gain"), {"out_of_time": True}),
    )
    monkeypatch.setattr(warm, "parent", lambda: made)
    report = graded(b"x")
    assert asked == [(240.0, {}), (150.0, {"f": "why"}), (40.0, {})]
    assert s.said(report)["test_triad"] == alone.SLOW.format(20)
    why = "All tests together took more than 240 s: is there an endless loop?"
    assert s.said(report)["test_gain"] == why == report.notes[0]
    assert report.points == 1, "what was graded before is kept"


def test_a_submission_that_uses_all_its_time_keeps_what_was_graded():
    """Every function is slow, none is endless, and each test stays within its own budget."""
    slow = "import time\ndef t_eff(size, time_s):\n    end = time.process_time() + 3\n"
    slow += "    while time.process_time() < end:\n        pass\n    return size / time_s / 1e9"
    data = nbformat.writes(s.submission({"t_eff": slow})).encode()
    begin = time.monotonic()
    report = graded(data, all_s=4.0)
    assert time.monotonic() - begin < 200
    assert report.notes[0] == "All tests together took more than 4 s: is there an endless loop?"
    assert 0 < report.points < 20 and not report.ungraded


def test_functions_of_a_test_that_is_not_run_are_there_for_others():
    """The judge died in one test; another one calls a function that is written there."""
    cells = [
        code("answer", "def f(x):\n    return x", solution=True, locked=False),
        code("first", "import math\ndef twice(x):\n    return 2 * x\nlost = f(1)", grade=True, points=1),
        code("second", "assert twice(f(math.floor(1.5))) == 2", grade=True, points=1),
    ]
    report = judge.grade_cells([cells[0]], cells, exercise="small", seed=1, skip={"first": "why"})
    assert s.lost(report) == {"first": 1} and s.said(report)["first"] == "why"


def test_the_exercise_needs_far_less_than_it_may_take():
    """Ten times what the solution takes on this machine is still allowed."""
    news = []
    report = judge.grade_cells(
        s.solved().cells,
        SOLUTION.cells(),
        exercise="x",
        seed=1,
        heard=lambda **said: news.append(said["sandbox_s"]),
    )
    assert report.points == 20 and len(news) == 2 * len(report.cells)
    assert news == sorted(news) and news[-1] * 10 < Limits().total_s
