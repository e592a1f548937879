"""A record in which one value cannot be is refused when it is read, and named by the doctor."""

import json
import shutil

import pytest

from course_pkg.bench.document import read
from course_pkg.commands.doctor_system import check_records
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir

HEAD, DEVICE, ROW = (), ("device",), ("rows", 0)


def changed(name, place, key, value):
    """Return a record of the H200 with its first row only, in which one value is another one."""
    document = json.loads((recorded_dir() / "nvidia-h200" / f"{name}.json").read_text(encoding="utf-8"))
    document["rows"] = document["rows"][:1]
    part = document
    for step in place:
        part = part[step]
    part[key] = value
    return document


@pytest.mark.parametrize("name", ["vector", "counters"])
def test_a_record_of_one_row_is_sound(tmp_path, name):
    (path := tmp_path / "one.json").write_text(json.dumps(changed(name, HEAD, "more", 1)), encoding="utf-8")
    assert len(read(path).rows) == 1


@pytest.mark.parametrize(
    ("name", "place", "key", "value"),
    [
        ("vector", HEAD, "origin", None),
        ("vector", HEAD, "topic", 1),
        ("counters", HEAD, "ncu", None),
        ("counters", HEAD, "absent", "abc"),
        ("counters", HEAD, "absent", [1]),
        ("vector", DEVICE, "name", None),
        ("vector", DEVICE, "driver", None),
        ("vector", DEVICE, "units", "132"),
        ("vector", DEVICE, "llc_bytes", -1),
        ("vector", DEVICE, "versions", {"numpy": 2}),
        ("vector", ROW, "operation", None),
        ("vector", ROW, "variant", 5),
        ("vector", ROW, "library", None),
        ("vector", ROW, "date", "yesterday"),
        ("vector", ROW, "cache_state", "lukewarm"),
        ("vector", ROW, "calls_per_sample", 0),
        ("vector", ROW, "warmup_s", "abc"),
        ("vector", ROW, "warmup_s", [None]),
        ("vector", ROW, "samples_s", []),
        ("vector", ROW, "samples_s", "12"),
        ("vector", ROW, "samples_s", [0.0]),
        ("vector", ROW, "samples_s", [float("nan")]),
        ("vector", ROW, "observed", []),
        ("counters", ROW, "date", None),
        ("counters", ROW, "x", True),
        ("counters", ROW, "x", float("nan")),
    ],
)
def test_a_value_that_cannot_be_is_refused(tmp_path, name, place, key, value):
    (path := tmp_path / "one.json").write_text(json.dumps(changed(name, place, key, value)), encoding="utf-8")
    with pytest.raises(CourseError, match=r"one\.json is corrupt"):
        read(path)


@pytest.mark.parametrize("name", ["vector", "counters"])
def test_a_row_that_stands_twice_is_refused(tmp_path, name):
    document = changed(name, HEAD, "more", 1)
    (path := tmp_path / "one.json").write_text(
        json.dumps({**document, "rows": 2 * document["rows"]}), encoding="utf-8"
    )
    with pytest.raises(CourseError, match="two rows of"):
        read(path)


def test_the_doctor_names_the_one_broken_record_of_a_whole_folder(tmp_path):
    data = tmp_path / "figures" / "data"
    shutil.copytree(recorded_dir(), data)
    (data / "nvidia-h200" / "counters.json").write_text(
        json.dumps(changed("counters", ROW, "x", float("nan"))), encoding="utf-8"
    )
    check = check_records(tmp_path)
    assert (check.status, check.value) == ("warn", "nvidia-h200/counters.json cannot be read")


def test_a_record_in_the_folder_of_another_device_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("course_pkg.bench.document.recorded_dir", lambda: tmp_path)
    for folder in ("nvidia-h200", "nvidia-h100-80gb-hbm3"):
        (tmp_path / folder).mkdir()
        shutil.copy(recorded_dir() / "nvidia-h200" / "latency.json", tmp_path / folder)
    assert read(tmp_path / "nvidia-h200" / "latency.json").device.name == "NVIDIA H200"
    with pytest.raises(
        CourseError, match=r"is a record of NVIDIA H200: restore it .* or move it to .*nvidia-h200"
    ):
        read(tmp_path / "nvidia-h100-80gb-hbm3" / "latency.json")
