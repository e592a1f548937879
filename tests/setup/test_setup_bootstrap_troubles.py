"""The bootstrap's command line, and the sentence that it prints for each trouble."""

import ast
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_pkg.setup import bootstrap, driver, environment
from course_pkg.setup.environment import Venv
from course_pkg.setup.troubles import NO_NETWORK, NO_SPACE, Trouble, explain

PACKAGE = Path(bootstrap.__file__).parent


STANDALONE = ("__init__.py", "bootstrap.py", "driver.py", "environment.py", "system.py", "troubles.py")


# Sentences


def test_a_full_disk_is_noticed_before(venv, monkeypatch):
    usage = shutil.disk_usage(venv.root)._replace(free=10**9)
    monkeypatch.setattr(bootstrap.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(Trouble, match="The disk is too full: free about 2 GB"):
        bootstrap.ensure([], venv)
    monkeypatch.setattr(driver, "driver_version", lambda: 12040)
    with pytest.raises(Trouble, match="free about 8 GB"):
        bootstrap.ensure([], venv)
    assert not os.path.exists(venv.path)


@pytest.mark.parametrize(
    "output, words",
    [
        ("error: Failed to write: No space left on device (os error 28)", "The disk is too full"),
        (
            "  × Failed to fetch: `x`\n  ├─▶ error sending request for url\n  ╰─▶ dns error",
            "index could not be reached",
        ),
        (
            "WARNING: Retrying ... NewConnectionError\nERROR: No matching distribution found for uv",
            "index could not",
        ),
        ("  ╰─▶ invalid peer certificate: UnknownIssuer", "SSL_CERT_FILE"),
        ("error: failed to create file: Permission denied (os error 13)", "write-protected"),
        ("  × No solution found when resolving dependencies:", "Python 3.11, 3.12 or 3.13"),
        ("  × Failed to build `numba==0.68.1`", "could not be built"),
        ("error: something else\n  hint", "Installing stopped: error: something else."),
        ("", "Installing stopped: no message."),
    ],
)
def test_each_failure_has_its_sentence(output, words):
    sentence = str(explain(output, ".course/install.log", "3.14"))
    assert words in sentence and "\n" not in sentence


@pytest.mark.parametrize(
    "code, words", [(errno.ENOSPC, "disk is too full"), (errno.EROFS, "write-protected")]
)
def test_our_own_file_errors_have_one_too(code, words, monkeypatch, capsys):
    def fail(arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(bootstrap, "run", fail)
    assert bootstrap.main(["lab"]) == 1
    assert words in capsys.readouterr().err


def test_a_bug_shows_no_traceback(monkeypatch, capsys, tmp_path):
    def fail(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(bootstrap, "run", fail)
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    assert bootstrap.main(["lab"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert "ZeroDivisionError" in (tmp_path / ".course" / "install.log").read_text(encoding="utf-8")


def test_an_old_python_is_told_so(monkeypatch, capsys):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(bootstrap, "newer_python", lambda: None)
    assert bootstrap.main(["lab"]) == 1
    sentence = capsys.readouterr().err
    assert (
        sentence.startswith("The course needs Python 3.11 or newer, but this is Python 3.8.")
        and sentence.count("\n") == 1
    )


def test_an_old_python_hands_over_to_a_newer_one(monkeypatch):
    called = []
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 8, 18))
    monkeypatch.setattr(bootstrap, "newer_python", lambda: "/usr/bin/python3.12")
    monkeypatch.setattr(bootstrap.subprocess, "call", lambda command: called.append(command) or 0)
    assert bootstrap.main(["lab", "01"]) == 0
    assert called == [["/usr/bin/python3.12", str(PACKAGE / "bootstrap.py"), "lab", "01"]]


@pytest.mark.parametrize("name", STANDALONE)
def test_old_pythons_parse_it(name):
    """An old Python must get as far as the sentence that says it is too old."""
    source = (PACKAGE / name).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names


def test_no_venv_module(venv, monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(Trouble, match="sudo apt install python3"):
        Venv.make(venv)
    assert not os.path.exists(venv.path)


def test_interrupt(monkeypatch, capsys):
    def interrupt(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "run", interrupt)
    assert bootstrap.main(["lab"]) == 130
    assert "Run the same command again" in capsys.readouterr().err


def test_an_incomplete_copy(venv):
    (Path(venv.root) / "constraints.txt").unlink()
    with pytest.raises(Trouble, match="download the complete course again"):
        bootstrap.ensure([], venv)


def test_no_network_for_real(tmp_path):
    """As a learner without a network meets it: the script itself and an index that does not answer."""
    (tmp_path / "course_pkg" / "setup").mkdir(parents=True)
    shutil.copy(PACKAGE.parent / "__init__.py", tmp_path / "course_pkg")
    for name in STANDALONE:
        shutil.copy(PACKAGE / name, tmp_path / "course_pkg" / "setup")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\n', encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("", encoding="utf-8")
    nowhere = "http://127.0.0.1:9/simple"
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.upper().startswith(("PIP_", "UV_")) and "PROXY" not in k.upper()
    }
    variables = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": nowhere,
        "UV_INDEX_URL": nowhere,
        "COURSE_GPU": "none",
    }
    done = subprocess.run(
        [sys.executable, str(tmp_path / "course_pkg" / "setup" / "bootstrap.py"), "lab"],
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert done.stderr == NO_NETWORK.format(log=os.path.join(".course", "install.log")) + "\n"
    assert not Venv(str(tmp_path)).state().get("key")


def test_sentences_are_sentences():
    assert NO_SPACE.endswith(".") and "{gb}" in NO_SPACE
    assert environment.NEEDED == (3, 11)


# Handing over


def test_compiled_modules_are_kept_where_the_environment_forbids_it(venv, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    said = "import sys; print(sys.dont_write_bytecode)"
    command = [sys.executable, "-c", said]
    done = subprocess.run(
        command, env=bootstrap.environment_of(venv), capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_course_and_tools_come_from_the_environment(venv):
    venv.make()
    tool = Path(venv.bin) / "lint-imports"
    tool.touch(mode=0o755)
    assert bootstrap.resolve(venv, ["course", "lab", "01"]) == [
        venv.python,
        "-m",
        "course_pkg.cli",
        "lab",
        "01",
    ]
    assert bootstrap.resolve(venv, ["python", "-V"]) == [venv.python, "-V"]
    assert bootstrap.resolve(venv, ["lint-imports"]) == [str(tool)]
    variables = bootstrap.environment_of(venv)
    assert variables["PATH"].startswith(venv.bin + os.pathsep) and variables["VIRTUAL_ENV"] == venv.path


@pytest.mark.parametrize(
    "arguments, extras, command",
    [
        (["lab", "--no-browser"], ["grade"], ["course", "lab", "--no-browser"]),
        (["lab", "01", "--", "--x"], ["grade"], ["course", "lab", "01", "--", "--x"]),
        (["run", "--extras", "slides", "--", "course", "slides"], ["slides"], ["course", "slides"]),
        (["run", "--", "python", "-V"], [], ["python", "-V"]),
    ],
)
def test_command_line(arguments, extras, command, monkeypatch):
    seen = []
    monkeypatch.setattr(bootstrap, "ensure", lambda extras: seen.append(list(extras)) or "venv")
    monkeypatch.setattr(bootstrap, "hand_over", lambda venv, command: seen.append(command) or 0)
    assert bootstrap.main(arguments) == 0
    assert seen == [extras, command]


def test_make_check_passes_options_on_that_leave_no_test_out(venv, monkeypatch):
    handed = []
    monkeypatch.setenv("COURSE_CHECK_UNTIL", "")  # so that it is restored afterwards
    monkeypatch.setattr(bootstrap, "hand_over", lambda venv, command: handed.extend(command) or 0)
    assert bootstrap.check(venv, 10.0) == 0
    assert (handed[:3], os.environ["COURSE_CHECK_UNTIL"]) == (
        ["python", "-m", "course_pkg.setup.touched"],
        str(10.0 + bootstrap.CHECK_S),
    )
    assert handed[3:] == bootstrap.OPTIONS
    assert not {"-m", "-k", "pytest"} & set(bootstrap.OPTIONS), "pytest takes -m for a choice of marks"


def test_usage(capsys):
    assert bootstrap.main(["nonsense"]) == 2
    assert "bootstrap.py lab" in capsys.readouterr().out
