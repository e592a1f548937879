"""A judge that is quick, one that does not wait long, and a sandbox that several attacks share."""

from functools import partial

import pytest
from sandbox_cases import contained

from course_pkg.core import CourseError
from course_pkg.grading import alone, archive, bubblewrap, judge
from course_pkg.grading.sandbox import Limits


@pytest.fixture
def counted(monkeypatch):
    """A judge that is quick: the points are the number of answers; `calls` says what was graded."""
    calls = []

    def grade_bytes(data, path, solutions, *, given=False, seed=None, require_sandbox=False):
        data = archive.unpacked(data)
        calls.append(data)
        if b"JUDGE BREAKS" in data:
            raise ZeroDivisionError("a bug")
        if b"NO SANDBOX" in data and require_sandbox:
            raise CourseError("bubblewrap is missing: install it.")
        missing = data.count(b"raise NotImplementedError")
        made = alone.nothing(solutions[0], f"{missing} answers are missing.")
        made.points = float(10 - missing)
        return made

    monkeypatch.setattr(alone, "grade_bytes", grade_bytes)
    return calls


@pytest.fixture(scope="module")
def shared():
    """A sandbox for attacks that must not end it; each test that uses it finds it alive."""
    with contained() as sandbox:
        yield sandbox


@pytest.fixture
def impatient(monkeypatch):
    """Wait three seconds for a learner's code, not ten."""
    monkeypatch.setattr(judge, "Sandbox", partial(judge.Sandbox, Limits(call_s=3.0)))


@pytest.fixture
def no_bubblewrap(monkeypatch):
    """Make every sandbox of these tests find no bubblewrap, and CI unset."""
    monkeypatch.setattr(bubblewrap, "obstacle", lambda: "bubblewrap is missing: install it")
    monkeypatch.delenv("CI", raising=False)
