"""Where guesses are kept, and what a notebook would show of them."""

import pytest
from shown_cases import Handle


@pytest.fixture
def store(tmp_path):
    return tmp_path / "kept" / "predictions.json"


@pytest.fixture
def shown(monkeypatch):
    """What a notebook would show, in order; the last entry is what stands there."""
    shown = []

    def display(what, display_id):
        shown.append(what.data)
        return Handle(shown)

    monkeypatch.setattr("course_pkg.viz.predictions.display", display)
    return shown
