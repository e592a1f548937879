"""`make check`: which tests depend on a change, in which order they run, and how the others are named."""

import runpy
import shutil
import subprocess
import time
from types import SimpleNamespace

import pytest
from needs import need

from course_pkg.setup import touched
from course_pkg.setup.touched import CHANGED, FINDS, IMPORTS, INDIRECT, MIRROR, ROOM

FILES = {
    "course_pkg/core/cost.py": "",
    "course_pkg/core/__init__.py": "",
    "course_pkg/core/units.py": "",
    "course_pkg/cg/gpu/steps.py": "from course_pkg.core import cost\n",
    "course_pkg/cg/graph.css": "",
    "course_pkg/cli.py": "",
    "course_pkg/topics.py": "",
    "course_pkg/vector/problem.py": "",
    "course_pkg/vector/variants.py": "",
    "course_pkg/witness/compare.py": "from course_pkg import topics\n",
    "lectures/01_first.py": "# %%\n%matplotlib inline\nfrom course_pkg.cg.gpu import steps\n",
    "lectures/02_second.py": "# %%\n",
    "solutions/02_second/02_second.py": "",
    "docs/guide.md": "",
    "README.md": "",
    "tests/core/test_core_cost.py": "from course_pkg.core.cost import Cost\n",
    "tests/core/test_core_table.py": "from course_pkg.core import cost\n",
    "tests/core/test_core_units.py": "from helper import help\n",
    "tests/core/helper.py": "from course_pkg.core import units\n",
    "tests/cg/test_cg_steps.py": "from course_pkg.cg.gpu.steps import step\n",
    "tests/cg/data.json": "",
    "tests/test_cli.py": "",
    "tests/test_topics.py": "from course_pkg.topics import with_module\n",
    "tests/vector/test_vector_sums.py": "",
    "tests/witness/test_witness_compare.py": "from course_pkg.witness import compare\n",
    "tests/lectures/test_lectures.py": "",
    "tests/exercises/test_exercises_grading.py": "SOURCES = 'solutions'\n",
    "tests/setup/test_setup_readme.py": "text = open('README.md')\n",
}
IMPORTERS = {
    "course_pkg.core.cost": {"course_pkg.cg.gpu.steps"},
    "course_pkg.topics": {"course_pkg.witness.compare"},
}


@pytest.fixture
def root(tmp_path):
    """A repository with one commit on main, and a branch."""
    need(None if shutil.which("git") else "git, which knows what was changed")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    git(tmp_path, "checkout", "-q", "-b", "mine")
    return tmp_path


def git(root, *arguments):
    known = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *known, *arguments], cwd=root, check=True, capture_output=True)


def commit(root):
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "change")


@pytest.fixture
def tests(root):
    return touched.Tests(root, lambda module: IMPORTERS.get(module, set()))


def test_committed_uncommitted_new_and_deleted_files_are_changes(root):
    (root / "README.md").write_text("new", encoding="utf-8")
    commit(root)
    (root / "course_pkg/cli.py").write_text("new", encoding="utf-8")
    (root / "a file.py").touch()
    (root / "docs/guide.md").unlink()
    assert touched.changed_files(root) == (
        ["README.md", "a file.py", "course_pkg/cli.py", "docs/guide.md"],
        "main",
    )


def test_what_main_got_meanwhile_is_no_change_of_this_branch(root):
    git(root, "checkout", "-q", "main")
    (root / "README.md").write_text("new", encoding="utf-8")
    commit(root)
    git(root, "checkout", "-q", "mine")
    assert touched.changed_files(root) == ([], "main")


def test_without_a_main_branch_the_last_commit_counts(root):
    git(root, "branch", "-q", "-D", "main")
    (root / "README.md").write_text("new", encoding="utf-8")
    assert touched.changed_files(root) == (["README.md"], "the last commit")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "course_pkg/core/cost.py",
            {
                "tests/core/test_core_cost.py": MIRROR,
                "tests/core/test_core_table.py": IMPORTS,
                "tests/core/test_core_units.py": ROOM,
                "tests/cg/test_cg_steps.py": INDIRECT,
                "tests/lectures/test_lectures.py": INDIRECT,
                "tests/test_topics.py": None,
            },
        ),
        ("course_pkg/core/units.py", {"tests/core/test_core_units.py": MIRROR}),
        ("course_pkg/cg/graph.css", {"tests/cg/test_cg_steps.py": ROOM}),
        ("course_pkg/cli.py", {"tests/test_cli.py": MIRROR}),
        (
            "course_pkg/vector/variants.py",  # which these tests open by a name that they have found
            {
                "tests/vector/test_vector_sums.py": ROOM,
                "tests/test_topics.py": FINDS,
                "tests/witness/test_witness_compare.py": INDIRECT,
                "tests/test_cli.py": None,
            },
        ),
        ("tests/core/test_core_units.py", {"tests/core/test_core_units.py": CHANGED}),
        ("tests/cg/data.json", {"tests/cg/test_cg_steps.py": MIRROR}),
        ("tests/conftest.py", {"tests/test_cli.py": INDIRECT, "tests/core/test_core_cost.py": INDIRECT}),
        ("lectures/02_second.py", {"tests/lectures/test_lectures.py": CHANGED}),
        ("solutions/02_second/02_second.py", {"tests/exercises/test_exercises_grading.py": CHANGED}),
        ("README.md", {"tests/setup/test_setup_readme.py": IMPORTS}),
        ("docs/guide.md", {}),
    ],
)
def test_the_tests_of_a_file(tests, path, expected):
    found = tests.of(path)
    assert {test: found.get(test) for test in expected} == expected
    if path != "tests/conftest.py":
        assert {t for t, rank in found.items() if rank < ROOM} == {
            t for t, r in expected.items() if r is not None and r < ROOM
        }


def test_the_most_direct_tests_come_first_and_what_nothing_sees_is_named(tests):
    runs, unseen = touched.chosen(["course_pkg/core/cost.py", "docs/guide.md"], tests)
    assert runs[0] == ["tests/core/test_core_cost.py", "tests/core/test_core_table.py"]
    assert runs[1] == ["tests/core/test_core_units.py"]
    assert runs[2] == ["tests/cg/test_cg_steps.py", "tests/lectures/test_lectures.py"]
    assert unseen == ["docs/guide.md"]


@pytest.mark.parametrize(
    ("changed", "spared"),
    [
        (["lectures/01_first.py"], {"02_second"}),
        (["solutions/02_second/02_second.py"], {"01_first"}),
        (["course_pkg/core/cost.py"], {"02_second"}),  # the first lecture imports what imports it
        (["course_pkg/core/units.py"], {"01_first", "02_second"}),
        (["course_pkg/cg/graph.css"], set()),
        (["tests/lectures/test_lectures.py"], set()),
    ],
)
def test_lectures_that_no_change_reaches_are_left_out(tests, changed, spared):
    assert tests.untouched_stems(changed) == spared


def test_the_graph_of_imports_is_that_of_the_package():
    importers = touched._grimp(touched.Path(touched.ROOT))
    assert "course_pkg.grading.sandbox" in importers("course_pkg.grading.protocol")
    assert importers("course_pkg.nothing") == set()


def written(root, text):
    (root / "tests/test_cli.py").write_text(text, encoding="utf-8")
    return ["-p", "no:cacheprovider", "-q"], ["tests/test_cli.py"], root


def test_a_failure_is_a_failure(root, monkeypatch):
    monkeypatch.delenv("COURSE_CHECK_UNTIL", raising=False)
    assert touched.run(*written(root, "def test(): assert 0\n"), float("inf")) == 1
    assert touched.run(*written(root, "def test(): pass\n"), float("inf")) == 0
    assert touched.run(*written(root, "# none\n"), float("inf")) == 0


def test_when_the_time_is_up_it_stops_and_says_what_is_left(root, monkeypatch, capsys):
    monkeypatch.setattr(touched, "WORTH_S", 0.0)
    monkeypatch.setattr(touched, "END_S", 1.0)
    assert touched.run(*written(root, "import time\ntime.sleep(60)\n"), time.time() + 4) == 0
    assert "The time is up, pytest was interrupted" in capsys.readouterr().out


def test_what_would_not_begin_in_time_is_named(root, capsys):
    assert touched.run(*written(root, "def test(): assert 0\n"), time.time() + 1) == 0
    assert capsys.readouterr().out == "The time is up. Left to `make test`: tests/test_cli.py.\n"


@pytest.fixture
def ran(monkeypatch):
    """The files of each run, of which none is run; a file called failing makes its run fail."""
    calls = []

    def run(options, files, root, until):
        calls.append(files)
        return int("failing" in files)

    monkeypatch.setattr(touched, "run", run)
    return calls


def test_many_files_run_in_parts_so_that_tests_begin_soon(ran):
    files = ["failing", *map(str, range(69))]
    assert touched.run_in_turn([], [files, [], ["last"]], None, float("inf")) == 1
    assert [len(part) for part in ran] == [30, 30, 10, 1]
    assert [file for part in ran for file in part] == [*files, "last"]


def test_when_the_time_is_up_all_that_is_left_is_named_at_once(ran):
    assert touched.run_in_turn([], [["a"] * 40, ["b"]], None, time.time() + 1) == 0
    assert ran == [["a"] * 40 + ["b"]]


def test_many_files_are_named_by_their_folders():
    files = [f"tests/a/test_{k}.py" for k in range(5)] + [f"tests/b/test_{k}.py" for k in range(4)]
    assert touched.named(files) == "tests/a (5 files), tests/b (4 files)"


def test_without_git_it_says_so(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert touched.main([]) == 1
    assert "install git, or run `make test`" in capsys.readouterr().out


LIMITED = """
import time
import conftest
import pytest

conftest.LATEST = time.time() + 1.5  # not earlier, as it may take long until a test begins

@pytest.fixture
def half_open():
    yield
    raise OSError("left behind by a test that was cut")

@pytest.mark.parametrize("k", range(3))
def test_long(k, half_open):
    open("began", "w").close()
    try:
        time.sleep(60)
    except BaseException as cut:  # as nbgrader does, which says that grading failed
        raise AssertionError("something went wrong") from cut
"""


def with_conftest(folder, **files):
    """Run pytest in a folder of its own under the conftest of all our tests; return what it said."""
    tests = touched.Path(touched.ROOT) / "tests"
    ours = {name: (tests / f"{name}.py").read_text(encoding="utf-8") for name in ("conftest", "families")}
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n  family\n", encoding="utf-8")
    for name, text in {**ours, **files}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [touched.sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_test_that_nobody_timed_is_interrupted_and_the_rest_is_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CHECK_UNTIL", str(time.time() + 600))
    said = with_conftest(tmp_path, test_long=LIMITED)
    assert (tmp_path / "began").exists()
    assert "Left to `make test`: 3 of test_long.py" in said
    assert "3 skipped" in said


def test_a_test_that_is_left_out_keeps_the_seconds_that_it_had():
    clock = runpy.run_path(str(touched.Path(touched.ROOT) / "tests" / "conftest.py"))["Clock"]()
    for test, when, skipped in (("a", "setup", True), ("a", "teardown", False), ("b", "call", False)):
        clock.pytest_runtest_logreport(
            SimpleNamespace(
                nodeid=f"test_x.py::{test}", when=when, skipped=skipped, longrepr="", duration=0.5
            )
        )
    assert clock.taken == {"test_x.py::b": 0.5}


SLOW = "import pytest\npytestmark = pytest.mark.slow({})\ndef test(): pass\n"


@pytest.mark.parametrize("checking", [False, True])
def test_long_files_begin_first_but_for_make_check(tmp_path, monkeypatch, checking):
    monkeypatch.delenv("COURSE_CHECK_UNTIL", raising=False)
    if checking:
        monkeypatch.setenv("COURSE_CHECK_UNTIL", str(time.time() + 600))
    files = {"test_a": "def test(): pass\n", "test_b": SLOW.format(20), "test_c": SLOW.format(100)}
    said = with_conftest(tmp_path, **files)
    ran = [line.partition("::")[0] for line in said.splitlines() if "::test " in line]
    assert ran == (
        ["test_a.py", "test_b.py", "test_c.py"] if checking else ["test_c.py", "test_b.py", "test_a.py"]
    )
