"""Pages that the site makes of decks and of the package; and the workflow that publishes them."""

import ast
import re
import tomllib

import pytest
import yaml

from course_pkg.core import CourseError
from course_pkg.paths import repo_root
from course_pkg.permutation.csr import CSR
from course_pkg.site import api, rooms
from course_pkg.site.decks import cards, picture_of
from course_pkg.site.exercises import exercises
from course_pkg.slides.build import BuiltDeck
from course_pkg.topics import topics

# rooms without pages: the inside of commands
APART = tuple(
    f"course_pkg.{room}"
    for room in ("check", "cli", "commands", "grading", "setup", "site", "slides", "witness")
)


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


def test_napoleon_reads_properties_and_attributes_as_they_are_meant():
    from sphinx.ext.napoleon import Config, NumpyDocstring

    def read(what, text):
        lines = api.for_napoleon(what, text.splitlines())
        read_by = NumpyDocstring(lines, Config(napoleon_use_ivar=True), what=what, name="a")
        return str(read_by).replace(api.KEPT, ":")

    assert (
        read("property", "Rows: without the last one.\n\nMore: text.").splitlines()[0]
        == "Rows: without the last one."
    )
    told = read(
        "class",
        "A box.\n\nAttributes\n----------\nn, m : int\n    Edges.\nk : float\n\nExamples\n--------\n>>> 1\n1\n",
    )
    assert [line for line in told.splitlines() if line.startswith(":ivar")] == [
        ":ivar n: Edges.",
        ":ivar m: Edges.",
        ":ivar k:",
    ]
    assert ":vartype m: int" in told and ">>> 1" in told
    assert api.for_napoleon("function", ["Parameters", "----------", "a, b : int"])[2:] == ["a, b : int"]


def test_a_type_links_to_classes_and_not_to_attributes_of_that_name():
    from docutils import nodes
    from docutils.utils import new_document
    from sphinx.addnodes import pending_xref

    page = new_document("page")
    for kind, target in (
        ("class", "shape"),
        ("class", "n"),
        ("class", "T"),
        ("class", "Csr"),
        ("func", "copy"),
    ):
        page += pending_xref("", nodes.Text(target), refdomain="py", reftype=kind, reftarget=target)
    api.unlinked(page)
    assert page.astext().split() == ["shape", "n", "T", "Csr", "copy"], "the words stay"
    assert [link["reftarget"] for link in page.findall(pending_xref)] == ["Csr", "copy"]


def test_a_page_shows_defaults_as_the_source_has_them():
    """A default such as a module would show a folder of the machine that builds the site."""
    text = (repo_root() / "docs" / "site" / "conf.py").read_text(encoding="utf-8")
    settings = {
        ast.unparse(node.targets[0]): node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
    }
    assert ast.literal_eval(settings["autodoc_preserve_defaults"]) is True
    assert api.unseen(ast) and api.unseen(CSR.indptr) and not api.unseen(CSR) and not api.unseen("Alias")


def test_every_name_on_an_overview_has_a_sentence():
    exporting = {
        init.parent
        for init in rooms.PACKAGE.rglob("__init__.py")
        if "\n__all__ =" in init.read_text(encoding="utf-8")
    }
    offered = {}
    for path in sorted(rooms.PACKAGE.rglob("*.py")):
        module = ".".join(("course_pkg", *path.relative_to(rooms.PACKAGE).with_suffix("").parts))
        inside = exporting & set((path.parent if path.stem == "__init__" else path).parents)
        if not module.startswith(APART) and not inside and path.stem != "cases":
            said = api.offered(module.removesuffix(".__init__"))
            offered |= {f"{module}.{name}": sentence for name, sentence in said.items()}
    assert len(offered) > 500 and [name for name, said in offered.items() if not said] == []


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


def test_every_package_says_what_it_offers_and_no_module_is_taken_for_a_name():
    """`course_pkg.simt` exports its module `api`, which it imports from itself."""
    packages = [
        ".".join(("course_pkg", *init.parent.relative_to(rooms.PACKAGE).parts))
        for init in sorted(rooms.PACKAGE.rglob("__init__.py"))
    ]
    offered = {package: api.offered(package) for package in packages}
    assert len(packages) > 30 and "Kernel" in offered["course_pkg.simt"]
    assert "api" not in offered["course_pkg.simt"]


def test_the_page_of_exercises_says_what_each_asks_for():
    """Its time, its points and its parts are those of the exercise; each links to its page and to its lecture."""
    root = repo_root()
    notebooks = sorted(root.glob("exercises/*/*.ipynb"))
    found = exercises(notebooks, sorted(root.glob("lectures/[0-9]*.ipynb")))
    cards = found.split("<section>")[1:]
    assert len(cards) == len(notebooks) >= 9
    for path, card in zip(notebooks, cards, strict=True):
        text = path.read_text(encoding="utf-8")
        points = [int(n) for n in re.findall(r'class="count">(\d+) point', card)]
        assert len(points) == text.count('"## Part ') and f"{sum(points)} points</p>" in card
        assert f'href="exercises/{path.stem}/{path.stem}.html"' in card
        assert f'after <a href="lectures/{path.stem}.html">lecture {int(path.stem[:2])}</a>, about' in card
