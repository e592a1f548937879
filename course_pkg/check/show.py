"""Show a report: as text, as JSON, and as a page with the annotated source and pictures of its worst lines."""

import html as markup
import json
import textwrap

from course_pkg.check.facts import facts, sentences
from course_pkg.check.found import CLEAN, HAZARDS, NOT_RUN, WORDS, Checked, Report
from course_pkg.core.machine import Machine

WIDTH = 110
PICTURES = 3  # per kernel


def as_text(report: Report, machine: Machine, *, width: int = WIDTH) -> str:
    """Return a report as lines of text; the last one is the verdict on the file."""
    lines = [line for kernel in report.kernels for line in _kernel(kernel, machine, width)]
    lines += [line for note in report.notes for line in _wrapped(f"note: {note}", "", width)]
    if report.error and report.error not in report.notes:
        lines += _wrapped(report.error, "", width)
    return "\n".join([*lines, verdict(report)])


def verdict(report: Report) -> str:
    """Return one line: how many kernels have hazards, are clean, or could not run."""
    words = {CLEAN: "clean", HAZARDS: "with hazards", NOT_RUN: "could not run"}
    counted = {word: sum(k.status == status for k in report.kernels) for status, word in words.items()}
    n = len(report.kernels)
    found = ", ".join(f"{n} {word}" for word, n in counted.items() if n)
    return f"{report.file}: {n} kernel{'' if n == 1 else 's'}{': ' + found if found else ''}"


def _kernel(kernel: Checked, machine, width):
    yield f"{kernel.file}:{kernel.line}: {kernel.name}: {kernel.verdict}"
    for hazard, trial in kernel.hazards:
        yield from _wrapped(hazard_line(hazard, trial), "  ", width)
        yield from _wrapped(f"({trial.origin}) {kernel.remark(hazard)}", "    ", width)
    for note, trial in kernel.notes:
        yield from _wrapped(note_line(note, trial), "  ", width)
    for error in kernel.errors:
        yield from _wrapped(error, "  ", width)
    trial = kernel.shown
    if trial is not None:
        yield from _wrapped(f"{'launch':<10} {_launch(trial)}", "  ", width, 13)
        for name, text in sentences(trial, machine):
            yield from _wrapped(f"{name:<10} {text}", "  ", width, 13)


def _launch(trial) -> str:
    grid, block = (" × ".join(map(str, _short(e))) for e in (trial.grid, trial.block))
    return f"grid {grid}, block {block}; {trial.arguments or 'no arguments'}; {trial.origin}"


def _short(extents):
    used = max((i + 1 for i, n in enumerate(extents) if n > 1), default=1)
    return extents[:used]


def place(hazard, trial) -> str:
    """Return file and line of a hazard."""
    source = trial.profile.sources.get(hazard.function)
    return f"{source.file if source else trial.file}:{hazard.line}"


def hazard_line(hazard, trial) -> str:
    """Return place, kind and message of a hazard, as the text report shows them."""
    return f"{place(hazard, trial)}: {hazard.words}: {said(hazard)}"


def note_line(note, trial) -> str:
    """Return place, kind and message of a note, as the text report shows them."""
    return f"{place(note, trial)}: note, {note.words}: {said(note)}"


def said(hazard) -> str:
    """Return a hazard's message; if it names only one line, without that line, because the place says it already."""
    return hazard.message if len(hazard.lines) > 1 else f"{hazard.event}{hazard.rest}"


def _wrapped(text, indent, width, hanging=2):
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + " " * hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def as_json(reports: list[Report], machine: Machine) -> str:
    """Return reports as JSON: files, their kernels, hazards, launches and counts."""
    return json.dumps([_report_dict(report, machine) for report in reports], indent=1)


def _report_dict(report, machine):
    return {
        "file": report.file,
        "status": WORDS[report.status],
        "error": report.error,
        "notes": report.notes,
        "occupancy_on": machine.name,
        "kernels": [_kernel_dict(kernel, machine) for kernel in report.kernels],
    }


def _kernel_dict(kernel, machine):
    return {
        "name": kernel.name,
        "file": kernel.file,
        "line": kernel.line,
        "status": WORDS[kernel.status],
        "errors": kernel.errors,
        "hazards": [_hazard_dict(*pair, kernel.remark(pair[0])) for pair in kernel.hazards],
        "notes": [_hazard_dict(*pair) for pair in kernel.notes],
        "launches": [
            {
                "origin": t.origin, "arguments": t.arguments, "grid": t.grid, "block": t.block, "error": t.error,
                "facts": facts(t, machine).to_dict() if t.profile else None,
                "profile": t.profile.to_dict() if t.profile else None,
            }
            for t in kernel.trials
        ],
    }  # fmt: skip


def _hazard_dict(hazard, trial, remark=""):
    file, _, line = place(hazard, trial).rpartition(":")
    return {"kind": hazard.kind, "function": hazard.function, "file": file, "line": int(line),
            "array": hazard.array, "message": said(hazard), "remark": remark, "launch": trial.origin}  # fmt: skip


def as_html(reports: list[Report], machine: Machine) -> str:
    """Return an HTML page: for each kernel the verdict, the annotated source, and pictures of its worst lines."""
    body = "".join(_section(kernel, machine) for report in reports for kernel in report.kernels)
    verdicts = "".join(f"<p>{markup.escape(verdict(report))}</p>" for report in reports)
    notes = "".join(f"<p>{markup.escape(note)}</p>" for report in reports for note in report.notes)
    title = markup.escape(", ".join(report.file for report in reports))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>course check {title}</title><style>'
        "body{font-family:system-ui,sans-serif;max-width:76em;margin:2em auto;padding:0 1em;line-height:1.45;"
        "color:#1a1a1a;background:#fff}h2{margin:2em 0 .3em;border-top:1px solid #ccc;padding-top:1em}"
        "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15em 1em;margin:.6em 0}dt{font-weight:600}"
        "dd{margin:0}.hazard{border-left:4px solid #D55E00;padding-left:.7em}img{max-width:100%}"
        f"</style></head><body><h1>course check</h1>{verdicts}{notes}{body}</body></html>\n"
    )


def _section(kernel, machine) -> str:
    parts = [f"<h2>{markup.escape(kernel.name)}: {kernel.verdict}</h2>"]
    parts += [
        f'<p class="hazard"><b>{h.words}</b>, '
        f"{markup.escape(place(h, t))}: {markup.escape(said(h))} {kernel.remark(h)}</p>"
        for h, t in kernel.hazards
    ]
    parts += [f"<p>{markup.escape(error)}</p>" for error in kernel.errors]
    trial = kernel.shown
    if trial is not None:
        rows = [("launch", _launch(trial)), *sentences(trial, machine)]
        cells = "".join(f"<dt>{markup.escape(a)}</dt><dd>{markup.escape(b)}</dd>" for a, b in rows)
        parts += [f"<dl>{cells}</dl>", *_pictures(trial, machine), trial.profile._repr_html_()]
    return "".join(parts)


def _pictures(trial, machine):
    """Draw a warp's accesses on each of the worst lines; if no line wastes anything, on the one that moves most."""
    from course_pkg.viz import access_strip  # imports matplotlib

    lines = [(w.function, w.line) for w in facts(trial, machine).lines][:PICTURES]
    profile = trial.profile
    if not lines and profile.by_line:
        lines = [max(profile.by_line, key=lambda where: _moved(profile.by_line[where]))]
    for function, line in dict.fromkeys(lines):
        where = next(w for w in profile.by_line if (w.function, w.line) == (function, line))
        found = profile.accesses(where) if any(s.where == where for s in profile.sites) else []
        if found:
            worst = max(found, key=lambda a: (a.wavefronts, a.sectors))
            yield f"<p>{access_strip(worst)._repr_html_()}</p>"


def _moved(counts) -> int:
    return sum(getattr(counts, space).requests for space in counts.traffic())
