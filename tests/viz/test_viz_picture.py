"""Pictures: SVG with an alternative text; the same picture always gives the same bytes."""

import base64
import re
from xml.etree import ElementTree

import pytest

from course_pkg.core import CourseError
from course_pkg.viz import Picture, draw, style
from course_pkg.viz.memories import Here
from course_pkg.viz.picture import Steps
from course_pkg.viz.threads import LivePicture


def line(figure):
    figure.subplots().plot([0, 1], [0, 2])


def test_a_drawing_is_valid_svg_and_the_same_each_time():
    one, two = draw(line, "A line from 0 to 2."), draw(line, "A line from 0 to 2.")
    assert one.svg == two.svg
    assert ElementTree.fromstring(one.svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<dc:date>" not in one.svg
    assert "Matplotlib v" not in one.svg.split("-->")[0].replace("<!--", "") or "Creator" not in one.svg


def test_another_drawing_has_other_bytes():
    other = draw(lambda figure: figure.subplots().plot([0, 1], [0, 3]), "A line from 0 to 3.")
    assert other.svg != draw(line, "A line from 0 to 2.").svg


def test_the_size_is_in_inches():
    svg = ElementTree.fromstring(draw(line, "A line.", size=(5, 2)).svg)
    assert (svg.get("width"), svg.get("height")) == ("360pt", "144pt")


def test_drawing_leaves_matplotlibs_settings_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(line, "A line.")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("alt", ["", "  ", "\n\t"])
def test_a_picture_needs_alternative_text(alt):
    with pytest.raises(CourseError, match="needs alternative text"):
        Picture("<svg/>", alt)
    with pytest.raises(CourseError, match="needs alternative text"):
        draw(line, alt)


def test_alternative_text_is_one_line_and_escaped():
    picture = Picture("<svg/>", 'two\n  lines, 3 < 4 & "quoted"')
    assert picture.alt == 'two lines, 3 < 4 & "quoted"'
    assert repr(picture) == '<Picture: two lines, 3 < 4 & "quoted">'
    image = ElementTree.fromstring(picture._repr_html_().partition("<style>")[0].replace('">', '"/>'))
    assert image.get("alt") == picture.alt
    assert image.get("class") == "course-figure"


@pytest.mark.parametrize("kind", [Picture, Steps, LivePicture, Here])
def test_a_figure_turns_dark_with_its_page_whichever_program_shows_it(kind):
    """The rules stand beside the figure: where `course lab` is not, nothing else would bring them."""
    one = Picture("<svg ></svg>", "A picture.")
    shown = kind(one) if kind is Here else kind(one.svg, one.alt)
    figure, rules = shown._repr_html_().split("<style>")
    assert re.search(r'class="course-(figure|threads|here)\b', figure)
    named = re.findall(r"\.(course-\w+)", rules)
    assert {"course-figure", "course-threads", "course-here"} == set(named)
    jupyterlab, colab, vs_code, sphinx = (
        "[data-jp-theme-light=false]",
        "html[theme=dark]",
        ".vscode-dark",
        "[data-theme=dark]",
    )
    assert all(page in rules for page in (jupyterlab, colab, vs_code, sphinx))
    assert "invert(1)" in rules and ":not(.reveal *)" in rules


def test_the_html_holds_the_svg():
    picture = Picture("<svg>größer</svg>", "A picture.")
    data = re.search(r"data:image/svg\+xml;base64,([^\"]*)", picture._repr_html_())[1]
    assert base64.b64decode(data).decode() == picture.svg


def test_save_and_load(tmp_path):
    path = tmp_path / "a.svg"
    picture = draw(line, "A line.")
    assert picture.save(path) == path
    assert Picture.load(path, "Again.").svg == picture.svg
    assert Picture.load(str(path), "Again.").alt == "Again."
    picture.save(str(path))
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"], "nothing else is left"


def test_a_picture_is_saved_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.svg"
    path.write_text("old", encoding="utf-8")
    with pytest.raises((UnicodeEncodeError, CourseError)):
        Picture("half of it \udc80", "Not encodable.").save(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_a_missing_picture_says_how_to_draw_it(tmp_path):
    with pytest.raises(CourseError, match=r"b\.svg is not there: draw it with `course figures`"):
        Picture.load(tmp_path / "b.svg", "Missing.")


def test_the_colours_differ_where_they_mean_different_things():
    meanings = [style.MEMORY, style.MEMORY_WRITE, style.COMPUTE, style.BOUND, style.WASTED, style.GAIN]
    assert len({colour.lower() for colour in meanings}) == len(meanings)
    assert len({colour.lower() for colour in style.SERIES}) == len(style.SERIES)
    for colour in (*meanings, *style.SERIES, style.INK, style.MUTED, style.RULE):
        assert re.fullmatch("#[0-9A-Fa-f]{6}", colour)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_what_carries_meaning_stands_out_from_white():
    """WCAG's contrast of 3 : 1 for graphics."""
    for colour in {style.MEMORY, style.MEMORY_WRITE, style.COMPUTE, style.WASTED, style.GAIN, *style.SERIES}:
        assert 1.05 / (luminance(colour) + 0.05) >= 3, colour


def test_figures_have_the_fonts_of_slides_and_pages():
    from course_pkg.slides.assets import THEME

    css = (THEME / "palette.css").read_text()
    assert {name: re.search(rf"--{name}: ([^;]*);", css)[1] for name in ("sans", "mono")} == {
        "sans": style.SANS,
        "mono": style.MONO,
    }
    svg = draw(
        lambda figure: figure.text(0.5, 0.5, "word") and figure.text(0, 0, "code", family="monospace"), "A."
    ).svg
    families = re.findall(r"font-family: ([^;\"]*)", svg)
    assert [family.replace("'", '"') for family in families] == [style.SANS, style.MONO]


def test_steps_lie_in_the_page_and_appear_in_their_order():
    def plot(figure):
        for i in (2, 1):
            figure.text(0.1 * i, 0.5, f"word {i}").set_gid(f"step-{i}-word")

    picture = draw(plot, 'Two "words".', steps=True)
    shown = picture._repr_html_()
    assert re.findall(r'class="fragment" data-fragment-index="(\d)"', shown) == ["1", "0"]
    svg = ElementTree.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6])
    assert svg.get("aria-label") == picture.alt and svg.get("role") == "img"
    assert "<?xml" not in shown and "step-1" not in shown


@pytest.mark.parametrize("colour", [style.INK, style.MUTED, style.COMPUTE_TEXT, style.GAIN_TEXT])
def test_text_stands_out_from_white(colour):
    """WCAG's contrast of 4.5 : 1 for text."""
    assert 1.05 / (luminance(colour) + 0.05) > 4.5


@pytest.mark.parametrize("colour", [style.MEMORY_WRITE, style.WASTED, style.PINK])
def test_ink_is_legible_on_a_pale_colour(colour):
    assert (luminance(style.pale(colour)) + 0.05) / (luminance(style.INK) + 0.05) > 4.5
