"""Build a folder of decks from lectures."""

import os
from dataclasses import dataclass
from pathlib import Path

from course_pkg.slides.assets import copy_assets
from course_pkg.slides.browser import why_no_browser
from course_pkg.slides.check import DeckReport, check_decks, no_browser_notice, require_clean
from course_pkg.slides.contents import write_contents
from course_pkg.slides.convert import convert
from course_pkg.slides.errors import SlidesError
from course_pkg.slides.execute import execute
from course_pkg.slides.glossary import link_to_page, write_glossary
from course_pkg.slides.pdf import print_decks


@dataclass(frozen=True)
class BuiltDeck:
    """One deck on disk. `report` is None if no browser has checked it."""

    name: str
    title: str
    promise: str
    slides: int
    html: Path
    pdf: Path | None = None
    report: DeckReport | None = None


def build(
    lectures: list[Path],
    out_dir: Path,
    *,
    pdf: bool = False,
    check: bool = True,
    shots: Path | None = None,
    executed_dir: Path | None = None,
) -> list[BuiltDeck]:
    """Build the decks of `lectures`, ``index.html`` and ``glossary.html`` in `out_dir`.

    Parameters
    ----------
    lectures : list of Path
        The py:percent sources.
    out_dir : Path
        Where ``NAME.html``, ``index.html``, ``glossary.html`` and ``assets/`` go.
    pdf : bool
        Also print ``NAME.pdf``; this needs a browser.
    check : bool
        Check every slide in a browser. Without a browser, this is an error on CI (``CI`` is set); elsewhere a
        notice is printed.
    shots : Path, optional
        A folder for pictures of all slides.
    executed_dir : Path, optional
        Where the executed notebooks are kept; by default, the folder ``executed`` beside `out_dir`.

    Raises
    ------
    LectureError
        If a cell fails or warns.
    SlidesError
        If a check finds a problem; the message lists deck, slide and element.
    """
    out_dir = Path(out_dir)
    executed_dir = Path(executed_dir) if executed_dir else out_dir.parent / "executed"
    _refuse_same_names(lectures)
    looks = check and _can_look(needed=shots is not None)
    out_dir.mkdir(parents=True, exist_ok=True)
    copy_assets(out_dir)

    rows, pages = [], []
    for source in map(Path, lectures):
        executed = execute(source, executed_dir)
        deck = convert(executed, lecture_dir=source.resolve().parent)
        page = out_dir / f"{source.stem}.html"
        page.write_text(link_to_page(deck.html), encoding="utf-8")
        # A PDF of an earlier build would show old slides.
        page.with_suffix(".pdf").unlink(missing_ok=True)
        pages.append(page)
        row = {"name": source.stem, "title": deck.title, "promise": deck.promise, "slides": deck.slides}
        rows.append(row)
    others = [write_contents(out_dir, rows)]
    folders = dict.fromkeys(Path(source).resolve().parent for source in lectures)
    others += [page for folder in folders if (page := write_glossary(folder, out_dir))]

    reports: list[DeckReport | None] = [None] * len(pages)
    if looks:
        seen = check_decks([*pages, *others], shots=shots)
        require_clean(seen)
        reports = seen[: len(pages)]
    pdfs: list[Path | None] = [None] * len(pages)
    if pdf:
        pdfs = print_decks(pages)
        write_contents(out_dir, rows)  # again, now with links to the PDFs
    return [
        BuiltDeck(html=page, pdf=printed, report=report, **row)
        for row, page, printed, report in zip(rows, pages, pdfs, reports, strict=True)
    ]


def _can_look(*, needed: bool) -> bool:
    """Return whether there is a browser; if not, raise if it is needed, else print a notice."""
    missing = why_no_browser()
    if missing is None:
        return True
    if needed or os.environ.get("CI"):
        raise SlidesError(f"The slides cannot be checked: {missing}.")
    print(no_browser_notice(missing))
    return False


def _refuse_same_names(lectures: list[Path]) -> None:
    names = [Path(source).stem for source in lectures]
    for name in names:
        if names.count(name) > 1:
            raise SlidesError(
                f"Two lectures are called {name}, so their decks would overwrite each other: rename one."
            )
