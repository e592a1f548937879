"""The record of counters: what was counted on a GPU is read as it was written, and nothing else joins it."""

import json
from dataclasses import replace

import pytest

from course_pkg.bench import Device
from course_pkg.core import CourseError
from course_pkg.core.files import read_text
from course_pkg.witness import ncu, record

DEVICE = Device("gpu", "NVIDIA H200", 132, 1, 1, driver="580.1", cuda="13.0", versions={"python": "3.11"})
COLLECTED = ncu.Collected({"a": {"idc__requests.sum": 5}, "b": {}}, ("dram__bytes_read.sum",), "2025.3")


def test_a_record_is_read_as_it_was_written(tmp_path):
    path = record.record(COLLECTED, DEVICE, tmp_path, origin="course verify counters --record")
    assert path == tmp_path / "nvidia-h200" / "counters.json"
    found = record.load(path)
    assert (found.counters, found.absent, found.device) == (COLLECTED.counters, COLLECTED.absent, DEVICE)
    assert "NVIDIA H200, driver 580.1" in found.origin and "Nsight Compute 2025.3" in found.origin
    assert found.origin.endswith("by `course verify counters --record`.")
    assert sum(line.count('"case"') for line in read_text(path).splitlines()) == 2
    assert max(line.count('"case"') for line in read_text(path).splitlines()) == 1


def test_a_missing_or_corrupt_record_is_one_sentence(tmp_path):
    with pytest.raises(
        CourseError, match="does not exist: record it with `course verify counters --device gpu"
    ):
        record.load(tmp_path / "counters.json")
    path = record.record(COLLECTED, DEVICE, tmp_path, origin="x")
    document = json.loads(read_text(path))
    for change, sentence in (
        ({"schema": 99}, "has schema 99"),
        ({"device": {}}, "is corrupt"),
        ({"rows": 3}, "is corrupt"),
        (
            {"rows": [{"case": "a", "date": "2026-01-02", "idc__requests.sum": "5"}]},
            "a counter of a is not a number",
        ),
        ({"rows": [{"case": "a"}]}, "is corrupt"),
    ):
        path.write_text(json.dumps({**document, **change}), encoding="utf-8")
        with pytest.raises(CourseError, match=sentence):
            record.load(path)


def collected(version="2025.3", absent=(), **counters):
    return ncu.Collected({case: {"idc__requests.sum": n} for case, n in counters.items()}, absent, version)


def test_a_case_replaces_its_row_or_joins_the_others(tmp_path):
    record.record(collected(a=1, b=2), DEVICE, tmp_path, origin="x")
    path = record.record(collected(b=3, c=4), DEVICE, tmp_path, origin="x")
    found = record.load(path)
    assert {case: row["idc__requests.sum"] for case, row in found.counters.items()} == {
        "a": 1,
        "b": 3,
        "c": 4,
    }
    assert list(found.counters) == ["a", "b", "c"], "a diff shows what changed"


def test_cases_keep_the_day_on_which_they_were_counted(tmp_path, monkeypatch):
    path = record.record(collected(a=1, b=2), DEVICE, tmp_path, origin="x")
    text = read_text(path)
    (today,) = {row["date"] for row in json.loads(text)["rows"]}
    path.write_text(text.replace(today, "2026-01-02"), encoding="utf-8")
    record.record(collected(b=3), DEVICE, tmp_path, origin="x")
    assert [row["date"] for row in json.loads(read_text(path))["rows"]] == ["2026-01-02", today]
    assert f"2026-01-02 to {today}" in record.load(path).origin


def test_a_metric_is_absent_if_no_run_counted_it(tmp_path):
    record.record(collected(absent=("p", "q"), a=1), DEVICE, tmp_path, origin="x")
    more = ncu.Collected({"b": {"q": 1}}, ("p",), "2025.3")
    assert record.load(record.record(more, DEVICE, tmp_path, origin="x")).absent == ("p",)


@pytest.mark.parametrize(
    ("change", "version", "what"),
    [
        ({"driver": "590.0"}, "2025.3", "driver: '580.1' there, '590.0' here"),
        ({"versions": {"python": "3.12"}}, "2025.3", "versions"),
        ({}, "2026.1", "ncu: '2025.3' there, '2026.1' here"),
    ],
)
def test_counters_of_another_device_or_tool_are_refused_and_the_file_stays(tmp_path, change, version, what):
    path = record.record(collected(a=1), DEVICE, tmp_path, origin="x")
    before = read_text(path)
    with pytest.raises(CourseError, match=rf"counters\.json and this run differ in {what}"):
        record.record(collected(version, b=2), replace(DEVICE, **change), tmp_path, origin="x")
    assert read_text(path) == before


def test_nothing_is_not_recorded(tmp_path):
    with pytest.raises(CourseError, match="nothing to record: no case was counted"):
        record.record(collected(), DEVICE, tmp_path, origin="x")
    assert list(tmp_path.iterdir()) == []
