"""Pairs of ``lectures/NN_x.py`` (the source) and ``NN_x.ipynb`` (what Jupyter, Colab and GitHub open).

A notebook carries in ``metadata.course.synced`` a fingerprint of its inputs at the last sync. With the
fingerprints of both files as they are now it tells which side changed since, so no state is kept beside the
files. Outputs, execution counts and the metadata that tools add do not count as changes.
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
    SAME = "both sides hold the same"
    PY_CHANGED = "only the .py changed"
    IPYNB_CHANGED = "only the notebook changed"
    BOTH_CHANGED = "both sides changed"


class Pair:
    """One lecture: its two files and what they hold.

    Parameters
    ----------
    source : Path
        The ``.py`` file; the notebook lies beside it under the same name.
    """

    def __init__(self, source: Path):
        self.source = source
        self.name = source.stem
        self.number = self.name.split("_")[0]
        self.notebook = source.with_suffix(".ipynb")

    def read_source(self) -> NotebookNode:
        """Read the ``.py``, with the kernelspec that every lecture needs to get a kernel."""
        return _from_text(read_text(self.source), self.source)

    def read_notebook(self) -> NotebookNode:
        """Read the ``.ipynb``.

        Raises
        ------
        CourseError
            If it is not a notebook: the sentence says how to get it back.
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
                f"makes it anew from {self.source.name} and keeps the damaged file as a .orig beside it."
            ) from error

    def state(self) -> State:
        """Compare both sides with what the notebook remembers."""
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
        """Return the notebook as it is tracked: from the source, no outputs, stable ids."""
        return to_json(tidy(self.read_source(), self.name))

    def refresh(self) -> bool:
        """Write the notebook from the source, keeping outputs of unchanged cells; tell whether it wrote."""
        fresh = tidy(self.read_source(), self.name)
        if self.notebook.exists():
            keep_outputs(fresh, self.read_notebook())
        return write(self.notebook, to_json(fresh))

    def remember(self) -> bool:
        """Note in the notebook that both sides hold the same; tell whether it wrote."""
        nb = self.read_notebook()
        before = _essence(nb)
        number_cells(nb, self.name)
        nb.metadata.setdefault("course", NotebookNode())["synced"] = fingerprint(nb)
        return before != _essence(nb) and write(self.notebook, to_json(nb))

    def write_source(self) -> Path | None:
        """Write the ``.py`` from the notebook; return the backup of an old one that held something else."""
        nb = self.read_notebook()
        header = self.read_source().metadata if self.source.exists() else {}
        for key in NOTEBOOK_METADATA:
            # Colab and VS Code drop or rewrite these; the source's own stand.
            if key in header:
                nb.metadata[key] = header[key]
        text = to_py(nb)
        saved = None
        if self.source.exists() and read_text(self.source) != text:
            saved = backup(self.source)
        write(self.source, text)
        return saved

    def laid_out(self) -> bool:
        """Tell whether the ``.py`` has the blank lines that Jupytext writes: else the lab takes it for edited."""
        return read_text(self.source) == self._as_from_the_notebook()

    def lay_out(self) -> None:
        """Write the ``.py`` with the blank lines that Jupytext writes."""
        write(self.source, self._as_from_the_notebook())

    def _as_from_the_notebook(self) -> str:
        nb = self.read_source()
        for cell in nb.cells:
            for key in [key for key in cell.metadata if key.startswith("lines_to_")]:
                del cell.metadata[key]  # a notebook does not know how many blank lines there were
        return to_py(nb)

    def guard_edits(self) -> None:
        """Make Jupytext refuse to open this pair rather than show the ``.py`` over the notebook's own edits.

        Jupytext takes the cells from the ``.py`` and would overwrite the notebook on the first save, except
        where the notebook is the newer file and differs: then it asks.
        """
        if self.notebook.stat().st_mtime < self.source.stat().st_mtime + 5:
            newer = max(self.source.stat().st_mtime, self.notebook.stat().st_mtime) + 5
            os.utime(self.notebook, (newer, newer))


def fingerprint(nb: NotebookNode) -> str:
    """Hash what a learner edits: cells, tags and title, as they read after a trip through the ``.py``."""
    nb = _from_text(to_py(nb), None)
    cells = [
        (c.cell_type, c.source, {k: c.metadata[k] for k in CELL_METADATA if k in c.metadata})
        for c in nb.cells
    ]
    inputs = json.dumps([nb.metadata.get("title"), cells], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:16]


def tidy(nb: NotebookNode, name: str) -> NotebookNode:
    """Strip a notebook to what is tracked: inputs, the kept metadata, stable ids and the fingerprint."""
    metadata = NotebookNode({k: nb.metadata[k] for k in NOTEBOOK_METADATA if k in nb.metadata})
    metadata.kernelspec = NotebookNode(KERNELSPEC)
    cells = []
    for old in nb.cells:
        cell = NotebookNode(cell_type=old.cell_type, id="", source=old.source)
        cell.metadata = NotebookNode({k: old.metadata[k] for k in CELL_METADATA if k in old.metadata})
        if old.cell_type == "code":
            cell.update(execution_count=None, outputs=[])
        if "hide-input" in cell.metadata.get("tags", []):
            cell.metadata.jupyter = NotebookNode(
                source_hidden=True
            )  # collapsed in JupyterLab, one click away
        cells.append(cell)
    fresh = NotebookNode(cells=cells, metadata=metadata, nbformat=4, nbformat_minor=5)
    number_cells(fresh, name)
    synced = fingerprint(fresh)
    metadata.course = NotebookNode(synced=synced)
    return fresh


def keep_outputs(fresh: NotebookNode, old: NotebookNode) -> None:
    """Carry over what a learner's notebook holds beside the text of cells that did not change."""
    shown = defaultdict(list)
    for cell in old.cells:
        shown[cell.cell_type, cell.source].append(cell)
    for cell in fresh.cells:
        if shown[cell.cell_type, cell.source]:
            before = shown[cell.cell_type, cell.source].pop(0)
            # Pictures pasted into text are attachments; a .py has no place for them.
            cell.update(
                {key: before[key] for key in ("outputs", "execution_count", "attachments") if key in before}
            )
    if "widgets" in old.metadata:
        fresh.metadata.widgets = old.metadata.widgets


def has_outputs(nb: NotebookNode) -> bool:
    """Tell whether any cell was run."""
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
    except Exception as error:  # jupytext raises what its YAML reader raises
        name = path.name if path else "The lecture"
        raise CourseError(
            f"{name} has a header that YAML cannot read: compare it with another lecture's."
        ) from error
    nb.metadata.pop("jupytext", None)
    nb.metadata.kernelspec = NotebookNode(KERNELSPEC)
    return nb


def _essence(nb: NotebookNode) -> tuple:
    return [c.get("id") for c in nb.cells], dict(nb.metadata.get("course", {}))
