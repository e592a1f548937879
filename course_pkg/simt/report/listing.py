"""The annotated source of a profile: every line with its traffic; hot lines and hazards are marked."""

import html as markup

from course_pkg.core.errors import file_name
from course_pkg.simt.report.quantities import SPACES

MEMORY, COMPUTE = "#0072B2", "#D55E00"  # as in course_pkg.viz.style, which would import matplotlib

# Styles are inline, because a notebook that is not trusted loses its style sheets

NUMBER = "text-align:right;padding:1px 0 1px .9em;white-space:nowrap;font-variant-numeric:tabular-nums"
NAME = "text-align:left;padding:1px 0;white-space:nowrap;font-weight:600"
RULE = "1px solid var(--jp-border-color2,rgba(128,128,128,.45))"
TABLE = "border-collapse:collapse;border:0;font-size:inherit;margin:0 0 .6em;color:inherit"
ROW = "background:transparent;border:0"
CODE = (
    "text-align:left;white-space:pre;padding:0 0 0 1.2em;"
    "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace)"
)


def head(names) -> str:
    """Return the header row of a table: the first column and the source are left-aligned, numbers right-aligned."""
    cells = "".join(
        f'<th scope="col" style="{NUMBER if i and name != "source" else NAME};font-weight:600;white-space:normal;'
        f'{"padding-left:1.2em;" if name == "source" else ""}vertical-align:bottom;border-bottom:{RULE}">{name}</th>'
        for i, name in enumerate(names)
    )
    return f'<thead style="border:0"><tr style="{ROW}">{cells}</tr></thead>'


def caption(text) -> str:
    """Return a table's caption."""
    return f'<caption style="text-align:left;opacity:.75;padding:0 0 .2em">{text}</caption>'


class Heat:
    """The shares that the bars show: of the launch's sectors or, if it moves none, of its wavefronts."""

    def __init__(self, profile):
        counts = [getattr(profile, space) for space in SPACES]
        total = {a: sum(getattr(c, a) for c in counts) for a in ("requests", "sectors", "wavefronts")}
        self.columns = [name for name, n in total.items() if n]
        self.attribute = "sectors" if total["sectors"] else "wavefronts"
        self.total = total[self.attribute]

    def share(self, line) -> float:
        return _sum(line, self.attribute) / self.total if self.total else 0.0


def _sum(line, attribute):
    return sum(getattr(getattr(line, space), attribute) for space in SPACES)


def listing(profile) -> str:
    """Return one table of the source of the kernel and of each device function that it calls."""
    heat = Heat(profile)
    names = [f"share of {heat.attribute}", *heat.columns, "flops", "line", "source"]
    groups = "".join(_group(profile, name, source, heat) for name, source in profile.sources.items())
    return f'<table style="{TABLE}">{caption("source, line by line")}{head(names)}{groups}</table>'


def _group(profile, name, source, heat):
    columns = len(heat.columns)
    title = f"{markup.escape(name)}, {markup.escape(file_name(str(source.file)))}"
    rows = [
        f'<tr style="{ROW}"><td colspan="{columns + 3}" style="padding:0"></td>'
        f'<th scope="rowgroup" style="{NAME};padding:.4em 0 .1em 1.2em">{title}</th></tr>'
    ]
    for number, text in enumerate(source.lines, source.first_line):
        hazards = [h for h in profile.hazards if (h.function, h.line) == (name, number)]
        rows.append(_source_line(number, text, profile.by_line.get((name, number)), heat, hazards))
        rows += [_hazard_row(hazard, columns) for hazard in hazards]
    return f"<tbody>{''.join(rows)}</tbody>"


def _source_line(number, text, counts, heat, hazards):
    found = [0] * (len(heat.columns) + 1)
    if counts is not None:
        found = [*(_sum(counts, a) for a in heat.columns), counts.flops.total]
    mark = f"border-left:4px solid {COMPUTE if hazards else 'transparent'}"
    return (
        f'<tr style="{ROW}"><td style="{NAME};font-weight:400;padding-left:.5em;{mark}">'
        f"{_bar(heat.share(counts) if counts else 0.0)}</td>"
        + "".join(f'<td style="{NUMBER}">{f"{n:,}" if n else ""}</td>' for n in found)
        + f'<th scope="row" style="{NUMBER};font-weight:400;opacity:.75">{number}</th>'
        f'<td style="{CODE}">{markup.escape(text.rstrip()) or "&nbsp;"}</td></tr>'
    )


def _bar(share):
    if not share:
        return ""
    return (
        f'<span style="display:inline-block;width:6em;white-space:nowrap"><span style="display:inline-block;'
        f'width:{60 * share:.1f}%;min-width:1px;height:.75em;background:{MEMORY};margin-right:.35em"></span>'
        f"{100 * share:.0f}%</span>"
    )


def _hazard_row(hazard, columns):
    return (
        f'<tr style="{ROW}"><td colspan="{columns + 3}" style="border-left:4px solid {COMPUTE};padding:0"></td>'
        f'<td style="text-align:left;white-space:normal;padding:.1em 0 .4em 1.2em">'
        f'<div style="border-left:4px solid {COMPUTE};padding-left:.6em;max-width:46em">'
        f"<b>⚠ {markup.escape(hazard.words)}:</b> {markup.escape(hazard.message)}</div></td></tr>"
    )
