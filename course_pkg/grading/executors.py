"""Where submissions are graded: on this machine, or on an existing Dask cluster."""

import concurrent.futures
from contextlib import contextmanager

from course_pkg.core import CourseError
from course_pkg.grading import warm


@contextmanager
def chosen(executor, scheduler: str | None, jobs: int):
    """Yield an executor, and how many submissions to keep in memory."""
    if executor == "dask":
        with dask_executor(scheduler) as (pool, threads):
            yield pool, 2 * threads
    elif isinstance(executor, concurrent.futures.Executor):
        yield executor, 2 * jobs
    elif executor in (None, "local"):
        # these threads only wait: a separate process, forked by the warm parent, grades each submission
        pool = concurrent.futures.ThreadPoolExecutor(jobs, thread_name_prefix="grade")
        try:
            yield pool, jobs + 1
        except BaseException:  # also after Ctrl-C: do not wait for submissions that are being graded
            pool.shutdown(wait=False, cancel_futures=True)
            warm.parent().stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    else:
        raise CourseError(f"There is no executor {executor!r}: choose local or dask.")


@contextmanager
def dask_executor(scheduler: str | None):
    """Yield an executor on an existing Dask cluster and the number of its threads.

    Raises
    ------
    CourseError
        If Dask is not installed, if no address is given, or if nothing answers there.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise CourseError("Dask is not installed: `pip install -e '.[dask]'` brings it.") from error
    if not scheduler:
        raise CourseError("Name the scheduler of your Dask cluster: --scheduler tcp://HOST:8786.")
    try:
        client = Client(scheduler, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:  # a time-out is an OSError
        raise CourseError(
            f"No Dask scheduler answers at {scheduler} ({error}): start it or correct the address."
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise CourseError(f"The Dask cluster at {scheduler} has no workers: start some.")
        with client.get_executor(pure=False) as pool:
            yield pool, threads
