"""The page of bugs that were found in published kernels, with what ``course check`` says of each.

Each file of ``docs/finds`` has one bug: what goes wrong stands in its docstring, up to the paragraph with the cure. Its
kernel with the bug comes first; those whose names end in ``_mended`` are right.
"""

import ast
import difflib
import os
import textwrap
from contextlib import chdir

from course_pkg.check import check_file
from course_pkg.check.show import hazard_line, note_line
from course_pkg.core import CourseError
from course_pkg.paths import repo_root

FOLDER = "docs/finds"
MENDED = "_mended"
CURE = "The cure: "
CHAPTERS = {
    "Outside the array": (
        "missing_guard", "half_a_guard", "rows_for_columns", "before_the_first", "tile_too_small",
    ),
    "One element, several threads": (
        "atomic_forgotten", "one_result_of_many_blocks", "in_place", "barrier_for_a_grid",
    ),
    "Barriers": ("no_barrier_in_a_sum", "tile_overwritten", "barrier_in_a_branch", "warp_without_syncwarp"),
    "Memory that nobody has written": ("counts_never_zeroed", "halo_not_loaded"),
}  # fmt: skip
HEAD = """\
# Bugs found in published kernels

When the course's interpreter was tried on published Numba kernels, it reported true bugs: missing guards and
barriers, races, forgotten atomics, shared arrays of a wrong size, reads of unwritten memory. This page has such
bugs, and their closest relatives. None of the code is anybody's: each kernel was written for this page, and is as
short as its bug allows. Such bugs can stay for long, because the result is mostly right: on this device, with this
size, on this day.

Each report below is that of `course check {folder}/NAME.py`, on a machine without a GPU. The mended kernels are
clean. `course check` runs the kernels of any Numba CUDA file or notebook like this: see [the
README](../README.md#check-a-kernel-without-a-gpu). This page is written by `course figures`.
"""


def pictures() -> dict:
    """Return no pictures."""
    return {}


def pages() -> dict[str, str]:
    """Return the page, by its path."""
    there = {path.stem for path in (repo_root() / FOLDER).glob("*.py")}
    listed = [name for names in CHAPTERS.values() for name in names]
    if there != set(listed):
        raise CourseError(f"CHAPTERS and {FOLDER} differ in {', '.join(there ^ set(listed))}.")
    text = [HEAD.format(folder=FOLDER)]
    for chapter, names in CHAPTERS.items():
        text += [f"## {chapter}\n", *map(_find, names)]
    return {"docs/finds.md": "\n".join(text)}


def _find(name: str) -> str:
    path = f"{FOLDER}/{name}.py"
    source = (repo_root() / path).read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, *story = ast.get_docstring(tree).split("\n\n")
    cure = next(paragraph for paragraph in story if paragraph.startswith(CURE))
    wrong, right = _kernels(tree, source)
    parts = [
        f"### {title.rstrip('.')}\n",
        "\n\n".join(p for p in story if p != cure) + "\n",
        f"```python\n{wrong}\n```\n",
        f"`course check {path}` says:\n",
        f"```\n{_said(path)}\n```\n",
        cure + "\n",
        f"```diff\n{_changes(wrong, right)}\n```\n",
    ]
    return "\n".join(parts)


def _kernels(tree, source) -> tuple[str, str]:
    """Return the text of the kernel with the bug and of the mended ones, under its name if there is only one."""
    lines = source.splitlines()
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    texts = {n.name: "\n".join(lines[n.decorator_list[0].lineno - 1 : n.end_lineno]) for n in functions}
    mended = [name for name in texts if name.endswith(MENDED)]
    (wrong,) = set(texts) - set(mended)
    right = "\n\n\n".join(texts[name].replace(MENDED, "") for name in mended)
    return texts[wrong], right


def _said(path: str) -> str:
    """Return the hazards, or else the notes, of the check on the kernel with the bug; the others must have none."""
    with chdir(repo_root()):
        report = check_file(os.path.normpath(path))
    wrong = [kernel for kernel in report.kernels if kernel.status or kernel.notes]
    if len(wrong) != 1 or wrong[0].name.endswith(MENDED) or wrong[0].errors:
        raise CourseError(f"{path}: exactly the kernel with the bug must have hazards or notes.")
    hazards, notes = wrong[0].hazards, wrong[0].notes
    lines = (hazard_line(*pair) for pair in hazards) if hazards else (note_line(*pair) for pair in notes)
    return "\n".join(
        line
        for one in lines
        for line in textwrap.wrap(one, 100, subsequent_indent="  ", break_on_hyphens=False)
    )


def _changes(wrong: str, right: str) -> str:
    found = list(difflib.unified_diff(wrong.splitlines(), right.splitlines(), n=1, lineterm=""))
    return "\n".join("…" if line.startswith("@@") else line for line in found[3:])
