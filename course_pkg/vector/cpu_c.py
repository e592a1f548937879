"""STREAM's triad in C with OpenMP, compiled on this machine: it shows whether Numba's loops are as fast as C."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.checks import require_arrays, require_number
from course_pkg.vector.checks import check_stream

SOURCE = """
void triad(const double *restrict a, const double *restrict b, double s, double *restrict out, long n)
{
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i)
        out[i] = a[i] + s * b[i];
}
"""
FLAGS = ("-O3", "-march=native", "-fopenmp", "-shared", "-fPIC")


def available() -> bool:
    """Return True if gcc is installed and compiles the triad. A clang that is called gcc may lack OpenMP.

    Examples
    --------
    >>> available() in (True, False)  # False without gcc
    True
    """
    try:
        _library()
    except (CourseError, OSError):
        return False
    return True


@cache
def _library():
    gcc = shutil.which("gcc")
    if gcc is None:
        raise CourseError(
            "gcc was not found: install it (Debian: apt install gcc) to compare with STREAM in C."
        )
    folder = Path(tempfile.mkdtemp(prefix="course-stream-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, library = folder / "triad.c", folder / "triad.so"
    source.write_text(SOURCE)
    done = subprocess.run([gcc, *FLAGS, str(source), "-o", str(library)], capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"gcc could not compile the C triad: {done.stderr.strip().splitlines()[0]}")
    triad = ctypes.CDLL(str(library)).triad
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
    triad.argtypes = [pointer, pointer, ctypes.c_double, pointer, ctypes.c_long]
    triad.restype = None
    return triad


def triad(a, b, s, out):
    """Compute ``out = a + s * b`` in C on all cores; float64 in host memory, two reads and one write per element.

    Examples
    --------
    >>> a, out = np.ones(2), np.zeros(2)
    >>> if available():
    ...     triad(a, a, 3.0, out)
    >>> out.tolist() == ([4.0, 4.0] if available() else [0.0, 0.0])
    True
    """
    require_arrays(device=False, dtypes=("float64",), a=a)  # the C code takes doubles only
    require_number(s=s)
    check_stream(device=False, a=a, b=b, out=out)
    _library()(a, b, float(s), out, a.size)
