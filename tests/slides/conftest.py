"""Small lectures, and the programs that the tests of the slides need."""

from pathlib import Path

import pytest
from needs import need_browser, need_scripts

HEADER = """\
# ---
# jupyter:
#   title: {title}
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

"""


@pytest.fixture(scope="session")
def write_lecture():
    """A function that writes a py:percent lecture and returns its path."""

    def write(folder: Path, name: str, body: str, title: str = "A small lecture") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.py"
        path.write_text(HEADER.format(title=title) + body, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The browser; without one the test is skipped visibly, on CI it fails."""
    return need_browser()


@pytest.fixture(scope="session")
def fetched() -> Path:
    """The fetched JavaScript; without a network and without a cache the test is skipped."""
    return need_scripts()
