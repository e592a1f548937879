"""`course lab` without its server; the tests in tests/lab use the real server in a browser."""

import json
import os
import re
import socket
from argparse import Namespace
from pathlib import Path

import pytest

from course_pkg import cli
from course_pkg.commands import lab
from course_pkg.core.errors import CourseError


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course with two lectures, and a JupyterLab that only notes how it was started."""
    (tmp_path / "lectures").mkdir()
    for name in ("00_start_here", "01_first"):
        (tmp_path / "lectures" / f"{name}.py").write_text("# %%\n1 + 1\n", encoding="utf-8")
    monkeypatch.setattr(lab, "repo_root", lambda: tmp_path)
    monkeypatch.setattr(lab, "announce", lambda path, token: started.update(path=path, token=token))
    started = {}

    from jupyterlab.labapp import LabApp

    monkeypatch.setattr(LabApp, "launch_instance", lambda argv: started.update(argv=argv))
    for name in ("JUPYTER_TOKEN", "JUPYTER_CONFIG_PATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("PYTHONSTARTUP")
    return started


@pytest.fixture
def taken():
    """A port that another program holds."""
    with socket.socket() as other:
        other.bind((lab.HOST, 0))
        other.listen()
        yield other.getsockname()[1]


def test_starts_on_loopback_with_a_token(course, tmp_path):
    assert cli.main(["lab", "--no-browser"]) == 0
    argv = course["argv"]
    assert "--ServerApp.ip=127.0.0.1" in argv
    assert f"--ServerApp.root_dir={tmp_path}" in argv
    assert "--ServerApp.open_browser=False" in argv
    assert len(os.environ["JUPYTER_TOKEN"]) == 48
    assert not any(os.environ["JUPYTER_TOKEN"] in word for word in argv)  # `ps` shows the command line to all
    assert course["path"] == "lab/tree/lectures/00_start_here.ipynb"
    assert course["token"] == os.environ["JUPYTER_TOKEN"]
    assert (tmp_path / "lectures" / "00_start_here.ipynb").exists()


def test_what_server_and_kernel_exchange_is_encrypted_and_nothing_is_warned(course, tmp_path):
    """Otherwise each kernel writes a warning about TCP into the terminal."""
    from jupyter_client.manager import KernelManager
    from traitlets.config import Config

    assert cli.main(["lab", "--no-browser"]) == 0
    (option,) = (word for word in course["argv"] if "encryption" in word)
    name, value = option.removeprefix("--KernelManager.").split("=")
    manager = KernelManager(kernel_name="python3", config=Config(KernelManager={name: value}))
    with (tmp_path / "stderr").open("w+") as stderr:
        manager.start_kernel(stderr=stderr)
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=60)
            assert client.execute_interactive("6 * 7", timeout=60, silent=True)["content"]["status"] == "ok"
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        stderr.seek(0)
        assert "encryption" not in stderr.read()
    assert manager.curve_publickey


def test_brings_its_extension_and_prepares_its_kernels(course, monkeypatch):
    assert cli.main(["lab", "--no-browser"]) == 0
    [folder] = [word.split("=")[1] for word in course["argv"] if "extra_labextensions_path" in word]
    [extension] = Path(folder).iterdir()
    described = json.loads((extension / "package.json").read_text())
    assert described["name"] == extension.name
    loaded = (extension / described["jupyterlab"]["_build"]["load"]).read_text()
    named = re.findall(r"new URL\('([\w.]+)', folder", loaded)
    assert set(named) == {path.name for path in (extension / "static").iterdir()} - {"remoteEntry.js"}
    assert os.environ["PYTHONSTARTUP"] == str(lab.KERNEL_STARTUP) and lab.KERNEL_STARTUP.is_file()
    monkeypatch.setenv("PYTHONSTARTUP", "/mine.py")
    assert cli.main(["lab", "--no-browser"]) == 0
    assert os.environ["PYTHONSTARTUP"] == "/mine.py", "a learner's own file stays in force"


def test_opens_the_lecture_asked_for(course):
    assert cli.main(["lab", "01", "--no-browser", "--", "--LabApp.expose_app_in_browser=True"]) == 0
    assert "--LabApp.default_url=/lab/tree/lectures/01_first.ipynb" in course["argv"]
    assert course["argv"][-1] == "--LabApp.expose_app_in_browser=True"


def test_an_unknown_lecture(course, capsys):
    assert cli.main(["lab", "08"]) == 1
    assert "there are: 00_start_here, 01_first" in capsys.readouterr().err
    assert "argv" not in course


def test_trouble_with_one_lecture_does_not_stop_the_lab(course, tmp_path, capsys):
    (tmp_path / "lectures" / "01_first.ipynb").write_text("{", encoding="utf-8")
    assert cli.main(["lab", "--no-browser"]) == 0
    assert "01_first.ipynb is not a readable notebook" in capsys.readouterr().out
    assert (tmp_path / "lectures" / "01_first.ipynb").read_text(encoding="utf-8") == "{"
    assert "argv" in course


def test_no_browser_is_said(course, capsys, monkeypatch):
    monkeypatch.setattr(lab, "has_browser", lambda: False)
    assert cli.main(["lab"]) == 0
    assert "No browser can open here" in capsys.readouterr().out
    assert "--ServerApp.open_browser=False" in course["argv"]


def test_linux_without_a_display_has_no_browser(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(lab.sys, "platform", "linux")
    assert not lab.has_browser()


def test_a_taken_port(course, taken, capsys):
    assert cli.main(["lab", "--port", str(taken)]) == 1
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"Port {taken} is taken:") and sentence.count("\n") == 1
    assert "argv" not in course


def test_without_a_port_the_next_free_one(taken, monkeypatch):
    monkeypatch.setattr(lab, "FIRST_PORT", taken)
    assert taken < lab.choose_port(None) < taken + lab.PORTS_TRIED


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_no_port(port):
    with pytest.raises(CourseError, match="is not a port"):
        lab.choose_port(port)


def test_a_server_that_does_not_start(course, monkeypatch, capsys):
    from jupyterlab.labapp import LabApp

    def fail(argv):
        raise SystemExit(1)

    monkeypatch.setattr(LabApp, "launch_instance", fail)
    assert lab.add_arguments and cli.main(["lab", "--no-browser"]) == 1
    assert "JupyterLab did not start" in capsys.readouterr().err


def test_the_learners_own_jupyter_settings_stay(course, monkeypatch):
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "/my/own")
    lab.run(Namespace(port=None, lecture="00", no_browser=True, extra=[]))
    assert os.environ["JUPYTER_CONFIG_PATH"] == os.pathsep.join([str(lab.CONFIG), "/my/own"])


def test_our_settings_reach_jupyterlab(monkeypatch):
    overrides = json.loads(
        (lab.CONFIG / "labconfig" / "default_setting_overrides.json").read_text(encoding="utf-8")
    )
    from jupyter_core.paths import jupyter_config_path

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(lab.CONFIG))
    assert str(lab.CONFIG) in [str(Path(path)) for path in jupyter_config_path()]
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert overrides["@jupyterlab/notebook-extension:tracker"]["scrollPastEnd"] is False
