"""Files that may be handed in: a notebook, also in an archive. Every other file is refused with a reason."""

import codecs
import json
import os
from pathlib import Path

import pytest

from course_pkg.grading import archive, intake
from course_pkg.grading.exercise import sources

SOURCE = next(path for path in sources() if path.stem == "02_memory_bound")
EXERCISE = SOURCE.parents[2] / "exercises" / SOURCE.stem / f"{SOURCE.stem}.ipynb"
GOOD = EXERCISE.read_bytes()


def content() -> dict:
    return json.loads(GOOD)


def as_bytes(document) -> bytes:
    return json.dumps(document).encode()


def changed(change) -> bytes:
    document = content()
    change(document)
    return as_bytes(document)


def with_source(text) -> bytes:
    return changed(lambda document: document["cells"][1].update(source=text))


def sources_of(data: bytes) -> list[str]:
    return [cell.source for cell in intake.parse(data).cells]


def test_a_notebook_is_read_without_its_outputs():
    document = content()
    code = next(cell for cell in document["cells"] if cell["cell_type"] == "code")
    code.update(outputs=[{"output_type": "stream", "name": "stderr", "text": "a warning"}], execution_count=3)
    nb = intake.read(as_bytes(document))
    assert [cell.source for cell in nb.cells] == ["".join(cell["source"]) for cell in document["cells"]]
    assert all(
        cell.outputs == [] and not cell.execution_count for cell in nb.cells if cell.cell_type == "code"
    )
    assert [cell.metadata.get("nbgrader") for cell in nb.cells] == [
        cell["metadata"].get("nbgrader") for cell in document["cells"]
    ]


@pytest.mark.parametrize("odd", [None, [], "x", 3, {"grade_id": 5}, {"grade_id": None}])
def test_metadata_of_another_kind_are_passed_over(odd):
    document = content()
    document["cells"].append(
        {"cell_type": "markdown", "id": "odd", "source": "x", "metadata": {"nbgrader": odd, "kept": 1}}
    )
    assert intake.parse(json.dumps(document).encode()).cells[-1].metadata == {"kept": 1}


def test_a_byte_order_mark_is_passed_over():
    assert sources_of(codecs.BOM_UTF8 + GOOD) == sources_of(GOOD)


def test_a_renamed_notebook_is_read_and_recognised_by_its_ids(tmp_path):
    path = tmp_path / "Copy of homework (1).ipynb"
    path.write_bytes(GOOD)
    assert [cell.source for cell in intake.read(path).cells] == sources_of(GOOD)
    assert intake.exercise_of(GOOD, path, sources()) == SOURCE


def _no_cell_metadata(document):
    for cell in document["cells"]:
        cell["metadata"] = {}


def _no_metadata_keys(document):
    for cell in document["cells"]:
        del cell["metadata"]


def _odd_ids(document):
    for cell in document["cells"]:
        cell["metadata"] = {"nbgrader": {"grade_id": 7}}


BROKEN = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\t", "The file is empty"),
    "truncated": (GOOD[: len(GOOD) // 2], "was the upload cut short"),
    "latin-1": (GOOD.replace("ö".encode(), b"\xf6") + "ö".encode("latin-1"), "is not UTF-8 text"),
    "UTF-16": (GOOD.decode().encode("utf-16"), "is not UTF-8 text"),
    "a Python file": (b"x = 1\n", "not a complete notebook"),
    "a number too long": (b'{"nbformat": ' + b"1" * 5000 + b"}", "not a complete notebook"),
    "nested": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "a list": (b"[1, 2]", "JSON, but not a notebook"),
    "no nbformat": (changed(lambda document: document.pop("nbformat")), "JSON, but not a notebook"),
    "nbformat 3": (
        changed(lambda document: document.update(nbformat=3)),
        "has format 3, but the course uses format 4",
    ),
    "nbformat 5": (
        changed(lambda document: document.update(nbformat=5)),
        "has format 5, but the course uses format 4",
    ),
    "no cells": (changed(lambda document: document.pop("cells")), "no list of at most"),
    "too many cells": (changed(lambda d: d.update(cells=d["cells"] * 200)), "no list of at most"),
    "no cell": (changed(lambda document: document["cells"].append("x")), "is not a valid notebook cell"),
    "a cell of no type": (
        changed(lambda d: d["cells"][0].update(cell_type="sql")),
        "Cell 1 is not a valid notebook cell",
    ),
    "a source of numbers": (with_source([1, 2]), "Cell 2 is not a valid notebook cell"),
    "too much text": (with_source("x" * 2_000_001), "too much text"),
    "a lone surrogate": (with_source("\ud800"), "Cell 2 contains characters that are not valid text"),
    "stripped metadata": (changed(_no_cell_metadata), "has lost the metadata"),
    "no metadata": (changed(_no_metadata_keys), "has lost the metadata"),
    "ids that are no names": (changed(_odd_ids), "has lost the metadata"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_notebook_is_refused_with_its_reason(name):
    data, reason = BROKEN[name]
    with pytest.raises(intake.Refused, match=reason) as refused:
        intake.read(data)
    assert refused.value.reason == str(refused.value)
    assert "\n" not in refused.value.reason


def test_a_notebook_that_is_too_large_is_not_even_read(tmp_path):
    path = tmp_path / "large.ipynb"
    with path.open("wb") as file:
        file.truncate(archive.FILE_BYTES + 1)
    with pytest.raises(intake.Refused, match=r"large\.ipynb has 20 MiB, 20 are allowed: clear its outputs"):
        intake.load(path)


def test_links_pipes_and_folders_are_not_opened(tmp_path):
    good = tmp_path / "good.ipynb"
    good.write_bytes(GOOD)
    link = tmp_path / "link.ipynb"
    link.symlink_to(good)
    nowhere = tmp_path / "nowhere.ipynb"
    nowhere.symlink_to("/does/not/exist")
    pipe = tmp_path / "pipe.ipynb"
    os.mkfifo(pipe)
    for path, reason in (
        (link, "link.ipynb is a link"),
        (nowhere, "nowhere.ipynb is a link"),
        (pipe, "pipe.ipynb is not a file"),
        (tmp_path, "is not a file"),
        (tmp_path / "missing.ipynb", "missing.ipynb cannot be read"),
    ):
        with pytest.raises(intake.Refused, match=reason):
            intake.load(path)


def test_the_submission_in_a_students_folder(tmp_path):
    with pytest.raises(intake.Refused, match=r"holds no notebook and no 01_x\.ipynb"):
        intake.choose(tmp_path, "01_x")
    renamed = tmp_path / "deeper" / "mine.ipynb"
    renamed.parent.mkdir()
    renamed.write_bytes(GOOD)
    (tmp_path / "notes.txt").write_text("…", "utf-8")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "mine-checkpoint.ipynb").write_bytes(GOOD)
    assert intake.choose(tmp_path, "01_x") == renamed
    (tmp_path / "second.zip").write_bytes(b"")
    with pytest.raises(intake.Refused, match=r"holds 2 notebooks and no 01_x\.ipynb"):
        intake.choose(tmp_path, "01_x")
    (tmp_path / "01_x.ipynb").write_bytes(GOOD)
    assert intake.choose(tmp_path, "01_x") == tmp_path / "01_x.ipynb"


def test_folders_behind_links_are_not_searched(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.ipynb").write_bytes(GOOD)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(outside, target_is_directory=True)
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    assert intake.candidates(inside) == []


def test_the_exercise_is_told_by_ids_then_by_the_path(tmp_path):
    def solution(name, *ids):
        path = tmp_path / f"{name}.py"
        path.write_text("".join(f'# %% nbgrader={{"grade_id": "{i}"}}\n' for i in ids), "utf-8")
        return path

    one, two = solution("01_one", "setup", "a", "b"), solution("02_two", "setup", "c")
    both = [one, two]
    assert intake.exercise_of(b'{"grade_id": "setup", "grade_id": "c"}', "01_one.ipynb", both) == two
    # damaged, and yet it tells
    assert intake.exercise_of(b'\xff{"grade_id":"a"', "x.ipynb", both) == one
    assert intake.exercise_of(b'{"grade_id": "setup"}', "x.ipynb", both) is None
    assert intake.exercise_of(b"", Path("ann/02_two/02_two (1).ipynb"), both) == two
    assert intake.exercise_of(b"", "x.ipynb", both) is None
