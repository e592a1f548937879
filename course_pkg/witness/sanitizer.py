"""Compute Sanitizer: what NVIDIA's own checker says about the racy kernels and about their corrected versions."""

import os
import re
import shutil
import subprocess
import sys

from course_pkg.core import CourseError
from course_pkg.device.case import Case
from course_pkg.witness.ncu import launch_environment

# the tool that looks for each kind of hazard
TOOLS = {"race": "racecheck", "missing_syncwarp": "racecheck", "divergent_barrier": "synccheck"}
_SUMMARY = re.compile(r"(?:RACECHECK SUMMARY: (\d+) hazards? displayed|ERROR SUMMARY: (\d+) errors?)")


def find() -> str:
    """Return the path of ``compute-sanitizer``.

    Raises
    ------
    CourseError
        If it is not installed.
    """
    found = shutil.which("compute-sanitizer", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if found is None:
        raise CourseError(
            "compute-sanitizer is not on the path: install the CUDA Toolkit's sanitizer and put its folder on PATH."
        )
    return found


def findings(case: Case, tool: str) -> int:
    """Return how many errors a tool of the sanitizer reports for one launch of a case.

    Raises
    ------
    CourseError
        If the sanitizer cannot run here, or gives no summary.
    """
    command = [find(), "--tool", tool, sys.executable, "-m", "course_pkg.witness.launch", case.name]
    done = subprocess.run(command, capture_output=True, text=True, env=launch_environment(), timeout=600)
    return read_summary(done.stdout + done.stderr, case.name)


def read_summary(text: str, name: str) -> int:
    """Return the number of errors in the sanitizer's last line.

    Raises
    ------
    CourseError
        If there is no such line.
    """
    counts = [int(m[1] or m[2]) for m in _SUMMARY.finditer(text)]
    if not counts:
        words = ([line for line in text.splitlines() if line.strip()] or ["it said nothing"])[-1]
        raise CourseError(
            f"compute-sanitizer gave no summary of {name} ({words}): run it on that kernel alone."
        )
    return max(counts)
