"""Tables: an answer that returns what the right one returned for the visible tests gains nothing when it is graded."""

import ast
import base64
import pickle
import runpy

import notebooks
import pytest
import submissions as s

pytestmark = [pytest.mark.slow(30), pytest.mark.filterwarnings("ignore::UserWarning")]

ANSWER = """
import base64
import pickle

SEEN = pickle.loads(base64.b64decode("{seen}"))


def remembered(name, values):
    found = SEEN.get(name, {{}})
    key = repr([getattr(v, "tolist", lambda v=v: v)() for v in values])
    return found.get(key, next(iter(found.values()), None))
"""
FUNCTION = """

def {name}(*values):
    return remembered("{name}", values)
"""


def functions(cell) -> list[str]:
    """The functions of an answer that has nothing but plain ones: no kernels, launches or ranks."""
    found = [part for part in ast.parse(cell.source).body if isinstance(part, ast.FunctionDef)]
    return [] if "cuda." in cell.source or any(f.decorator_list for f in found) else [f.name for f in found]


def answered(source):
    """The answers of an exercise that are nothing but plain functions, by the ids of their cells."""
    cells = s.by_id(notebooks.solution(source))
    return {n: found for n, c in cells.items() if c.metadata.nbgrader.solution and (found := functions(c))}


ASKED = {source: found for source in s.SOURCES.values() if (found := answered(source))}


def seen_by_visible_tests(source, folder):
    """What each function of the solution returned in the visible tests, by its arguments."""
    seen, lines = {}, []

    def kept(name, function):
        def call(*values, **named):
            key = repr([getattr(v, "tolist", lambda v=v: v)() for v in [*values, *named.values()]])
            result = function(*values, **named)
            # as it was when it was returned
            seen.setdefault(name, {})[key] = pickle.loads(pickle.dumps(result))
            return result

        return call

    for cell in notebooks.solution(source).cells:
        if cell.cell_type != "code" or "BEGIN HIDDEN" in cell.source:
            continue
        lines += [cell.source]
        if cell.metadata.get("nbgrader", {}).get("grade_id") in ASKED[source]:
            lines += [f"{name} = kept({name!r}, {name})" for name in functions(cell)]
    file = folder / "answers.py"  # the interpreter reads a kernel's text in its file
    file.write_text("\n\n".join(lines), encoding="utf-8")
    runpy.run_path(str(file), {"kept": kept})
    return seen


@pytest.mark.parametrize("source", ASKED, ids=lambda path: path.stem)
def test_a_table_of_results_gets_no_points(source, tmp_path):
    seen = base64.b64encode(pickle.dumps(seen_by_visible_tests(source, tmp_path))).decode()
    answers = {
        cell: ANSWER.format(seen=seen) + "".join(FUNCTION.format(name=name) for name in names)
        for cell, names in ASKED[source].items()
    }
    others = [
        name
        for name, cell in s.by_id(notebooks.solution(source)).items()
        if cell.metadata.nbgrader.solution and name not in answers
    ]
    report = s.grade(s.submission(answers, others, source), source, seed=99)
    assert report.points == 0, [cell for cell in report.cells if cell.points]


def test_most_exercises_ask_for_functions():
    assert len(ASKED) >= 7 and sum(map(len, ASKED.values())) >= 15
