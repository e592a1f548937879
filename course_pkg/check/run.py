"""``check_file``: read a file, run its kernels in a limited process, and gather what was found."""

from pathlib import Path

from course_pkg.check import read
from course_pkg.check.errors import NotChecked
from course_pkg.check.found import Checked, Report, Trial
from course_pkg.check.play import LAUNCHES, Found, Work, play
from course_pkg.practice import apart
from course_pkg.practice.attempt import warm_up

MEMORY_BYTES = 2 << 30
LOST = {
    apart.ENDLESS: "The file ran too long and was stopped: make its sizes smaller by --set NAME=N, or add --inputs.",
    apart.MEMORY: f"The file asked for more than {MEMORY_BYTES >> 30} GiB of memory: make its sizes smaller by "
    "--set NAME=N, or add --inputs.",
    apart.BUSY: "Other programs kept the machine busy, and the file was stopped: run the command again when they end.",
    apart.CRASHED: "The file ended Python itself: leave out what does this, or launch the kernels by --inputs.",
}


def check_file(
    path,
    *,
    values: dict[str, int] | None = None,
    inputs: str | None = None,
    only: str | None = None,
    seconds: float = 20.0,
    steps: int = 20_000,
) -> Report:
    """Run the kernels of a file in the interpreter, without a GPU, and report what is wrong with them.

    The file runs as with ``python FILE``, in a process of its own with limits, and with the interpreter in the place
    of ``numba.cuda``. If a statement fails, this is noted, and the next statement runs. A kernel that the file does not
    launch gets inputs made from its signature, its annotations and its source.

    Parameters
    ----------
    path : path-like
        A ``.py`` file or a notebook.
    values : dict of str to int, optional
        New values for module-level names, such as a size.
    inputs : str, optional
        ``"FILE"`` or ``"FILE:FUNCTION"``: a function, by default ``launches(module)``, that launches the kernels. With
        this option the file runs as a module, and not as a program.
    only : str, optional
        The one kernel to check.
    seconds : float
        Time limit for the file, and the same time again for launches with made inputs.
    steps : int
        Limit on the statements of a launch, each counted once for all threads. A kernel that needs more is assumed to
        loop for ever.

    Returns
    -------
    Report

    Raises
    ------
    NotChecked
        If the file cannot be read or has no kernels, or an option does not fit it; the message says what to write.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... from numba import cuda
    ...
    ... @cuda.jit
    ... def double(a):
    ...     i = cuda.grid(1)
    ...     a[i] *= 2
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "double.py")
    ...     _ = file.write_text(text)
    ...     report = check_file(file)
    >>> report.status, [hazard.kind for hazard, trial in report.kernels[0].hazards]
    (1, ['out_of_bounds'])
    """
    path = Path(path)
    parts = read.parts(path)
    if not read.mentions_cuda(parts):
        raise NotChecked(
            f"{path} has no CUDA kernel: name a file with functions under @cuda.jit, from `from numba import cuda`, or "
            'under @vectorize(…, target="cuda").'
        )
    values = values or {}
    absent = set(values) - {n for part in parts for n in read.replaced(part.tree, values)}
    if absent:
        raise NotChecked(
            f"{path} gives {sorted(absent)[0]} no value at its left margin: --set changes only such names."
        )
    work = Work(path, values, _inputs(inputs), only, seconds, steps)
    return _gathered(work, parts)


def _inputs(given: str | None) -> tuple[Path, str] | None:
    if given is None:
        return None
    file, _, name = given.rpartition(":") if not given.endswith((".py", ".ipynb")) else (given, "", "")
    path = Path(file or given)
    if not path.is_file():
        raise NotChecked(
            f"{path} is not there: --inputs names a Python file with a function {LAUNCHES}(module)."
        )
    return path, name or LAUNCHES


def _gathered(work: Work, parts) -> Report:
    report = Report(str(work.path))
    kernels: dict[tuple, Checked] = {}
    made: list[Found] = []
    too_large = False
    warm_up()
    try:
        limits = {
            "cpu_s": 2 * work.seconds + 10,
            "wall_s": 4 * work.seconds + 20,
            "memory_bytes": MEMORY_BYTES,
            "most_s": 8 * work.seconds + 40,
        }
        for one in apart.run(lambda: play(work, parts), **limits):
            if isinstance(one, Trial):
                key = one.kernel, one.file, one.line
                kernels.setdefault(key, Checked(*key)).trials.append(one)
            elif isinstance(one, Found):
                made.append(one)
            else:
                report.notes.append(one.text)
                too_large |= one.too_large
                if one.fatal:
                    report.error = report.error or one.text
    except apart.Lost as lost:
        report.error = LOST[lost.reason]
        too_large |= lost.reason in (apart.ENDLESS, apart.MEMORY)
    if not kernels and not made and not read.definitions(parts) and not report.error:
        raise NotChecked(f"{work.path} has no kernel: name a file with functions under @cuda.jit.")
    _add_those_that_did_not_run(work, parts, kernels, made)
    wanted = [k for k in kernels.values() if work.only in (None, k.name)]
    if work.only is not None and not wanted:
        names = ", ".join(k.name for k in kernels.values()) or "none"
        raise NotChecked(f"{work.path} has no kernel {work.only}: its kernels are {names}.")
    report.kernels = sorted(wanted, key=lambda k: (k.file != str(work.path), k.file, k.line))
    if too_large or any(trial.too_large for kernel in report.kernels for trial in kernel.trials):
        _add_sizes(report, parts)
    return report


def _add_those_that_did_not_run(work, parts, kernels, made) -> None:
    """Add a refusal for each kernel of the file that was neither launched nor given inputs."""
    names = {name for name, _, _ in kernels}
    for definition in read.definitions(parts):
        key = definition.name, definition.part, definition.line
        if definition.name in names:
            continue
        reason = "Nothing launches it."
        if definition.outer:
            reason = f"It is made in {definition.outer}, which the file does not call with a launch after it."
        error = (
            f"{reason} Launch it: in a file, `def {LAUNCHES}(module):` makes small arrays and launches it; then add "
            "--inputs FILE."
        )
        kernels[key] = Checked(*key, [Trial(*key, "not launched", error=error)])


def _add_sizes(report, parts) -> None:
    """Add a note that names the sizes that the file sets, if it sets any."""
    if named := read.sizes(parts):
        told = ", ".join(f"{name} = {value} ({part}:{line})" for name, part, line, value in named)
        report.notes.append(f"Sizes that --set can change: {told}.")
