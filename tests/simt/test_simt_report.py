"""Reports of a profile: a table of at most 100 columns, and an HTML page with the annotated source."""

import re
from collections import namedtuple
from dataclasses import dataclass
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from course_pkg.core.cost import Cost
from course_pkg.simt.memory.hazard import Hazard
from course_pkg.simt.report import listing
from course_pkg.simt.report.page import as_text, html
from course_pkg.viz import style

SourceLine = namedtuple("SourceLine", "function line")
NAMES = (
    "thread_accesses",
    "requests",
    "sectors",
    "bytes_requested",
    "unique_bytes",
    "block_unique_bytes",
    "wavefronts",
    "bank_conflicts",
)


@dataclass
class Counts:
    """What a profile keeps for one space of memory."""

    thread_accesses: int = 0
    requests: int = 0
    sectors: int = 0
    bytes_requested: int = 0
    unique_bytes: int = 0
    block_unique_bytes: int = 0
    wavefronts: int = 0
    bank_conflicts: int = 0

    @property
    def sectors_per_request(self):
        return self.sectors / self.requests if self.requests else 0.0


class Flops:
    def __init__(self, **by_precision):
        kinds = dict.fromkeys(("add", "mul", "fma", "div", "sqrt", "special"), 0)
        self.by_precision = {p: SimpleNamespace(**kinds | k) for p, k in by_precision.items()}
        self.total = sum(n * (1 + (k == "fma")) for c in by_precision.values() for k, n in c.items())


def spaces(**counts):
    return {name: counts.get(name, Counts()) for name in listing.SPACES}


def hazard(line, message="Two threads write tile[0]: lines 12 and 14 need a barrier between.", kind="race"):
    return Hazard(kind, line, None, None, (), message, "", "blur")


LOAD = Counts(1_835_008, 56_832, 462_848, 14_680_064, 2_097_152, 4_194_304)
TILE = Counts(4096, 128, 0, 32_768, 8192, 8192, 4096, 3840)


BYTES = {"none": 14_680_064, "block": 4_194_304, "perfect": 2_097_152}


def profile(**changed):
    lines = [
        "@cuda.jit",
        "def blur(u, out):",
        "    i = cuda.grid(1)",
        "    if i < u.size & 1:",
        "        out[i] = tile[0, i] + u[i]",
    ]
    by_line = {
        SourceLine("blur", 14): SimpleNamespace(
            **spaces(global_load=LOAD, shared_load=TILE), flops=Flops(float64={"add": 262_144}), hazards=[]
        )
    }
    found = {
        "kernel": "blur",
        "grid": (2, 16, 32),
        "block": (32, 4, 2),
        **spaces(global_load=LOAD, shared_load=TILE),
        "by_line": by_line,
        "flops": Flops(float64={"add": 262_144, "fma": 7}, float32={}),
        "integer_ops": 1234,
        "active_lanes": 31.54,
        "barriers": 2048,
        "hazards": [],
        "sources": {
            "blur": SimpleNamespace(name="blur", file="/home/me/blur.py", first_line=10, lines=lines)
        },
        "cost": lambda reuse="none": Cost(BYTES[reuse], 0, 262_144),
    }
    return SimpleNamespace(**(found | changed))


def test_the_table_has_one_row_for_each_memory_that_was_used():
    text = as_text(profile())
    rows = {line[:11]: line.split() for line in text.splitlines() if line.startswith(("global", "shared"))}
    assert rows["global load"][2:] == [
        "1,835,008",
        "56,832",
        "462,848",
        "8.14",
        "14,680,064",
        "2,097,152",
        "–",
        "–",
    ]
    assert rows["shared load"][2:] == ["4,096", "128", "–", "–", "32,768", "8,192", "4,096", "3,840"]
    assert "local" not in text
    assert "atomics" not in text


def test_the_table_says_what_was_computed():
    text = as_text(profile())
    assert text.startswith("blur: grid 2 × 16 × 32, block 32 × 4 × 2\n")
    assert "float64 flops: 262,144 add, 7 fma\n" in text
    assert "float32" not in text, "a precision that did nothing is left out"
    assert "intensity: 0.0179 flop/byte without reuse" in text
    assert "0.125 with a perfect cache" in text
    assert "lanes at work: 31.5 of 32\n" in text
    assert "barriers: 2,048\n" in text
    assert text.endswith("no hazards found")


def test_arrays_in_registers_are_named():
    assert "registers" not in as_text(profile())
    assert "local arrays kept in registers: queue, row\n" in as_text(profile(in_registers=("queue", "row")))


def test_columns_that_no_memory_needs_are_left_out():
    assert "conflicts" not in as_text(profile(shared_load=Counts()))
    assert "sectors" not in as_text(profile(global_load=Counts()))
    assert "no memory touched" in as_text(profile(shared_load=Counts(), global_load=Counts()))


def test_a_kernel_without_global_traffic_has_no_intensity():
    assert "intensity" not in as_text(profile(cost=lambda reuse="none": Cost()))
    assert "flops: none" in as_text(profile(flops=Flops()))


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_no_line_is_wider_than_100_columns(scale):
    huge = Counts(*(scale * 1_234_567 for _ in NAMES))
    many = [hazard(14, "A word and another one, and so on. " * 9)]
    text = as_text(profile(**spaces(global_load=huge, shared_store=huge, constant_load=huge), hazards=many))
    assert max(map(len, text.splitlines())) <= 100
    name = "a_kernel_with_a_name_" * 4
    assert max(map(len, as_text(profile(kernel=name)).splitlines())) <= 100


def test_exact_numbers_stay_while_there_is_room():
    assert "14,680,064" in as_text(profile())
    billions = Counts(*(1_234_567_890 for _ in NAMES))
    text = as_text(profile(global_load=billions, shared_load=billions))
    assert "1.15 GiB" in text, "bytes become short first"


def test_hazards_are_listed_with_their_lines():
    found = [hazard(14), hazard(12, "out[9] is beyond the end.", "out_of_bounds")]
    text = as_text(profile(hazards=found))
    assert "2 hazards:\n  race, blur, line 14: Two threads write tile[0]" in text
    assert "\n  out of bounds, blur, line 12: out[9] is beyond the end." in text
    assert "no hazards" not in text


# ---- HTML


class Tags(HTMLParser):
    """Reads HTML and checks that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.rows, self.text = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_source_lines_carry_their_counts():
    rows = Tags(html(profile())).rows
    (line,) = [row for row in rows if row[-1].endswith("tile[0, i] + u[i]")]
    assert line == [
        "100%",
        "56,960",
        "462,848",
        "4,096",
        "262,144",
        "14",
        "        out[i] = tile[0, i] + u[i]",
    ]
    (quiet,) = [row for row in rows if row[-1] == "def blur(u, out):"]
    assert quiet == ["", "", "", "", "", "11", "def blur(u, out):"]


def test_source_is_escaped():
    found = hazard(13, "u[<i>] is & stays astray.")
    text = html(profile(hazards=[found], kernel="<b>blur</b>"))
    assert "if i &lt; u.size &amp; 1:" in text
    assert "u[&lt;i&gt;] is &amp; stays astray." in text
    assert "i < u" not in text
    assert "<i>" not in text
    assert "<b>blur" not in text


def test_a_hazard_stands_beneath_its_line():
    rows = Tags(html(profile(hazards=[hazard(12)]))).rows
    (at,) = [i for i, row in enumerate(rows) if row[-1].endswith("i = cuda.grid(1)")]
    assert rows[at + 1][-1].startswith("⚠ race: line 12: Two threads write tile[0]")
    assert sum("⚠" in "".join(row) for row in rows) == 1
    assert "1, marked in the source" in html(profile(hazards=[hazard(12)]))
    assert "none found" in html(profile())


def test_bars_are_in_proportion_to_the_share_of_sectors():
    def line(sectors):
        return SimpleNamespace(**spaces(global_load=Counts(sectors, 1, sectors)), flops=Flops(), hazards=[])

    by_line = {SourceLine("blur", n): line(sectors) for n, sectors in ((12, 25), (13, 75))}
    changed = spaces(global_load=Counts(100, 2, 100))
    text = html(profile(by_line=by_line, **changed))
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%;[^\"]*background", text)]
    assert widths[1] == pytest.approx(3 * widths[0])
    assert [row[0] for row in Tags(text).rows if row[0].endswith("%")] == ["25%", "75%"]
    assert "share of sectors" in text


def test_a_kernel_of_shared_memory_only_is_marked_by_wavefronts():
    text = html(profile(global_load=Counts(), by_line={}))
    assert "share of wavefronts" in text


def test_screen_readers_find_heads_of_rows_and_columns():
    tags = Tags(html(profile())).seen
    scopes = [attributes.get("scope") for tag, attributes in tags if tag == "th"]
    assert set(scopes) == {"row", "col", "rowgroup"}
    assert sum(tag == "caption" for tag, _ in tags) == sum(tag == "table" for tag, _ in tags) == 2


def test_the_html_needs_nothing_else():
    text = html(profile())
    assert not re.search(r"<(style|script|link|img)|url\(|https?:", text)
    assert "/home/me" not in text, "a path tells whose machine it was"
    assert "blur.py" in text
    assert not re.search(r"[^-]color:\s*(#|black|white)", text), "text takes the theme's colour"


def test_colours_are_the_palettes():
    assert (listing.MEMORY, listing.COMPUTE) == (style.MEMORY, style.COMPUTE)


def test_a_kernel_that_touches_nothing_is_said_to():
    empty = profile(**spaces(), by_line={}, flops=Flops(), cost=lambda reuse="none": Cost())
    assert "touches no memory" in html(empty)
    assert "%" not in "".join(Tags(html(empty)).text)
