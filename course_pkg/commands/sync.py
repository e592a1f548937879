"""``course sync``: update each lecture's ``.py`` and ``.ipynb`` from each other, without ever losing an edit."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from course_pkg.commands.pairing import (
    Pair,
    State,
    fingerprint,
    has_outputs,
    tidy,
)
from course_pkg.core.errors import CourseError
from course_pkg.core.files import backup, write
from course_pkg.notebook import number_cells, to_json
from course_pkg.paths import repo_root


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.add_argument(
        "lectures", nargs="*", metavar="LECTURE", help="start of a lecture's name, such as 02 (default: all)"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--check", action="store_true", help="change nothing; exit with status 1 if a sync would (for CI)"
    )
    choice.add_argument("--strip", action="store_true", help="remove outputs from notebooks, before a commit")
    choice.add_argument(
        "--from",
        dest="origin",
        choices=("py", "ipynb"),
        help="which file to keep, if a lecture was edited in both or in the notebook only",
    )


def pairs(folder: Path, prefixes: list[str] = ()) -> list[Pair]:
    """Return the lectures in a folder whose names start with one of the prefixes; without prefixes, all.

    Raises
    ------
    CourseError
        If no lecture starts with a prefix.
    """
    # A synchronised notebook whose .py was deleted is a lecture, too; a notebook that a learner made is not.
    sources = set(folder.glob("[0-9][0-9]_*.py"))
    sources |= {p.with_suffix(".py") for p in folder.glob("[0-9][0-9]_*.ipynb") if '"synced"' in _peek(p)}
    everything = [Pair(path) for path in sorted(sources)]
    for prefix in prefixes:
        if not any(pair.name.startswith(prefix) for pair in everything):
            names = ", ".join(pair.name for pair in everything) or "none"
            raise CourseError(f"No lecture starts with {prefix!r}; there are: {names}.")
    return [pair for pair in everything if not prefixes or pair.name.startswith(tuple(prefixes))]


def sync(pair: Pair) -> tuple[str, bool]:
    """Synchronise one lecture, if this overwrites no edit.

    Returns
    -------
    (line, settled) : str and bool
        A message, which may be empty; and whether nothing is left to do, because both files agree or may differ.
    """
    if not pair.source.exists():
        return (
            f"{pair.source.name} is missing: `course sync --from ipynb {pair.number}` writes it from "
            "the notebook.",
            False,
        )
    state = pair.state()
    if state in (State.NEW, State.PY_CHANGED, State.SAME):
        pair.lay_out()
    if state in (State.NEW, State.PY_CHANGED):
        pair.refresh()
        return f"{pair.notebook.name} written from {pair.source.name}.", True
    if state is State.SAME:
        pair.remember()
        return "", True
    pair.guard_edits()
    number = pair.number
    ways = (
        f"To keep the notebook's edits, run `course sync --from ipynb {number}`, which writes them to "
        f"{pair.source.name}. To keep {pair.source.name}, run `course sync --from py {number}`, which saves "
        "the notebook as .orig."
    )
    if state is State.IPYNB_CHANGED:
        return (
            f"{pair.notebook.name} has edits that {pair.source.name} does not have; neither was changed. {ways}",
            True,
        )
    return f"{pair.source.name} and {pair.notebook.name} were both edited; neither was changed. {ways}", False


def take(pair: Pair, origin: str) -> str:
    """Synchronise a lecture from one of its files; if the other one differs, save it as .orig first."""
    if origin == "ipynb":
        if not pair.notebook.exists():
            raise CourseError(f"{pair.notebook.name} does not exist: `course sync {pair.number}` makes it.")
        saved = pair.write_source()
        pair.remember()
        kept = f"; the old one is kept as {saved.name}" if saved else ""
        return f"{pair.source.name} written from {pair.notebook.name}{kept}."
    if not pair.source.exists():
        raise CourseError(
            f"{pair.source.name} does not exist: `course sync --from ipynb {pair.number}` writes it."
        )
    pair.read_source()  # if the source is unreadable, stop here, before the notebook is overwritten
    try:
        in_step = pair.state() in (State.NEW, State.SAME)
    except CourseError:
        in_step = False
    kept = ""
    if not in_step:
        kept = f"; the old one is kept as {backup(pair.notebook).name}"
    try:
        pair.refresh()
    except CourseError:
        write(pair.notebook, pair.clean_text())  # the damaged notebook has no outputs to keep
    return f"{pair.notebook.name} written from {pair.source.name}{kept}."


def strip(pair: Pair) -> str:
    """Remove outputs and the metadata of tools; keep the inputs, even if they differ from the source."""
    if not pair.notebook.exists():
        return ""
    old = pair.read_notebook()
    fresh = tidy(old, pair.name)
    if pair.source.exists() and fingerprint(pair.read_source()) == fingerprint(old):
        return f"{pair.notebook.name} stripped." if write(pair.notebook, pair.clean_text()) else ""
    # The files differ: the old fingerprint must stay, or the edits would look synchronised.
    fresh.metadata.course.synced = old.metadata.get("course", {}).get("synced", "")
    return f"{pair.notebook.name} stripped." if write(pair.notebook, to_json(fresh)) else ""


def complaint(pair: Pair) -> str:
    """Say why a pair is not ready to be committed; return an empty string if it is."""
    if not pair.source.exists():
        return f"{pair.source.name} is missing; run `course sync --from ipynb {pair.number}`."
    if not pair.notebook.exists():
        return f"{pair.notebook.name} is missing; run `course sync`."
    if not pair.laid_out():
        return f"{pair.source.name} has other blank lines than Jupytext would write; run `course sync {pair.number}`."
    if pair.notebook.read_bytes() == pair.clean_text().encode():
        return ""
    nb = pair.read_notebook()
    if pair.state() is not State.SAME:
        return f"{pair.notebook.name} and {pair.source.name} differ; run `course sync {pair.number}`."
    if has_outputs(nb):
        return f"{pair.notebook.name} has outputs; run `course sync --strip {pair.number}`."
    ids = [cell.get("id") for cell in nb.cells]
    number_cells(nb, pair.name)
    if ids != [cell.id for cell in nb.cells]:
        return (
            f"{pair.notebook.name} has cell ids that change with each save; run `course sync {pair.number}`."
        )
    return (
        f"{pair.notebook.name} has metadata that is not committed; run `course sync --strip {pair.number}`."
    )


def run(args: Namespace) -> int:
    """Synchronise, check or strip the chosen lectures; if one fails, go on with the others."""
    folder = repo_root() / "lectures"
    chosen = pairs(folder, args.lectures)
    if args.origin and not args.lectures:
        raise CourseError(f"Say which lecture: course sync --from {args.origin} 02")
    failed = False
    for pair in chosen:
        try:
            if args.check:
                line = complaint(pair)
                settled = not line
            elif args.strip:
                line, settled = strip(pair), True
            elif args.origin:
                line, settled = take(pair, args.origin), True
            else:
                line, settled = sync(pair)
        except CourseError as error:
            line, settled = str(error), False
        failed = failed or not settled
        if line:
            print(line)
    return int(failed)


def _peek(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
