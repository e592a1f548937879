"""A lecture in its two files, and what people and programs do to them."""

import json
from pathlib import Path

LECTURE = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: First steps
# ---

# %% [markdown] slideshow={"slide_type": "slide"}
# # First steps

# %% tags=["setup"]
import math

# %%
print(math.pi)

# %%
print(math.pi)
"""


def notebook(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def edit_source(folder: Path, old: str = "import math", new: str = "import math  # mine") -> None:
    path = folder / "01_first.py"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def edit_notebook(folder: Path, text: str = "my own words") -> None:
    path = folder / "01_first.ipynb"
    nb = notebook(path)
    nb["cells"][0]["source"] = [text]
    path.write_text(json.dumps(nb), encoding="utf-8")


def run_cells(folder: Path) -> None:
    """Do to the notebook what Jupyter does: outputs, counts, and metadata nobody asked for."""
    path = folder / "01_first.ipynb"
    nb = notebook(path)
    for count, cell in enumerate(c for c in nb["cells"] if c["cell_type"] == "code"):
        cell["execution_count"] = count + 1
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"{count}\n"]}]
        cell["metadata"]["collapsed"] = True
    nb["metadata"]["language_info"] = {"name": "python", "version": "3.11.2"}
    path.write_text(json.dumps(nb), encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
