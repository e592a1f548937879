"""Notebooks in the form in which they are committed: stable cell ids, and the same bytes that Jupyter would write."""

import hashlib
import json
from collections import Counter

from nbformat import NotebookNode


def number_cells(nb: NotebookNode, name: str) -> None:
    """Give each cell an id made from its own content, so that editing another cell does not change it."""
    seen: Counter = Counter()
    for cell in nb.cells:
        content = f"{name}\0{cell.cell_type}\0{cell.source}"
        seen[content] += 1
        cell.id = hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()[:12]


def to_json(nb: NotebookNode) -> str:
    """Return a notebook as JSON in Jupyter's own layout, so that saving it in Jupyter changes few lines."""
    nb = NotebookNode(
        nb, cells=[NotebookNode(c, source=c.source.splitlines(keepends=True)) for c in nb.cells]
    )
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
