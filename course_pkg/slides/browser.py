"""Find a Chromium and start it quietly."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_pkg.setup import system
from course_pkg.slides.errors import SlidesError, one_line

_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> Path | None:
    """Return the Chromium to use, or None.

    In this order: the environment variable ``CHROMIUM``; one on the ``PATH``; Playwright's own. None of them where
    ``COURSE_HIDE`` holds ``chromium``.

    Raises
    ------
    SlidesError
        If ``CHROMIUM`` is set and is no file.
    """
    if system.hidden("chromium"):
        return None
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise SlidesError(f"CHROMIUM is set to {named}, which is not there: correct it or unset it.")
        return Path(named)
    found = system.chromium()
    return Path(found) if found else _playwrights_own()


def _playwrights_own() -> Path | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    return path if path.is_file() else None


def launch_arguments() -> list[str]:
    """Return the arguments that Chromium is started with."""
    # Chromium refuses its sandbox to root, as in containers; everyone else keeps it.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_QUIET, "--no-sandbox"] if root else list(_QUIET)


def why_no_browser() -> str | None:
    """Return what is missing to drive a browser and how to mend it, or None if nothing is."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return 'Playwright is missing; install it with `pip install -e ".[slides]"`'
    if find_chromium() is None:
        return "no browser found; install Chromium or run `playwright install chromium`"
    return None


@contextmanager
def chromium() -> Iterator:
    """Give a running headless Chromium (a Playwright ``Browser``) and close it afterwards.

    Raises
    ------
    SlidesError
        If there is no browser or it does not start.
    """
    missing = why_no_browser()
    if missing:
        raise SlidesError(f"A browser is needed: {missing}.")
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        path = find_chromium()
        try:
            browser = playwright.chromium.launch(executable_path=str(path), args=launch_arguments())
        except Error as error:
            raise SlidesError(
                f"{path} did not start ({one_line(error.message, 160)}): set CHROMIUM to one that does."
            ) from error
        try:
            yield browser
        finally:
            browser.close()
