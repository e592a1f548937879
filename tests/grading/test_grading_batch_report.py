"""The table and the HTML page of a batch: they show every mark, run no code and load nothing from the web."""

import csv
import re
from html.parser import HTMLParser

import pytest

from course_pkg.grading import grades_page, pages, report
from course_pkg.grading.result import CellGrade, Report


def cell(grade_id, points, most, feedback="", **options):
    return CellGrade(grade_id, points, most, feedback, **options)


REPORTS = [
    Report("01_a", "ann", 3.5, 5, [cell("t1", 2, 2), cell("t2", 1.5, 3, "half & <b>half</b>")], [], True, 7),
    Report(
        "01_a",
        "=cmd()",
        0,
        5,
        [cell("t1", 0, 2, "-1"), cell("t2", 0, 3, "x")],
        ["<script>alert(1)</script>"],
        True,
    ),
    Report(
        "02_b", "caf\udce9 é", 1 / 3, 4, [cell("t1", 1 / 3, 2), cell("essay", 0, 2, manual=True)], ["a", "b"]
    ),
]


def test_the_csv_has_a_row_for_each_submission_and_a_column_for_each_test(tmp_path):
    report.write_all(REPORTS, tmp_path)
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8-sig") as file:
        head, *rows = csv.reader(file)
    assert head == [*report.COLUMNS, "01_a/t1", "01_a/t2", "02_b/t1", "02_b/essay"]
    assert rows == [
        ["ann", "01_a", "3.5", "5", "False", "True", "7", "", "2", "1.5", "", ""],
        ["'=cmd()", "01_a", "0", "5", "False", "True", "0", "<script>alert(1)</script>", "0", "0", "", ""],
        [r"caf\xe9 é", "02_b", repr(1 / 3), "4", "True", "False", "0", "a b", "", "", repr(1 / 3), ""],
    ]


class Page(HTMLParser):
    """The tags and the text of a page; every tag that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_shows_every_mark_and_needs_nothing_else(tmp_path):
    report.write_all(REPORTS, tmp_path)
    page = Page((tmp_path / "grades.html").read_text(encoding="utf-8"))
    text = re.sub(r"\s+", " ", page.text)
    assert "ann: 3.5 of 5 (01_a)" in text
    assert "half & <b>half</b>" in text and "<script>alert(1)</script>" in text, "as text"
    assert "script" not in {tag for tag, _ in page.tags}
    assert not any(name in ("src", "href") for _, attributes in page.tags for name in attributes)
    assert [tag for tag, _ in page.tags].count("details") == len(REPORTS)
    assert "graded without isolation" in text
    assert "to be graded by a person" in text
    # 01_a: median 1.75 of 5; t1 is right in one of two
    assert re.search(r"01_a\s*2\s*1\.75\s*5", page.text.replace("\n", " "))
    assert "t101_a50%✓ 1, ✗ 1" in text


def test_marks_are_told_apart_without_colours(tmp_path):
    text = Page(grades_page.as_html(REPORTS)).text
    for shown in ("◐ ann: 3.5 of 5", "✗ =cmd(): 0 of 5", "✓ 2 of 2", "◐ 1.5 of 3", "✗ 0 of 3"):
        assert shown in text, shown


def test_a_distribution_has_a_bar_for_each_tenth_and_one_for_all_points():
    points = [0, 1.9, 2, 19.9, 20, 20, 20]
    assert grades_page.counts(points, 20) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 3]
    page = Page(grades_page.distribution(points, 20))
    (picture,) = (attributes for tag, attributes in page.tags if tag == "svg")
    assert picture["aria-label"] == (
        "Points of 7 submissions: 2 from 0 to below 2, 1 from 2 to below 4, 1 from 18 to below 20, 3 all 20."
    )
    tall = [float(a["height"]) for tag, a in page.tags if tag == "rect"]
    assert [t / max(tall) for t in tall] == pytest.approx(
        [2 / 3, 1 / 3, 0, 0, 0, 0, 0, 0, 0, 1 / 3, 1], abs=0.01
    )


def test_the_hardest_tests_come_first_with_what_most_were_told():
    made = [
        Report(
            "01_a",
            f"s{k}",
            0,
            6,
            [cell("easy", 2, 2), cell("half", k % 2, 1, "so-so"), cell("hard", 0, 3, told, verdict=verdict)],
        )
        for k, (told, verdict) in enumerate(
            [
                ("Too long.", ""),
                ("Line 3, `a < 1`: no.", "No."),
                ("Line 12, `b`: no.", "No."),
                ("Line 3: no.", ""),
            ]
        )
    ]
    hardest = "<h2>" + grades_page.as_html(made).split("<h2>")[2]
    text = Page(hardest).text
    assert text.index("hard", 20) < text.index("0%") < text.index("half") < text.index("50%")
    assert "easy" not in text
    assert "2 ×: Line 3, a < 1: no." in text and "<code>a &lt; 1</code>" in hardest
    assert "2 ×: so-so" in text, "who has the points was told nothing"


def test_what_was_not_graded_counts_in_no_test():
    made = [Report("01_a", "x", 0, 2, [cell("t", 0, 2)], ungraded="the machine was lost"), REPORTS[0]]
    assert set(grades_page.by_test(made)) == {("01_a", "t1"), ("01_a", "t2")}


@pytest.mark.parametrize("text", ["a `b", "`", "a ` b ` c `"])
def test_a_single_backquote_stays(text):
    assert pages.with_code(text) == text


def test_without_manual_cells_or_notes_nothing_is_warned(tmp_path):
    report.write_all(REPORTS[:1], tmp_path)
    assert "isolation" not in (tmp_path / "grades.html").read_text(encoding="utf-8")
    assert (tmp_path / "grades.csv").read_bytes().count(b"\n") == 2


FORMULAS = {
    "=1+1": "'=1+1",
    "@x": "'@x",
    "-2+3": "'-2+3",
    "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0",
    "  =1": "  '=1",
    "a;=1+1": "a;'=1+1",
    "a; =1+1": "a; '=1+1",
    "a,=1": "a,'=1",
    "a|@SUM(1)": "a|'@SUM(1)",
    '";=1': "\";'=1",
    '"=1': "\"'=1",
    "＝1+1": "'＝1+1",
    "-1.5": "-1.5",
    "ann-marie o'neil": "ann-marie o'neil",
    "a=b": "a=b",
}


def test_no_cell_is_a_formula_not_even_behind_a_separator(tmp_path):
    made = [Report("01_a", name, 0, 2, [cell(name, 0, 2, "")], [name]) for name in FORMULAS]
    report.write_all(made, tmp_path)
    text = (tmp_path / "grades.csv").read_text("utf-8-sig")
    assert all(line.startswith('"') and line.endswith('"') for line in text.splitlines()), (
        "each cell is quoted"
    )
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["student"] for row in rows] == list(FORMULAS.values())
    assert [row["notes"] for row in rows] == list(FORMULAS.values())
    for separator in ",;\t|":
        for part in re.split(separator.replace("|", "\\|"), text.replace("\n", separator)):
            bare = part.strip('" ')
            assert bare[:1] not in tuple("=+@＝") or bare == "", part
