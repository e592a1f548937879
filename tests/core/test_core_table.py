"""Tables as text and as HTML."""

from xml.etree import ElementTree

from course_pkg.bench import Table

ROWS = [{"name": "a", "n": 1}, {"name": "long name", "n": 1000}]


def test_text_is_aligned():
    assert str(Table(ROWS)).splitlines() == [
        "name          n",
        "---------  ----",
        "a             1",
        "long name  1000",
    ]
    assert str(Table(ROWS, "From here.")).splitlines()[-1] == "From here."


def test_html_has_heads_for_columns_and_rows():
    table = ElementTree.fromstring(Table(ROWS, "From here.")._repr_html_())
    assert table.get("class") == "course-table"
    assert table.findtext("caption") == "From here."
    assert [cell.text for cell in table.iterfind("thead/tr/th[@scope='col']")] == ["name", "n"]
    assert [cell.text for cell in table.iterfind("tbody/tr/th[@scope='row']")] == ["a", "long name"]
    assert [cell.text for cell in table.iterfind("tbody/tr/td")] == ["1", "1000"]
    assert "<caption>" not in Table(ROWS)._repr_html_()


def test_html_is_escaped():
    rows = [{"<k>": "<a>", "b & c": "<script>"}]
    table = ElementTree.fromstring(Table(rows, "1 < 2")._repr_html_())
    assert [cell.text for cell in table.iter("th")] == ["<k>", "b & c", "<a>"]
    assert table.findtext(".//td") == "<script>"
    assert table.findtext("caption") == "1 < 2"


def test_a_number_stays_beside_its_unit_and_a_long_name_may_have_two_lines():
    page = Table([{"case": "a_long_name", "time": "1.30 ms, 62 %", "of": "3 of 4 GiB"}])._repr_html_()
    assert "<td>1.30\xa0ms, 62\xa0%</td><td>3 of 4\xa0GiB</td>" in page
    assert "".join(ElementTree.fromstring(page).itertext()).endswith(
        "a_long_name1.30\xa0ms, 62\xa0%3 of 4\xa0GiB"
    )
    assert "a_<wbr/>long_<wbr/>name" in page


def test_the_values_of_a_tuple_stand_side_by_side_as_text_and_below_each_other_on_a_page():
    table = Table([{"case": "flat", "time": ("1 ms", "2 ms"), "binds": ("not counted", "memory")}])
    assert str(table).splitlines()[-1] == "flat  1 ms, 2 ms  not counted, memory"
    time, binds = ElementTree.fromstring(table._repr_html_()).iterfind("tbody/tr/td")
    assert [line.text for line in time] == ["1\xa0ms", "2\xa0ms"]
    assert [line.text for line in binds] == ["not counted", "memory"]
    assert {(line.tag, line.get("style")) for line in binds} == {("div", "white-space:nowrap")}
    assert binds.get("class") is None, "two single words are no sentence"


def test_a_caption_sets_commands_as_code():
    table = ElementTree.fromstring(Table(ROWS, "Recorded by `course bench cg`.")._repr_html_())
    assert table.findtext("caption/code") == "course bench cg"
    assert "`" not in "".join(table.itertext())
    assert "a ` b" in Table(ROWS, "a ` b")._repr_html_()
