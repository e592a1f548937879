"""The table of all clocks: every large case of a topic, on every device, and what is missing in its place."""

import pytest

from course_pkg.bench import folder
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir, repo_root
from course_pkg.witness import every
from course_pkg.witness.cases import large_cases, topic_of
from course_pkg.witness.clocks import BINDS, NOT_COUNTED


@pytest.fixture(scope="module")
def of_qp():
    return {row["case"]: row for row in every.every_clock("qp").rows}


def test_it_has_every_large_case_of_the_topic_and_the_clocks_of_each_device(of_qp):
    assert list(of_qp) == [case.name for case in large_cases().values() if topic_of(case) == "qp"]
    row = of_qp["qp_update_rows_16384"]
    shares = [[float(cell.rstrip(" %")) for cell in row[name]] for name in every.CLOCKS]
    for device, binds in enumerate(row["binds"]):
        found = dict(zip(every.CLOCKS, (of_each[device] for of_each in shares), strict=True))
        assert found[binds] == max(found.values()) >= 100 * BINDS


def test_what_a_device_has_not_counted_stands_in_its_place(monkeypatch, of_qp):
    whole = every.counted_large

    def there(slug):
        return {k: v for k, v in whole(slug).items() if "h100" not in slug or "rows" not in k}

    monkeypatch.setattr(every, "counted_large", there)
    row = {row["case"]: row for row in every.every_clock("qp").rows}["qp_update_rows_16384"]
    full = of_qp["qp_update_rows_16384"]
    for name, cell in row.items():
        if name != "case":
            assert cell == (NOT_COUNTED, full[name][1])
    monkeypatch.setattr(every, "counted_large", lambda slug: {})
    assert {row["binds"] for row in every.every_clock("qp").rows} == {NOT_COUNTED}


def test_a_topic_without_large_cases_is_refused():
    with pytest.raises(CourseError, match="No large case is of grading"):
        every.every_clock("vector", "grading")


def test_each_topic_with_large_cases_is_in_the_table_of_a_lecture():
    shown = "".join(path.read_text() for path in (repo_root() / "lectures").glob("0*.py"))
    calls = "".join(part.split(")")[0] for part in shown.split("every_clock(")[1:])
    recorded = {
        topic for topic in map(topic_of, large_cases().values()) if folder.devices(recorded_dir(), topic)
    }
    assert recorded and {topic for topic in recorded if f'"{topic}"' not in calls} == set()
