"""Write the page that lists the decks."""

import json
import re
from pathlib import Path

from markupsafe import Markup

from course_pkg.slides.convert import motif
from course_pkg.slides.pages import write_page


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
    return write_page(out_dir / "index.html", "contents.html.j2", decks=rows, motif=Markup(motif()))


def _number(name: str) -> str:
    found = re.match(r"\d+", name)
    return str(int(found[0])) if found else ""
