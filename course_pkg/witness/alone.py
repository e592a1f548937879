"""Run one kernel in a process of its own and print its times and memory as one line of JSON.

``python -m course_pkg.witness.alone WHO EDGE SAMPLES``: WHO is ``simulator`` (Numba's CUDA simulator, which must be
chosen before numba.cuda is imported), ``plain`` (the interpreter) or ``counted`` (the interpreter with a profile). In a
process of its own, the interpreter's memory is measured without that of other work.
"""

import json
import os
import subprocess
import sys
import time
import types
from pathlib import Path

from course_pkg.core import CourseError

WHO = ("simulator", "plain", "counted")


def ask(who: str, edge: int, samples: int = 1, timeout_s: float = 900) -> dict:
    """Run the 7-point Laplacian on a cubic fp64 grid in a process of its own.

    Parameters
    ----------
    who : str
        One of ``WHO``.
    edge : int
        Number of points along one edge of the grid.

    Returns
    -------
    dict
        ``samples_s``: seconds of each launch; ``peak_bytes``: the most memory that the process held.

    Raises
    ------
    CourseError
        If the process fails or does not end in time.
    """
    environment = {**os.environ, "COURSE_BACKEND": "simt"}
    environment.pop("NUMBA_ENABLE_CUDASIM", None)
    if who == "simulator":
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    words = "course_pkg.witness.alone", who, str(edge), str(samples)
    return answer(words, environment, timeout_s)


def answer(words, environment=None, timeout_s: float = 900) -> dict:
    """Run a module of Python in a process of its own, and return the JSON that it prints.

    Parameters
    ----------
    words : sequence of str
        The module and its arguments.
    environment : mapping, optional
        The process's environment variables; by default, those of this process.

    Raises
    ------
    CourseError
        If the process fails or does not end in time.
    """
    command = [sys.executable, "-m", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise CourseError(
            f"{' '.join(command[1:])} did not end within {timeout_s} s: add the option --quick."
        ) from None
    if done.returncode != 0:
        words = (done.stderr.strip().splitlines() or ["it printed no message"])[-1]
        raise CourseError(f"{' '.join(command[1:])} failed ({words}): run this command by itself to see why.")
    return json.loads(done.stdout)


def launcher(who: str, edge: int):
    """Return a callable that launches the kernel on ``(u, out)``; the caller checks these arrays."""
    from course_pkg import simt
    from course_pkg.device.launch import blocks_for
    from course_pkg.stencil.gpu_numba import BLOCK_3D, laplacian_naive_kernel

    if who not in WHO:
        raise CourseError(f"WHO is {who!r}: it must be one of {', '.join(WHO)}.")
    function = laplacian_naive_kernel.py_func
    configuration = blocks_for((edge,) * 3, BLOCK_3D), BLOCK_3D
    if who == "simulator":
        from numba import cuda as simulated

        names = {**function.__globals__, "cuda": simulated}
        return simulated.jit(types.FunctionType(function.__code__, names))[configuration]
    launch = simt.jit(function)[configuration]
    if who == "plain":
        return launch
    return lambda u, out: simt.profile(launch, u, out)


def main(words) -> int:
    """Launch, check the result, print the times; return the exit status."""
    import numpy as np

    from course_pkg.stencil import reference

    who, edge, samples = words[0], int(words[1]), int(words[2])
    # not by a HeatProblem: its generator needs more memory than the launch, whose memory is measured
    u = np.random.default_rng(0).random((edge,) * 3)
    out = np.full_like(u, np.nan)
    if who != "simulator":  # the first launch in a process loads Numba's types, which must not be timed
        few = np.zeros((2, 2, 2))
        launcher(who, 2)(few, np.empty_like(few))
    launch, seconds = launcher(who, edge), []
    for _ in range(samples):
        start = time.perf_counter()
        launch(u, out)
        seconds.append(time.perf_counter() - start)
    peak_bytes = _peak_bytes()
    expected = np.empty_like(u)
    reference.laplacian(u, expected)
    np.testing.assert_allclose(out, expected, rtol=1e-11, atol=1e-11)
    print(json.dumps({"samples_s": seconds, "peak_bytes": peak_bytes}))
    return 0


def _peak_bytes() -> int:
    """Return the most memory that this process has held; 0 if the operating system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage may return the parent's peak, since a new process first shares its memory
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
