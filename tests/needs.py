"""What a test needs of the machine: without it, the test is skipped visibly; on CI it fails."""

import os

import pytest


def need(missing):
    """Skip the running test if something is missing, and say what; on CI, where all is installed, fail."""
    if missing and os.environ.get("CI"):
        pytest.fail(f"on CI this is needed: {missing}")
    if missing:
        pytest.skip(str(missing))


def need_browser():
    """Go on only with a browser; return its path."""
    from course_pkg.slides import browser

    need(browser.why_no_browser())
    return browser.find_chromium()


def need_scripts(*packages):
    """Go on only with these JavaScript packages, by default all that slides load; return their folder."""
    from course_pkg.slides import SlidesError, assets

    try:
        return assets.fetch(packages=packages or assets.PACKAGES)
    except SlidesError as error:
        need(str(error))
