"""`course doctor` finds each trouble that it knows, and says how to fix it."""

import json
import subprocess
from importlib import metadata

import pytest

from course_pkg import cli
from course_pkg.commands import doctor, doctor_gpu, doctor_system
from course_pkg.commands.doctor_check import Check
from course_pkg.core.errors import CourseError
from course_pkg.paths import recorded_dir, repo_root


def version_of(name: str) -> str:
    versions = {"numpy": "2.9.0", "numba": "0.65.0"}
    if name not in versions:
        raise metadata.PackageNotFoundError(name)
    return versions[name]


def test_old_python():
    assert doctor_system.check_python((3, 8, 18)).status == "fail"
    assert doctor_system.check_python((3, 11, 2)).status == "ok"


def test_packages_against_their_bounds():
    wanted = ["numpy>=2.0,<2.5", "numba>=0.61", "tqdm>=4", 'cupy>=13; extra == "gpu12"']
    found = list(doctor_system.check_packages(wanted, version_of))
    assert [(check.name, check.status) for check in found] == [
        ("numpy", "fail"),
        ("numba", "ok"),
        ("tqdm", "fail"),
    ]
    assert "2.9.0" in found[0].value and "make lab" in found[0].fix


def test_this_environment_has_its_packages():
    assert all(check.status == "ok" for check in doctor_system.check_packages())


def test_pairing_is_on_here():
    assert doctor_system.check_pairing().status == "ok"


def test_little_memory():
    assert doctor_system.check_memory(500_000_000).status == "warn"
    assert doctor_system.check_memory(8_000_000_000).status == "ok"


def test_little_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_system, "DISK_GB", 1e9)
    assert "full disk" in doctor_system.check_disk(tmp_path).fix


@pytest.mark.parametrize("found, status", [(None, "warn"), ("/usr/bin/chromium", "ok")])
def test_browser(found, status, monkeypatch):
    from course_pkg.slides import browser

    monkeypatch.setattr(browser, "find_chromium", lambda: found)
    assert doctor_system.check_browser().status == status


def test_a_wrongly_named_browser(monkeypatch):
    monkeypatch.setenv("CHROMIUM", "/no/such/browser")
    assert "unset it" in doctor_system.check_browser().fix


@pytest.mark.parametrize("returncode, status", [(0, "ok"), (1, "warn")])
def test_sandbox(returncode, status, monkeypatch):
    monkeypatch.setattr(doctor_system.sys, "platform", "linux")
    monkeypatch.setattr(doctor_system.system, "bwrap", lambda: "/usr/bin/bwrap")
    done = subprocess.CompletedProcess(
        [], returncode, "", "bwrap: No permissions to create a new namespace\n"
    )
    monkeypatch.setattr(doctor_system.subprocess, "run", lambda *args, **kwargs: done)
    assert doctor_system.check_sandbox().status == status


def test_no_sandbox(monkeypatch):
    monkeypatch.setattr(doctor_system.system, "bwrap", lambda: None)
    assert doctor_system.check_sandbox().status == "warn"


def test_a_corrupt_measurement_file(tmp_path):
    folder = tmp_path / "figures" / "data" / "some-gpu"
    folder.mkdir(parents=True)
    assert doctor_system.check_records(tmp_path).status == "ok"
    (folder / "stencil.json").write_text("{", encoding="utf-8")
    check = doctor_system.check_records(tmp_path)
    assert check.status == "warn" and "stencil.json" in check.value and "restore it" in check.fix


def test_every_record_that_cannot_be_read_is_named(tmp_path):
    folder = tmp_path / "figures" / "data" / "some-gpu"
    (folder / "folder.json").mkdir(parents=True)
    (folder / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    check = doctor_system.check_records(tmp_path)
    assert check.value == "some-gpu/deep.json, some-gpu/folder.json cannot be read"
    assert "deep.json is corrupt" in check.fix and "folder.json cannot be opened" in check.fix


def test_every_record_of_the_course_is_sound():
    check = doctor_system.check_records(repo_root())
    files = list(recorded_dir().glob("*/*.json"))
    assert (check.status, check.value) == ("ok", f"{len(files)} files")
    assert {"counters", "traffic", "vector"} <= {path.stem for path in files}


@pytest.mark.parametrize("name", ["counters", "traffic", "cg"])
def test_a_record_says_its_kind_whatever_its_file_is_called(tmp_path, name):
    folder = tmp_path / "figures" / "data" / "some-gpu"
    folder.mkdir(parents=True)
    recorded = (recorded_dir() / "nvidia-h200" / f"{name}.json").read_text(encoding="utf-8")
    (folder / "renamed.json").write_text(recorded, encoding="utf-8")
    check = doctor_system.check_records(tmp_path)
    assert (check.status, check.value) == ("ok", "1 file")
    (folder / "renamed.json").write_text(recorded[:-5], encoding="utf-8")
    check = doctor_system.check_records(tmp_path)
    assert check.status == "warn" and "renamed.json" in check.value


@pytest.mark.parametrize(
    "version, name, status, words",
    [
        (0, "", "ok", "SIMT interpreter"),
        (11080, "NVIDIA T4", "warn", "11.8"),
        (12040, "", "warn", "no GPU answers"),
        (12040, "NVIDIA T4", "ok", "12.4"),
    ],
)
def test_driver(version, name, status, words):
    check = doctor_gpu.check_driver(version, name)
    assert check.status == status and words in check.value
    assert bool(check.fix) == (status != "ok")


@pytest.mark.parametrize(
    "version, builds, status",
    [
        (0, {}, "ok"),
        (12040, {}, "warn"),
        (12040, {"cupy-cuda12x": "14.0"}, "ok"),
        (12040, {"cupy-cuda13x": "14.0"}, "fail"),
        (12040, {"cupy-cuda11x": "13.0"}, "fail"),
        (13000, {"cupy-cuda13x": "14.0"}, "ok"),
        (13000, {"cupy-cuda12x": "14.0"}, "ok"),  # a driver runs programs made for an older CUDA
        (13000, {"cupy-cuda12x": "14.0", "cupy-cuda13x": "14.0"}, "fail"),
        (0, {"cupy-cuda12x": "14.0", "cupy": "14.0"}, "fail"),
        (13000, {"cupy": "14.0"}, "ok"),
    ],
)
def test_cupy_for_the_drivers_cuda(version, builds, status):
    check = doctor_gpu.check_cupy(version, builds)
    assert check.status == status
    assert bool(check.fix) == (status != "ok")


def test_numba_cuda():
    assert doctor_gpu.check_numba_cuda(13000, {}).status == "warn"
    assert doctor_gpu.check_numba_cuda(0, {}).status == "ok"
    assert doctor_gpu.check_numba_cuda(13000, {"numba-cuda": "0.30.4"}).status == "ok"


def test_a_kernel_that_does_not_run(monkeypatch):
    done = subprocess.CompletedProcess([], 1, "", "Traceback\nCudaDriverError: too old\n")
    monkeypatch.setattr(doctor_gpu.subprocess, "run", lambda *args, **kwargs: done)
    check = doctor_gpu.check_launch()
    assert (check.status, check.value) == ("fail", "CudaDriverError: too old") and check.fix


def test_bandwidth_against_the_datasheet():
    full = doctor_gpu.check_bandwidth("gpu", "NVIDIA H200", lambda kind: 4300.0)
    assert full.status == "ok" and "datasheet" in full.value
    slow = doctor_gpu.check_bandwidth("gpu", "NVIDIA H200", lambda kind: 430.0)
    assert slow.status == "warn" and "nvidia-smi" in slow.fix


def test_no_datasheet_figure_is_invented():
    check = doctor_gpu.check_bandwidth("cpu", "Unheard-of 9000", lambda kind: 12.5)
    assert check.status == "ok"
    assert check.value == "12.5 GB/s; the catalogue has no datasheet figure for Unheard-of 9000"


def test_bandwidth_that_cannot_be_measured():
    def measure(kind):
        raise CourseError("no memory")

    assert doctor_gpu.check_bandwidth("cpu", "x", measure).status == "warn"


def test_table_and_status(monkeypatch, capsys):
    findings = [Check("Python", "ok", "3.11.2"), Check("browser", "warn", "none", "install one.")]
    monkeypatch.setattr(doctor, "examine", lambda measure: iter(findings))
    assert cli.main(["doctor"]) == 0
    assert "install one." in capsys.readouterr().out
    findings.append(Check("numpy", "fail", "missing", "run `make lab` again."))
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out.endswith("To fix: numpy.\n")


def test_json(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "examine", lambda measure: iter([Check("numpy", "fail", "missing", "fix.")]))
    assert cli.main(["doctor", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["checks"] == [{"name": "numpy", "status": "fail", "value": "missing", "fix": "fix."}]
