"""Links between the pages of a site that lead nowhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from course_pkg.core.errors import CourseError

MOST = 20  # broken links that are listed; what breaks one often breaks hundreds


class _Page(HTMLParser):
    """What a page refers to, and the places on it to which a link can lead."""

    def __init__(self, html: str):
        super().__init__()
        self.links: dict[str, None] = {}
        self.places: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links[value] = None
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken(site: Path) -> list[str]:
    """Return a sentence for each link of a site's pages to a file or a place on a page that is not there.

    Links to other machines are not followed. A place that a script makes is none of the page: ``#/3``, a slide, or
    ``#device=…``, a choice.

    Parameters
    ----------
    site : Path
        The folder with ``index.html``.
    """
    site = Path(site).resolve()
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site).as_posix()} links to {link}, which is not there"
        for path, page in pages.items()
        for link in _lost(path, page, pages)
    ]


def require_links(site: Path) -> None:
    """Raise a `CourseError` that lists the first broken links of a site, if there are any."""
    if lost := broken(site):
        lines = "\n".join(f"  {line}" for line in lost[:MOST])
        more = f"\n  and {len(lost) - MOST} more" if len(lost) > MOST else ""
        raise CourseError(f"The site cannot be published like this:\n{lines}{more}")


def _lost(path: Path, page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        place = parts.fragment
        made = not place or place.startswith("/") or "=" in place
        named = {place, unquote(place)}  # as browsers look for it
        if not target.exists() or not (made or target not in pages or named & pages[target].places):
            yield link
