"""The feedback page of a submission: each answer, and for each test its mark and what is wrong.

`nbgrader generate_feedback` asks :class:`FeedbackPage` for it (see `nbgrader_config.py`). The page is one file. It
needs no network and runs no script; formulas are MathML.
"""

from html import escape

from nbconvert.exporters import Exporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from course_pkg.grading import pages
from course_pkg.grading.formulas import mathml
from course_pkg.grading.names import printable

UNTOUCHED = "No response."  # nbgrader's comment on an answer that the learner has not begun
STYLE = """
pre { background: var(--code-bg); padding: .6rem .8rem; border-radius: 4px; overflow-x: auto; line-height: 1.4; }
.k, .kn, .kd, .ow { font-weight: 600; } .c, .c1, .sd { color: var(--muted); font-style: italic; }
figure { margin: 1rem 0; } figcaption { font-weight: 600; }
.test { margin: 1rem 0; padding: .5rem .9rem; border: 1px solid var(--rule); border-radius: 4px; }
.test.full { border-left: 6px solid var(--full); } .test.part { border-left: 6px dashed var(--part); }
.test.none { border-left: 10px double var(--none); }
.test { color: var(--fg); font-weight: normal; } .test p { margin: .25rem 0; overflow-wrap: anywhere; }
.verdict { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; }
.formula { overflow-x: auto; padding: .3rem 0; } math[display=block] { margin: .4rem auto; }
.comment { border-left: 6px solid var(--rule); padding-left: .9rem; }
@media print { pre { white-space: pre-wrap; } .test { break-inside: avoid; } }
"""


class FeedbackPage(Exporter):
    """Make the page of a notebook that nbgrader has put marks and comments into."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(self, nb, resources=None, **options):
        """Return the page as text."""
        nb, resources = super().from_notebook_node(nb, resources, **options)
        return page(nb, resources["nbgrader"]), resources


def page(nb: NotebookNode, about: dict) -> str:
    """Return the feedback page of a graded notebook.

    Parameters
    ----------
    nb : NotebookNode
        Cells with ``score``, ``points`` and ``comment`` in nbgrader's metadata.
    about : dict
        ``score``, ``max_score``, ``late_penalty`` and the name of the ``notebook``, from nbgrader.
    """
    title = _title(nb) or about["notebook"]
    graded = [cell for cell in nb.cells if about_of(cell).get("grade")]
    got, most = pages.number(round(about["score"], 2)), pages.number(round(about["max_score"], 2))
    late = about.get("late_penalty") or 0
    penalty = f"<p>{pages.number(round(late, 2))} points are taken off, because it was handed in late.</p>\n"
    body = (
        f"<h1>Feedback on {escape(title)}</h1>\n<p><strong>{got} of {most} points</strong></p>\n"
        f"{penalty if late else ''}{_contents(graded)}{''.join(map(_cell, nb.cells))}"
    )
    return pages.page(f"Feedback on {title}", body, STYLE)


def about_of(cell: NotebookNode) -> dict:
    """Return nbgrader's metadata of a cell; empty if there are none."""
    return cell.metadata.get("nbgrader", {})


def _title(nb: NotebookNode) -> str:
    lines = (line for cell in nb.cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    return next((line[2:].strip() for line in lines if line.startswith("# ")), "")


def _contents(graded: list) -> str:
    rows = []
    for cell in graded:
        about, shown = about_of(cell), _mark(cell)
        rows.append(
            f'<tr><td><a href="#{escape(about["grade_id"])}">{escape(about["grade_id"])}</a></td>'
            f'<td class="mark {shown.kind}">{shown}</td><td class="number">{_points(cell)}</td></tr>\n'
        )
    head = '<tr><th>Test</th><th>Mark</th><th class="number">Points</th></tr>'
    return f'<div class="scroll"><table>\n{head}\n{"".join(rows)}</table></div>\n'


def _mark(cell: NotebookNode) -> pages.Mark:
    about = about_of(cell)
    return pages.mark(about.get("score") or 0, about.get("points") or 0)


def _points(cell: NotebookNode) -> str:
    about = about_of(cell)
    return f"{pages.number(round(about.get('score') or 0, 2))} of {pages.number(about.get('points') or 0)}"


def _cell(cell: NotebookNode) -> str:
    about = about_of(cell)
    if about.get("grade") and not about.get("solution"):
        return _test(cell)
    if about.get("solution") or about.get("task"):
        return _answer(cell)
    if cell.cell_type == "markdown":
        return _prose(cell.source)
    return _folded("Code that is given", cell.source) if cell.cell_type == "code" else ""


def _test(cell: NotebookNode) -> str:
    """Return what a test says: the sentence that it begins with, its mark and the reason."""
    about, shown = about_of(cell), _mark(cell)
    lines = cell.source.splitlines()
    what = next((line[2:] for line in lines if line.startswith("# ") and "BEGIN" not in line), "")
    code = [line for line in lines if line.strip() and not line.startswith("#")]
    reason = "" if shown.kind == pages.FULL else _reason(cell)
    parts = [
        f'<div class="verdict"><span class="{shown.kind}">{shown}</span>'
        f"<span><code>{escape(about['grade_id'])}</code> {_points(cell)}</span></div>\n",
        f'<p class="quiet">{pages.with_code(what)}</p>\n' if what else "",
        f"<p>{pages.with_code(reason)}</p>\n" if reason else "",
        _folded("The test", cell.source) if code else "",
    ]
    return f'<section class="test {shown.kind}" id="{escape(about["grade_id"])}">{"".join(parts)}</section>\n'


def _reason(cell: NotebookNode) -> str:
    """Return the whole feedback that the judge has put into the outputs of a test, however long it is."""
    said = [output.get("evalue", output.get("text", "")).strip() for output in cell.get("outputs", ())]
    return printable(" ".join(filter(None, said)))


def _answer(cell: NotebookNode) -> str:
    about = about_of(cell)
    points = f" ({_points(cell)})" if about.get("grade") else ""
    text = _prose(cell.source) if cell.cell_type == "markdown" else _code(cell.source)
    comment = about.get("comment")
    by_teacher = comment and comment != UNTOUCHED
    said = f'<div class="comment"><p>Your teacher says:</p>{_prose(comment)}</div>\n' if by_teacher else ""
    place = f' id="{escape(about["grade_id"])}"' if about.get("grade") else ""
    return f"<figure{place}><figcaption>Your answer{points}</figcaption>{text}{said}</figure>\n"


def _folded(title: str, source: str) -> str:
    return f'<details><summary class="quiet">{title}</summary>{_code(source)}</details>\n'


def _code(source: str) -> str:
    return Highlight2HTML(pygments_lexer="python3")(source)


def _prose(text: str) -> str:
    return MarkdownWithMath(renderer=Prose()).render(text)


class Prose(IPythonRenderer):
    """Renders the text of a notebook. HTML in it is shown as text, and only links into the web work."""

    def __init__(self):
        super().__init__(escape=False, exclude_anchor_links=True)

    def heading(self, text, level, **attributes):
        """Return a heading below that of the page."""
        return super().heading(text, min(level + 1, 6), **attributes)

    def inline_html(self, html):
        return escape(html)

    def block_html(self, html):
        return f"<p>{escape(html)}</p>\n"

    def inline_math(self, body):
        return mathml(body)

    def block_math(self, body):
        return f'<div class="formula">{mathml(body, "block")}</div>'

    def latex_environment(self, name, body):
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")

    def link(self, text, url, title=None):
        """Return a link into the web, or only the text of another link: the course's files are not beside the page."""
        return super().link(text, url, title) if url.startswith(("https://", "http://")) else text

    def image(self, text, url, title=None):
        """Return what stands in place of a picture: nothing is loaded from elsewhere."""
        return f"[{escape(text) or 'picture'}]"
