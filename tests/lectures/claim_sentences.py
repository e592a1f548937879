"""Find the sentences of a lecture or exercise, and the words in them that make a claim and so need a backing."""

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import notebooks

GAP = "{…}"  # stands for what code fills in
LEAST_WORDS = 4  # of a text in code that is a sentence, and no key or label
CLAIMING = re.compile(
    r"\d[\d.,/]*"
    r"|\b(?:always|never|only|cannot|every|nobody|none|impossible"
    r"|faster|fastest|slower|slowest|cheaper|cheapest|higher|highest|lower|lowest|better|best|worse|worst"
    r"|fewer|fewest|less|least|more|most|twice|half|halves|times|sooner|longer|longest|shorter|shortest"
    r"|nearer|nearest|larger|largest|smaller|smallest|free|beats?|wins?|gains?|saves?|pays?|exceeds?)\b",
    re.IGNORECASE,
)
# numbers that count nothing: names of devices and types, places in the course, what stands in code or formulas
NAMES = re.compile(
    r"`[^`]*`|\$[^$]*\$|https?://\S+|\(\d+ points\)|" + re.escape(GAP) + r"|\b[A-Z]{1,2}\d{1,4}\b|\bRTX \d+"
    r"|\b[a-z]\d\b|\b(?:float|int|uint|fp|double)\d+\b|\b[234]D\b|\b2nd\b"
    r"|\b(?:[Ll]ectures?|[Ee]xercises?|[Pp]arts?|[Rr]ungs?|[Ss]teps?|[Pp]uzzles?|[Aa]ssumption)"
    r" \d+(?:(?:,| and| to) \d+)*"
)
_BLOCK = re.compile(r"^\s*(?:[-*] |\d+\. |\||#+ )")
_MARKER = re.compile(r"^(?:[-*]|\d+\.) ")
_END = re.compile(r"(?<=[.!?…])[*_)\"”]*\s+(?=[A-ZΑ-Ω*_(\"“`$\[<{\d])")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a source.

    Attributes
    ----------
    text : str
        On one line; what code fills in is ``{…}``.
    cell : str
        The heading under which it stands.
    in_code : bool
        Whether code shows it.
    """

    text: str
    cell: str
    in_code: bool = False

    @cached_property
    def claims(self) -> list[tuple[int, int]]:
        """Where its claiming words stand. A question claims nothing."""
        if self.text.rstrip("*_ \"'").endswith("?"):
            return []
        masked = NAMES.sub(lambda found: " " * len(found[0]), self.text)
        return [found.span() for found in CLAIMING.finditer(masked)]

    def uncovered(self, parts: list[str]) -> list[str]:
        """Return its claiming words that stand in none of these parts of it."""
        spans = [found.span() for part in parts for found in re.finditer(re.escape(part), self.text)]
        return [self.text[a:b] for a, b in self.claims if not any(c <= a and b <= d for c, d in spans)]


class Source:
    """A lecture's or an exercise's source: its sentences in order, and the statements that check something.

    Parameters
    ----------
    path : Path
        A py:percent file.
    """

    def __init__(self, path: Path):
        self.sentences: list[Sentence] = []
        self.checks: set[str] = set()
        heading = ""
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "markdown":
                for text in of_markdown(cell.source):
                    if text.startswith("#"):
                        heading = text = text.lstrip("# ")
                    self.sentences.append(Sentence(text, heading))
            elif cell.cell_type == "code":
                tree = ast.parse(_without_magic(cell.source))
                self.sentences += [Sentence(text, heading, in_code=True) for text in of_code(tree)]
                self.checks |= {ast.unparse(node) for node in ast.walk(tree) if _checks(node)}
        # keys of dictionaries are written more than once
        self.sentences = list(dict.fromkeys(self.sentences))


def of_markdown(text: str) -> list[str]:
    """Return the sentences of Markdown: headings, bullets and rows of tables apart, without blocks of code."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$", GAP, text, flags=re.DOTALL)
    blocks, open_block = [], False
    for line in text.splitlines():
        line = line.removeprefix("> ").rstrip()
        if not line.strip() or line.strip() == ">":
            open_block = False
        elif _BLOCK.match(line) or not open_block:
            blocks.append(line.strip())
            open_block = not line.startswith("#")
        else:
            blocks[-1] += " " + line.strip()
    return [part for block in blocks for part in _split(block)]


def of_code(tree: ast.AST) -> list[str]:
    """Return the sentences that code shows: texts of some words, except docstrings and the options of predictions."""
    hidden = {id(node) for found in ast.walk(tree) for node in _not_shown(found)}
    found = []
    for node in ast.walk(tree):
        if id(node) not in hidden:
            text = _text(node)
            if text is not None and len(text.split()) >= LEAST_WORDS:
                found.append((node.lineno, node.col_offset, text))
    return [part for *_, text in sorted(found) for block in text.split("\n") for part in _split(block)]


def _split(block: str) -> list[str]:
    block = _MARKER.sub("", " ".join(block.split()))
    if block.startswith(("|", "#")):
        return [block] if set(block) - set("|-: ") else []
    return [part.strip() for part in _END.split(block) if part.strip()]


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else GAP for part in node.values)
    return None


def _not_shown(node: ast.AST):
    """Yield the texts below a node that nobody is shown, or that are parts of a longer one."""
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
                yield from ast.walk(part.format_spec)
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        yield node.body[0].value
    if isinstance(node, ast.Assert) and node.msg is not None:
        yield from ast.walk(node.msg)
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "Prediction" and len(node.args) > 2:
        yield from ast.walk(node.args[2])
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reveal":
        yield from _chosen_by_code(node)
    if isinstance(node, ast.Raise):
        yield from ast.walk(node)


def _chosen_by_code(call: ast.Call):
    """Yield the texts between which code chooses the right answer; one that is simply stated is a claim."""
    for keyword in call.keywords:
        if keyword.arg == "right" and not isinstance(keyword.value, ast.Constant):
            yield from ast.walk(keyword.value)


def _checks(node: ast.AST) -> bool:
    """Return whether a statement fails where something is not so: an assert, or a check of an exercise."""
    if isinstance(node, ast.Assert):
        return True
    call = node.value if isinstance(node, ast.Expr) else None
    owner = getattr(getattr(call, "func", None), "value", None)
    return isinstance(call, ast.Call) and isinstance(owner, ast.Name) and owner.id == "check"


def _without_magic(source: str) -> str:
    return "\n".join("pass" if line.startswith(("%", "!")) else line for line in source.splitlines())
