"""What the tests of ``course check`` share."""

import pytest
from check_sources import HEAD


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A function that writes a file beside the working directory's others, and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text, name="a.py"):
        (tmp_path / name).write_text(HEAD + text, encoding="utf-8")
        return name

    return write
