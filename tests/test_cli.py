"""The command line: what ``course`` imports, prints and returns."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from course_pkg import cli
from course_pkg.core.errors import CourseError


@pytest.fixture
def room(monkeypatch):
    """Replace the doctor's module by one whose `run` a test sets."""
    room = SimpleNamespace(add_arguments=lambda parser: parser.add_argument("--json", action="store_true"))
    monkeypatch.setattr(cli.importlib, "import_module", lambda name: room)
    return room


def test_help_imports_no_room():
    code = (
        "import sys\nfrom course_pkg.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'matplotlib', 'jupytext', 'jupyterlab'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in cli.ROOMS)


def test_the_status_is_that_of_the_commands_module(room):
    room.run = lambda args: 7 if args.json else 0
    assert cli.main(["doctor"]) == 0
    assert cli.main(["doctor", "--json"]) == 7


def test_course_error_is_one_sentence(room, capsys):
    def run(args):
        raise CourseError("The port is taken: choose another.")

    room.run = run
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err == "The port is taken: choose another.\n"


def test_interrupt_is_130(room):
    def run(args):
        raise KeyboardInterrupt

    room.run = run
    assert cli.main(["doctor"]) == 130


def test_a_bug_shows_its_traceback(room):
    def run(args):
        raise ZeroDivisionError

    room.run = run
    with pytest.raises(ZeroDivisionError):
        cli.main(["doctor"])


@pytest.mark.parametrize("argv", [[], ["nonsense"], ["doctor", "--nonsense"]])
def test_wrong_usage_is_2(argv, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["bench", "stencl"], "course bench: there is no 'stencl' (did you mean stencil?); choose from cg, "),
        (["bench"], "course bench: topic is missing; choose from cg, "),
        (["benhc", "cg"], "course: there is no 'benhc' (did you mean bench?); choose from doctor, "),
        (
            ["bench", "cg", "--devise", "h100"],
            "course bench: there is no --devise (did you mean --device?); the ",
        ),
        (["bench", "cg", "vector"], "course bench: there is one argument too many, 'vector'; leave it out"),
        (["grade"], "course grade: FILE|DIR is missing; write `course grade FILE|DIR`"),
    ],
)
def test_wrong_usage_is_one_sentence_that_says_what_to_write(argv, said, capsys):
    with pytest.raises(SystemExit):
        cli.main(argv)
    printed = capsys.readouterr().err
    assert printed.startswith(said)
    assert printed.count("\n") == 1 and printed.endswith("--help`).\n")


def test_a_reader_that_ends_early_is_no_error():
    code = "import sys; from course_pkg.cli import main; sys.exit(main(['bench', 'stencil', '--device', 'recorded']))"
    done = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    done.stdout.readline()
    done.stdout.close()
    assert (done.stderr.read(), done.wait()) == ("", 141)
    done.stderr.close()


def test_what_follows_dashes_is_the_tools(room):
    seen = {}
    room.run = lambda args: seen.update(extra=args.extra) or 0
    cli.main(["doctor", "--", "--json", "lab"])
    assert seen["extra"] == ["--json", "lab"]
