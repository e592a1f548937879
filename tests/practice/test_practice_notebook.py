"""Steps in a real Jupyter kernel: skeletons, right and wrong answers, and answers that would never end."""

import nbformat
import practice_cells as cells
import pytest
from nbclient import NotebookClient

from course_pkg.practice import catalogue

IMPORTS = "import numpy as np\nfrom numba import float64\nfrom course_pkg import cuda, practice"
ENDLESS = "@cuda.jit\ndef kernel(a, out):\n    while True:\n        out[0] = 1\n"
RECURSIVE = "@cuda.jit\ndef kernel(a, out):\n    kernel(a, out)\n"
HUGE = "@cuda.jit\ndef kernel(a, out):\n    tile = cuda.shared.array(10**11, np.float64)\n    tile[0] = 1\n"
DELETED = "@cuda.jit\ndef kernel(a, out):\n    del out\n"
TEXT = "kernel = 'text'\n"


def check_cell(step, source):
    name = source.rsplit("def ", 1)[1].partition("(")[0] if "def " in source else "kernel"
    return f'{source}\npractice.check("{step}", {name})'


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """Run one notebook with these cells and a lecture's right ones; give what each showed, by what was tried."""
    steps = {step.name for step in catalogue.lectures()["first_kernels"]}
    right = {lab.step: lab.source for lab in cells.labs() if not lab.says and lab.step in steps}
    tried = {
        "endless": ("map", ENDLESS),
        "recursive": ("map", RECURSIVE),
        "huge": ("map", HUGE),
        "deleted": ("map", DELETED),
        "text": ("map", TEXT),
        "skeleton": ("map", right["map"].replace("out[i] = a[i] + 10", "...")),
        **{f"right {step}": (step, source) for step, source in right.items()},
    }
    sources = [
        IMPORTS,
        *(check_cell(*what) for what in tried.values()),
        "practice.progress('01_first_kernels')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_DATA", str(tmp_path_factory.mktemp("data")))
        NotebookClient(notebook, timeout=300, kernel_name="python3").execute()  # raises if a cell raises
    shown = [cell.outputs for cell in notebook.cells]
    assert all(len(outputs) == 1 for outputs in shown[1:])
    return dict(zip([*tried, "progress"], (outputs[0].data for outputs in shown[1:]), strict=True))


@pytest.mark.parametrize(
    ("tried", "says"),
    [
        ("endless", "runs on and on, and was stopped"),
        ("recursive", "a kernel cannot call or launch itself"),
        ("huge", "the block's static shared arrays need"),
        ("deleted", "a kernel cannot delete anything"),
        ("text", "This is a str: hand over a kernel"),
        ("skeleton", "Not begun: replace the ... in line 4."),
    ],
)
def test_a_cell_that_goes_wrong_shows_a_sentence_and_the_notebook_lives_on(executed, tried, says):
    assert says in executed[tried]["text/plain"]
    assert "Hint 1 of" in executed[tried]["text/html"]


@pytest.mark.parametrize("step", [step.name for step in catalogue.lectures()["first_kernels"]])
def test_a_right_cell_shows_verdict_and_picture(executed, step):
    data = executed[f"right {step}"]
    assert data["text/plain"].startswith("Right: ")
    assert "<svg" in data["text/html"] and "aria-label=" in data["text/html"]
    assert "What if" in data["text/html"]


def test_lines_are_those_of_the_cell_and_progress_is_kept(executed):
    steps = len(catalogue.lectures()["first_kernels"])
    assert f"{steps} of {steps} solved" in executed["progress"]["text/plain"]
