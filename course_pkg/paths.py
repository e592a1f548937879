"""The folders of the course on disk."""

import os
import sys
from pathlib import Path

from course_pkg.core.errors import CourseError


def repo_root() -> Path:
    """Return the root folder of the course: the parent of this package.

    Raises
    ------
    CourseError
        If that folder has no ``lectures/``: the package was installed without the rest of the course.
    """
    root = Path(__file__).resolve().parent.parent
    if not (root / "lectures").is_dir():
        raise CourseError(
            f"{root} has no folder lectures/: install the package from a copy of the course, "
            "with `pip install -e .` in its root folder."
        )
    return root


def recorded_dir() -> Path:
    """Return ``figures/data``, the folder of the recorded measurements."""
    return repo_root() / "figures" / "data"


def figure(name: str) -> Path:
    """Return the path of a drawn figure, ``figures/output/<name>``.

    Examples
    --------
    >>> figure("roofline.svg").parts[-3:]
    ('figures', 'output', 'roofline.svg')
    """
    return repo_root() / "figures" / "output" / name


def learner_dir() -> Path:
    """Return the folder in which the course stores a learner's data; it need not exist yet.

    The environment variable ``COURSE_DATA`` can name it. By default, it is in the operating system's folder for the
    data of a user's programs.
    """
    if os.environ.get("COURSE_DATA"):
        return Path(os.environ["COURSE_DATA"])
    name = "at-the-speed-of-memory"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / name
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / name
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / name
