"""The feedback page: everything is on it, whole and told apart, and it loads and runs nothing."""

import re
from html.parser import HTMLParser

import nbformat
import pytest
import submissions as s
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_pkg.grading import feedback_page
from course_pkg.grading.formulas import mathml
from course_pkg.grading.preprocessor import outputs
from course_pkg.grading.result import CellGrade

LONG = (
    "Line 9, `out[y, x] = "
    + " + ".join(f"image[y, x - {k}]" for k in range(40))
    + "`: "
    + "why " * 200
    + "END"
)
EVIL = """Because $a_i < b$. <script>document.title = 'owned'</script> <img src=x onerror="alert(1)">

![a picture](https://example.org/x.png) ![pasted](attachment:image.png) [a file](../x.md) [web](https://example.org)

$$ \\text{<img src=x onerror=alert(1)>} \\href{javascript:alert(1)}{x} $$"""


def graded(name, points, most, feedback="", source="# What is tested: `a`.\nassert True", **told):
    about = {"grade_id": name, "grade": True, "solution": False, "score": points, "points": most}
    shown = outputs(CellGrade(name, points, most, feedback, **told))
    return new_code_cell(source, metadata={"nbgrader": about}, outputs=shown)


def essay(text, comment=None):
    about = {
        "grade_id": "essay",
        "grade": True,
        "solution": True,
        "score": 1,
        "points": 2,
        "comment": comment,
    }
    return new_markdown_cell(text, metadata={"nbgrader": about})


def page_of(*cells, late=0):
    nb = new_notebook(cells=[new_markdown_cell("# Exercise 9: A test"), *cells])
    about = {"notebook": "09_test", "score": 3.5, "max_score": 8, "late_penalty": late}
    text, _ = feedback_page.FeedbackPage().from_notebook_node(nb, {"nbgrader": about})
    return text


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.found, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


PAGE = page_of(
    graded("test_full", 2, 2, "never shown"),
    graded("test_part", 0.5, 2, "half of it"),
    graded("test_none", 0, 2, LONG),
    essay(EVIL, comment="Well *done*: $x^2$."),
    late=0.5,
)


def test_a_mark_is_told_by_a_sign_and_words_and_a_border():
    for name, words, kind in (
        ("test_full", "✓ all points", "full"),
        ("test_part", "◐ some points", "part"),
        ("test_none", "✗ no points", "none"),
    ):
        (section,) = re.findall(f'<section class="test {kind}" id="{name}">.*?</section>', PAGE, re.DOTALL)
        assert words in section
        assert f'<a href="#{name}">{name}</a></td><td class="mark {kind}">{words}</td>' in PAGE
    borders = {
        kind: re.search(rf"\.test\.{kind} {{ border-left: \d+px (\w+) ", PAGE).group(1)
        for kind in ("full", "part", "none")
    }
    assert len(set(borders.values())) == 3, borders


def test_a_message_is_whole_and_its_code_is_code():
    text = Elements(PAGE).text
    assert LONG.replace("`", "") in text
    assert "<code>out[y, x] = image[y, x - 0]" in PAGE
    assert "half of it" in text and "never shown" not in text
    assert "3.5 of 8 points" in text and "0.5 points are taken off" in text
    assert "Your teacher says:" in text and "<em>done</em>" in PAGE


def test_what_nbgrader_says_of_an_untouched_answer_is_not_the_teachers():
    page = page_of(essay("Write here.", comment=feedback_page.UNTOUCHED))
    assert "teacher" not in page and "Write here." in page


def test_a_hidden_tests_sentence_stands_once():
    what = "Hidden tests: other sizes."
    wrong = {"hidden": True, "verdict": "The result is wrong."}
    page = page_of(graded("test_x", 0, 1, f"{what} The result is wrong.", source=f"# {what}", **wrong))
    assert page.count(what) == 1 and "The result is wrong." in page


def test_the_page_loads_and_runs_nothing():
    for tag, attributes in Elements(PAGE).found:
        assert tag not in ("script", "link", "img", "iframe", "object"), tag
        assert not any(name.startswith("on") or name in ("src", "style", "srcset") for name in attributes), (
            attributes
        )
        assert attributes.get("href", "#").startswith(("#", "https://example.org")), attributes
    assert "default-src 'none'" in PAGE and "url(" not in PAGE and "@import" not in PAGE
    text = Elements(PAGE).text
    assert "<script>document.title = 'owned'</script>" in text, "as text"
    assert "[a picture]" in text and "[pasted]" in text and "a file" in text


def test_formulas_are_drawn_by_the_browser_itself():
    assert "<msub><mi>a</mi><mi>i</mi></msub>" in PAGE and "<msup><mi>x</mi><mn>2</mn></msup>" in PAGE
    assert not re.search(r"\$[^$<]+\$", Elements(PAGE).text)


@pytest.mark.parametrize("source", s.SOURCES.values(), ids=lambda path: path.stem)
def test_every_formula_of_an_exercise_is_drawn(source):
    nb = s.untouched(source)
    page = feedback_page.page(nb, {"notebook": "x", "score": 0, "max_score": 1})
    said = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    formulas = re.findall(r"\$\$.+?\$\$|(?<![`\w$])\$[^$\n]+\$", said, re.DOTALL)
    assert page.count("<math ") == len(formulas)


@pytest.mark.parametrize(
    "tex",
    [
        r"\frac{",
        r"x^",
        "",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\text{<mi onclick='alert(1)'>x</mi>}",
        "{" * 3000,
        r"\sqrt" * 300,
    ],
)
def test_what_is_no_plain_formula_is_shown_as_its_source(tex):
    found = mathml(tex)
    assert found.startswith("<code>")
    assert {tag for tag, _ in Elements(found).found} == {"code"} and Elements(found).text == tex


def test_outputs_of_other_kinds_do_no_harm():
    cell = graded("test_x", 0, 1, "why")
    cell.outputs.append(new_output("display_data", data={"text/html": "<script>1</script>"}))
    assert "script" not in {tag for tag, _ in Elements(page_of(cell)).found}
    nbformat.validate(new_notebook(cells=[cell]))
