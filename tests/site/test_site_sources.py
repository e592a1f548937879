"""What Sphinx reads: notebooks laid out as pages, the table of records, the gallery; old files go."""

import ast
import re
import shutil
import tomllib
from html.parser import HTMLParser
from itertools import groupby

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_pkg import bench
from course_pkg.bench import folder
from course_pkg.bench.measurement import EXCEEDS, WARM, Measurement
from course_pkg.commands import limits
from course_pkg.core import Cost, CourseError, Implementation
from course_pkg.paths import recorded_dir, repo_root
from course_pkg.site import api, records, rooms
from course_pkg.site.decks import cards, picture_of
from course_pkg.site.gallery import gallery, pictures
from course_pkg.site.shots import FOLDER, SHOTS, stale
from course_pkg.site.sources import gather, prepare, slug
from course_pkg.slides.build import BuiltDeck
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


# ---- the decks and the package


def test_a_card_says_what_a_deck_is_with_pictures_where_there_are_some(tmp_path):
    decks = [
        BuiltDeck(name, title, "For a < b.", 26, tmp_path / "slides" / f"{name}.html")
        for name, title in (("02_memory", "Memory & bound"), ("extra", "More"))
    ]
    without = cards(decks)
    assert "<img" not in without and without.count("<li>") == 2
    assert '<a href="slides/02_memory.html"><strong>2 · Memory &amp; bound</strong></a>' in without
    assert "<strong>More</strong>" in without and "26 slides" in without and "<p>For a &lt; b.</p>" in without
    for theme in ("light", "dark"):
        path = picture_of(decks[0], theme)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    shown = cards(decks)
    assert re.findall(r'class="only-(\w+)" [^>]*src="([^"]+)"', shown) == [
        ("light", "slides/pictures/02_memory-light.png"),
        ("dark", "slides/pictures/02_memory-dark.png"),
    ]


def documented(folder, *modules):
    """Write what Sphinx reads about modules, as apidoc does: a page for each package."""
    folder.mkdir(exist_ok=True)
    for module in ("course_pkg", *modules):
        package = (
            module if (rooms.PACKAGE.joinpath(*module.split(".")[1:])).is_dir() else module.rpartition(".")[0]
        )
        with (folder / f"{package}.rst").open("a", encoding="utf-8") as page:
            page.write(f".. automodule:: {module}\n   :members:\n\n")
    return folder


def test_rooms_are_grouped_and_say_what_they_are_for(tmp_path):
    pages = documented(
        tmp_path / "api", "course_pkg.cuda", "course_pkg.vector", "course_pkg.vector.cost", "course_pkg.viz"
    )
    found = rooms.overview(pages)
    assert re.findall(r'<dt><a href="([^"]+)"><code>(\w+)', found) == [
        ("api/course_pkg.html#module-course_pkg.cuda", "cuda"),
        ("api/course_pkg.viz.html#module-course_pkg.viz", "viz"),
        ("api/course_pkg.vector.html#module-course_pkg.vector", "vector"),
    ]
    assert "<summary>1 module</summary>" in found and found.count("<details>") == 1
    assert "<code>cost</code></a>: Bytes and flops of the streaming operations" in found
    assert "The streaming operations, the sums and the transpose in plain NumPy.<details>" in found, (
        "a topic is what its reference computes"
    )
    assert "``" not in found
    assert [title for title in rooms.GROUPS if f">{title}</h2>" in found] == list(rooms.GROUPS)


def test_a_room_that_is_in_no_group_is_missed(tmp_path):
    with pytest.raises(CourseError, match=r"^nowhere: put these rooms of the package into GROUPS"):
        rooms.overview(documented(tmp_path / "api", "course_pkg.nowhere"))


def test_every_room_of_the_package_is_in_a_group_or_apart():
    """Otherwise the site could not be built, which takes minutes to find out."""
    conf = ast.parse((repo_root() / "docs" / "site" / "conf.py").read_text(encoding="utf-8"))
    (apart,) = (
        ast.literal_eval(n.value)
        for n in conf.body
        if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "ROOMS_APART"
    )
    named = {*apart, *topics(), *(name for _, names in rooms.GROUPS.values() for name in names)}
    there = {
        path.stem
        for path in rooms.PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert there - {"__init__"} == named


def test_the_workflow_runs_what_the_course_has():
    """It is run on another machine, where a wrong word would be found a push too late."""
    workflow = yaml.safe_load(
        (repo_root() / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    )
    (job,) = workflow["jobs"].values()
    said = "\n".join(step.get("run", "") for step in job["steps"])
    make = (repo_root() / "Makefile").read_text(encoding="utf-8")
    (target,) = re.findall(r"^make (\w+)$", said, re.MULTILINE)
    command = re.search(rf"^{target}: .*\n\t(.+)$", make, re.MULTILINE)[1]
    (extras,) = re.findall(r"bootstrap\.py env (--extras \S+)", said)
    assert f"run {extras} -- course site" in command, (
        "the browser is installed into the environment that is used"
    )
    parts = tomllib.loads((repo_root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = parts["optional-dependencies"]
    assert set(extras.removeprefix("--extras ").split(",")) <= set(known)
    assert (
        any(what.startswith("playwright") for what in known["slides"])
        and "course_pkg[slides]" in known["site"]
    )
    published = next(step["with"]["path"] for step in job["steps"] if "upload-pages" in step.get("uses", ""))
    assert (
        published == "build/site"
        and {"pages": "write", "id-token": "write"}.items() <= workflow["permissions"].items()
    )


def test_a_page_of_the_package_begins_with_what_is_on_it(tmp_path):
    pages, made = (
        documented(tmp_path / "api", "course_pkg.vector", "course_pkg.vector.cost"),
        tmp_path / "made",
    )
    made.mkdir()
    page = pages / "course_pkg.vector.rst"
    page.write_text(
        "course\\_pkg.vector package\n=========================\n\n" + page.read_text()
        + ".. toctree::\n   :maxdepth: 4\n\ncourse\\_pkg.vector.gpu\\_cupy module\n-------------------\n"
    )  # fmt: skip
    api.lay_out(pages, made)
    said = page.read_text(encoding="utf-8")
    assert said.startswith("vector\n======\n\n.. raw:: html\n   :file: ../made/course_pkg.vector.html\n")
    assert "\ngpu\\_cupy\n---------\n" in said and "maxdepth: 1" in said and "maxdepth: 4" not in said
    shown = (made / "course_pkg.vector.html").read_text(encoding="utf-8")
    assert "details" not in shown, "the package itself offers nothing, so there is one table"
    assert (
        '<tr><td><a href="#course_pkg.vector.cost.copy"><code>copy</code></a></td>'
        "<td>Cost of <code>out = a</code>.</td></tr>" in shown
    )


def test_what_a_package_passes_on_is_described_where_it_is_defined():
    offered = api.offered("course_pkg.vector.gpu_numba")
    assert offered["copy"].startswith("Compute ``out = a`` on the GPU")
    assert "TILE" not in offered, "a number has no sentence"
    assert {"measure", "Measurement"} <= set(api.offered("course_pkg.bench"))
    assert not any(name.startswith("_") for name in api.offered("course_pkg.bench.lookup"))
    several = api.contents(["course_pkg.vector.cost", "course_pkg.vector.reference"])
    assert (
        several.count('<details class="members">') == 2
        and "<summary><code>reference</code> The streaming" in several
    )
