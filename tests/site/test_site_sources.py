"""What Sphinx reads: notebooks laid out as pages, the table of records, the gallery; old files go."""

import re
import shutil
from html.parser import HTMLParser
from itertools import groupby

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_pkg import bench
from course_pkg.bench import folder
from course_pkg.bench.measurement import EXCEEDS, WARM, Measurement
from course_pkg.commands import limits
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.paths import recorded_dir, repo_root
from course_pkg.site import records
from course_pkg.site.gallery import gallery, pictures
from course_pkg.site.shots import FOLDER, SHOTS, stale
from course_pkg.site.sources import gather, prepare, slug
from course_pkg.topics import topics

SCRIPT = """
from course_pkg.viz import Picture

def pictures():
    names = ("steps_0", "steps_1", "one")
    return {name: Picture("<svg/>", f"What {name} & others show.") for name in names}
"""


class Cells(HTMLParser):
    """The cells of a row: their text, and the number by which they are sorted."""

    def __init__(self, html):
        super().__init__()
        self.text, self.value = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "td":
            self.value.append(dict(attributes).get("data-value"))
            self.text.append("")

    def handle_data(self, data):
        if self.text:
            self.text[-1] += data


@pytest.fixture
def course(tmp_path):
    """A course with one figure script, one exercise and a glossary."""
    root = tmp_path / "course"
    for name, text in {
        "docs/site/conf.py": "",
        "docs/site/index.md": "# The course\n",
        "figures/a.py": SCRIPT,
        "figures/output/one.svg": "<svg/>",
        "lectures/01_a.py": 'figure("one.svg")\n',
        "lectures/02_b.py": 'figure(f"steps_{i}.svg")\n',
        "lectures/glossary.md": "# Glossary\n",
        "exercises/01_a/01_a.ipynb": nbformat.writes(new_notebook(cells=[new_markdown_cell("# Exercise 1")])),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def lecture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell("# A lecture")]), path)
    return path


def test_a_lecture_has_its_number_and_folds_what_is_for_others():
    notes = {"slideshow": {"slide_type": "notes"}}
    cells = [
        new_markdown_cell("# Memory-bound\n\nWhy.", metadata={"tags": ["title-slide"]}),
        new_markdown_cell("> **For the speaker.** Five minutes.\n> More *of it*.", metadata=notes),
        new_code_cell("# Setup, for the notebook only.\nimport numpy"),
        new_code_cell(
            "hidden()",
            metadata={"jupyter": {"source_hidden": True}, "tags": ["hide-input", "live"]},
            outputs=[new_output("stream", text="what it shows")],
        ),
        new_code_cell("shown()"),
        new_markdown_cell("# Another title"),
    ]
    title, said, setup, hidden, shown, other = prepare(new_notebook(cells=cells), "2").cells
    assert title.source == "# 2 · Memory-bound\n\nWhy."
    assert re.fullmatch(
        r"<details.*</summary>\n\nFive minutes\.\nMore \*of it\*\.\n\n</details>", said.source, re.DOTALL
    )
    assert setup.metadata["tags"] == ["hide-input"]
    assert hidden.metadata["tags"] == ["hide-input", "live"]
    assert "tags" not in shown.metadata
    assert other.source == "# Another title"


def test_helpers_before_the_first_idea_are_one_fold():
    helper = {"slideshow": {"slide_type": "skip"}}
    said = [new_output("stream", text="42")]
    cells = [
        new_markdown_cell("## After this lecture you can"),
        new_code_cell("# Setup\nimport numpy", metadata=helper),
        new_code_cell("h200 = 1", metadata=helper),
        new_code_cell("def ladder(): ...", metadata=helper),
        new_code_cell("print(42)", metadata=helper, outputs=said),
        new_code_cell("on_a_slide()", metadata={"slideshow": {"slide_type": "slide"}}),
        new_markdown_cell("## Fewer loads"),
        new_code_cell("counted = 2", metadata=helper),
    ]
    sources = [(cell.source, cell.metadata.get("tags")) for cell in prepare(new_notebook(cells=cells)).cells]
    assert sources == [
        ("## After this lecture you can", None),
        ("# Setup\nimport numpy\n\n\nh200 = 1\n\n\ndef ladder(): ...", ["hide-input"]),
        ("print(42)", None),
        ("on_a_slide()", None),
        ("## Fewer loads", None),
        ("counted = 2", None),
    ]


def test_links_in_an_output_lead_to_pages_as_those_of_a_cell_do():
    text = "[word](glossary.md#L1), [6](06_rows.ipynb), [there](https://example.org/a.md), f(glossary.md)"
    outputs = [new_output("display_data", data={"text/markdown": text, "text/plain": text})]
    nb = new_notebook(cells=[new_code_cell("Markdown(text)", outputs=outputs)])
    [output] = prepare(nb).cells[0].outputs
    said = "[word](glossary.html#L1), [6](06_rows.html), [there](https://example.org/a.md), f(glossary.md)"
    assert output.data == {"text/markdown": said, "text/plain": text}


def test_links_to_the_glossary_find_their_words():
    text = (repo_root() / "lectures" / "glossary.md").read_text(encoding="utf-8")
    places = {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= places


def test_sources_lie_as_in_the_course_and_old_ones_go(course, tmp_path):
    target, first = tmp_path / "source", lecture(tmp_path / "executed" / "01_a.ipynb")
    gather(
        course, [first, lecture(tmp_path / "executed" / "02_b.ipynb")], {"records.html": "<table>"}, target
    )
    (target / "api").mkdir()
    (target / "api" / "modules.rst").touch()
    dates = {path: path.stat().st_mtime_ns for path in target.rglob("*") if path.is_file()}
    gather(course, [first], {"records.html": "<table>"}, target)
    left = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert left == {
        "index.md", "lectures/01_a.ipynb", "lectures/glossary.md", "exercises/01_a/01_a.ipynb",
        "made/records.html", "figures/output/one.svg", "served/figures/output/one.svg", "api/modules.rst",
    }  # fmt: skip
    assert all(dates[target / name] == (target / name).stat().st_mtime_ns for name in left), (
        "Sphinx reads no page again"
    )
    assert nbformat.read(target / "lectures/01_a.ipynb", 4).cells[0].source == "# 1 · A lecture"
    assert nbformat.read(target / "exercises/01_a/01_a.ipynb", 4).cells[0].source == "# Exercise 1"


def test_the_readmes_photographs_are_of_today():
    assert stale(repo_root()) == [], "take them again: `course site --photograph`"


@pytest.mark.parametrize("change", ["slide", "record", "picture", "other slide"])
def test_a_photograph_of_something_else_is_found(tmp_path, change):
    shot, root = SHOTS[0], repo_root()
    for path in [
        *(root / FOLDER).glob("*.*"),
        root / "lectures" / f"{shot.lecture}.py",
        *(root / "figures/data").glob("*/*.json"),
    ]:
        copy = tmp_path / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    assert stale(tmp_path) == []
    source = tmp_path / "lectures" / f"{shot.lecture}.py"
    text = source.read_text(encoding="utf-8")
    if change == "slide":
        source.write_text(
            text.replace(f"## {shot.heading}\n", f"## {shot.heading}\n#\n# Now.\n"), encoding="utf-8"
        )
    elif change == "record":
        with (tmp_path / "figures/data/nvidia-h200/stencil.json").open("a") as file:
            file.write("\n")
    elif change == "picture":
        (tmp_path / FOLDER / f"{shot.name}-dark.png").unlink()
    else:
        source.write_text(text.replace("# ## The memory wall", "# ## A wall"), encoding="utf-8")
    assert stale(tmp_path) == ([] if change == "other slide" else [shot.name])


def test_a_course_without_settings_says_so(tmp_path):
    with pytest.raises(CourseError, match=r"has no conf\.py: download"):
        gather(tmp_path, [], {}, tmp_path / "source")


def test_the_gallery_shows_a_slider_s_pictures_once_and_where_they_are(course):
    assert list(pictures(course)) == ["steps_1", "one"]
    html = gallery(course)
    steps, one = re.findall(r"<figure>.*?</figure>", html)
    assert 'src="figures/output/steps_1.svg" alt="What steps_1 &amp; others show."' in steps
    assert 'Shown in <a href="lectures/02_b.html">lecture 2</a>.' in steps
    assert 'Shown in <a href="lectures/01_a.html">lecture 1</a>.' in one


def test_every_recorded_measurement_is_a_row():
    html = records.table()
    count = sum(
        len(bench.recorded(topic, device).measurements)
        for topic in topics()
        for device in folder.devices(recorded_dir(), topic)
    )
    assert html.count("<tr>") == count + 1
    assert html.count("<th ") == len(records.COLUMNS)
    assert list(records.COLUMNS)[-1] == "settings", (
        "what lies beyond the border of a narrow window matters least"
    )


def test_rows_of_the_lectures_gpu_come_first_and_those_of_cpus_last():
    kinds = [m.device.kind for m, topic, _ in records.recorded() if topic == "stencil"]
    assert [kind for kind, _ in groupby(kinds)] == ["gpu", "cpu"]
    assert next(iter(records.recorded()))[0].device.slug == folder.DEFAULT_DEVICE


def measured(**changed):
    found = bench.recorded("stencil", "h200").one("laplacian_marching", size=512, dtype="float64")
    return Measurement(**{name: getattr(found, name) for name in found.__dataclass_fields__} | changed)


def test_a_row_is_the_measurement_over_the_bound_of_its_device():
    bounds, m = limits.recorded("stencil", "nvidia-h200"), measured(cache_state=EXCEEDS)
    cells = Cells(records.row(m, "stencil", bounds))
    by_name = dict(zip(records.COLUMNS, zip(cells.text, cells.value, strict=True), strict=True))
    assert by_name["device"][0] == "H200"
    assert by_name["variant"][0] == "laplacian_marching"
    assert "laplacian_<wbr>marching" in records.row(m, "stencil", bounds), "a name breaks between its words"
    assert by_name["size"] == ("512³", f"{512**3:.6g}")
    assert "512" not in by_name["settings"][0]
    assert float(by_name["time"][1]) == pytest.approx(m.median_s, rel=1e-5)
    assert float(by_name["time / bound"][1]) == pytest.approx(m.over_bound(bounds.stream), rel=1e-5)
    assert by_name["time / bound"][0] == bounds.row(m)["time / bound"]


@pytest.mark.parametrize("changed", [{"cost": None}, {"cache_state": WARM}, {"cost": Cost(0, 0, 8)}], ids=str)
def test_where_memory_is_no_bound_there_is_a_dash(changed):
    cells = Cells(records.row(measured(**changed), "stencil", limits.recorded("stencil", "nvidia-h200")))
    assert dict(zip(records.COLUMNS, cells.text, strict=True))["time / bound"] == records.UNKNOWN
    unbounded = dict(zip(records.COLUMNS, Cells(records.row(measured(), "stencil", None)).text, strict=True))
    assert unbounded["bound"] == unbounded["time / bound"] == records.UNKNOWN


def test_names_are_text_in_a_row():
    row = records.row(measured(what=Implementation("<b>", "", "A & B")), "stencil", None)
    assert "&lt;b&gt;" in row and "A &amp; B" in row
