"""Notebooks as they are tracked: stable cell ids, and the bytes that Jupyter itself would write."""

import hashlib
import json
from collections import Counter

from nbformat import NotebookNode


def number_cells(nb: NotebookNode, name: str) -> None:
    """Give each cell an id made from its own content, so that an edit elsewhere leaves it alone."""
    seen: Counter = Counter()
    for cell in nb.cells:
        content = f"{name}\0{cell.cell_type}\0{cell.source}"
        seen[content] += 1
        cell.id = hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()[:12]


def to_json(nb: NotebookNode) -> str:
    """Write a notebook as Jupyter does, so that saving it there changes as few lines as can be."""
    nb = NotebookNode(
        nb, cells=[NotebookNode(c, source=c.source.splitlines(keepends=True)) for c in nb.cells]
    )
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
