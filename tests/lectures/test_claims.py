"""Each claim of a lecture or exercise is listed in a table with its backing, and each backing is true."""

import ast
from functools import cache

import pytest
from claim_backing import KINDS, entries, holds, names_a_place
from claim_sentences import Sentence, Source, of_code, of_markdown

from course_pkg.grading import release
from course_pkg.paths import repo_root

ROOT = repo_root()
TABLES = ROOT / "lectures" / "claims"
SOURCES = {path.stem: path for path in sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py"))}
SOURCES |= {f"exercise_{path.stem}": path for path in release.sources()}
HOW = (
    "Say in lectures/claims/{name}.toml what backs each, in an entry [[claim]] with cell, says and one of record, "
    "asserts, source, derived or definition; or in [[not_a_claim]] with a reason; or leave the sentence out:\n"
)


@cache
def read(name):
    """Return a source."""
    return Source(SOURCES[name])


def table(name):
    return entries(TABLES / f"{name}.toml")


def test_every_source_has_a_table_and_no_table_is_without_source():
    assert {path.stem for path in TABLES.glob("*.toml")} == set(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_what_claims_is_listed(name):
    listed = [entry.says for kind in table(name) for entry in kind]
    missing = unlisted(read(name).sentences, listed, markdown_only=name.startswith("exercise"))
    assert not missing, HOW.format(name=name) + "\n".join(missing)


def unlisted(sentences, listed, *, markdown_only=False):
    """Return the sentences with claiming words that no entry says, each with these words."""
    return [
        f"  under {s.cell!r}: {s.text}   (not listed: {', '.join(words)})"
        for s in sentences
        if (words := s.uncovered(listed)) and not (markdown_only and s.in_code)
    ]


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_listed_stands_there_once_under_its_heading(name):
    wrong = []
    for entry in (entry for kind in table(name) for entry in kind):
        sentences = read(name).sentences
        where = [s.cell for s in sentences if entry.says == s.text] or [
            s.cell for s in sentences if entry.says in s.text
        ]
        if len(entry.says) < 3 or where != [entry.cell]:
            wrong.append(f"  {entry.says!r}: listed under {entry.cell!r}, stands under {where}")
    assert not wrong, (
        f"lectures/claims/{name}.toml: each entry says a part of one sentence of its cell.\n"
        + "\n".join(wrong)
    )


@pytest.mark.parametrize("name", SOURCES)
def test_each_claim_has_one_backing_and_it_holds(name):
    claims, others = table(name)
    wrong = [f"  {c.says!r}: {why}" for c in claims if (why := unbacked(c.backing, read(name).checks))]
    wrong += [
        f"  {c.says!r}: give a reason"
        for c in others
        if set(c.backing) != {"reason"} or not c.backing["reason"]
    ]
    assert not wrong, f"lectures/claims/{name}.toml:\n" + "\n".join(wrong)


def unbacked(backing, checks):
    """Return why this does not back a claim, or nothing."""
    if len(backing) != 1 or next(iter(backing)) not in KINDS:
        return f"give exactly one of {', '.join(KINDS)}; there is {', '.join(backing) or 'none'}"
    [(kind, value)] = backing.items()
    if kind == "asserts":
        return "" if ast.unparse(ast.parse(value)) in checks else f"no cell of the lecture checks: {value}"
    if kind == "source":
        return (
            ""
            if names_a_place(value)
            else "cite a year, and a page, section, equation or table, or say: as a whole"
        )
    if kind == "definition":
        return "" if value is True else "definition = true"
    why = holds(value, by_record=kind == "record")
    return why and f"{kind} = {value!r}: {why}"


@pytest.mark.parametrize(
    "text",
    [
        "It takes 3 times as long.",
        "The second is faster.",
        "This never happens.",
        "A kernel reads half of it.",
        "Only the first one counts.",
        "All of 512³ points.",
    ],
)
def test_a_new_claim_is_found(text):
    [found] = of_markdown(text)
    assert unlisted([Sentence(found, "Here")], ["something else"]) != []


@pytest.mark.parametrize(
    "text",
    [
        "Which is faster?",
        "See lecture 2, parts 1 and 2, and puzzle 3.",
        "An H200 has `32` of $x_2$.",
        "Rows in, columns out.",
    ],
)
def test_what_claims_nothing_is_left_alone(text):
    [found] = of_markdown(text)
    assert Sentence(found, "Here").claims == []


def test_an_entry_covers_what_it_says_and_no_more():
    sentence = Sentence("It moves 64 bytes, and is 3 times as fast.", "Here")
    assert unlisted([sentence], ["moves 64 bytes"]) != []
    assert unlisted([sentence], ["moves 64 bytes", "3 times as fast"]) == []


def test_sentences_of_markdown():
    text = "## Heading\n\nOne. Two\nlines.\n\n- a\n- b 1.5\n  more\n\n> Note.\n> Of two lines.\n\n"
    text += "```python\ncode\n```\n| x | 2 |\n|---|---|"
    assert of_markdown(text) == [
        "## Heading", "One.", "Two lines.", "a", "b 1.5 more", "Note.", "Of two lines.", "| x | 2 |",
    ]  # fmt: skip


def test_sentences_of_code():
    code = '''
def row():
    """Nobody is shown this docstring."""
    assert x, "nobody is shown this either"
guess = viz.Prediction("id", f"A question of {n} words or more?", ["a guess of some four words"])
guess.reveal(f"It took {t:.2f} times " "as long as that. And more.")
guess.reveal(x, right="half as long as the other" if t < 0.7 else f"more than {n} times as long")
guess.reveal(x, right="who states it claims it")
key = "two words"
'''
    assert of_code(ast.parse(code)) == [
        "A question of {…} words or more?", "It took {…} times as long as that.", "And more.",
        "who states it claims it",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("backing", "complaint"),
    [
        ({"definition": True, "derived": "1 == 1"}, "exactly one"),
        ({}, "exactly one"),
        ({"asserts": "assert b > a"}, "no cell"),
        ({"source": "Somebody, Some work, 2020"}, "cite"),
        ({"derived": "1 == 2"}, "not so"),
        ({"derived": "vector('copy', n=2**30).median_s > 0"}, "asks for a record"),
        ({"record": "1 == 1"}, "asks for no record"),
        ({"record": "vector('copy', n=7).median_s > 0"}, "CourseError"),
        ({"record": "vector('copy', n=2**30).median_s < 0"}, "not so"),
        ({"record": "traffic('no such case')['x']"}, "has not counted no such case"),
    ],
)
def test_what_does_not_back_a_claim(backing, complaint):
    assert complaint in unbacked(backing, {"assert a < b"})


@pytest.mark.parametrize(
    "backing",
    [
        {"asserts": "assert a<b"},
        {"source": "Saad, Iterative methods for sparse linear systems, 2003, section 6.7"},
        {"source": "Somebody, A short note, 1995, as a whole"},
        {"derived": "2 + 2 == 4"},
        {"derived": "sum(drawn('sparse_formats')['LENGTHS']) == 20"},
        {"record": "vector('copy', n=2**30).median_s > 0"},
        {"definition": True},
    ],
)
def test_what_backs_a_claim(backing):
    assert unbacked(backing, {"assert a < b"}) == ""
