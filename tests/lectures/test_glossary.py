"""The glossary: each word once, each link to it leads somewhere, each first use is linked."""

import re

import notebooks
import pytest
from glossary_words import GLOSSARY, METRIC, Word, first_uses, links, prose, words

from course_pkg.grading import release
from course_pkg.paths import repo_root

ROOT = repo_root()
LECTURES = sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py"))
SOURCES = [*LECTURES, *release.sources()]


def name(path):
    return f"{path.parent.name}/{path.stem}"


def test_each_word_stands_once():
    known = words()
    assert len(known) >= 60
    lower = [word.name.lower() for word in known]
    assert sorted(lower) == sorted(set(lower))
    assert all(re.fullmatch(r"[\w -]+", word.name) for word in known), (
        "its anchor would differ between programs"
    )


def test_meanings_are_sentences_and_short():
    for word in words():
        assert word.meaning.endswith(".") and len(word.meaning.split()) <= 45, word.name


def test_the_list_at_the_top_names_each_word():
    top = GLOSSARY.read_text(encoding="utf-8").split("\n## ")[0]
    listed = re.findall(r"\[([^\]]+)\]\(#([^)]+)\)", top)
    assert listed == [
        (word.name, word.anchor) for word in sorted(words(), key=lambda word: word.name.lower())
    ]


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_each_link_to_the_glossary_leads_to_a_word(source):
    anchors = {word.anchor for word in words()} | {""}
    for path, anchor in links(source.read_text(encoding="utf-8")):
        assert (source.parent / path).resolve() == GLOSSARY, f"{path}: from here the glossary is elsewhere"
        assert anchor in anchors, f"the glossary has no {anchor}"


@pytest.mark.parametrize("lecture", LECTURES, ids=name)
def test_each_word_is_linked_where_it_is_used_first(lecture):
    missing = unlinked(first_uses(LECTURES, words())[lecture])
    if not any(links(text) for text in prose(lecture)):
        pytest.skip(f"{lecture.stem} has no link to the glossary yet; to be linked: {', '.join(missing)}")
    assert not missing, f"{lecture.stem}: link the first use of these words:\n" + "\n".join(missing.values())


def unlinked(uses):
    """Return the words whose first use is not linked, each with the link to write and where."""
    return {
        word.name: f"  [{word.name}](glossary.md#{word.anchor}) in the cell {' '.join(text.split())[:90]!r}"
        for word, text in uses
        if word.anchor not in [anchor for _, anchor in links(text)]
    }


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_cells_use_the_names_of_profiles_and_not_metrics(source):
    cells = [cell.source for cell in notebooks.read(source).cells]
    found = [(metrics, cell) for cell in cells if (metrics := METRIC.findall(cell))]
    said = "\n".join(f"  {', '.join(metrics)} in the cell {cell[:60]!r}" for metrics, cell in found)
    assert not found, f"{name(source)}:\n{said}"


# ---- the test's own rules


WARP = Word("warp", "32 threads.", "-", "-", "-")


@pytest.mark.parametrize(
    "text",
    ["A warp reads.", "Two warps.", "**Warp** by warp", "the warp's lanes", "a [warp](glossary.md#warp)"],
)
def test_a_use_is_found(text):
    assert WARP.is_used(text)


@pytest.mark.parametrize(
    "text",
    [
        "warped",
        "`warp`",
        "$warp$",
        "## The warp",
        "```\nwarp\n```",
        "[x](warp.md)",
        "a warp-wide sum",
        "WARP",
    ],
)
def test_what_is_no_use_is_left_alone(text):
    assert not WARP.is_used(text)


@pytest.mark.parametrize(
    ("word", "text", "used"),
    [
        ("pass", "It takes 11 passes.", True),
        ("pass", "Pass an array, and it passes through L2.", False),
        ("bound", "the bound is near", True),
        ("bound", "memory-bound, bound to fail", False),
        ("scatter", "Times scatter, as the scatter of points", True),
        ("scatter", "Times scatter, and gather around a mean.", False),
        ("fill", "It fills the time; fill the gap", False),
        ("cache line", "two cache lines", True),
        ("bank conflict", "Bank conflicts cost", True),
        ("L1", "the L1 cache", True),
        ("SPD", "SPD matrices", True),
        ("SM", "132 SMs", True),
        ("stream", "the STREAM benchmark", False),
    ],
)
def test_everyday_words_count_where_they_mean_the_course_s(word, text, used):
    assert Word(word, ".", "-", "-", "-").is_used(text) is used


def test_first_uses_go_to_the_first_lecture_and_only_missing_links_are_named(tmp_path):
    texts = {
        "01_a": "# %% [markdown]\n# ## A lane\n\n# %% [markdown]\n# A warp and its [warp](glossary.md#warp).\n",
        "02_b": "# %% [markdown]\n# A warp of lanes.\n",
        "03_c": '# %% [markdown] slideshow={"slide_type": "notes"}\n# A sector.\n',
    }
    for stem, text in texts.items():
        (tmp_path / f"{stem}.py").write_text(text, encoding="utf-8")
    known = [Word(name, ".", "-", "-", "-") for name in ("warp", "lane", "sector")]
    found = first_uses(sorted(tmp_path.glob("*.py")), known)
    assert [(path.stem, [word.name for word, _ in uses]) for path, uses in found.items()] == [
        ("01_a", ["warp"]), ("02_b", ["lane"]), ("03_c", []),
    ]  # fmt: skip
    missing = [unlinked(uses) for uses in found.values()]
    assert missing == [{}, {"lane": "  [lane](glossary.md#lane) in the cell 'A warp of lanes.'"}, {}]


@pytest.mark.parametrize(
    ("text", "found"),
    [("dram__bytes_read.sum", True), ("x.__init__", False), ("__name__", False), ("a_b", False)],
)
def test_a_metric_is_told_from_python(text, found):
    assert bool(METRIC.search(text)) is found
