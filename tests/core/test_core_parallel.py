"""Loops for all cores: the machine code is kept on disk where a folder can be written."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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

NESTED = """
import numpy as np
from numba import prange
from course_pkg.core.parallel import parallel

def loop(step):
    @parallel()
    def all_of(a):
        a[0] = step(a, 0)  # not within the loop: without OpenMP, Numba's threads cannot start threads
        for i in prange(1, a.size):
            a[i] += 1.0
        return 1.0
    return all_of

inner = loop(parallel()(lambda a, i: a[i] + 1.0))
outer = loop(parallel()(lambda a, i: a[i] + inner(np.zeros(2))))
a = np.ones(5)
outer(a)
print(a.sum() + 5, inner(np.ones(2)))
"""


def run(folder: Path, **variables) -> list[str]:
    """Run the source as a module of ``folder`` in a new process; return what it prints."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", "import doubling"],
        env=os.environ | {"PYTHONPATH": f"{root}:{folder}"} | variables,
        capture_output=True,
        text=True,
        timeout=300,
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


def test_of_processes_that_begin_together_one_compiles(folder):
    with ThreadPoolExecutor(3) as threads:
        said = list(threads.map(run, [folder] * 3))
    assert sorted(said) == [["10.0", "0", "True"], ["10.0", "1", "True"], ["10.0", "1", "True"]]


def test_loops_that_share_an_index_and_call_each_other_do_not_wait_for_themselves(folder):
    """Both come from one line, as the sweeps of CG do; the second compiles the first."""
    (folder / "doubling.py").write_text(NESTED, encoding="utf-8")
    assert run(folder) == ["15.0", "1.0"]


def test_without_a_folder_to_write_to_each_process_compiles(folder):
    # The machine is one on which Numba finds no folder: file permissions do not stop root.
    nowhere = {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    assert run(folder, **nowhere) == ["10.0", "0", "False"]
