"""The bootstrap: what it installs, when it does nothing, and the sentence that it prints for each trouble."""

import ast
import errno
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from course_pkg.setup import bootstrap, driver, environment
from course_pkg.setup.environment import Venv
from course_pkg.setup.troubles import NO_NETWORK, NO_SPACE, Trouble, explain

PACKAGE = Path(bootstrap.__file__).parent
STANDALONE = ("__init__.py", "bootstrap.py", "driver.py", "environment.py", "system.py", "troubles.py")


class FakeVenv(Venv):
    """An environment whose installers only note what they were told; `fails` says which of them fail."""

    def __init__(self, root):
        super().__init__(str(root), windows=False)
        self.told: list[str] = []
        self.made = 0
        self.fails: dict[str, list[Trouble | BaseException]] = {}

    def make(self):
        self.made += 1
        shutil.rmtree(self.path, ignore_errors=True)
        for name in ("jupyterlab", "numba", "numpy"):
            os.makedirs(os.path.join(self.path, "lib", "python3.11", "site-packages", name))
        os.makedirs(self.bin)
        Path(self.python).touch()

    def works(self):
        return os.path.exists(self.python)

    def run(self, command, what):
        self.told.append(" ".join(command).replace(self.python, "python"))
        for words, errors in self.fails.items():
            if words in self.told[-1] and errors:
                raise errors.pop(0)


@pytest.fixture
def venv(tmp_path, monkeypatch):
    """An environment not made yet, on a machine without a GPU."""
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("numpy==2.4.6\n", encoding="utf-8")
    monkeypatch.setattr(driver, "driver_version", lambda: 0)
    monkeypatch.setattr(driver, "device_count", lambda: 1)
    monkeypatch.setattr(driver.gpu_extra, "__defaults__", (None, lambda: 1))
    monkeypatch.delenv("COURSE_GPU", raising=False)
    return FakeVenv(tmp_path)


def installed(venv) -> list[str]:
    """What was asked of `uv pip install`, in order."""
    return [line.split(" -e ")[1] for line in venv.told if " -e " in line]


def marker(venv) -> dict:
    return json.loads(Path(venv.marker).read_text(encoding="utf-8"))


# When it installs and when it does nothing


def test_first_run_installs_and_second_does_nothing(venv):
    bootstrap.ensure([], venv)
    assert venv.made == 1
    assert installed(venv) == ["."]
    assert any(line.startswith("python -c import course_pkg") for line in venv.told)
    venv.told.clear()
    bootstrap.ensure([], venv)
    assert (venv.told, venv.made) == ([], 1)


def test_versions_come_from_the_constraints(venv):
    bootstrap.ensure([], venv)
    assert all("-c constraints.txt" in line for line in venv.told if " install " in line)


def test_extras_are_kept(venv):
    """`make lab` after `make test` must not take the test tools away."""
    bootstrap.ensure(["test"], venv)
    bootstrap.ensure([], venv)
    bootstrap.ensure(["mpi"], venv)
    assert installed(venv) == [".[test]", ".[mpi,test]"]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
def test_a_changed_file_installs_again(venv, name):
    bootstrap.ensure([], venv)
    (Path(venv.root) / name).write_text("# changed\n", encoding="utf-8")
    bootstrap.ensure([], venv)
    assert (len(installed(venv)), venv.made) == (2, 1)


def test_an_interrupted_installation_is_taken_up_again(venv):
    venv.fails["-e ."] = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        bootstrap.ensure(["test"], venv)
    assert marker(venv)["key"] == ""
    bootstrap.ensure([], venv)
    assert installed(venv)[-1] == ".[test]"  # what the interrupted run was asked for is remembered
    assert marker(venv)["key"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": "old"}'])
def test_a_torn_marker_is_repaired(venv, damage):
    bootstrap.ensure([], venv)
    Path(venv.marker).write_text(damage, encoding="utf-8")
    bootstrap.ensure([], venv)
    assert (len(installed(venv)), venv.made) == (2, 1)


def test_a_missing_package_is_put_back(venv):
    bootstrap.ensure([], venv)
    shutil.rmtree(Path(venv.path) / "lib" / "python3.11" / "site-packages" / "numba")
    bootstrap.ensure([], venv)
    assert (len(installed(venv)), venv.made) == (2, 1)


def test_a_missing_python_is_made_anew(venv):
    bootstrap.ensure([], venv)
    os.remove(venv.python)
    bootstrap.ensure([], venv)
    assert (len(installed(venv)), venv.made) == (2, 2)


def test_an_environment_that_does_not_work_is_made_anew_once(venv, capsys):
    venv.fails["import course_pkg"] = [Trouble("numba does not load")]
    bootstrap.ensure([], venv)
    assert venv.made == 2
    assert "making a new one" in capsys.readouterr().out
    assert ["--no-cache" in line for line in venv.told if " -e " in line] == [False, True]
    venv.fails["import course_pkg"] = [Trouble("numba does not load")] * 2
    Path(venv.marker).unlink()
    with pytest.raises(Trouble, match="numba does not load"):
        bootstrap.ensure([], venv)
    assert not marker(venv)["key"]


def test_windows_keeps_its_programs_elsewhere(tmp_path):
    venv = Venv(str(tmp_path), windows=True)
    assert venv.python == os.path.join(str(tmp_path), ".venv", "Scripts", "python.exe")
    os.makedirs(venv.bin)
    Path(venv.python).touch()
    for name in ("jupyterlab", "numba", "numpy"):
        os.makedirs(os.path.join(venv.path, "Lib", "site-packages", name))
    assert venv.is_whole()


# GPUs


@pytest.mark.parametrize(
    "version, count, extra, words",
    [
        (0, 0, "", ""),
        (11080, 1, "", "driver supports only CUDA 11.8, but the course needs 12.0: install driver 525"),
        (12000, 1, "gpu12", "12.0"),
        (12080, -1, "gpu12", "12.8"),
        (13000, 4, "gpu13", "13.0"),
        (14010, 1, "gpu13", "14.1"),
        (13000, 0, "", "no GPU"),
    ],
)
def test_driver_decides_the_extra(version, count, extra, words, monkeypatch):
    monkeypatch.delenv("COURSE_GPU", raising=False)
    found, sentence = driver.gpu_extra(version, lambda: count)
    assert found == extra and words in sentence


@pytest.mark.parametrize("wish, extra", [("none", ""), ("12", "gpu12"), ("13", "gpu13")])
def test_a_wish_decides_over_the_driver(wish, extra, monkeypatch):
    monkeypatch.setenv("COURSE_GPU", wish)
    assert driver.gpu_extra(12040)[0] == extra


def test_a_wish_nobody_knows(venv, monkeypatch):
    monkeypatch.setenv("COURSE_GPU", "yes")
    with pytest.raises(Trouble, match="set it to none, 12 or 13"):
        bootstrap.ensure([], venv)


def test_nvidia_smi_where_the_library_is_hidden(monkeypatch):
    banner = b"| NVIDIA-SMI 580.65   Driver Version: 580.65   CUDA Version: 13.0  |\n"
    monkeypatch.setattr(driver, "_library", lambda: None)
    monkeypatch.setattr(driver.sys, "platform", "linux")
    done = types.SimpleNamespace(stdout=banner)
    monkeypatch.setattr(driver.subprocess, "run", lambda *args, **kwargs: done)
    assert driver.driver_version() == 13000
    done.stdout = b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert driver.driver_version() == 0


def test_a_new_driver_brings_its_packages_and_takes_the_old(venv, monkeypatch):
    bootstrap.ensure([], venv)
    monkeypatch.setattr(driver, "driver_version", lambda: 12040)
    bootstrap.ensure([], venv)
    monkeypatch.setattr(driver, "driver_version", lambda: 13000)
    bootstrap.ensure([], venv)
    assert installed(venv) == [".", ".[gpu12]", ".[gpu13]"]
    removed = [line for line in venv.told if "uninstall" in line]
    assert len(removed) == 1 and removed[0].endswith("cupy-cuda12x")


def test_an_old_driver_is_said_every_time(venv, monkeypatch, capsys):
    monkeypatch.setattr(driver, "driver_version", lambda: 11040)
    for _ in range(2):
        bootstrap.ensure([], venv)
        assert "install driver 525 or newer" in capsys.readouterr().out
    assert installed(venv) == ["."]


def test_the_course_goes_on_when_gpu_packages_fail(venv, monkeypatch, capsys):
    monkeypatch.setattr(driver, "driver_version", lambda: 13000)
    venv.fails["-e .[gpu13]"] = [explain("No solution found when resolving dependencies", "log")]
    bootstrap.ensure([], venv)
    assert installed(venv) == [".[gpu13]", "."]
    assert "the course goes on without them" in capsys.readouterr().out
    bootstrap.ensure([], venv)
    assert len(installed(venv)) == 2


def test_no_network_is_no_reason_to_go_on_without_gpu(venv, monkeypatch):
    monkeypatch.setattr(driver, "driver_version", lambda: 13000)
    venv.fails["-e .[gpu13]"] = [explain("error sending request for url", "log")]
    with pytest.raises(Trouble, match="could not be reached"):
        bootstrap.ensure([], venv)


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
        "100.0",
    )
    assert handed[3:] == bootstrap.OPTIONS
    assert not {"-m", "-k", "pytest"} & set(bootstrap.OPTIONS), "pytest takes -m for a choice of marks"


def test_usage(capsys):
    assert bootstrap.main(["nonsense"]) == 2
    assert "bootstrap.py lab" in capsys.readouterr().out
