"""Run the tests of what was changed: `make check`.

    python -m course_pkg.setup.touched [options of pytest]

A change is what differs from the point where this branch left the main one, committed or not. Its tests come in this
order: the changed test files and the lectures and exercises themselves; the files that mirror a changed module by
name; those that import it; its room; then, in a second run, whatever imports it by way of others. The bootstrap says
when that has to end (`COURSE_CHECK_UNTIL`); what is left to `make test` is named, here and by `tests/conftest.py`.

Runs in the environment, with `grimp`, which import-linter brings.
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

CHANGED, MIRROR, IMPORTS, ROOM, INDIRECT = range(5)
NOTEBOOKS = ("lectures", "solutions", "exercises")
INTERRUPTED, NO_TESTS = 2, 5  # pytest's exit status; the second when nothing was collected
WORTH_S = 15.0  # below that the tests are not even collected
END_S = 4.0  # pytest's time to write its summary after an interrupt


def git(*arguments: str, root: Path) -> str:
    """Return what git says; an empty string where it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def changed_files(root: Path) -> tuple[list[str], str]:
    """List the files that differ from where this branch left the main one, and name what they are compared with.

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
    """Return the name of a source file as a module: course_pkg/simt/__init__.py is course_pkg.simt."""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Tests:
    """The test files and what each imports.

    Parameters
    ----------
    root : path
        The repository.
    importers : callable, optional
        Returns the modules that import a module, at any distance; asked from grimp when left out.
    """

    def __init__(self, root: Path, importers=None):
        self.root = root
        self.files = sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))
        self.importers = importers or _grimp(root)
        self.imports = cache(self._imports)

    def _imports(self, path: str) -> frozenset[str]:
        """Return the modules of the course that a file imports, its helpers in the same folder included."""
        found = set()
        for name in _imported((self.root / path).read_text(encoding="utf-8")):
            helper = Path(path).parent / f"{name}.py"
            if name.startswith("course_pkg"):
                found.add(self._module(name))
            elif (self.root / helper).is_file() and str(helper) != path:
                found |= self.imports(str(helper))
        return frozenset(found)

    def _module(self, name: str) -> str:
        """Return the module in which a dotted name lies: `from a.b import c` may name a module or a function."""
        place = self.root.joinpath(*name.split("."))
        exists = place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
        return name if exists else name.rpartition(".")[0]

    def of(self, path: str) -> dict[str, int]:
        """Return the test files of a changed file, each with how direct it is."""
        parts = Path(path).parts
        if path in self.files:
            return {path: CHANGED}
        if parts[0] == "tests" and len(parts) == 2:
            return dict.fromkeys(self.files, INDIRECT)  # what all the tests share
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
        users = {module, *self.importers(module)}
        found = {test: INDIRECT for test in self.files if self.imports(test) & users}
        for kind in ("lectures", "solutions"):
            if self.stems(users, [kind]):
                found |= dict.fromkeys(self._of_notebook(kind), INDIRECT)
        found |= dict.fromkeys(self._room(parts), ROOM)
        found |= {test: IMPORTS for test in self.files if module in self.imports(test)}
        stem = module.rpartition(".")[2].strip("_")
        mirror = re.compile(rf"test_(?:{parts[1].removesuffix('.py')}_)?{re.escape(stem)}(?:_.*)?\.py")
        return found | {test: MIRROR for test in self._room(parts) if mirror.fullmatch(Path(test).name)}

    def _room(self, parts: tuple[str, ...]) -> list[str]:
        """Return the tests that mirror a folder of the package, or a file directly in it."""
        room = parts[1] if parts[0] == "course_pkg" else parts[0]
        if room.endswith(".py"):
            return [test for test in self.files if Path(test).name == f"test_{room}"]
        return [test for test in self.files if Path(test).parts[1] == room]

    def _naming(self, name: str) -> list[str]:
        """Return the tests in whose text a file's name stands."""
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
        """Return the lectures and exercises that no change reaches: their cases need not run."""
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
    """Return the dotted names that a source imports; none of one that cannot be parsed."""
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
    """Return a function that asks the graph of imports; it is built when first asked."""

    @cache
    def graph():
        import grimp

        return grimp.build_graph("course_pkg", cache_dir=str(root / ".course" / "imports"))

    def importers(module: str) -> set[str]:
        return graph().find_downstream_modules(module) if module in graph().modules else set()

    return importers


def chosen(changed: list[str], tests: Tests) -> tuple[list[list[str]], list[str]]:
    """Return what to run, the most direct first, and the changes that no test is known to see.

    A run takes some seconds to begin, and collects its files before the first test: there are three, of the tests that
    see a change directly, of those in its room, and of those that it reaches by way of others.
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
    runs = (range(ROOM), [ROOM], [INDIRECT])
    return [[test for test in ordered if ranks[test] in these] for these in runs], unseen


def named(files: list[str]) -> str:
    """Name test files; of many only their folders, with how many lie in each."""
    if len(files) <= 8:
        return ", ".join(files)
    folders = Counter(str(Path(file).parent) for file in files)
    return ", ".join(f"{folder} ({count} files)" for folder, count in sorted(folders.items()))


def run(options: list[str], files: list[str], root: Path, until: float) -> int:
    """Run pytest on files and interrupt it when the time is up; return its exit status, 0 where it was interrupted."""
    left = until - time.time()
    if not files:
        return 0
    if left < WORTH_S:
        say(f"Left to `make test`, as the time is up: {named(files)}.")
        return 0
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *files], cwd=root, start_new_session=True
    )
    late = False
    try:
        process.wait(None if left == float("inf") else left - END_S)
    except subprocess.TimeoutExpired:  # the tests end by themselves in time: it is still collecting, or hangs
        late = True
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        say(f"Interrupted, as the time is up; some of these are left to `make test`: {named(files)}.")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    code = process.returncode
    return (
        0 if code == NO_TESTS or (late and code in (INTERRUPTED, -signal.SIGINT, -signal.SIGKILL)) else code
    )


def main(options: list[str]) -> int:
    """Choose, say what was chosen, and run it; return the exit status."""
    root = Path(ROOT)
    try:
        changed, base = changed_files(root)
    except OSError:
        print("`make check` asks git what was changed, and git is missing: install it, or run `make test`.")
        return 1
    tests = Tests(root)
    runs, unseen = chosen(changed, tests)
    seen, room, indirect = map(len, runs)
    say(
        f"Changed since {base}: {len(changed)} files. Files of tests that see it: {seen} directly, {room} in the same "
        f"room, {indirect} by way of other modules."
    )
    if unseen:
        say(f"No test is known to see: {', '.join(unseen)}.")
    spared = sorted(tests.untouched_stems(changed))
    if spared:
        say(f"Not reached by the changes, left out: {', '.join(spared)}.")
        options = [*options, "-k", " and ".join(f"not {stem}" for stem in spared)]
    until = float(os.environ.get("COURSE_CHECK_UNTIL", "inf"))
    return max([run(options, files, root, until) for files in runs], key=abs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
