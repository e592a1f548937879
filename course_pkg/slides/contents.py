"""Write the page that lists the decks."""

import json
import re
from pathlib import Path

import jinja2
from markupsafe import Markup

from course_pkg.slides.convert import COURSE_NAME, LICENCE, motif

_THEME = Path(__file__).parent / "theme"


def write_contents(out_dir: Path, decks: list[dict]) -> Path:
    """Write ``index.html`` with `decks`, and with decks of earlier builds that still exist; return its path.

    Parameters
    ----------
    out_dir : Path
        The folder of the decks.
    decks : list of dict
        For each deck of this build its ``name``, ``title``, ``promise`` and number of ``slides``.
    """
    # Building one lecture must not remove the others from the list.
    record = out_dir / "decks.json"
    known = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    known |= {deck["name"]: deck for deck in decks}
    known = {name: known[name] for name in sorted(known) if (out_dir / f"{name}.html").is_file()}
    record.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [
        {**deck, "number": _number(name), "pdf": (out_dir / f"{name}.pdf").is_file()}
        for name, deck in known.items()
    ]
    template = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_THEME), autoescape=True, undefined=jinja2.StrictUndefined
    ).get_template("contents.html.j2")
    page = out_dir / "index.html"
    html = template.render(decks=rows, course=COURSE_NAME, licence=LICENCE, motif=Markup(motif()))
    page.write_text(html, encoding="utf-8")
    return page


def _number(name: str) -> str:
    found = re.match(r"\d+", name)
    return str(int(found[0])) if found else ""
