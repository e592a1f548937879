"""Recorded measurements: they keep their origin, are never merged across devices, and are never damaged."""

import copy
import json
from dataclasses import replace
from importlib import import_module

import pytest

from course_pkg.bench import Device, Measurement, Recorded, load, origin, record, recorded, records
from course_pkg.bench.document import COUNTERS, read
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.vector.variants import VARIANTS

GPU = Device("gpu", "A GPU", 132, 10**11, 6 * 10**7, "580.1", "13.0", {"numpy": "2.4.0"})


def measurement(name="copy", samples_s=(0.25, 0.5), device=GPU, date="2026-01-02", **parameters):
    cost = Cost(16, 8, 2, 4, 2)
    return Measurement(name, tuple(samples_s), (1.0, 0.5), 3, "warm", cost, device, parameters, date)


@pytest.fixture
def path(tmp_path):
    """A record of three measurements."""
    three = [measurement("copy", n=1), measurement("copy", n=2), measurement("triad", n=1)]
    return record("vector", three, tmp_path, origin="course bench vector")


def test_a_round_trip_keeps_everything(tmp_path):
    kept = [measurement("copy", n=1), measurement("Größe ×", shape=[2, 3], degree=None)]
    path = record("vector", kept, tmp_path, origin="course bench vector")
    assert path == tmp_path / "a-gpu" / "vector.json"
    assert load(path) == kept
    assert load(path)[0].device.versions == {"numpy": "2.4.0"}
    assert [p.name for p in path.parent.iterdir()] == ["vector.json"]


def test_samples_are_kept_raw_to_six_digits(tmp_path):
    path = record("vector", [measurement(samples_s=[1.23456789e-3])], tmp_path, origin="x")
    assert load(path)[0].samples_s == (1.23457e-3,)


def test_the_file_has_one_measurement_a_line(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum('"samples_s"' in line for line in lines) == 3
    assert json.loads(path.read_text(encoding="utf-8"))["origin"] == "course bench vector"


def test_the_same_measurement_is_replaced_and_others_are_kept(path, tmp_path):
    record("vector", [measurement("copy", [8.0], n=2)], tmp_path, origin="again")
    found = {(m.label, m.parameters["n"]): m.samples_s for m in load(path)}
    assert found == {("copy", 1): (0.25, 0.5), ("triad", 1): (0.25, 0.5), ("copy", 2): (8.0,)}
    assert len(load(path)) == 3


def test_the_order_of_parameters_does_not_matter(tmp_path):
    record("vector", [measurement(n=1, dtype="float64")], tmp_path, origin="x")
    path = record("vector", [measurement(samples_s=[8.0], dtype="float64", n=1)], tmp_path, origin="x")
    assert [m.samples_s for m in load(path)] == [(8.0,)]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "simt"},
        {"name": "A-GPU"},  # another name that gives the same folder
        {"driver": "590.0"},
        {"versions": {"numpy": "2.5.0"}},
    ],
    ids=str,
)
def test_another_device_or_software_is_refused_and_the_file_stays(path, tmp_path, changes):
    before = path.read_bytes()
    other = replace(GPU, **changes)
    (what,) = changes
    with pytest.raises(CourseError, match=rf"vector\.json and this run differ in {what}: .*record"):
        record("vector", [measurement(device=other)], tmp_path, origin="x")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["vector.json"]


def test_measurements_of_two_devices_are_refused(tmp_path):
    two = [measurement(), measurement("triad", device=replace(GPU, driver="590.0"))]
    with pytest.raises(CourseError, match="these measurements and this run differ in driver"):
        record("vector", two, tmp_path, origin="x")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_record(tmp_path):
    with pytest.raises(CourseError, match="There are no measurements of 'vector' to record"):
        record("vector", [], tmp_path, origin="x")


def _without(*keys):
    def damage(document):
        *parents, last = keys
        for key in parents:
            document = document[key]
        del document[last]

    return damage


def _with(value, *keys):
    def damage(document):
        *parents, last = keys
        for key in parents:
            document = document[key]
        document[last] = value

    return damage


ROW = ("rows", 1)
DAMAGES = {
    "no schema": _without("schema"),
    "no origin": _without("origin"),
    "no device": _without("device"),
    "no device name": _without("device", "name"),
    "no rows": _without("rows"),
    "no kind": _without("kind"),
    "unknown kind": _with("guesses", "kind"),
    "empty rows": _with([], "rows"),
    "unknown field of the device": _with("blue", "device", "colour"),
    "empty samples": _with([], *ROW, "samples_s"),
    "samples that are no numbers": _with(["fast"], *ROW, "samples_s"),
    "unknown field of a cost": _with(1, *ROW, "cost", "colour"),
    **{
        f"no {key}": _without(*ROW, key)
        for key in (
            "operation",
            "variant",
            "library",
            "date",
            "cost",
            "samples_s",
            "warmup_s",
            "calls_per_sample",
            "cache_state",
            "parameters",
        )
    },
}


def is_refused_and_left(path):
    before = path.read_bytes()
    for ask in (
        load,
        origin,
        Recorded,
        lambda p: record("vector", [measurement()], p.parent.parent, origin="x"),
    ):
        with pytest.raises(CourseError) as error:
            ask(path)
        assert str(path) in str(error.value)
        assert "git checkout -- " in str(error.value)
        assert "record it again" in str(error.value)
        assert path.read_bytes() == before


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_named_with_its_fix_and_left_as_it_is(path, damage):
    document = json.loads(path.read_text(encoding="utf-8"))
    intact = copy.deepcopy(document)
    damage(document)
    assert document != intact
    path.write_text(json.dumps(document), encoding="utf-8")
    is_refused_and_left(path)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"3", b"\xff\xfe", b'{"schema": 2}'], ids=repr)
def test_a_file_of_something_else_is_refused(path, text):
    path.write_bytes(text)
    is_refused_and_left(path)


def test_a_truncated_file_is_refused(path):
    path.write_bytes(path.read_bytes()[:-30])
    is_refused_and_left(path)


def test_another_schema_is_refused(path):
    path.write_text(path.read_text(encoding="utf-8").replace('"schema": 2', '"schema": 1'), encoding="utf-8")
    with pytest.raises(
        CourseError, match=r"vector\.json has schema 1, but this course reads schema 2: record"
    ):
        load(path)


def test_a_missing_file_says_how_to_make_it(tmp_path):
    with pytest.raises(CourseError, match=r"stencil\.json does not exist: .*`course bench stencil --record`"):
        load(tmp_path / "stencil.json")
    with pytest.raises(CourseError, match=r"vector\.json does not exist"):
        recorded("vector", "no-such-device")


def test_the_origin_is_one_line(path, tmp_path):
    assert origin(path) == "Recorded on A GPU, driver 580.1, 2026-01-02, by `course bench vector`."
    record("vector", [measurement("add", date="2026-03-04")], tmp_path, origin="course bench vector")
    assert "2026-01-02 to 2026-03-04" in origin(path)
    cpu = Device("cpu", "A CPU", 2, 0, 0)
    other = record("vector", [measurement(device=cpu)], tmp_path, origin="x")
    assert origin(other) == "Recorded on A CPU, 2026-01-02, by `x`."


def test_select_by_implementation_and_parameters(tmp_path):
    copy, horner = Implementation("copy", "", "CuPy"), Implementation("horner", "", "CuPy")
    rows = [
        measurement(copy, [i], n=n, dtype=d) for i, (n, d) in enumerate([(1, "f8"), (2, "f8"), (2, "f4")], 1)
    ]
    rows.append(measurement(horner, [9.0], n=2, degree=4))
    data = Recorded(record("vector", rows, tmp_path, origin="x"))
    assert data.device == GPU
    assert data.origin.startswith("Recorded on A GPU")
    assert [m.samples_s[0] for m in data.all(copy)] == [1, 2, 3]
    assert [m.samples_s[0] for m in data.select(copy, n=2)[copy]] == [2, 3]
    assert [m.samples_s[0] for m in data.all(copy, n=2, dtype="f4")] == [3]
    assert [m.samples_s[0] for m in data.all(copy, n=2, degree=None)] == [2, 3]
    assert data.one(copy, n=2).samples_s == (2,)
    assert list(data.select(horner, copy)) == [horner, copy]
    with pytest.raises(
        CourseError, match=r"of 'horner, CuPy' with degree=None; there are: library CuPy; size 2; .*degree 4"
    ):
        data.select(horner, degree=None)
    with pytest.raises(CourseError, match="There is no recorded measurement of 'scale, CuPy'"):
        data.select(copy, Implementation("scale", "", "CuPy"))
    comparison = data.compare(copy, horner, t_peak_gb_s=10.0, n=2)
    assert [m.samples_s[0] for m in comparison.measurements] == [3, 9]
    assert comparison.t_peak_gb_s == 10


def test_a_variant_that_one_library_has_stands_for_its_implementation(tmp_path):
    data = Recorded(record("v", [measurement(VARIANTS["copy_two"].by())], tmp_path, origin="x"))
    assert data.one(VARIANTS["copy_two"]) == data.measurements[0]
    with pytest.raises(CourseError, match="copy has no implementation by one library alone: choose from"):
        data.one(VARIANTS["copy"])


def test_an_unknown_cost_is_kept_as_such(tmp_path):
    path = record("v", [replace(measurement(), cost=None)], tmp_path, origin="x")
    assert '"cost": null' in path.read_text(encoding="utf-8")
    assert load(path)[0].cost is None


def test_a_record_of_another_kind_is_refused(path, tmp_path):
    with pytest.raises(CourseError, match=r"vector\.json holds measurements, counters are wanted"):
        read(path, COUNTERS)
    assert read(path).kind == "measurements"


def test_records_of_a_kind_of_device_are_found_by_their_topic(tmp_path, monkeypatch):
    cpu = replace(GPU, kind="cpu", name="A CPU")
    for device in (GPU, replace(GPU, name="Z GPU"), cpu):
        record("vector", [measurement(device=device)], tmp_path, origin="x")
    monkeypatch.setattr(import_module("course_pkg.bench.record"), "recorded_dir", lambda: tmp_path)
    assert [found.device.name for found in records("vector")] == ["A GPU", "Z GPU"]
    assert [found.device.name for found in records("vector", "cpu")] == ["A CPU"]
    assert records("stencil") == []
