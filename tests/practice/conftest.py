"""What is solved in a test is remembered in a folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def learner_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
