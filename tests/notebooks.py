"""Sources of lectures and exercises as notebooks: read once for all tests of a process, because Jupytext is slow."""

from functools import cache

import jupytext

from course_pkg.grading import exercise


def read(path):
    """Return a py:percent file as a notebook, which nobody may change."""
    return _read(path.read_text(encoding="utf-8"))


def solution(path):
    """Return the source of an exercise as a notebook with its limits, which nobody may change: copy it first."""
    return _solution(path, path.read_text(encoding="utf-8"))


@cache
def _read(text):
    return jupytext.reads(text, fmt="py:percent")


@cache
def _solution(path, text):
    return exercise.read_solution(path, text)
