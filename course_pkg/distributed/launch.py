"""Starting a Python program on several ranks by ``mpirun``, and saying in a sentence which rank failed."""

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

from course_pkg.core import CourseError
from course_pkg.core.checks import require_count
from course_pkg.core.host import available_cores
from course_pkg.distributed.mpi import MISSING
from course_pkg.setup.system import mpirun

GRACE_S = 5.0  # time that mpirun has to end its ranks
INSIDE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")  # set for the ranks of a run
KILLED = re.compile(r"process rank (\d+) with PID (\d+) on node (\S+) exited on\s+signal (\d+)")
# mpirun's messages on a rank that ends without finishing MPI: with status 0, and with another status
IMPROPERLY = re.compile(r"process rank (\d+) with PID \d+ on\s+node (\S+) exiting improperly")
NONZERO = re.compile(r"Process name: \[\[\d+,\d+\],(\d+)\]\s+Exit code:\s+(\d+)")
NAMED = re.compile(r"^rank \d+ of \d+ \(.*$", re.MULTILINE)


def obstacle() -> str:
    """Return why several ranks cannot be started here, or an empty string.

    Examples
    --------
    >>> isinstance(obstacle(), str)
    True
    """
    if importlib.util.find_spec("mpi4py") is None:
        return MISSING.format(reason="mpi4py is not installed")
    return "" if mpirun() else MISSING.format(reason="there is no mpirun")


@cache
def _options(path: str) -> tuple[str, ...]:
    """Return the options that let Open MPI run as root and start more ranks than cores; other MPIs need none."""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    if "Open MPI" not in said and "OpenRTE" not in said:
        return ()
    return ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")


def share(ranks: int) -> int:
    """Return how many threads each rank gets if ``ranks`` ranks share the cores: at least one.

    Examples
    --------
    >>> share(10**6)
    1
    """
    return max(1, available_cores() // ranks)


def environment(threads: int) -> dict[str, str]:
    """Return the environment variables of a rank that runs ``threads`` threads.

    Examples
    --------
    >>> environment(2)["NUMBA_NUM_THREADS"]
    '2'
    """
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    shares = dict.fromkeys(names, str(threads))
    return {**os.environ, **shares}


def launch(
    program: Sequence[str], ranks: int, *, timeout_s: float = 600.0, threads: int | None = None
) -> str:
    """Run ``python PROGRAM`` on several ranks, and return what they print, in the order in which it arrives.

    Lines of different ranks may be mixed, so only one rank should print.

    Parameters
    ----------
    program : sequence of str
        Arguments of Python, such as ``("-m", "course_pkg.distributed.job")``.
    ranks : int
    timeout_s : float
        After this time, all ranks are stopped.
    threads : int, optional
        Threads of each rank; by default, an equal share of the cores.

    Raises
    ------
    CourseError
        If MPI is missing, if this process is itself a rank of a run, or if a rank fails. The message names that rank.

    Examples
    --------
    >>> launch(("-c", "print('here')"), 2).count("here") if not obstacle() else 2
    2
    """
    require_count(ranks=ranks)
    if any(name in os.environ for name in INSIDE):
        raise CourseError(
            "This is a rank of an MPI run already: start it without mpirun, it calls mpirun itself."
        )
    if why := obstacle():
        raise CourseError(why)
    path = mpirun()
    command = [path, *_options(path), "-n", str(ranks), sys.executable, *program]
    process = subprocess.Popen(
        command,
        env=environment(threads or share(ranks)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        said = _stop(process)
        if found := NAMED.search(said):  # a rank has failed, and MPI did not end the others
            raise CourseError(found[0]) from None
        raise CourseError(
            f"{ranks} ranks of `{' '.join(program)}` were ended after {timeout_s:.0f} s. {_last(said)}".rstrip()
        ) from None
    except BaseException:
        _stop(process)
        raise
    if process.returncode:
        raise CourseError(_why(err, process.returncode))
    return out


def _stop(process: subprocess.Popen) -> str:
    """Terminate mpirun, which ends its ranks; if it does not exit, kill it. Return what it and they wrote to stderr."""
    process.terminate()
    try:
        return process.communicate(timeout=GRACE_S)[1]
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[1]


def _last(said: str) -> str:
    """Return the last lines of an output, joined into one line."""
    lines = [line.strip() for line in said.splitlines() if line.strip(" -")]
    return " ".join(lines[-6:])


def _why(err: str, status: int) -> str:
    """Return the error message of the rank that failed, found in the output of all ranks and mpirun."""
    if found := NAMED.search(err):
        return found[0]
    if found := KILLED.search(err):
        rank, pid, host, number = found.groups()
        return f"rank {rank} ({host}, process {pid}) was ended by signal {number} ({signal.Signals(int(number)).name})."
    if found := IMPROPERLY.search(err):
        rank, host = found.groups()
        return f"rank {rank} ({host}) ended before the others, with status 0 and without closing MPI."
    if found := NONZERO.search(err):
        rank, code = found.groups()
        return f"rank {rank} ended with status {code}, and does not say why."
    return f"mpirun ended with status {status}: {_last(err) or 'it does not say why'}"
