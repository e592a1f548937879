"""The doctor's look at Python, packages, memory, disk, browser, sandbox and recorded measurements."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import psutil
from packaging.requirements import Requirement

from course_pkg.commands.check import Check
from course_pkg.core.errors import CourseError
from course_pkg.setup import system

REPAIR = "run `make lab` again, it repairs the environment."
MEMORY_GB, DISK_GB = 2.0, 1.0


def check_python(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """Is this Python new enough?"""
    text = ".".join(map(str, version))
    if version < (3, 11):
        return Check("Python", "fail", text, "install Python 3.11 or newer, delete .venv and run `make lab`.")
    return Check("Python", "ok", f"{text} ({sys.executable})")


def check_packages(requirements: list[str] | None = None, version_of=metadata.version) -> Iterator[Check]:
    """Is every required package there, within its bounds?

    Parameters
    ----------
    requirements : list of str, optional
        As in pyproject.toml; read from the installed course when left out.
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
        # Packages of an extra are the business of the check that needs them.
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
            yield Check(requirement.name, "fail", f"{found}, needed is {requirement.specifier}", REPAIR)


def check_pairing() -> Check:
    """Does Jupyter load Jupytext, which keeps .py and .ipynb in step while JupyterLab is open?"""
    try:
        from jupyter_core.paths import jupyter_config_path
        from jupyter_server.extension.config import ExtensionConfigManager
    except ImportError:
        return Check("pairing in JupyterLab", "fail", "Jupyter is not installed", REPAIR)
    manager = ExtensionConfigManager(read_config_path=jupyter_config_path())
    if not manager.enabled("jupyterlab_jupytext"):
        mend = (
            "run `jupyter server extension enable jupyterlab_jupytext`; until then `course sync` brings the "
            "files in step after you save."
        )
        return Check("pairing in JupyterLab", "warn", "Jupytext's server extension is off", mend)
    return Check("pairing in JupyterLab", "ok", "Jupytext's server extension is on")


def check_memory(available_bytes: int | None = None) -> Check:
    """Is there memory for the lectures' largest arrays?"""
    free = (psutil.virtual_memory().available if available_bytes is None else available_bytes) / 1e9
    if free < MEMORY_GB:
        mend = "close other programs and running notebooks: the lectures' larger sizes do not fit."
        return Check("free memory", "warn", f"{free:.1f} GB, {MEMORY_GB:.0f} GB are wanted", mend)
    return Check("free memory", "ok", f"{free:.1f} GB")


def check_disk(root: Path) -> Check:
    """Is there space to save notebooks and build slides?"""
    free = shutil.disk_usage(root).free / 1e9
    if free < DISK_GB:
        mend = f"free space where {root} lies: a full disk loses what you save."
        return Check("free disk", "warn", f"{free:.1f} GB, {DISK_GB:.0f} GB are wanted", mend)
    return Check("free disk", "ok", f"{free:.1f} GB")


def check_browser() -> Check:
    """Is there a Chromium for the slides' PDF and the tests? The lectures run in any browser."""
    from course_pkg.slides.browser import find_chromium

    mend = (
        "install Chromium or Chrome (Debian and Ubuntu: sudo apt install chromium); only slide PDFs "
        "and tests need it."
    )
    try:
        found = find_chromium()
    except CourseError as error:
        return Check("browser", "warn", "not usable", str(error))
    if not found:
        return Check("browser", "warn", "no Chromium found", mend)
    return Check("browser", "ok", str(found))


def check_sandbox() -> Check:
    """Does bubblewrap work here? Only grading of other people's code needs it."""
    if not sys.platform.startswith("linux"):
        mend = "grade submissions on Linux, or in WSL 2 on Windows; the lectures need no sandbox."
        return Check("sandbox", "warn", f"none on {sys.platform}", mend)
    bwrap = system.bwrap()
    if bwrap is None:
        mend = "install bubblewrap (Debian and Ubuntu: sudo apt install bubblewrap); only grading needs it."
        return Check("sandbox", "warn", "bubblewrap is missing", mend)
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
        mend = (
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu also "
            "kernel.apparmor_restrict_unprivileged_userns=0); only grading needs it."
        )
        reason = (trial.stderr.strip().splitlines() or ["no message"])[-1]
        return Check("sandbox", "warn", f"bubblewrap may not make namespaces: {reason}", mend)
    return Check("sandbox", "ok", bwrap)


def check_records(root: Path) -> Check:
    """Can every record be read, of whatever kind it says it is?"""
    from course_pkg.bench.document import read

    files = sorted((root / "figures" / "data").glob("*/*.json"))
    for path in files:
        try:
            read(path)
        except CourseError as error:
            return Check("recorded measurements", "warn", f"{path.name} cannot be read", str(error))
    return Check("recorded measurements", "ok", f"{len(files)} files")
