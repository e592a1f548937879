"""Run a lecture in a new kernel, and save its outputs."""

import hashlib
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import course_pkg
from course_pkg.paths import figure, recorded_dir
from course_pkg.slides import lecture
from course_pkg.slides.errors import LectureError, SlidesError, one_line

if TYPE_CHECKING:
    from nbformat import NotebookNode

# A library writes this to stderr when it first runs on a machine; this is not a fault of the lecture.
_FIRST_RUN_NOTICES = ("Matplotlib is building the font cache",)

# No lecture imports these folders of the package: they only show what a lecture has computed.
_NO_LECTURE_IMPORTS = {"site"}


def execute(source: Path, out_dir: Path, *, cell_timeout_s: float = 60) -> Path:
    """Run a py:percent lecture and write the executed notebook to ``out_dir``.

    The lecture runs in its own folder, with the same Python as this process. It is not run again as long as its source,
    the package and the recorded data do not change.

    Parameters
    ----------
    source : Path
        The lecture, ``lectures/NN_name.py``.
    out_dir : Path
        The folder for ``NN_name.ipynb``; it is made if needed.
    cell_timeout_s : float
        How long one cell may take, in seconds.

    Returns
    -------
    Path
        The executed notebook.

    Raises
    ------
    LectureError
        If a cell raises, takes too long, or writes to stderr. The message names the lecture and the cell.
    SlidesError
        If the lecture does not exist, or its header cannot be read.
    """
    import nbformat

    source, target = Path(source).resolve(), Path(out_dir) / f"{Path(source).stem}.ipynb"
    if not source.is_file():
        raise SlidesError(f"{source} does not exist: name one of the lectures.")
    digest = _digest(source)
    if _recorded_digest(target) == digest:
        return target
    nb = lecture.read(source)
    _run(nb, source, cell_timeout_s)
    check_outputs(nb, source.name)
    nb.metadata["course"] = {"digest": digest, "source": source.name}
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".ipynb.part")
    nbformat.write(nb, partial)
    os.replace(partial, target)
    return target


def check_outputs(nb: "NotebookNode", name: str) -> None:
    """Raise `LectureError` if a cell shows an error or wrote to stderr.

    A warning on a slide distracts, and often hides a fault: the lecture must fix its cause or catch it. Only a cell
    with the tag ``raises-exception`` may show its exception.
    """
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        for notice in _FIRST_RUN_NOTICES:
            cell.outputs = [o for o in cell.outputs if not (_stderr(o) and notice in o.text)]
        for output in cell.outputs:
            if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
                raise LectureError(_raised(name, cell, output.ename, output.evalue))
            if _stderr(output):
                raise LectureError(
                    f"{name}: {_cell_name(cell)} wrote to stderr, “{one_line(output.text)}”; "
                    "fix the cause, or catch the warning in the lecture."
                )


def _stderr(output: "NotebookNode") -> bool:
    return output.output_type == "stream" and output.name == "stderr"


def _run(nb: "NotebookNode", source: Path, cell_timeout_s: float) -> None:
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    # Without kernel folders, the only kernel is ipykernel with this Python. Otherwise, a kernel `python3` that the user
    # has registered for another environment would be used. TCP is used because parallel starts over IPC sometimes fail.
    manager = AsyncKernelManager(
        kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), transport="tcp"
    )
    current: list[NotebookNode] = []
    client = NotebookClient(
        nb,
        km=manager,
        timeout=cell_timeout_s,
        store_widget_state=True,
        extra_arguments=[
            "--IPKernelApp.log_level=ERROR"
        ],  # otherwise ipykernel warns about TCP on the loopback address
        coalesce_streams=True,
        resources={"metadata": {"path": str(source.parent)}},
        on_cell_start=lambda cell, cell_index: current.append(cell),
    )
    name = source.name
    try:
        # slides and pages show nobody's guesses, and not what somebody has solved on this machine
        with TemporaryDirectory() as nobody:
            nothing = {"COURSE_GUESSES": "none", "COURSE_DATA": nobody}
            client.execute(cleanup_kc=True, env=os.environ | nothing)
    except CellExecutionError as error:
        raise LectureError(_raised(name, current[-1], error.ename, error.evalue)) from error
    except CellTimeoutError as error:
        raise LectureError(
            f"{name}: {_cell_name(current[-1])} took longer than {cell_timeout_s:g} s; "
            "make its problem smaller."
        ) from error
    except DeadKernelError as error:
        raise LectureError(
            f"{name}: {_cell_name(current[-1])} ended the kernel; it may have run out of memory."
        ) from error


def _raised(name: str, cell: "NotebookNode", ename: str, evalue: str) -> str:
    return f"{name}: {_cell_name(cell)} raised {ename}: {one_line(evalue)}"


def _cell_name(cell: "NotebookNode") -> str:
    lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
    return f"the cell that begins “{one_line(lines[0], 90)}”" if lines else "an empty cell"


def _digest(source: Path) -> str:
    """Return a hash of all that the outputs depend on: lecture, package, recorded data, drawn figures, interpreter."""
    package = Path(course_pkg.__file__).parent
    files = [source]
    modules = (p for p in package.rglob("*") if p.suffix in {".py", ".toml"})
    files += sorted(p for p in modules if p.relative_to(package).parts[0] not in _NO_LECTURE_IMPORTS)
    for folder in (recorded_dir(), figure("")):
        files += sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    total = hashlib.sha256(sys.version.encode())
    for path in files:
        total.update(f"\0{path}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def _recorded_digest(target: Path) -> str | None:
    if not target.is_file():
        return None
    import nbformat

    return nbformat.read(target, as_version=4).metadata.get("course", {}).get("digest")
