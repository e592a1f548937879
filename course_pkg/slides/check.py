"""Check every slide in a browser without network: text that does not fit, missing figures, errors and so on."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlparse

from course_pkg.slides.browser import chromium
from course_pkg.slides.convert import HEIGHT, WIDTH
from course_pkg.slides.errors import SlidesError, one_line

READY_TIMEOUT_S = 120  # enough for a large deck on a slow, busy machine
_PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")
_READY = "document.body.dataset.ready === 'true'"
# Wait for two frames: in the first, the browser lays out the page; before the second, it has painted it.
_PAINTED = "() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))"


@dataclass(frozen=True)
class Problem:
    """One problem of a slide. `slide` is 0 if the problem concerns the whole page."""

    deck: str
    slide: int
    heading: str
    kind: str
    element: str
    detail: str

    def __str__(self) -> str:
        where = f"{self.deck}, slide {self.slide}" if self.slide else self.deck
        where += f" “{self.heading}”" if self.heading else ""
        return f"{where}: {self.element} {self.detail}".replace("  ", " ")


@dataclass
class DeckReport:
    """The problems that the browser found on one page."""

    name: str
    slides: int = 0
    formulas: int = 0
    widgets: int = 0
    outbound: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def check_decks(pages: Iterable[Path], *, shots: Path | None = None) -> list[DeckReport]:
    """Open each deck, and check its slides with all fragments shown.

    Parameters
    ----------
    pages : iterable of Path
        Decks, and other pages of the same folder. Pages that are not decks are only loaded.
    shots : Path, optional
        A folder for one picture of each slide, light and dark.

    Returns
    -------
    list of DeckReport
        One for each page, with its problems.

    Raises
    ------
    SlidesError
        If there is no browser.
    """
    with chromium() as browser:
        return [_check(browser, Path(page).resolve(), shots) for page in pages]


def require_clean(reports: Iterable[DeckReport]) -> None:
    """Raise `SlidesError` that lists every problem, if there is one."""
    problems = [problem for report in reports for problem in report.problems]
    if problems:
        many = f"{len(problems)} problems" if len(problems) > 1 else "1 problem"
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise SlidesError(f"The slides cannot be shown like this; fix {many} in the lectures:\n{lines}")


def open_deck(context, page_path: Path, query: str = ""):
    """Open a page in a browser context, wait until its formulas and widgets are drawn, and return it.

    Raises
    ------
    SlidesError
        If they are not drawn within `READY_TIMEOUT_S`.
    """
    from playwright.sync_api import TimeoutError as TookTooLong

    page = context.new_page()
    page.goto(page_path.as_uri() + query)
    try:
        page.wait_for_function(_READY, timeout=READY_TIMEOUT_S * 1000)
    except TookTooLong as error:
        raise SlidesError(
            f"{page_path.name} was not ready within {READY_TIMEOUT_S} s: formulas or widgets are not drawn."
        ) from error
    return page


def _check(browser, path: Path, shots: Path | None) -> DeckReport:
    report = DeckReport(path.stem)
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    try:
        watch(context, path.parent, report)
        try:
            page = open_deck(context, path)
        except SlidesError as error:
            report.problems.append(Problem(report.name, 0, "", "not ready", "", str(error)))
        else:
            if page.evaluate("typeof Reveal !== 'undefined'"):
                _go_through(page, report, shots)
    finally:
        context.close()
    for url in dict.fromkeys(report.outbound):
        report.problems.append(Problem(report.name, 0, "", "outbound", "the page", f"asks for {url}"))
    for message in dict.fromkeys(report.console_errors):
        report.problems.append(Problem(report.name, 0, "", "console", "the console says", f"“{message}”"))
    return report


def watch(context, folder: Path, report: DeckReport) -> None:
    """Block every request for a file outside the folder of the pages; report such requests and console errors.

    Parameters
    ----------
    context : playwright BrowserContext
    folder : Path
        The folder of the pages, absolute.
    report : DeckReport
        What is found is added to its lists.
    """

    def gate(route):
        url = urlparse(route.request.url)
        inside = url.scheme == "file" and Path(unquote(url.path)).is_relative_to(folder)
        if inside or url.scheme in {"data", "blob", "about"}:
            route.continue_()
        else:
            report.outbound.append(one_line(route.request.url))
            route.abort()

    def console(message):
        url = message.location.get("url", "")
        blocked = one_line(url) in report.outbound
        if message.type == "error" and not blocked:
            missing = url if message.text.startswith("Failed to load") else ""
            report.console_errors.append(one_line(f"{message.text} {missing}"))

    context.route("**/*", gate)
    context.on("console", console)
    context.on("weberror", lambda error: report.console_errors.append(one_line(error.error)))


def _go_through(page, report: DeckReport, shots: Path | None) -> None:
    report.slides = page.evaluate("Reveal.getTotalSlides()")
    report.formulas = page.locator("mjx-container").count()
    report.widgets = page.locator("div.jp-OutputArea-output.jupyter-widgets").count()
    for index in range(report.slides):
        # An index beyond that of the last fragment shows all fragments.
        page.evaluate("(index) => Reveal.slide(index, 0, 999)", index)
        page.evaluate(_PAINTED)
        heading = page.evaluate(
            "(Reveal.getCurrentSlide().querySelector('h1, h2, h3, [role=heading]')?.textContent ?? '').trim()"
        )
        faults = page.evaluate(_PROBE)
        if shots:
            _photograph(page, Path(shots), f"{report.name}-{index + 1:02d}")
        for _ in _to_the_ends(page):
            faults += [fault for fault in page.evaluate(_PROBE) if fault not in faults]
        for found in faults:
            report.problems.append(Problem(report.name, index + 1, one_line(heading, 60), **found))


def _to_the_ends(page):
    """Move each slider of the current slide to its first and then to its last value; yield at each."""
    handles = page.locator("section.present .noUi-handle[tabindex]")
    for number in range(handles.count()):
        for key in ("Home", "End"):
            handles.nth(number).press(key)
            page.evaluate(_PAINTED)
            yield
    page.evaluate("document.activeElement?.blur()")


def _photograph(page, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("dark", "light"):  # light last, because the check continues in the light theme
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        page.evaluate(_PAINTED)
        page.wait_for_timeout(250)  # until fragments have faded in
        page.screenshot(path=str(folder / f"{name}-{theme}.png"))


def no_browser_notice(why: str) -> str:
    """Return the notice that is printed if slides cannot be checked."""
    return f"overflow not checked: {why}."
