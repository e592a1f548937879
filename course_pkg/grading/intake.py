"""Read a submission: a notebook, or an archive with one notebook. Nothing in it is ever executed here.

A submission may be any file. If it is not a notebook, it is `Refused`, with a reason that the learner understands. From
a notebook, only the source and the metadata of cells are taken; outputs, attachments and other files are ignored.
"""

import json
import os
import re
import stat
from pathlib import Path

from nbformat import NotebookNode

from course_pkg.core import CourseError
from course_pkg.grading import archive
from course_pkg.grading.archive import FILE_BYTES, Refused
from course_pkg.grading.names import shown

__all__ = ["Refused", "belongs", "choose", "exercise_of", "ids_in", "load", "parse", "raw", "read"]

CELLS = 2000
DEPTH = 4  # folders within a student's folder
ENTRIES = 5000  # files and folders there
SOURCE_CHARACTERS = 2_000_000
CELL_TYPES = ("code", "markdown", "raw")
GRADE_ID = re.compile(rb'"grade_id"\s*:\s*"([^"\\]{1,200})"')


def read(submission: Path | str | bytes) -> NotebookNode:
    """Return the notebook of a submission, its cells reduced to type, id, metadata and source.

    Parameters
    ----------
    submission : path or bytes
        A notebook or an archive (zip, tar, tar.gz, tar.bz2, tar.xz) that holds exactly one.

    Raises
    ------
    Refused
        If there is no notebook that can be graded; the message says why, and how to fix it.
    """
    if isinstance(submission, bytes):
        return parse(archive.unpacked(submission))
    return parse(load(submission))


def load(path: Path | str) -> bytes:
    """Return the bytes of a submission's notebook, taken out of its archive.

    Raises
    ------
    Refused
        As :func:`raw`, and for an archive without exactly one notebook.
    """
    return archive.unpacked(raw(path))


def raw(path: Path | str) -> bytes:
    """Return the bytes of a submitted file; links are not followed, and nothing is unpacked.

    Raises
    ------
    Refused
        If it is a link, a folder, a device, or too large.
    """
    path = Path(path)
    name = shown(path.name)
    try:
        # Non-blocking, because opening a named pipe would wait for its other end for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        if path.is_symlink():
            raise Refused(f"{name} is a link: hand in the notebook itself.") from None
        raise Refused(f"{name} cannot be read ({error.strerror}): hand it in again.") from None
    except ValueError:
        raise Refused(f"{name} cannot be read: no file can have this name.") from None
    try:
        _check_file(name, os.fstat(handle))
    except Refused:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as file:
        data = file.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise Refused(f"{name} was still being written while it was read: hand it in again.")
    return data


def _check_file(name: str, about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise Refused(f"{name} is not a file: hand in the notebook itself.")
    if about.st_size > FILE_BYTES:
        raise Refused(
            f"{name} has {about.st_size >> 20} MiB, {FILE_BYTES >> 20} are allowed: clear its outputs "
            "(Edit → Clear Outputs of All Cells) and hand it in again."
        )


def parse(data: bytes) -> NotebookNode:
    """Return a notebook from the bytes of its file.

    Raises
    ------
    Refused
        If the bytes are not a complete notebook of format 4 with the exercise's metadata.
    """
    if len(data) > FILE_BYTES:
        raise Refused("The notebook is too large: clear its outputs and hand it in again.")
    if not data.strip():
        raise Refused("The file is empty: save the notebook in JupyterLab and hand it in again.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Refused(
            f"The file is not UTF-8 text (byte {error.start}): save the notebook in JupyterLab and hand that in."
        ) from None
    except RecursionError:
        raise Refused(
            "The file is nested too deeply to be a notebook: hand in the notebook itself."
        ) from None
    except ValueError as error:
        where = f"on line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "in a number"
        raise Refused(
            f"The file is not a complete notebook (there is an error {where}): was the upload cut short?"
        ) from None
    return _notebook(content)


def _notebook(content) -> NotebookNode:
    """Return the notebook of a JSON document, rebuilt from the parts that are needed."""
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise Refused("The file is JSON, but not a notebook: hand in the .ipynb file.")
    if content["nbformat"] != 4:
        raise Refused(
            f"The notebook has format {content['nbformat']}, but the course uses format 4: open it in JupyterLab, "
            "save it and hand it in again."
        )
    cells = content.get("cells")
    if not isinstance(cells, list) or len(cells) > CELLS:
        raise Refused(f"The notebook has no list of at most {CELLS} cells: hand in the exercise's notebook.")
    nb = NotebookNode(nbformat=4, nbformat_minor=5, metadata=NotebookNode())
    nb.cells = [_cell(cell, number) for number, cell in enumerate(cells, 1)]
    if sum(len(cell.source) for cell in nb.cells) > SOURCE_CHARACTERS:
        raise Refused("The cells of the notebook contain too much text: hand in the exercise's notebook.")
    if not any(cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells):
        raise Refused(
            "The notebook has lost the metadata that mark your answers: copy them into a fresh copy of the exercise."
        )
    return nb


def _cell(cell, number: int) -> NotebookNode:
    """Return one cell, as type, id, metadata and source."""
    source = cell.get("source", "") if isinstance(cell, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str) or cell.get("cell_type") not in CELL_TYPES:
        raise Refused(
            f"Cell {number} is not a valid notebook cell: save the notebook in JupyterLab and hand it in again."
        )
    metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
    try:
        json.dumps([source, metadata], ensure_ascii=False).encode()
        metadata = _node(metadata)
    except (UnicodeEncodeError, RecursionError):
        raise Refused(
            f"Cell {number} contains characters that are not valid text: delete them, save the notebook and hand it "
            "in again."
        ) from None
    about = metadata.get("nbgrader")
    if not isinstance(about, dict) or not isinstance(about.get("grade_id", ""), str):
        metadata.pop("nbgrader", None)
    made = NotebookNode(cell_type=cell["cell_type"], source=source, metadata=metadata)
    made.id = cell["id"] if isinstance(cell.get("id"), str) else f"cell-{number}"
    if made.cell_type == "code":
        made.update(outputs=[], execution_count=None)
    return made


def _node(value):
    """Turn dictionaries into the nodes that nbformat uses."""
    if isinstance(value, dict):
        return NotebookNode({str(name): _node(item) for name, item in value.items()})
    return [_node(item) for item in value] if isinstance(value, list) else value


def choose(folder: Path, name: str) -> Path:
    """Return the submission in a student's folder: ``NAME.ipynb``, or the only notebook or archive that is there.

    Raises
    ------
    Refused
        If there is no such file, or if there are several and none of them has that name.
    """
    if os.path.lexists(folder / f"{name}.ipynb"):
        return folder / f"{name}.ipynb"
    found = candidates(folder)
    if len(found) != 1:
        what = "no notebook" if not found else f"{len(found)} notebooks"
        raise Refused(f"The folder holds {what} and no {name}.ipynb: hand in one notebook of that name.")
    return found[0]


def candidates(folder: Path) -> list[Path]:
    """Return the notebooks and archives below a folder, sorted; links to folders are not followed.

    Raises
    ------
    Refused
        If there are too many files.
    """
    found, seen, todo = [], 0, [(folder, DEPTH)]
    while todo:
        here, depth = todo.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                seen += 1
                if seen > ENTRIES:
                    raise Refused(f"The folder holds more than {ENTRIES} files: hand in the notebook alone.")
                if entry.name.startswith(".") or entry.name == "__MACOSX":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    todo += [(Path(entry.path), depth - 1)] if depth else []
                elif archive.looks_like_submission(entry.name):
                    found.append(Path(entry.path))
    return sorted(found)


def exercise_of(data: bytes, path: Path | str, sources: list[Path]) -> Path | None:
    """Return the solution to which a submission belongs, found by its ids or else by its path; None if both fail.

    Parameters
    ----------
    data : bytes
        The notebook; it may be damaged.
    path : path
        Its path; a folder or the file may have the name of the exercise.
    sources : list of path
        The solutions, ``NN_topic.py`` or ``.ipynb``.
    """
    known = {str(source): grade_ids(source) for source in sources}
    found = belongs(data, path, known)
    return next((source for source in sources if str(source) == found), None)


def belongs(data: bytes, path: Path | str, known: dict[str, set[bytes]]) -> str | None:
    """Return which of the known exercises a submission belongs to; see :func:`exercise_of`.

    Parameters
    ----------
    known : dict of str to set of bytes
        The ids in each exercise, by its file's name or path.
    """
    ids = ids_in(data)
    shared = {name: len(ids & theirs) for name, theirs in known.items()} if ids else {}
    best = max(shared, key=shared.get, default=None)
    if best is not None and shared[best] and list(shared.values()).count(shared[best]) == 1:
        return best
    parts = Path(path).parts
    named = [name for name in known if any(part.startswith(Path(name).stem) for part in parts)]
    return named[0] if len(named) == 1 else None


def ids_in(data: bytes) -> set[bytes]:
    """Return the ids in the text of a notebook or of a solution."""
    return set(GRADE_ID.findall(data))


def grade_ids(source: Path) -> set[bytes]:
    """Return the ids in the file of a solution."""
    try:
        return ids_in(source.read_bytes())
    except OSError as error:
        raise CourseError(f"{source} cannot be read ({error.strerror}): check that it exists.") from error
