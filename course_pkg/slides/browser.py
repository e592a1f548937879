"""Find a Chromium, and start it without a window."""

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

    It is searched for in this order: the environment variable ``CHROMIUM``; the ``PATH``; Playwright's own. If
    ``COURSE_HIDE`` contains ``chromium``, the result is None.

    Raises
    ------
    SlidesError
        If ``CHROMIUM`` is set, but is not a file.
    """
    if system.hidden("chromium"):
        return None
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise SlidesError(f"CHROMIUM is set to {named}, which does not exist: correct it or unset it.")
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
    """Return the arguments with which Chromium is started."""
    # Chromium cannot use its sandbox as root, for example in a container; for other users the sandbox stays on.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*_QUIET, "--no-sandbox"] if root else list(_QUIET)


def why_no_browser() -> str | None:
    """Return what is missing to control a browser, and how to install it; None if nothing is missing."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return 'Playwright is missing; install it with `pip install -e ".[slides]"`'
    if find_chromium() is None:
        return "no browser found; install Chromium or run `playwright install chromium`"
    return None


@contextmanager
def chromium() -> Iterator:
    """Start a headless Chromium (a Playwright ``Browser``) for a ``with`` block.

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
                f"{path} did not start ({one_line(error.message, 160)}): set CHROMIUM to another browser."
            ) from error
        try:
            yield browser
        finally:
            browser.close()
