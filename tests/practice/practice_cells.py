"""Kernels made of text, as a notebook's cell makes them; the solved laboratories; skeletons beside solutions."""

import itertools
import linecache
import math
import re
import textwrap
from dataclasses import dataclass

import notebooks
import numpy as np
from numba import float64

from course_pkg import cuda
from course_pkg.paths import repo_root
from course_pkg.practice.step import RESULT, Trial

LABS = repo_root() / "solutions" / "labs"
_HEAD = re.compile(r"# %% (?P<step>\w+)(?: wrong: (?P<says>.+))?")
_CHECK = re.compile(r'practice\.check\("(?P<step>\w+)", (?P<answer>\w+)\)')
_SERIAL = itertools.count()


def run_cell(source, door=cuda):
    """Run a cell's text and return its names; like a notebook, keep the text, and count lines from its top.

    ``door`` is what the cell calls ``cuda``: Numba's own, where there is a GPU.
    """
    file = f"<cell {next(_SERIAL)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"cuda": door, "np": np, "math": math, "float64": float64}
    exec(compile(source, file, "exec"), names)
    return names


def ones_to_add(n, rng):
    """Return the trial of a function that adds up ones."""
    return Trial({"a": np.ones(n)}, {RESULT: float(n)})


def kernel(body, arguments="a, out"):
    """Return a kernel; its body begins on line 3."""
    return run_cell(
        f"@cuda.jit\ndef kernel({arguments}):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    )["kernel"]


def function(body, arguments="a"):
    """Return a function of the host; its body begins on line 2."""
    return run_cell(f"def function({arguments}):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")[
        "function"
    ]


@dataclass(frozen=True)
class Lab:
    """A cell of a solved laboratory."""

    lecture: str
    step: str
    says: str | None
    source: str

    @property
    def answer(self):
        """The kernel or function that it defines last."""
        return self.answer_by(cuda)

    def answer_by(self, door):
        """Return the answer as it is where this is ``cuda``."""
        name = re.findall(r"^def (\w+)", self.source, re.MULTILINE)[-1]
        return run_cell(self.source, door)[name]


def labs():
    """Return all cells of all solved laboratories."""
    found = []
    for path in sorted(LABS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        heads = list(_HEAD.finditer(text))
        for head, following in itertools.zip_longest(heads, heads[1:]):
            source = text[head.end() : following.start() if following else None].strip("\n") + "\n"
            found.append(Lab(path.stem, head["step"], head["says"], source))
    return found


def skeletons():
    """Return the cells of all lectures that end with a check, without that line: by lecture and step."""
    found = {}
    for path in sorted((repo_root() / "lectures").glob("[0-9][0-9]_*.py")):
        for cell in notebooks.read(path).cells:
            check = _CHECK.search(cell.source) if cell.cell_type == "code" else None
            if check:
                found[path.stem, check["step"]] = cell.source[: check.start()].rstrip("\n") + "\n"
    return found


def hidden_lines(skeleton, solution):
    """Return how many lines of a solution a skeleton hides behind ``...``; None if the rest is not the same.

    A line that is nothing but ``...`` stands for one line or more, at least as far in; elsewhere it stands for a part
    of a line.
    """
    pattern, shown = "", 0
    for line in skeleton.splitlines():
        if line.strip() == "...":
            pattern += rf"(?:{line[: -len('...')]}.*\n)+?"
        else:
            pattern += ".+".join(map(re.escape, line.split("..."))) + r"\n"
            shown += "..." not in line
    return len(solution.splitlines()) - shown if re.fullmatch(pattern, solution) else None
