"""The order of the tests, how long each took, and `make check`'s limit on time; and fixtures that topics share."""

import contextlib
import fcntl
import gc
import importlib
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

# Workers share the cores: a thread that waits for others must sleep, not ask again and again. One thread of BLAS is
# enough for small problems. NumPy and the first compiled loop read both; processes that tests start inherit them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Measurements on the CPU take vectors of 32 MiB at most: on a machine with a large cache they would take minutes.
os.environ.setdefault("COURSE_MEMORY_MIB", "512")

import families
import numpy as np
from hypothesis import HealthCheck, settings

from course_pkg.paths import repo_root

# Compiled modules are kept whatever the environment says, as by `make test`: hundreds of processes import them again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# How long an example takes says how busy the machine is. On CI, Hypothesis has a profile of its own, which stays.
settings.register_profile(
    "patient", parent=settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")
DURATIONS = repo_root() / ".course" / "durations.json"
CHECKING = "COURSE_CHECK_UNTIL" in os.environ
UNTIL = float(os.environ.get("COURSE_CHECK_UNTIL", "inf"))
LEFT = "left to `make test`: the time of `make check` is up"
CUT = threading.Event()  # set once the time has ended a test
LATEST = UNTIL - 12.0  # that much to tear down, to end the workers and to write the summary


@contextlib.contextmanager
def alone(path):
    """Let one process at a time go on, each that has locked this file."""
    with path.open() as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def known() -> dict[str, float]:
    """Return how many seconds each test took when it last ran here."""
    with contextlib.suppress(OSError, ValueError):
        return json.loads(DURATIONS.read_text(encoding="utf-8"))
    return {}


@contextlib.contextmanager
def interrupted():
    """Skip what runs in here when `make check`'s time is up."""

    def late(number, frame):
        CUT.set()
        raise pytest.skip.Exception(LEFT)

    if not CHECKING or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(LATEST - time.time(), 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextlib.contextmanager
def excused():
    """Skip what fails because the time has ended it: a library may catch what ends it, and tell of a failure."""
    try:
        yield
    except Exception:
        if CUT.is_set():
            raise pytest.skip.Exception(LEFT) from None
        raise


class Clock:
    """Keeps the seconds of each test, and leaves out what does not fit into the time."""

    def __init__(self):
        self.before, self.taken, self.left = known(), {}, Counter()
        self.skipped = set()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item):
        """Leave a test out that is known to take longer than what is left."""
        if time.time() + self.before.get(item.nodeid, 0.0) > LATEST:
            raise pytest.skip.Exception(LEFT)
        with interrupted(), excused():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self):
        """End a test that nobody has timed yet when the time is up."""
        with interrupted(), excused():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        """Excuse what a test leaves behind that the time has ended, such as a file that it was importing."""
        try:
            return (yield)
        except Exception:
            if not CUT.is_set():
                raise

    def pytest_runtest_logreport(self, report):
        """Add up a test's setup, call and teardown; one that was left out keeps the seconds it had."""
        if report.skipped:
            self.skipped.add(report.nodeid)
            if LEFT in str(report.longrepr):
                self.left[report.nodeid.partition("::")[0]] += 1
        if report.nodeid in self.skipped:  # even then it has a teardown, of no time
            return
        self.taken[report.nodeid] = round(self.taken.get(report.nodeid, 0.0) + report.duration, 2)

    def pytest_terminal_summary(self, terminalreporter):
        """Say which tests were left to `make test`."""
        for file, count in sorted(self.left.items()):
            terminalreporter.write_line(f"Left to `make test`: {count} of {file}")

    def pytest_sessionfinish(self, session):
        """Remember the seconds, where the workers' reports come together."""
        if hasattr(session.config, "workerinput") or not self.taken:
            return
        with contextlib.suppress(OSError):  # a folder that cannot be written is no failed test
            DURATIONS.parent.mkdir(exist_ok=True)
            DURATIONS.write_text(json.dumps(self.before | self.taken, indent=0), encoding="utf-8")


def pytest_addoption(parser):
    """Add the options of large families."""
    families.pytest_addoption(parser)


def pytest_configure(config):
    """Start the clock, and draw from large families."""
    config.pluginmanager.register(Clock(), "clock")
    config.pluginmanager.register(families.Families(config, os.environ), "families")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: then two cores are done together.

    `make check` keeps its own order, the most direct tests first. Then Hypothesis reads the constants of the whole
    package: one worker at a time, because the first keeps them on disk for the others.
    """
    if not CHECKING:
        seconds: dict = {}
        for item in items:
            for mark in item.iter_markers("slow"):
                seconds[item.path] = max(mark.args[0], seconds.get(item.path, 0))
        items.sort(key=lambda item: -seconds.get(item.path, 0))
    with alone(Path(__file__)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Let one worker at a time import a test file: the first compiles what it imports, and the others load that."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with alone(collector.path):
        return (yield)


def pytest_ignore_collect(collection_path, config):
    """Leave out files without a test that runs bare: to import all of them takes longer than to run those."""
    if collection_path.name.startswith("test_") and config.getoption("markexpr") == "bare or browser":
        text = collection_path.read_text(encoding="utf-8")
        if "pytest.mark.bare" not in text and "pytest.mark.browser" not in text:
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among the modules and tests, which stay to the end: it takes long, and in vain."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def nothing_begun(monkeypatch):
    """Let no test know how far another test's learner had come with a step."""
    if checking := sys.modules.get("course_pkg.practice.checking"):
        monkeypatch.setattr(checking, "_SKELETON_LINES", {})


@pytest.fixture(scope="session")
def executed():
    """A function that runs a lecture and returns the executed notebook: once, whichever worker asks first."""
    folder = repo_root() / "build" / "executed"

    def run(lecture):
        from course_pkg.slides import execute

        with alone(lecture):
            # others use the cores, and some loops are compiled
            return execute(lecture, folder, cell_timeout_s=300)

    return run


@pytest.fixture
def seed():
    """A fresh seed; a failing test prints it."""
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    return seed


@pytest.fixture
def rng(seed):
    """Fresh random numbers."""
    return np.random.default_rng(seed)


class Backend:
    """A module of a topic, and how arrays get to it and back; CuPy's is skipped without CuPy or a GPU."""

    def __init__(self, topic, name):
        if name == "gpu_cupy":
            cupy = pytest.importorskip("cupy", reason="CuPy is not installed", exc_type=ImportError)
            try:
                cupy.cuda.runtime.getDeviceCount()
            except cupy.cuda.runtime.CUDARuntimeError:
                pytest.skip("CuPy is installed, but there is no GPU")
        self.name = name
        self.ops = importlib.import_module(f"course_pkg.{topic}.{name}")

    def put(self, array):
        if self.name == "gpu_numba":
            from course_pkg import cuda

            return cuda.to_device(array)
        return self.ops.cp.asarray(array) if self.name == "gpu_cupy" else array.copy()

    def get(self, array):
        if self.name == "gpu_numba":
            return array.copy_to_host()
        return array.get() if self.name == "gpu_cupy" else array


@pytest.fixture
def backend_of():
    """The class above, for fixtures of a topic: ``backend_of("vector", "cpu_numba")``."""
    return Backend


@pytest.fixture
def interpreted(monkeypatch):
    """The interpreter is taken for a GPU."""
    from course_pkg.bench import Device

    monkeypatch.setattr("course_pkg.vector.here.gpu", lambda: Device("gpu", "A GPU", 1, 0, 0))


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a file."""
    from course_pkg.slides.browser import chromium

    with chromium() as started:
        yield started


AXE = """async (where) => (await axe.run(where, { resultTypes: ['violations'] })).violations
  .map((found) => `${found.id}: ${found.nodes.map((node) => node.html).join(' ')}`)"""


@pytest.fixture(scope="session")
def axe():
    """A function that lets axe-core look at a page, or at what a selector finds there, and returns its complaints."""
    from needs import need_scripts  # here, because a test of this file uses it without the one beside it

    from course_pkg.slides import assets

    script = (need_scripts(assets.AXE) / "axe.min.js").read_text(encoding="utf-8")

    def look(page, where=None):
        page.evaluate(script)
        return page.evaluate(AXE, {"include": [[where]]} if where else {"include": [["html"]]})

    return look
