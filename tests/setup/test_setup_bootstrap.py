"""The bootstrap: what it installs, when it does nothing, and the sentence that it prints for each trouble."""

import json
import os
import shutil
import types
from pathlib import Path

import pytest

from course_pkg.setup import bootstrap, driver
from course_pkg.setup.environment import Venv
from course_pkg.setup.troubles import Trouble, explain


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
