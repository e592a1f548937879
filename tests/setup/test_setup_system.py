"""System programs that the tests need: how they are found and installed, and the line for those that are missing."""

import os
import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest

from course_pkg.grading import bubblewrap
from course_pkg.setup import bootstrap, system
from course_pkg.setup.troubles import Trouble

ALL = list(system.NEEDS)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of programs that only note how they were called; `machine.has(name, script)` adds one."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("CI", "COURSE_SYSTEM", "COURSE_HIDE", "CHROMIUM", "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(system, "MACOS_CHROME", "/nowhere")
    monkeypatch.setattr(system.sys, "platform", "linux")
    monkeypatch.setattr(system, "has_venv", lambda: True)
    monkeypatch.setattr(system.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(system.sys, "stdin", SimpleNamespace(isatty=lambda: True))
    called, said, asked = tmp_path / "called", [], []

    def has(name, script="exit 0"):
        path = programs / name
        note = f'#!/bin/sh\necho "{name} $DEBIAN_FRONTEND $*" >> {called}\n'
        path.write_text(f"{note}PATH=/usr/bin:/bin\nin={programs}\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def ask(question):
        asked.append(question)
        return "y"

    def bring(ask=ask):
        left = system.bring(said.append, str(tmp_path / ".course" / "system.log"), ask)
        calls = called.read_text().splitlines() if called.exists() else []
        return left, [call for call in calls if not call.startswith("fc-list")], said

    has("env", 'PATH=$in:$PATH exec /usr/bin/env "$@"')
    return SimpleNamespace(has=has, bring=bring, asked=asked, programs=programs, root=tmp_path)


INSTALLS = """
for word in "$@"; do
    case $word in chromium|bubblewrap|fontconfig|openmpi-bin) new=$word ;; esac
done
case $new in
    chromium) name=chromium; text="" ;;
    bubblewrap) name=bwrap; text="" ;;
    openmpi-bin) name=mpirun; text="" ;;
    fontconfig) name=fc-list; text="echo LiberationSans-Regular.ttf" ;;
    *) exit 0 ;;
esac
printf '#!/bin/sh\\n%s\\n' "$text" > $in/$name; chmod +x $in/$name
"""
SUDO = 'PATH=$in:$PATH exec "$@"'


def installed(calls):
    """The packages that apt-get was asked for, one list for each call."""
    return [
        call.split("--no-install-recommends ")[1].split()
        for call in calls
        if call.startswith("apt-get noninteractive") and " install " in call
    ]


def test_a_machine_that_has_everything_is_left_alone(machine):
    for name in ("chromium", "bwrap", "mpirun", "apt-get", "sudo"):
        machine.has(name)
    machine.has("fc-list", "echo /usr/share/fonts/LiberationSans-Regular.ttf")
    assert machine.bring() == ([], [], [])
    assert machine.asked == []


def test_root_installs_without_a_question(machine, monkeypatch):
    monkeypatch.setattr(system.os, "geteuid", lambda: 0)
    machine.has("apt-get", INSTALLS)
    left, calls, said = machine.bring()
    assert left == []
    assert installed(calls) == [
        ["chromium"], ["bubblewrap"], ["fontconfig", "fonts-liberation"], ["openmpi-bin"],
    ]  # fmt: skip
    assert said == ["Installing chromium bubblewrap fontconfig fonts-liberation openmpi-bin with apt …"]
    assert machine.asked == []


def test_with_sudo_it_asks_first(machine):
    machine.has("apt-get", INSTALLS)
    machine.has("sudo", SUDO)
    left, calls, _ = machine.bring()
    assert left == [] and len(installed(calls)) == 4
    assert len(machine.asked) == 1
    assert "chromium, bubblewrap, fontconfig, fonts-liberation, openmpi-bin" in machine.asked[0]
    assert "COURSE_SYSTEM=none" in machine.asked[0]


def _end_of_input(question):
    raise EOFError


@pytest.mark.parametrize("ask", [lambda question: "", lambda question: "no", _end_of_input])
def test_without_a_yes_nothing_is_installed(machine, ask):
    machine.has("apt-get", INSTALLS)
    machine.has("sudo", SUDO)
    left, calls, said = machine.bring(ask)
    assert left == ALL[1:] and calls == []
    assert said == [
        "Missing: chromium (for the slides and the lab in a browser), bubblewrap (for the sandbox of the "
        "grading), fonts (for testing whether text fits its slide), openmpi (for solvers on several ranks). Reason: "
        "you declined. Tests that depend on this are skipped. To install: `sudo apt install chromium bubblewrap "
        "fontconfig fonts-liberation openmpi-bin`."
    ]


@pytest.mark.parametrize("stdin", [None, SimpleNamespace(isatty=lambda: False)])
def test_without_a_terminal_it_does_not_ask(machine, monkeypatch, stdin):
    monkeypatch.setattr(system.sys, "stdin", stdin)
    machine.has("apt-get", INSTALLS)
    machine.has("sudo", SUDO)
    left, calls, said = machine.bring()
    assert left and calls == [] and machine.asked == []
    assert "there is no terminal to ask on" in said[0]


def test_without_sudo_it_says_so(machine):
    machine.has("apt-get", INSTALLS)
    left, calls, said = machine.bring()
    assert left and calls == [] and "installing needs root, and there is no sudo" in said[0]


@pytest.mark.parametrize(("granted", "count"), [("exit 1", 0), ('[ "$1" = -n ] && shift\n' + SUDO, 4)])
def test_on_ci_sudo_may_not_ask_for_a_password(machine, monkeypatch, granted, count):
    monkeypatch.setenv("CI", "true")
    machine.has("true")
    machine.has("apt-get", INSTALLS)
    machine.has("sudo", granted)
    left, calls, said = machine.bring()
    assert len(installed(calls)) == count and machine.asked == []
    assert bool(left) == (count == 0)
    assert count or "Tests that depend on this fail on CI" in said[0]


def test_a_package_that_is_not_to_be_had_keeps_no_other_out(machine, monkeypatch):
    monkeypatch.setattr(system.os, "geteuid", lambda: 0)
    refuse = 'case "$*" in *chromium*) echo "E: Unable to locate package chromium"; exit 100 ;; esac\n'
    machine.has("apt-get", refuse + INSTALLS)
    left, calls, said = machine.bring()
    assert left == ["chromium"] and len(installed(calls)) == 4
    assert said[1].startswith(
        "Missing: chromium (for the slides and the lab in a browser). Reason: Unable to locate"
    )
    assert len(said) == 2


def test_without_a_network_it_goes_on(machine, monkeypatch):
    monkeypatch.setattr(system.os, "geteuid", lambda: 0)
    machine.has("apt-get", 'echo "E: Could not resolve deb.debian.org"; exit 100')
    left, _, said = machine.bring()
    assert left == ALL[1:]
    assert "Could not resolve deb.debian.org. Tests that depend on this are skipped" in said[1]
    assert "Could not resolve" in (machine.root / ".course" / "system.log").read_text()


def test_an_installation_without_end_is_ended(machine, monkeypatch):
    monkeypatch.setattr(system.os, "geteuid", lambda: 0)
    monkeypatch.setattr(system, "LIMIT_S", 0.1)
    machine.has("apt-get", "exec sleep 60")
    left, _, said = machine.bring()
    assert left and "took longer than 0.1 s" in said[1]


@pytest.mark.parametrize("root", [0, 1000])
def test_a_wish_to_install_nothing_is_kept(machine, monkeypatch, root):
    monkeypatch.setattr(system.os, "geteuid", lambda: root)
    monkeypatch.setenv("COURSE_SYSTEM", "none")
    machine.has("apt-get", INSTALLS)
    machine.has("sudo", SUDO)
    left, calls, said = machine.bring()
    assert left and calls == [] and machine.asked == []
    assert "Reason: COURSE_SYSTEM=none. Tests" in said[0]


def test_another_wish_is_an_error(machine, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_SYSTEM", "all")
    with pytest.raises(Trouble, match="COURSE_SYSTEM is 'all': set it to none"):
        machine.bring()
    assert bootstrap.main(["test"]) == 1
    assert capsys.readouterr().err.startswith("COURSE_SYSTEM is 'all': set it to none")


@pytest.mark.parametrize("manager", [name for name in system.MANAGERS if name != "apt-get"])
def test_other_package_managers_are_advised(machine, manager):
    machine.has(manager)
    left, calls, said = machine.bring()
    assert left and calls == []
    assert system.MANAGERS[manager][0] in said[0] and "liberation" in said[0]


def test_without_any_package_manager_it_names_the_programs(machine):
    left, _, said = machine.bring()
    assert left and said[0].endswith(" Please install chromium, bubblewrap, fonts, openmpi.")


def test_elsewhere_than_on_linux_only_a_browser_is_missing(machine, monkeypatch):
    monkeypatch.setattr(system.sys, "platform", "darwin")
    assert system.missing() == ["chromium"]


@pytest.mark.parametrize("where", ["CHROMIUM", "PLAYWRIGHT_BROWSERS_PATH", "google-chrome"])
def test_any_browser_will_do(machine, monkeypatch, where):
    (machine.root / "chromium-1234").mkdir()
    if where.isupper():
        monkeypatch.setenv(where, str(machine.root))
    else:
        machine.has(where)
    assert "chromium" not in system.missing()


def test_a_python_without_venv_gets_it_first(machine, monkeypatch):
    monkeypatch.setattr(system, "has_venv", lambda: False)
    assert system.missing()[0] == "python3-venv"


@pytest.mark.parametrize(
    ("hide", "left"),
    [
        ("bwrap,chromium,mpirun", []),
        ("bwrap,chromium", ["openmpi"]),
        ("bwrap,mpirun", ["chromium"]),
        ("", ["chromium", "bubblewrap", "openmpi"]),
    ],
)
def test_what_is_hidden_is_neither_found_nor_brought(machine, monkeypatch, hide, left):
    monkeypatch.setattr(system, "has_fonts", lambda: True)
    monkeypatch.setenv("COURSE_HIDE", hide)
    assert machine.bring()[0] == left
    for name in ("bwrap", "chromium", "mpirun"):
        machine.has(name)
    assert (system.mpirun() is None) == ("mpirun" in hide)
    assert (system.bwrap() is None) == ("bwrap" in hide)
    assert (system.chromium() is None) == ("chromium" in hide)


def test_a_hidden_sandbox_is_an_obstacle_for_the_judge(monkeypatch):
    monkeypatch.setenv("COURSE_HIDE", "bwrap")
    bubblewrap.obstacle.cache_clear()
    try:
        assert bubblewrap.obstacle()
    finally:
        bubblewrap.obstacle.cache_clear()


@pytest.mark.parametrize("action", ["lab", "env", "run", "lint", "check"])
def test_only_test_installs_system_packages(action, monkeypatch):
    monkeypatch.setattr(system, "bring", lambda *a: pytest.fail("it installs"))
    monkeypatch.setattr(bootstrap, "ensure", lambda extras: "venv")
    monkeypatch.setattr(bootstrap, "hand_over", lambda venv, command: 0)
    monkeypatch.setattr(bootstrap, "lint", lambda venv: 0)
    assert bootstrap.main([action, "x"]) == 0


def test_on_ci_the_tests_run_bare_before_they_all_run(monkeypatch, capsys):
    runs = []

    def call(command, cwd, env):
        runs.append((command, env))
        return 1 if len(runs) == 1 else 0

    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(bootstrap.subprocess, "call", call)
    code = bootstrap.test(bootstrap.Venv(), [])
    (bare, hidden), (whole, shown) = runs
    assert bare[-2:] == ["-m", "bare or browser"] and bare[:-2] == whole
    assert hidden["COURSE_HIDE"] == "bwrap,chromium" and "CI" not in hidden
    assert shown["CI"] == "true" and "COURSE_HIDE" not in shown
    assert code == 1, "a failure on the bare machine is one of the whole"


def test_it_runs_alone_and_without_installed_packages():
    """The bootstrap uses it before there is an environment."""
    program = "from course_pkg.setup import system; print(system.missing())"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {bootstrap.ROOT!r}); {program}"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0 and done.stdout.startswith("["), done.stderr
