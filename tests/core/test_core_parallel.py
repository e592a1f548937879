"""Loops for all cores: the machine code is kept on disk where a folder can be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
import numpy as np
from numba import prange
from course_pkg.core.parallel import parallel

@parallel()
def double(a):
    for i in prange(a.size):
        a[i] *= 2.0

a = np.ones(5)
double(a)
print(a.sum(), sum(double.stats.cache_hits.values()), double._cache.cache_path is not None)
"""


def run(folder: Path, **variables) -> list[str]:
    """Run the source as a module of ``folder`` in a new process; return what it prints."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", "import doubling"],
        env=os.environ | {"PYTHONPATH": f"{root}:{folder}"} | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "doubling.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_the_next_process_does_not_compile(folder):
    assert run(folder) == ["10.0", "0", "True"]
    assert run(folder) == ["10.0", "1", "True"]
    assert list(folder.glob("__pycache__/*.nbi"))


def test_without_a_folder_to_write_to_each_process_compiles(folder):
    # The machine is one on which Numba finds no folder: file permissions do not stop root.
    nowhere = {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    assert run(folder, **nowhere) == ["10.0", "0", "False"]
