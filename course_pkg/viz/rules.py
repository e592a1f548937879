"""Rules for fusion as glyphs: pairs of operations in the planner's shapes, and whether each pair may share a kernel."""

from dataclasses import dataclass

from course_pkg.core import CourseError
from course_pkg.viz import strip
from course_pkg.viz.nodes import COLOURS, shape
from course_pkg.viz.picture import Steps, draw
from course_pkg.viz.style import COMPUTE, GAIN, INK, MUTED

WIDTH, ROW = 760.0, 60.0  # points
NODE, LINK = (92.0, 34.0), 26.0
FRAME, WORDS = 8.0, 296.0  # around the nodes; where the words begin
TEXT, SMALL = 14.5, 13.0
LETTERS = 58  # letters of the longest line that fits


@dataclass(frozen=True)
class Rule:
    """Two operations, one after the other, and whether one kernel may do both.

    Attributes
    ----------
    kinds : (str, str)
        ``"map"``, ``"stencil"`` or ``"reduction"``.
    legal : bool
    why : str
        A sentence of at most two lines.
    field : str
        What goes from the first to the second.

    Examples
    --------
    >>> Rule(("stencil", "reduction"), True, "Summed on its way to memory.", "s").legal
    True
    """

    kinds: tuple[str, str]
    legal: bool
    why: str
    field: str = ""


def rules_picture(rules) -> Steps:
    """Draw each rule as a row; on a slide, each appears at a key.

    Parameters
    ----------
    rules : sequence of Rule

    Raises
    ------
    CourseError
        If there is no rule, a kind is unknown, or a sentence is too long.

    Examples
    --------
    >>> rules_picture([Rule(("reduction", "map"), False, "The sum is known when all blocks have ended.")]).alt
    'reduction then map in one kernel: no. The sum is known when all blocks have ended.'
    """
    rules = list(rules)
    if not rules:
        raise CourseError("There is nothing to draw: pass at least one rule.")
    for rule in rules:
        if strange := set(rule.kinds) - set(COLOURS):
            raise CourseError(f"{', '.join(strange)}: an operation is one of {', '.join(COLOURS)}.")
        if len(strip.folded(rule.why, LETTERS)) > 2:
            raise CourseError(f"Two lines of {LETTERS} letters fit beside a glyph: shorten “{rule.why}”")
    height = ROW * len(rules) + 4

    def plot(figure):
        ax = strip.sheet(figure)
        ax.set(xlim=(0, WIDTH), ylim=(0, height))
        for i, rule in enumerate(rules):
            _row(ax, rule, height - 2 - ROW * (i + 0.5), f"step-{i + 1}")

    said = [f"{' then '.join(r.kinds)} in one kernel: {'yes' if r.legal else 'no'}. {r.why}" for r in rules]
    return draw(plot, " ".join(said), size=(WIDTH / 72, height / 72), steps=True)


def _row(ax, rule, y, gid):
    (wide, tall), x = NODE, 16.0
    strip.cell(ax, x - FRAME, y - tall / 2 - FRAME, 2 * wide + LINK + 2 * FRAME, tall + 2 * FRAME, f"{gid}-frame",
               radius=8, facecolor="#F1F2F4", edgecolor=GAIN if rule.legal else COMPUTE, linewidth=2.2)  # fmt: skip
    for i, kind in enumerate(rule.kinds):
        at = x + i * (wide + LINK)
        shape(ax, kind, at, y - tall / 2, wide, tall, f"{gid}-node-{i}")
        ax.text(at + wide / 2, y, kind, size=SMALL, weight="bold", ha="center", va="center_baseline",
                zorder=4).set_gid(f"{gid}-kind-{i}")  # fmt: skip
    start, end = x + wide, x + wide + LINK
    arrow = ax.annotate("", (end, y), (start, y), arrowprops={"arrowstyle": "-|>", "color": MUTED, "lw": 1.8})
    arrow.set_gid(f"{gid}-arrow")
    arrow.arrow_patch.set_gid(f"{gid}-arrow-line")
    if rule.field:
        ax.text((start + end) / 2, y + 9, rule.field, size=SMALL, color=INK, ha="center").set_gid(
            f"{gid}-field"
        )
    strip.verdict(ax, WORDS - 30, y, rule.legal, f"{gid}-verdict", size=11)
    lines = strip.folded(rule.why, LETTERS)
    for i, line in enumerate(lines):
        ax.text(WORDS, y + 9 * (len(lines) - 1) - 18 * i, line, size=TEXT, va="center_baseline",
                parse_math=False).set_gid(f"{gid}-words-{i}")  # fmt: skip
