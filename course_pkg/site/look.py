"""Open pages in a browser without a network, and report their requests to other machines and console errors."""

from dataclasses import dataclass, field
from pathlib import Path

from course_pkg.core.errors import CourseError
from course_pkg.slides.browser import chromium
from course_pkg.slides.check import DeckReport, open_deck, watch

SAMPLE_OF_API = 5
DRAWN_WITHIN_S = 60
# a widget is drawn if html-manager has put its view there; formulas are drawn once MathJax has started
_DRAWN = """() => {
  const widgets = [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')];
  const drawn = widgets.every((script) => script.parentElement.querySelector('.lm-Widget, .jupyter-widgets'));
  return drawn && document.readyState === 'complete' && (!window.MathJax?.startup?.promise || window.courseFormulas);
}"""
_FORMULAS = "() => { window.MathJax?.startup?.promise?.then(() => { window.courseFormulas = true; }); }"
_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_BROKEN = """[...document.images].filter((image) => image.complete && !image.naturalWidth && image.loading !== 'lazy')
  .map((image) => image.getAttribute('src').slice(0, 120))"""


SHORTEST_TRACK_PX = 80
_SHORT = """shortest => [...document.querySelectorAll('.widget-hslider')]
  .filter((slider) => slider.offsetHeight && slider.querySelector('.slider-container').offsetWidth < shortest)
  .map((slider) => slider.textContent.slice(0, 60))"""


@dataclass
class Looked:
    """What a browser saw on the pages of a site."""

    pages: int = 0
    outbound: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def look(site: Path) -> Looked:
    """Open the pages of a site in windows of a desktop and of a phone, with the network blocked.

    The pages about the package are all made by Sphinx in the same way, so only a few of them are opened.

    Parameters
    ----------
    site : Path
        The folder with ``index.html``.

    Raises
    ------
    SlidesError
        If there is no browser.
    """
    seen, site = Looked(), Path(site).resolve()
    with chromium() as browser:
        for page in pages_of(site):
            _open(browser, site, page, seen)
    return seen


def pages_of(site: Path) -> list[Path]:
    """Return the pages to open: all of the course, and some of those about the package and its source."""
    pages = sorted(site.rglob("*.html"))
    apart = {"api": [], "_modules": []}
    chosen = []
    for page in pages:
        room = page.relative_to(site).parts[0]
        apart.get(room, chosen).append(page)
    return chosen + [page for some in apart.values() for page in some[:SAMPLE_OF_API]]


def require_clean(seen: Looked) -> None:
    """Raise a `CourseError` that lists all problems, if there are any."""
    said = [f"asks for {url}" for url in seen.outbound]
    said += [f"the console says “{text}”" for text in seen.console_errors] + seen.problems
    if said:
        lines = "\n".join(f"  {line}" for line in dict.fromkeys(said))
        raise CourseError(f"The site cannot be published like this:\n{lines}")


def _open(browser, site: Path, path: Path, seen: Looked) -> None:
    from playwright.sync_api import TimeoutError as TookTooLong

    report, name = DeckReport(path.stem), path.relative_to(site).as_posix()
    deck = path.parent.name == "slides"
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        watch(context, site, report)
        page = open_deck(context, path) if deck else context.new_page()
        if not deck:
            page.goto(path.as_uri())
            page.evaluate(_FORMULAS)
            try:
                page.wait_for_function(_DRAWN, timeout=DRAWN_WITHIN_S * 1000)
            except TookTooLong:
                seen.problems.append(f"{name}: formulas or widgets are not drawn within {DRAWN_WITHIN_S} s")
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                if (over := page.evaluate(_WIDE)) > 0:
                    seen.problems.append(f"{name} is {over} px wider than a window of {width} px")
                for label in page.evaluate(_SHORT, SHORTEST_TRACK_PX):
                    seen.problems.append(f"{name} leaves the slider “{label}” no track at {width} px")
            seen.problems += [f"{name} shows no picture {src}" for src in page.evaluate(_BROKEN)]
    finally:
        context.close()
    seen.pages += 1
    seen.outbound += [f"{url} ({name})" for url in report.outbound]
    seen.console_errors += [f"{text} ({name})" for text in report.console_errors]
