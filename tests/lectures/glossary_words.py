"""The words of the glossary, and where lectures use and link them."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import notebooks

from course_pkg.paths import repo_root

GLOSSARY = repo_root() / "lectures" / "glossary.md"
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*glossary\.\w+)(?:#([^)\s]*))?\)")
METRIC = re.compile(r"\b[a-z][a-z0-9]*__[a-z]\w*")
# words that are also everyday ones: how the course's meaning is written
FORMS = {
    "pass": r"\bpasses\b(?! (?:the|a|an|on|through|over)\b)|\b(?:a|an|one|each|every|per) pass\b",
    "map": r"\b(?:a|the|each) map\b|\bmaps\b",
    "bound": r"\b(?:a|the|its|this) bound\b|\bbounds\b",
    "field": r"\bfields?\b(?! of)",
    "SM": r"\bSMs?\b",
    "gather": r"\b(?:a|the) gather\b",
    "scatter": r"\b(?:a|the) scatter\b",
    "fill": r"\b(?:a|the|less|more) fill\b",
    "moment": r"\bmoments\b",
    "round": r"\b(?:[Aa]|per) \W*round\b",
}
_HIDDEN = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|https?://\S+|!\[[^\]]*\]\([^)]*\)|^#+ .*?$", re.DOTALL | re.M
)
_TARGET = re.compile(r"\]\([^)]*\)")


@dataclass(frozen=True)
class Word:
    """An entry: its word, its meaning, and its three names."""

    name: str
    meaning: str
    unit: str
    nsight: str
    guide: str

    @property
    def anchor(self) -> str:
        """What JupyterLab, like nbconvert, calls the place of a heading."""
        return self.name.replace(" ", "-")

    @cached_property
    def _uses(self) -> re.Pattern:
        if self.name in FORMS:
            return re.compile(FORMS[self.name])
        first, rest = self.name[0], re.escape(self.name[1:]).replace(r"\ ", r"[ -]")
        plural = "" if self.name[-1] in "d-" and self.name != "thread" else "s?"
        return re.compile(rf"(?<![\w-])[{first}{first.upper()}]{rest}(?:{plural}|es)(?![\w-])")

    def is_used(self, text: str) -> bool:
        """Whether a text uses the word: headings, code, formulas and addresses do not count."""
        return bool(self._uses.search(_TARGET.sub("]", _HIDDEN.sub(" ", text))))


def words() -> list[Word]:
    """Read the glossary.

    Raises
    ------
    AssertionError
        If an entry lacks its meaning or one of its names.
    """
    found = []
    for entry in re.split(r"^### ", GLOSSARY.read_text(encoding="utf-8"), flags=re.M)[1:]:
        entry = re.split(r"^## ", entry, flags=re.M)[0]
        name, *paragraphs = (" ".join(part.split()) for part in entry.strip().split("\n\n"))
        names = re.fullmatch(
            r"\*\*Unit\*\* (.+) · \*\*Nsight Compute\*\* (.+) · \*\*Guide\*\* (.+)", paragraphs[-1]
        )
        assert names and len(paragraphs) == 2, (
            f"{name}: write its meaning, then **Unit** … · **Nsight Compute** … · **Guide** …"
        )
        found.append(Word(name, paragraphs[0], *names.groups()))
    return found


def prose(lecture: Path) -> list[str]:
    """Return the texts that learners read in order, without title and promise, which explain nothing yet."""
    return [
        cell.source
        for cell in notebooks.read(lecture).cells
        if cell.cell_type == "markdown"
        and cell.metadata.get("slideshow", {}).get("slide_type") != "notes"
        and "title-slide" not in cell.metadata.get("tags", [])
        and not cell.source.startswith("## After this lecture")
    ]


def links(text: str) -> list[tuple[str, str]]:
    """Return path and anchor of each link to the glossary."""
    return [(path, anchor or "") for path, anchor in LINK.findall(text)]


def first_uses(lectures: list[Path], known: list[Word]) -> dict[Path, list[tuple[Word, str]]]:
    """Return for each lecture the words that no lecture before it uses, each with the text that uses it first."""
    found: dict[Path, list] = {}
    left = list(known)
    for lecture in lectures:
        texts = prose(lecture)
        at = [(word, next((text for text in texts if word.is_used(text)), None)) for word in left]
        found[lecture] = [(word, text) for word, text in at if text is not None]
        left = [word for word, text in at if text is None]
    return found
