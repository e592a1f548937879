"""The doctor's checks of Python, packages, memory, disk, browser, sandbox and recorded measurements."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from course_pkg.commands.doctor_check import Check
from course_pkg.core.errors import CourseError
from course_pkg.core.host import free_memory
from course_pkg.setup import system

REPAIR = "run `make lab` again, which repairs the environment."
MEMORY_GB, DISK_GB = 2.0, 1.0


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """Is this Python new enough?"""
    text = ".".join(map(str, version))
    if version < (3, 11):
        return Check("Python", "fail", text, "install Python 3.11 or newer, delete .venv and run `make lab`.")
    return Check("Python", "ok", f"{text} ({sys.executable})")


def check_packages(requirements: list[str] | None = None, version_of=metadata.version) -> Iterator[Check]:
    """Is every required package installed, in a version that fits?

    Parameters
    ----------
    requirements : list of str, optional
        As in pyproject.toml; by default, those of the installed course.
    version_of : callable
        Returns a package's installed version or raises `importlib.metadata.PackageNotFoundError`.
    """
    try:
        requirements = metadata.requires("course_pkg") if requirements is None else requirements
    except metadata.PackageNotFoundError:
        yield Check(
            "course_pkg",
            "fail",
            "not installed",
            "run `make lab`, or `pip install -e .` in the course's folder.",
        )
        return
    for requirement in map(Requirement, requirements or []):
        # Packages of an extra are tested by the check that needs them.
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version_of(requirement.name)
        except metadata.PackageNotFoundError:
            yield Check(requirement.name, "fail", "missing", REPAIR)
            continue
        if requirement.specifier.contains(found, prereleases=True):
            yield Check(requirement.name, "ok", found)
        else:
            yield Check(
                requirement.name, "fail", f"{found}, but the course needs {requirement.specifier}", REPAIR
            )


def check_pairing() -> Check:
    """Does Jupyter load Jupytext, which updates .py and .ipynb from each other while JupyterLab is open?"""
    try:
        from jupyter_core.paths import jupyter_config_path
        from jupyter_server.extension.config import ExtensionConfigManager
    except ImportError:
        return Check("pairing in JupyterLab", "fail", "Jupyter is not installed", REPAIR)
    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    if not manager.enabled("jupyterlab_jupytext"):
        fix = (
            "run `jupyter server extension enable jupyterlab_jupytext`; until then, run `course sync` after you "
            "save a notebook."
        )
        return Check("pairing in JupyterLab", "warn", "Jupytext's server extension is off", fix)
    return Check("pairing in JupyterLab", "ok", "Jupytext's server extension is on")


def check_memory(available_bytes: int | None = None) -> Check:
    """Is there enough memory for the lectures' largest arrays?"""
    free = (free_memory() if available_bytes is None else available_bytes) / 1e9
    if free < MEMORY_GB:
        fix = "close other programs and notebooks, or the larger sizes of the lectures will not fit."
        return Check("free memory", "warn", f"{free:.1f} GB, but the lectures need {MEMORY_GB:.0f} GB", fix)
    return Check("free memory", "ok", f"{free:.1f} GB")


def check_disk(root: Path) -> Check:
    """Is there enough space to save notebooks and build slides?"""
    free = shutil.disk_usage(root).free / 1e9
    if free < DISK_GB:
        fix = f"free space on the disk of {root}: on a full disk, notebooks cannot be saved."
        return Check("free disk", "warn", f"{free:.1f} GB, but the course needs {DISK_GB:.0f} GB", fix)
    return Check("free disk", "ok", f"{free:.1f} GB")


def check_browser() -> Check:
    """Is there a Chromium? Only the PDFs of slides and the tests need it; the lectures run in any browser."""
    from course_pkg.slides.browser import find_chromium

    fix = (
        "install Chromium or Chrome (Debian and Ubuntu: sudo apt install chromium); only slide PDFs "
        "and tests need it."
    )
    try:
        found = find_chromium()
    except CourseError as error:
        return Check("browser", "warn", "not usable", str(error))
    if not found:
        return Check("browser", "warn", "no Chromium found", fix)
    return Check("browser", "ok", str(found))


def check_sandbox() -> Check:
    """Does bubblewrap work here? Only grading, which runs other people's code, needs it."""
    if not sys.platform.startswith("linux"):
        fix = "to grade submissions, use Linux, or WSL 2 on Windows; the lectures need no sandbox."
        return Check("sandbox", "warn", f"none on {sys.platform}", fix)
    bwrap = system.bwrap()
    if bwrap is None:
        fix = "install bubblewrap (Debian and Ubuntu: sudo apt install bubblewrap); only grading needs it."
        return Check("sandbox", "warn", "bubblewrap is missing", fix)
    try:
        trial = subprocess.run(
            [bwrap, "--ro-bind", "/", "/", "--unshare-all", "true"],
            capture_output=True,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(
            "sandbox",
            "warn",
            f"bubblewrap does not start ({error})",
            "reinstall bubblewrap; only grading needs it.",
        )
    if trial.returncode != 0:
        fix = (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu also "
            "kernel.apparmor_restrict_unprivileged_userns=0); only grading needs it."
        )
        reason = (trial.stderr.strip().splitlines() or ["no message"])[-1]
        return Check("sandbox", "warn", f"bubblewrap may not make namespaces: {reason}", fix)
    return Check("sandbox", "ok", bwrap)


def check_records(root: Path) -> Check:
    """Can every record be read, whatever its kind?"""
    from course_pkg.bench.document import read

    files = sorted((root / "figures" / "data").glob("*/*.json"))
    wrong = {}
    for path in files:
        try:
            read(path)
        except CourseError as error:
            wrong[f"{path.parent.name}/{path.name}"] = str(error)
    if wrong:
        return Check(
            "recorded measurements", "warn", f"{', '.join(wrong)} cannot be read", " ".join(wrong.values())
        )
    return Check("recorded measurements", "ok", f"{len(files)} file{'s' * (len(files) != 1)}")
