"""Links of a site: what leads nowhere is named, what a script or another machine answers is not."""

import pytest

from course_pkg.core import CourseError
from course_pkg.site import api
from course_pkg.site.links import MOST, broken, require_links


@pytest.fixture
def site(tmp_path):
    """A function that writes pages, by name, and returns their folder."""

    def write(**pages):
        for name, html in pages.items():
            path = tmp_path / f"{name.replace('__', '/')}.html"
            path.parent.mkdir(exist_ok=True)
            path.write_text(html, encoding="utf-8")
        return tmp_path

    return write


@pytest.mark.parametrize(
    "link",
    [
        "b/c.html", "b/c.html#here", "#top", "b/c.html#caf%C3%A9", "b/c.html#%CF%83", "b/", "b", "x%20y.svg",
        "b/c.html#/3", "b/c.html#device=NVIDIA+H200", "#",
        "https://example.org/none.html", "//example.org/none", "mailto:a@example.org", "data:image/png;base64,AA",
    ],
)  # fmt: skip
def test_a_link_that_leads_somewhere_is_not_named(site, link):
    folder = site(
        a=f'<p id="top"><a href="{link}">x</a>', b__c='<p id="here"><p id="café"><p id="%CF%83">', b__index=""
    )
    (folder / "x y.svg").write_text("<svg/>")
    assert broken(folder) == []


@pytest.mark.parametrize(
    "link", ["c.html", "b/d.html", "b/c.html#there", "#here", "glossary.md#L1", "../a.html"]
)
def test_a_link_that_leads_nowhere_is_named_once(site, link):
    folder = site(a=f'<a href="{link}">x</a> <a href="{link}">y</a>', b__c='<p id="here">')
    assert broken(folder) == [f"a.html links to {link}, which is not there"]


def test_a_missing_picture_is_named(site):
    assert broken(site(a='<img src="one.svg">')) == ["a.html links to one.svg, which is not there"]


def test_a_site_with_such_links_is_not_published(site):
    folder = site(a="".join(f'<a href="{i}.html">x</a>' for i in range(MOST + 2)))
    with pytest.raises(CourseError) as error:
        require_links(folder)
    assert "a.html links to 0.html" in str(error.value) and str(error.value).endswith("and 2 more")


def test_links_from_the_source_lead_to_the_name_on_that_page():
    known = {"course_pkg.a.Case": "api/a", "course_pkg.b.Case": "api/b", "course_pkg.b.Case.run": "api/b"}
    link = '<a class="viewcode-back" href="../api/{}.html#{}">[docs]</a>'
    html = api.led_back(link.format("b", "course_pkg.a.Case.run"), "_modules/case", known)
    assert html == link.format("b", "course_pkg.b.Case.run")
    assert api.led_back(kept := link.format("a", "course_pkg.a.Case"), "_modules/case", known) == kept
    assert api.led_back(kept := link.format("c", "course_pkg.c.none"), "_modules/case", known) == kept
