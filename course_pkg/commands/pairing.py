"""Pairs of ``lectures/NN_x.py`` (the source) and ``NN_x.ipynb`` (what Jupyter, Colab and GitHub open).

In ``metadata.course.synced``, each notebook keeps a fingerprint of its inputs at the last sync. Comparing it with the
present fingerprints of both files tells which of them was changed since then, so no other state has to be kept.
Outputs, execution counts and metadata that tools add do not count as changes.
"""

import hashlib
import json
import os
from collections import defaultdict
from enum import Enum
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from course_pkg.core.errors import CourseError
from course_pkg.core.files import backup, read_text, write
from course_pkg.notebook import number_cells, to_json

# The same filters as in lectures/jupytext.toml, which JupyterLab reads; a test compares the two.
NOTEBOOK_METADATA = ("kernelspec", "title", "promise", "footer")
CELL_METADATA = ("slideshow", "tags")
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
FILTERS = {
    "notebook_metadata_filter": ",".join((*NOTEBOOK_METADATA, "-all")),
    "cell_metadata_filter": ",".join((*CELL_METADATA, "-all")),
}


class State(Enum):
    """What happened to a pair since its last sync."""

    NEW = "the notebook does not exist yet"
    SAME = "both files have the same content"
    PY_CHANGED = "only the .py changed"
    IPYNB_CHANGED = "only the notebook changed"
    BOTH_CHANGED = "both files changed"


class Pair:
    """One lecture: its two files, and their content.

    Parameters
    ----------
    source : Path
        The ``.py`` file; the notebook has the same name and lies in the same folder.
    """

    def __init__(self, source: Path):
        self.source = source
        self.name = source.stem
        self.number = self.name.split("_")[0]
        self.notebook = source.with_suffix(".ipynb")

    def read_source(self) -> NotebookNode:
        """Read the ``.py``, and add the kernelspec, which Jupyter needs to start a kernel."""
        return _from_text(read_text(self.source), self.source)

    def read_notebook(self) -> NotebookNode:
        """Read the ``.ipynb``.

        Raises
        ------
        CourseError
            If it is not a notebook; the message says how to restore it.
        """
        try:
            nb = nbformat.from_dict(json.loads(read_text(self.notebook)))
            nb = nbformat.v4.upgrade(nb) if (nb.nbformat, nb.nbformat_minor) != (4, 5) else nb
            for cell in nb.cells:
                cell.source = "".join(cell.source)
                cell.setdefault("metadata", NotebookNode())
            return nb
        except (ValueError, AttributeError, KeyError, TypeError) as error:
            raise CourseError(
                f"{self.notebook.name} is not a readable notebook: `course sync --from py {self.number}` "
                f"writes a new one from {self.source.name} and keeps the damaged file as .orig."
            ) from error

    def state(self) -> State:
        """Return which files have changed since the last sync, by comparing fingerprints."""
        if not self.notebook.exists():
            return State.NEW
        notebook = self.read_notebook()
        synced = notebook.metadata.get("course", {}).get("synced")
        now_py, now_ipynb = fingerprint(self.read_source()), fingerprint(notebook)
        if now_py == now_ipynb:
            return State.SAME
        if synced == now_ipynb:
            return State.PY_CHANGED
        return State.IPYNB_CHANGED if synced == now_py else State.BOTH_CHANGED

    def clean_text(self) -> str:
        """Return the notebook as it is committed: made from the source, without outputs, with stable ids."""
        return to_json(tidy(self.read_source(), self.name))

    def refresh(self) -> bool:
        """Write the notebook from the source, with outputs of unchanged cells; return whether the file changed."""
        fresh = tidy(self.read_source(), self.name)
        if self.notebook.exists():
            keep_outputs(fresh, self.read_notebook())
        return write(self.notebook, to_json(fresh))

    def remember(self) -> bool:
        """Note in the notebook that both files have the same content; tell whether the file changed."""
        nb = self.read_notebook()
        before = _essence(nb)
        number_cells(nb, self.name)
        nb.metadata.setdefault("course", NotebookNode())["synced"] = fingerprint(nb)
        return before != _essence(nb) and write(self.notebook, to_json(nb))

    def write_source(self) -> Path | None:
        """Write the ``.py`` from the notebook; return the backup of the old one if it was different."""
        nb = self.read_notebook()
        header = self.read_source().metadata if self.source.exists() else {}
        for key in NOTEBOOK_METADATA:
            # Colab and VS Code drop or rewrite these keys, so the source's values are kept.
            if key in header:
                nb.metadata[key] = header[key]
        text = to_py(nb)
        saved = None
        if self.source.exists() and read_text(self.source) != text:
            saved = backup(self.source)
        write(self.source, text)
        return saved

    def laid_out(self) -> bool:
        """Tell whether the ``.py`` has the blank lines that Jupytext writes; if not, JupyterLab sees an edit."""
        return read_text(self.source) == self._as_from_the_notebook()

    def lay_out(self) -> None:
        """Write the ``.py`` with the blank lines that Jupytext writes."""
        write(self.source, self._as_from_the_notebook())

    def _as_from_the_notebook(self) -> str:
        nb = self.read_source()
        for cell in nb.cells:
            for key in [key for key in cell.metadata if key.startswith("lines_to_")]:
                del cell.metadata[key]  # they count blank lines; a notebook does not store them
        return to_py(nb)

    def guard_edits(self) -> None:
        """Make the notebook the newer file, so that Jupytext does not overwrite the edits in it.

        When a pair is opened, Jupytext takes the cells from the ``.py``, and the first save overwrites the notebook.
        Jupytext asks first only if the notebook differs and is the newer file.
        """
        if self.notebook.stat().st_mtime < self.source.stat().st_mtime + 5:
            newer = max(self.source.stat().st_mtime, self.notebook.stat().st_mtime) + 5
            os.utime(self.notebook, (newer, newer))


def fingerprint(nb: NotebookNode) -> str:
    """Return a hash of what a learner edits (cells, tags and title), computed after conversion to ``.py`` and back."""
    nb = _from_text(to_py(nb), None)
    cells = [
        (c.cell_type, c.source, {k: c.metadata[k] for k in CELL_METADATA if k in c.metadata})
        for c in nb.cells
    ]
    inputs = json.dumps([nb.metadata.get("title"), cells], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:16]


def tidy(nb: NotebookNode, name: str) -> NotebookNode:
    """Return a notebook with only what is committed: inputs, some metadata, stable ids and the fingerprint."""
    metadata = NotebookNode({k: nb.metadata[k] for k in NOTEBOOK_METADATA if k in nb.metadata})
    metadata.kernelspec = NotebookNode(KERNELSPEC)
    cells, folded = [], _folded(nb)
    for number, old in enumerate(nb.cells):
        cell = NotebookNode(cell_type=old.cell_type, id="", source=old.source)
        cell.metadata = NotebookNode({k: old.metadata[k] for k in CELL_METADATA if k in old.metadata})
        if old.cell_type == "code":
            cell.update(execution_count=None, outputs=[])
        if number in folded:
            # JupyterLab shows a line; a click opens it
            cell.metadata.jupyter = NotebookNode(source_hidden=True)
        cells.append(cell)
    fresh = NotebookNode(cells=cells, metadata=metadata, nbformat=4, nbformat_minor=5)
    number_cells(fresh, name)
    synced = fingerprint(fresh)
    metadata.course = NotebookNode(synced=synced)
    return fresh


def _folded(nb: NotebookNode) -> set[int]:
    """Return the numbers of the cells that JupyterLab folds, because a learner can follow without reading them.

    These are notes for the speaker, code that a slide does not show, and the code that prepares a lecture: its first
    cells that are in the notebook only.
    """
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in nb.cells]
    code = [cell.cell_type == "code" for cell in nb.cells]
    folded = {number for number, kind in enumerate(kinds) if kind == "notes"}
    folded |= {
        number
        for number, cell in enumerate(nb.cells)
        if "hide-input" in cell.metadata.get("tags", []) and code[number]
    }
    first = code.index(True) if True in code else len(code)
    while first < len(code) and code[first] and kinds[first] == "skip":
        folded.add(first)
        first += 1
    return folded


def keep_outputs(fresh: NotebookNode, old: NotebookNode) -> None:
    """Copy outputs and attachments of unchanged cells from the old notebook to the fresh one."""
    shown = defaultdict(list)
    for cell in old.cells:
        shown[cell.cell_type, cell.source].append(cell)
    for cell in fresh.cells:
        if shown[cell.cell_type, cell.source]:
            before = shown[cell.cell_type, cell.source].pop(0)
            # Pictures pasted into text are attachments, which a .py cannot store.
            cell.update(
                {key: before[key] for key in ("outputs", "execution_count", "attachments") if key in before}
            )
    if "widgets" in old.metadata:
        fresh.metadata.widgets = old.metadata.widgets


def has_outputs(nb: NotebookNode) -> bool:
    """Tell whether any cell has an output or an execution count."""
    return any(c.get("outputs") or c.get("execution_count") for c in nb.cells if c.cell_type == "code")


def to_py(nb: NotebookNode) -> str:
    """Write a notebook as py:percent."""
    nb = NotebookNode(nb, metadata=NotebookNode(nb.metadata, jupytext=NotebookNode(FILTERS)))
    nb.metadata.pop("language_info", None)
    nb.metadata.kernelspec = NotebookNode(KERNELSPEC)
    return jupytext.writes(nb, fmt="py:percent")


def _from_text(text: str, path: Path | None) -> NotebookNode:
    try:
        nb = jupytext.reads(text, fmt="py:percent")
    except Exception as error:  # jupytext passes on any exception of its YAML reader
        name = path.name if path else "The lecture"
        raise CourseError(
            f"{name} has a header that is not valid YAML: compare it with that of another lecture."
        ) from error
    nb.metadata.pop("jupytext", None)
    nb.metadata.kernelspec = NotebookNode(KERNELSPEC)
    return nb


def _essence(nb: NotebookNode) -> tuple:
    return [c.get("id") for c in nb.cells], dict(nb.metadata.get("course", {}))
