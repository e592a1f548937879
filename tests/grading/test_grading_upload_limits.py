"""What is handed in is read within limits: archives that would unfold to much more, and files that are too large."""

import threading
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil
import pytest
import submissions as s

from course_pkg.grading import alone
from course_pkg.grading.alone import Solution
from course_pkg.grading.result import Report

SOLUTION = Solution.read(s.SOURCE)


def graded(data: bytes) -> Report:
    """Grade bytes as an answer to exercise 2."""
    return alone.grade_bytes(data, "x.ipynb", [SOLUTION], seed=1, given=True)


def zipped(path: Path, data: bytes, times: int = 1) -> bytes:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(times):
            file.writestr(f"work{number or ''}.ipynb", data)
    return path.read_bytes()


MILLIONS = b'{"nbformat": 4, "cells": [' + b",".join([b'{"a":{}}'] * 2_200_000) + b"]}"
BOMBS = {
    "objects": MILLIONS,
    "lists": b'{"nbformat": 4, "cells": ' + b"[" + b"[]," * 6_500_000 + b"[]]}",
    "metadata": b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "metadata": {"m": ['
    + b"{}," * 6_000_000
    + b"{}]}}]}",
    "deep": b"[" * 19_000_000,
    "numbers": b'{"nbformat": 4, "cells": [' + b"1e9," * 4_500_000 + b"NaN]}",
}


@dataclass
class Seen:
    """What became of a bomb: its report, and how much memory the parent kept and a child took at most, in bytes."""

    report: Report
    kept: int
    most: int


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """A function that grades a bomb, once for all tests; what the child takes is seen from outside."""

    @cache
    def of(name: str) -> Seen:
        data = zipped(tmp_path_factory.mktemp("bomb") / "x.zip", BOMBS[name])
        assert len(data) < 200_000
        graded(b"{}")  # the warm parent is there
        parent, most, done = psutil.Process(), [0], threading.Event()

        def look():
            while not done.wait(0.02):
                for child in parent.children(recursive=True):
                    try:
                        most.append(child.memory_info().rss)
                    except psutil.Error:
                        continue

        watcher = threading.Thread(target=look)
        before = parent.memory_info().rss
        watcher.start()
        report = graded(data)
        done.set()
        watcher.join()
        return Seen(report, parent.memory_info().rss - before, max(most))

    return of


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_archive_costs_its_own_points_and_no_memory_of_the_parent(name, seen):
    found = seen(name)
    assert (found.report.points, found.report.max_points) == (0, 20)
    assert found.report.notes and not found.report.ungraded
    assert found.kept < 60 << 20


def test_reading_takes_no_more_than_it_may(seen):
    found = seen("metadata")
    assert "MiB to read" in found.report.notes[0]
    assert 200 << 20 < found.most < 1400 << 20
