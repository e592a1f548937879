"""Show a profile to people: as a short table of text or, in a notebook, as HTML with the annotated source.

This module only reads attributes of a finished profile; it counts nothing.
"""

import html as markup
import textwrap

from course_pkg.core.units import format_bytes
from course_pkg.simt.report.listing import NAME, NUMBER, ROW, SPACES, TABLE, caption, head, listing
from course_pkg.simt.report.quantities import KINDS

WIDTH = 100


def as_text(profile) -> str:
    """Return the counts of a profile as text, at most 100 columns wide."""
    lines = textwrap.wrap(_title(profile), WIDTH, subsequent_indent="  ")
    for compact in (_exact, _bytes_short, _all_short):
        table = _aligned(_cells(profile, compact))
        if max(map(len, table)) <= WIDTH:
            break
    lines += table if any(_used(profile)) else ["no memory touched"]
    for name, text in _facts(profile):
        lines += textwrap.wrap(f"{name}: {text}", WIDTH, subsequent_indent="  ")
    return "\n".join([*lines, *_hazard_lines(profile.hazards), *_note_lines(profile)])


def html(profile) -> str:
    """Return the counts of a profile and its annotated source, as HTML without external files."""
    facts = "".join(
        f'<p style="margin:.25em 0;max-width:32em"><b>{markup.escape(name)}:</b> {markup.escape(text)}</p>'
        for name, text in [*_facts(profile), ("hazards", _verdict(profile.hazards)), *_notes(profile)]
    )
    title = f'<p style="margin:0 0 .4em;font-weight:600">{markup.escape(_title(profile))}</p>'
    return (
        f'<div class="course-profile" style="display:flex;flex-wrap:wrap;gap:1em 2em;align-items:flex-start;'
        f'color:var(--jp-content-font-color1,inherit);font-size:13px;line-height:1.4">'
        f'<div style="flex:0 1 auto;max-width:100%;overflow-x:auto">{title}{_counts_table(profile)}{facts}</div>'
        f'<div style="flex:1 1 56em;min-width:0;overflow-x:auto">{listing(profile)}</div></div>'
    )


# ---- common to text and HTML


def _title(profile):
    grid, block = (" × ".join(map(str, shape)) for shape in (profile.grid, profile.block))
    return f"{profile.kernel}: grid {grid}, block {block}"


def _used(profile):
    for space in SPACES:
        counts = getattr(profile, space)
        if counts.thread_accesses or counts.requests:
            yield space.replace("_", " "), counts


def _columns(profile):
    """Yield the names of the columns that this profile needs, each with the attribute that it shows."""
    columns = [("thread accesses", "thread_accesses"), ("requests", "requests")]
    rows = [counts for _, counts in _used(profile)]
    if any(counts.sectors for counts in rows):
        columns += [("sectors", "sectors"), ("sectors/ request", "sectors_per_request")]
    columns += [("bytes requested", "bytes_requested"), ("unique bytes", "unique_bytes")]
    if any(counts.wavefronts for counts in rows):
        columns += [("wave- fronts", "wavefronts"), ("bank conflicts", "bank_conflicts")]
    return columns


def _cells(profile, number):
    """Return the table as rows of text; columns that do not apply to a kind of memory are empty."""
    columns = _columns(profile)
    yield ["", *(name for name, _ in columns)]
    for space, counts in _used(profile):
        yield [space, *(_cell(counts, attribute, number) for _, attribute in columns)]


def _cell(counts, attribute, number):
    if attribute in ("sectors", "sectors_per_request") and not counts.sectors:
        return "–"
    if attribute in ("wavefronts", "bank_conflicts") and not counts.wavefronts:
        return "–"
    return number(attribute, getattr(counts, attribute))


def _exact(attribute, value):
    return f"{value:.2f}" if attribute == "sectors_per_request" else f"{value:,}"


def _bytes_short(attribute, value):
    return format_bytes(value) if "bytes" in attribute else _exact(attribute, value)


def _all_short(attribute, value):
    exact = _bytes_short(attribute, value)
    return exact if len(exact) < 9 else f"{value:.3g}".replace("e+", "e").replace("e0", "e")


def _facts(profile):
    flops = [(name, counts) for name, counts in profile.flops.by_precision.items() if _kinds(counts)]
    for name, counts in flops:
        yield f"{name} flops", _kinds(counts)
    if not flops:
        yield "flops", "none"
    elif profile.cost().bytes:
        none, block, perfect = (profile.cost(reuse).intensity for reuse in ("none", "block", "perfect"))
        yield (
            "intensity",
            f"{none:.3g} flop/byte without reuse, {block:.3g} with reuse in a block, "
            f"{perfect:.3g} with a perfect cache",
        )
    yield "integer operations", f"{profile.integer_ops:,}"
    yield "lanes at work", f"{profile.active_lanes:.1f} of 32"
    yield "barriers", f"{profile.barriers:,}"
    yield from _not_exact(getattr(profile, "doubtful", {}).values())
    if getattr(profile, "in_registers", ()):
        yield "local arrays kept in registers", ", ".join(profile.in_registers)


def _not_exact(doubtful):
    """Yield a fact for each place in the source because of which counters are uncertain."""
    places: dict = {}
    for one in doubtful:
        places.setdefault((one.word, one.function, one.line, one.reason), []).append(one.quantity)
    for (word, function, line, reason), quantities in places.items():
        names = ", ".join(quantity.replace("_", " ").replace(".", " ") for quantity in quantities)
        yield f"counts that are {word} what is shown", f"{names} ({function}, line {line}: {reason})"


def _kinds(counts):
    return ", ".join(
        f"{getattr(counts, operation):,} {operation}" for operation in KINDS if getattr(counts, operation)
    )


def _verdict(hazards):
    if not hazards:
        return "none found"
    return "1, marked in the source" if len(hazards) == 1 else f"{len(hazards)}, marked in the source"


# ---- text


def _aligned(rows):
    names, *rows = rows
    cells = [*_two(names), *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    lines = [
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return [line.rstrip() for line in [*lines[:2], "  ".join("-" * w for w in widths), *lines[2:]]]


def _two(names):
    """Split the names of columns into two lines, so that the width depends on the numbers, not on the names."""
    pairs = [name.rsplit(" ", 1) if " " in name else ["", name] for name in names]
    return zip(*pairs, strict=True)


def _notes(profile):
    for note in getattr(profile, "notes", ()):
        yield f"note, {note.words}", str(note)


def _note_lines(profile):
    for name, text in _notes(profile):
        text = f"{name}: {text}"
        yield from textwrap.wrap(text, WIDTH, subsequent_indent="    ")


def _hazard_lines(hazards):
    if not hazards:
        return ["no hazards found"]
    lines = ["1 hazard:" if len(hazards) == 1 else f"{len(hazards)} hazards:"]
    for hazard in hazards:
        text = f"{hazard.words}, {hazard}"
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    return lines


# ---- HTML


def _counts_table(profile):
    """Return the counts with one column per memory, narrow enough to be shown beside the source."""
    names, *spaces = _cells(profile, _exact)
    if not spaces:
        return "<p>The kernel touches no memory.</p>"
    names = [name.replace("- ", "").replace("/ ", "/") for name in names]
    memories, *rows = zip(names, *spaces, strict=True)
    body = "".join(
        f'<tr style="{ROW}"><th scope="row" style="{NAME}">{name}</th>'
        + "".join(f'<td style="{NUMBER}">{cell}</td>' for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    heads = head(["memory", *memories[1:]])
    return f'<table style="{TABLE}">{caption("memory traffic")}{heads}<tbody>{body}</tbody></table>'
