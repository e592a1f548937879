"""An environment whose installers only note what they were told."""

import os
import shutil
from pathlib import Path

import pytest

from course_pkg.setup import driver
from course_pkg.setup.environment import Venv
from course_pkg.setup.troubles import Trouble


class FakeVenv(Venv):
    """An environment whose installers only note what they were told; `fails` says which of them fail."""

    def __init__(self, root):
        super().__init__(str(root), windows=False)
        self.told: list[str] = []
        self.made = 0
        self.fails: dict[str, list[Trouble | BaseException]] = {}

    def make(self):
        self.made += 1
        shutil.rmtree(self.path, ignore_errors=True)
        for name in ("jupyterlab", "numba", "numpy"):
            os.makedirs(os.path.join(self.path, "lib", "python3.11", "site-packages", name))
        os.makedirs(self.bin)
        Path(self.python).touch()

    def works(self):
        return os.path.exists(self.python)

    def run(self, command, what):
        self.told.append(" ".join(command).replace(self.python, "python"))
        for words, errors in self.fails.items():
            if words in self.told[-1] and errors:
                raise errors.pop(0)


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """An environment not made yet, on a machine without a GPU."""
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("numpy==2.4.6\n", encoding="utf-8")
    monkeypatch.setattr(driver, "driver_version", lambda: 0)
    monkeypatch.setattr(driver, "device_count", lambda: 1)
    monkeypatch.setattr(driver.gpu_extra, "__defaults__", (None, lambda: 1))
    monkeypatch.delenv("COURSE_GPU", raising=False)
    return FakeVenv(tmp_path)
