"""Cells become slides, columns, fragments and notes; tags hide what they name."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_pkg.slides import SlidesError
from course_pkg.slides.convert import convert
from course_pkg.slides.layout import is_figure, lay_out


def text(source, kind="-", *tags):
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}, "tags": list(tags)})


def code(source, kind="-", *tags, html=None):
    shown = new_output("display_data", data={"text/html": html or ""})
    output = shown if html else new_output("stream", text="out")
    metadata = {"slideshow": {"slide_type": kind}, "tags": list(tags)}
    return new_code_cell(source, metadata=metadata, outputs=[output])


def skeleton(*cells):
    """Return the structure of the slides with a cell's source in place of the cell."""
    nb = new_notebook(cells=list(cells))
    lay_out(nb, "Course", "<svg></svg>")
    return "".join(c.metadata.slide.before + c.source + c.metadata.slide.after for c in nb.cells)


def test_slides_fragments_and_notes():
    html = skeleton(
        text("A", "slide"), text("n", "notes"), text("B", "fragment"), text("C"), text("D", "fragment"),
        text("E", "subslide"), text("no", "skip"),
    )  # fmt: skip
    assert html == (
        '<section class=""><div class="frame">'
        'A<div class="fragment">BC</div><div class="fragment">D</div></div>'
        '<aside class="notes">n</aside></section>'
        '<section class=""><div class="frame">E</div></section>'
    )


def test_two_columns():
    head = text("H", "slide", "two-columns")
    opening = '<section class="two-columns"><div class="frame">H<div class="column">'
    assert skeleton(head, text("L"), text("l"), text("R")) == (
        f'{opening}Ll</div><div class="column">R</div></div></section>'
    )
    cells = [text("H", "slide", "two-columns"), text("L"), text("R", "fragment", "right"), text("r")]
    assert skeleton(*cells) == (
        f'{opening}L</div><div class="column"><div class="fragment">Rr</div></div></div></section>'
    )


def test_layouts():
    assert skeleton(text("T", "slide", "title-slide")) == (
        '<section class="title-slide"><div class="frame">'
        '<p class="eyebrow">Course</p>T<svg></svg></div></section>'
    )
    html = skeleton(text("Q", "slide", "predict"))
    assert 'class="predict" data-state="predict"' in html
    assert "Predict first" in html


def test_hide_tags():
    nb = new_notebook(
        cells=[
            text("A", "slide"),
            code("no_input", "-", "hide-input"),
            code("no_output", "-", "hide-output"),
            code("nothing", "-", "hide-input", "hide-output"),
            code("removed", "-", "remove-cell"),
            code("alone", "slide", "hide-input", "hide-output"),
        ]
    )
    assert lay_out(nb, "", "") == 1, "a slide that shows nothing is no slide"
    assert [cell.source for cell in nb.cells] == ["A", "no_input", "no_output"]
    assert nb.cells[1].metadata.transient.remove_source
    assert nb.cells[2].outputs == []


def test_figures_grow():
    assert is_figure(code("", html='<img class="course-figure" alt="x" src="x">'))
    rules = "<style>.course-figure{filter:none}</style>"
    assert not is_figure(code("", html=f'<img class="course-here" alt="x" src="x">{rules}')), (
        "it lies in a corner"
    )
    assert not is_figure(code("", html='<table class="course-table"></table>'))
    assert 'class="fragment grows"' in skeleton(
        text("A", "slide"), code("f", "fragment", html='<img class="course-figure">')
    )


def test_no_slides_is_an_error(tmp_path):
    path = tmp_path / "03_empty.ipynb"
    nbformat.write(new_notebook(cells=[text("A", "skip")]), path)
    with pytest.raises(SlidesError, match="03_empty: The lecture has no slides"):
        convert(path)


def test_html_is_escaped_and_inline_markup_kept(tmp_path):
    path = tmp_path / "04_escapes.ipynb"
    nb = new_notebook(
        cells=[
            text('# A <span class="memory">b</span>\n\n$a < b$ & c', "slide"),
            new_code_cell("print('<b>')", outputs=[new_output("stream", text="<script>alert(1)</script>")]),
        ],
        metadata={"title": 'x < y & "z"', "promise": 'say "</script>"'},
    )
    nbformat.write(nb, path)
    html = convert(path).html
    assert "<title>x &lt; y &amp; " in html
    assert "<script>alert(1)" not in html
    assert '<span class="memory">b</span>' in html
    assert "content='say \"" in html or "say &quot;&lt;/script&gt;&quot;" in html


def test_pictures_beside_the_lecture_are_embedded(tmp_path):
    (tmp_path / "a b.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    path = tmp_path / "04_picture.ipynb"
    nbformat.write(new_notebook(cells=[text("![seen](a%20b.svg) ![lost](none.svg)", "slide")]), path)
    html = convert(path, lecture_dir=tmp_path).html
    assert 'src="data:image/svg+xml;base64,' in html
    assert 'src="none.svg"' in html
