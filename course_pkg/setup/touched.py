"""`make check`: run the tests of what was changed.

    python -m course_pkg.setup.touched [options of pytest]

A file counts as changed if it differs from the point where this branch left the main one, committed or not. Tests run
in this order: changed test files, and those of changed lectures and exercises; test files named after a changed module;
test files that import one; test files of the same folder; if a module of a topic has changed, test files that look
topics up, since they open its modules by name; then test files that reach a changed module through other modules. The
bootstrap sets the time at which this must end (`COURSE_CHECK_UNTIL`). Tests that are then left
to `make test` are named, here and by `tests/conftest.py`.

It runs in the environment, and uses `grimp`, which import-linter installs.
"""

import ast
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

from course_pkg.setup.environment import ROOT, say

CHANGED, MIRROR, IMPORTS, ROOM, FINDS, INDIRECT = range(6)
FINDER = "course_pkg.topics"  # finds the modules of topics, which are then opened by name
FOUND_BY = ("problem.py", "suite.py", "cases.py")  # a folder with such a file is looked up
NOTEBOOKS = ("lectures", "solutions", "exercises")
INTERRUPTED, NO_TESTS = 2, 5  # exit statuses of pytest: interrupted; no test was collected
WORTH_S = 15.0  # no run is started if less time is left
MOST_FILES = 30  # most files of one run: pytest imports all of them before it starts the first test
END_S = 4.0  # time that pytest needs to write its summary after an interrupt


def git(*arguments: str, root: Path) -> str:
    """Return what git prints; an empty string if it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def changed_files(root: Path) -> tuple[list[str], str]:
    """Return the files that differ from the point where this branch left the main one, and that point's name.

    Raises
    ------
    OSError
        If there is no git.
    """
    names = [git("rev-parse", "--abbrev-ref", "origin/HEAD", root=root).strip(), "main", "master"]
    for name in filter(None, names):
        base = git("merge-base", "HEAD", name, root=root).strip()
        if base:
            break
    else:
        name, base = "the last commit", "HEAD"
    known = git("diff", "--name-only", "-z", "--no-renames", base, "--", root=root)
    new = git("ls-files", "--others", "--exclude-standard", "-z", root=root)
    return sorted({path for path in (known + new).split("\0") if path}), name


def module_of(path: str) -> str:
    """Return the module name of a source file: course_pkg/simt/__init__.py is course_pkg.simt."""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Tests:
    """The test files, and which modules each of them imports.

    Parameters
    ----------
    root : path
        The repository.
    importers : callable, optional
        Returns the modules that import a module, directly or through others; by default, grimp finds them.
    """

    def __init__(self, root: Path, importers=None):
        self.root = root
        self.files = sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))
        self.importers = importers or _grimp(root)
        self.imports = cache(self._imports)

    def _imports(self, path: str) -> frozenset[str]:
        """Return the modules of the course that a file imports, itself or through helpers in its folder."""
        found = set()
        for name in _imported((self.root / path).read_text(encoding="utf-8")):
            helper = Path(path).parent / f"{name}.py"
            if name.startswith("course_pkg"):
                found.add(self._module(name))
            elif (self.root / helper).is_file() and str(helper) != path:
                found |= self.imports(str(helper))
        return frozenset(found)

    def _module(self, name: str) -> str:
        """Return the module that contains a dotted name: in `from a.b import c`, c may be a module or a function."""
        place = self.root.joinpath(*name.split("."))
        exists = place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
        return name if exists else name.rpartition(".")[0]

    def of(self, path: str) -> dict[str, int]:
        """Return the test files of a changed file, each with its rank: a smaller rank means a more direct test."""
        parts = Path(path).parts
        if path in self.files:
            return {path: CHANGED}
        if parts[0] == "tests" and len(parts) == 2:
            return dict.fromkeys(self.files, INDIRECT)  # all tests use such a file
        if parts[0] == "tests":
            beside = [name for name in self.files if Path(name).parts[: len(parts) - 1] == parts[:-1]]
            room = [name for name in self.files if Path(name).parts[:2] == parts[:2]]
            return dict.fromkeys(beside or room, MIRROR)
        if parts[0] in NOTEBOOKS and len(parts) > 1:
            return self._of_notebook(parts[0])
        if parts[0] == "course_pkg" and path.endswith(".py"):
            return self._of_module(path)
        ranks = dict.fromkeys(self._room(parts), ROOM) if parts[0] in ("course_pkg", "figures") else {}
        return ranks | dict.fromkeys(self._naming(parts[-1]), IMPORTS)

    def _of_notebook(self, kind: str) -> dict[str, int]:
        """Return the tests of lectures, or of exercises and their grading."""
        rooms = ("lectures",) if kind == "lectures" else ("exercises", "grading")
        found = {}
        for path in self.files:
            text = (self.root / path).read_text(encoding="utf-8")
            if Path(path).parts[1] == rooms[0]:
                found[path] = CHANGED
            elif Path(path).parts[1] in rooms and re.search(r"\bsolutions\b|\bSOURCES\b|submissions", text):
                found[path] = ROOM
        return found

    def _of_module(self, path: str) -> dict[str, int]:
        module, parts = module_of(path), Path(path).parts
        importing = {module, *self.importers(module)}
        users = set(importing)
        if topic := any((self.root / "course_pkg" / parts[1] / name).is_file() for name in FOUND_BY):
            users |= self.importers(FINDER)
        found = {test: INDIRECT for test in self.files if self.imports(test) & users}
        if topic:
            found |= {test: FINDS for test in self.files if FINDER in self.imports(test)}
        for kind in ("lectures", "solutions"):
            if self.stems(importing, [kind]):
                found |= dict.fromkeys(self._of_notebook(kind), INDIRECT)
        found |= dict.fromkeys(self._room(parts), ROOM)
        found |= {test: IMPORTS for test in self.files if module in self.imports(test)}
        stem = module.rpartition(".")[2].strip("_")
        mirror = re.compile(rf"test_(?:{parts[1].removesuffix('.py')}_)?{re.escape(stem)}(?:_.*)?\.py")
        return found | {test: MIRROR for test in self._room(parts) if mirror.fullmatch(Path(test).name)}

    def _room(self, parts: tuple[str, ...]) -> list[str]:
        """Return the test files of a folder of the package, or of a file directly in the package."""
        room = parts[1] if parts[0] == "course_pkg" else parts[0]
        if room.endswith(".py"):
            return [test for test in self.files if Path(test).name == f"test_{room}"]
        return [test for test in self.files if Path(test).parts[1] == room]

    def _naming(self, name: str) -> list[str]:
        """Return the test files that mention a file's name."""
        return [test for test in self.files if name in (self.root / test).read_text(encoding="utf-8")]

    def stems(self, modules: set[str], kinds=("lectures", "solutions")) -> set[str]:
        """Return the lectures and exercises that import one of these modules."""
        found = set()
        for kind in kinds:
            for path in (self.root / kind).rglob("[0-9]*.py"):
                if self.imports(str(path.relative_to(self.root))) & modules:
                    found.add(path.stem)
        return found

    def untouched_stems(self, changed: list[str]) -> set[str]:
        """Return the lectures and exercises that no change affects: their tests need not run."""
        rooms = {Path(path).parts[1] for path in changed if path.startswith("tests/")}
        if rooms & {"lectures", "exercises", "grading"}:
            return set()
        every = {p.stem for kind in ("lectures", "solutions") for p in (self.root / kind).rglob("[0-9]*.py")}
        touched = {Path(path).parts[1].partition(".")[0] for path in changed if path.startswith(NOTEBOOKS)}
        for path in changed:
            if path.startswith("course_pkg/") and path.endswith(".py"):
                touched |= self.stems({module_of(path), *self.importers(module_of(path))})
            elif path.startswith("course_pkg/"):
                return set()
        return every - touched


def _imported(text: str) -> set[str]:
    """Return the dotted names that a source imports; the empty set if it cannot be parsed."""
    try:
        tree = ast.parse(re.sub(r"(?m)^\s*[%!].*$", "pass", text))
    except SyntaxError:
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module.partition(".")[0]}
    return found - {"course_pkg"}


def _grimp(root: Path):
    """Return a function that finds the importers of a module; its first call builds the graph of all imports."""

    @cache
    def graph():
        import grimp

        return grimp.build_graph("course_pkg", cache_dir=str(root / ".course" / "imports"))

    def importers(module: str) -> set[str]:
        return graph().find_downstream_modules(module) if module in graph().modules else set()

    return importers


def chosen(changed: list[str], tests: Tests) -> tuple[list[list[str]], list[str]]:
    """Return the test files to run, the most direct first, and the changed files for which no test was found.

    The files are divided into three runs: those that test a change directly, those of the same folder, and those that
    find it by name or reach it through other modules. A single run of all files would need seconds to collect them
    before its first test.
    """
    ranks: dict[str, int] = {}
    unseen = []
    for path in changed:
        found = tests.of(path)
        for test, rank in found.items():
            ranks[test] = min(rank, ranks.get(test, rank))
        if not found:
            unseen.append(path)
    ordered = sorted(ranks, key=lambda test: (ranks[test], test))
    runs = (range(ROOM), [ROOM], [FINDS, INDIRECT])
    return [[test for test in ordered if ranks[test] in these] for these in runs], unseen


def named(files: list[str]) -> str:
    """Return the names of test files as text; for more than eight, only each folder and its number of files."""
    if len(files) <= 8:
        return ", ".join(files)
    folders = Counter(str(Path(file).parent) for file in files)
    return ", ".join(f"{folder} ({count} files)" for folder, count in sorted(folders.items()))


def run(options: list[str], files: list[str], root: Path, until: float) -> int:
    """Run pytest on files, and interrupt it when the time is up; return its exit status, 0 if it was interrupted."""
    left = until - time.time()
    if not files:
        return 0
    if left < WORTH_S:
        say(f"The time is up. Left to `make test`: {named(files)}.")
        return 0
    command = [sys.executable, "-m", "pytest", *options, *files]
    process = subprocess.Popen(command, cwd=root, start_new_session=True)
    late = False
    try:
        process.wait(None if left == float("inf") else left - END_S)
    except subprocess.TimeoutExpired:
        late = True  # tests stop by themselves when the time is up, so pytest must be collecting or hanging
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        say(f"The time is up, pytest was interrupted. Some of these are left to `make test`: {named(files)}.")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    code = process.returncode
    ended = late and code in (INTERRUPTED, -signal.SIGINT, -signal.SIGKILL)
    return 0 if ended or code == NO_TESTS else code


def run_in_turn(options: list[str], runs: list[list[str]], root: Path, until: float) -> int:
    """Run the files of each run, at most `MOST_FILES` at a time; return the exit status that is farthest from 0."""
    parts, worst = [f[k : k + MOST_FILES] for f in runs for k in range(0, len(f), MOST_FILES)], 0
    for number, files in enumerate(parts):
        if until - time.time() < WORTH_S:
            run(options, [file for part in parts[number:] for file in part], root, until)  # only names them
            break
        worst = max(worst, run(options, files, root, until), key=abs)
    return worst


def main(options: list[str]) -> int:
    """Choose the tests, print the choice, and run them; return the exit status."""
    root, until = Path(ROOT), float(os.environ.get("COURSE_CHECK_UNTIL", "inf"))
    try:
        changed, base = changed_files(root)
    except OSError:
        print("`make check` needs git to find out what was changed: install git, or run `make test`.")
        return 1
    tests = Tests(root)
    runs, unseen = chosen(changed, tests)
    seen, room, indirect = map(len, runs)
    say(f"{len(changed)} files changed since {base}. Test files to run: {seen} that test them directly,")
    say(f"{room} of the same folders, {indirect} that reach them through other modules.")
    if unseen:
        say(f"No tests were found for: {', '.join(unseen)}.")
    spared = sorted(tests.untouched_stems(changed))
    if spared:
        say(f"Left out, because the changes do not affect them: {', '.join(spared)}.")
        options = [*options, "-k", " and ".join(f"not {stem}" for stem in spared)]
    return run_in_turn(options, runs, root, until)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
