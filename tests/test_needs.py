"""Without what it needs, a test is skipped visibly, and fails on CI."""

import pytest
from needs import need, need_browser, need_scripts

from course_pkg.slides import SlidesError, assets


def test_nothing_is_missing(monkeypatch):
    monkeypatch.setenv("CI", "true")
    need(None)
    need("")


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail), ("", pytest.skip)])
def test_what_is_missing_is_a_visible_skip_and_a_failure_on_ci(ci, outcome, monkeypatch):
    def unreachable(**_):
        raise SlidesError("the registry of npm cannot be reached")

    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("COURSE_HIDE", "chromium")
    monkeypatch.setattr(assets, "fetch", unreachable)
    with pytest.raises(outcome.Exception, match="mpirun is missing"):
        need("mpirun is missing")
    with pytest.raises(outcome.Exception, match=r"[Nn]o browser found|Playwright is missing"):
        need_browser()
    with pytest.raises(outcome.Exception, match="cannot be reached"):
        need_scripts()
