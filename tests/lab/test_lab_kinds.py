"""What JupyterLab shows and saves of two lectures in the browser stands for all of them."""

from pathlib import Path

import nbformat
import pytest
from lab_pages import SHOWN

LECTURES = sorted((Path(__file__).resolve().parents[2] / "lectures").glob("[0-9][0-9]_*.py"))
WIDGETS = "application/vnd.jupyter.widget-state+json"


def kinds_of(nb) -> set[str]:
    """Return what a lab has to show and to save of an executed notebook: widgets, outputs, what is noted of cells."""
    found = {f"{cell.cell_type} cell: {key}" for cell in nb.cells for key in cell.metadata}
    for output in (output for cell in nb.cells for output in cell.get("outputs", ())):
        found |= {f"{output.output_type}: {kind}" for kind in output.get("data", ("text",))}
    models = nb.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {}).values()
    return found | {model["model_name"] for model in models}


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_has_nothing_to_show_that_was_not_looked_at_in_the_lab(lecture, executed):
    looked_at = (executed(lecture.parent / f"{name}.py") for name in SHOWN)
    known = set().union(*(kinds_of(nbformat.read(path, as_version=4)) for path in looked_at))
    new = kinds_of(nbformat.read(executed(lecture), as_version=4)) - known
    assert not new, "add this lecture to SHOWN in lab_pages.py: a browser has to show it, too"


def test_a_new_kind_of_output_is_seen():
    v4 = nbformat.v4
    plain, rich = (v4.new_output("display_data", {kind: ""}) for kind in ("text/plain", "text/latex"))
    one, other = (v4.new_notebook(cells=[v4.new_code_cell(outputs=[output])]) for output in (plain, rich))
    other.metadata["widgets"] = {WIDGETS: {"state": {"a": {"model_name": "PlayModel"}}}}
    assert kinds_of(other) - kinds_of(one) == {"display_data: text/latex", "PlayModel"}
