"""The README's pictures: a strip that moves, and figures of the lectures for light and for dark pages."""

import html
import re
import runpy
from functools import cache
from pathlib import Path

import numpy as np

from course_pkg import cuda, simt, viz

STRIDES = (1, 2, 4, 32)
SECONDS = 2.5  # of each frame
# figure: the script that draws it, the lecture that shows it
GALLERY = {
    "heat_passes": ("heat_passes", "02_memory_bound"),
    "tile_and_halo": ("tile_and_halo", "03_shared_memory"),
    "register_queue": ("register_queue", "04_registers"),
    "sparse_formats": ("sparse_formats", "06_permutations"),
    "sums_in_time": ("sums_in_time", "07_sstep_cg"),
    "qp_plane": ("qp_geometry", "08_quadratic_programming"),
}
COLUMNS = 2
ALONE = {
    "memory_wall": "measured",
    "rooflines": "measured",
}  # figures beside the README's text: their scripts
FOLDER = "docs/pictures"


@cuda.jit
def take(a, stride, out):
    """Read every stride-th element."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[stride * i]


def pictures() -> dict[str, viz.Picture]:
    """Return nothing: what this script draws is for the README, not for a lecture."""
    return {}


def pages() -> dict[str, str]:
    """Return the moving strip, light and dark, and the dark copies of the figures, by their paths."""
    moving = strip()
    drawn = {"strip": moving.svg, "strip-dark": dark(moving.svg)}
    drawn |= {f"{name}-dark": dark(picture.svg) for name, picture in shown().items()}
    return {f"{FOLDER}/{name}.svg": svg for name, svg in drawn.items()}


def tables() -> dict[str, str]:
    """Return the README's moving picture and its gallery."""
    both = {name: _both(f"figures/output/{name}.svg", name, picture.alt) for name, picture in shown().items()}
    cells = [
        f'<td width="50%"><a href="lectures/{lecture}.ipynb">{both[name]}</a><br>Lecture {int(lecture[:2])}</td>'
        for name, (_, lecture) in GALLERY.items()
    ]
    rows = [cells[i : i + COLUMNS] for i in range(0, len(cells), COLUMNS)]
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return {
        "strip": _both(f"{FOLDER}/strip.svg", "strip", strip().alt),
        "gallery": f"<table>\n{body}\n</table>",
        **{name.replace("_", "-"): both[name] for name in ALONE},
    }


@cache
def shown() -> dict[str, viz.Picture]:
    """Return the figures of the gallery, and those that stand alone."""
    here = Path(__file__).parent
    scripts = {name: script for name, (script, _) in GALLERY.items()} | ALONE
    drawn = {
        script: runpy.run_path(str(here / f"{script}.py"))["pictures"]() for script in {*scripts.values()}
    }
    return {name: drawn[script][name] for name, script in scripts.items()}


@cache
def strip() -> viz.Picture:
    """Return the accesses of one warp at several strides, one after the other."""
    numbers, taken = np.zeros(1024 * max(STRIDES)), np.zeros(1024)
    frames = []
    for stride in STRIDES:
        profile = simt.profile(take[8, 128], numbers, stride, taken)
        line = next(where for where, counts in profile.by_line.items() if counts.global_load)
        frames.append((stride, viz.access_strip(profile.accesses(line)[1])))
    alt = (
        "What a warp fetches when its lanes read doubles that lie a stride apart, counted by the interpreter."
    )
    said = " ".join(f"Stride {stride}: {picture.alt.partition('.')[0]}." for stride, picture in frames)
    moving = _moving([(f"stride {stride}", picture.svg) for stride, picture in frames])
    return viz.Picture(moving, f"{alt} {said}")


def _moving(frames: list[tuple[str, str]]) -> str:
    """Return frames that replace each other; where nothing moves, the first is shown."""
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', frames[0][1]).groups())
    share = 100 / len(frames)
    css = (
        "text{font-family:" + viz.style.SANS.replace('"', "'") + "}"
        ".f:not(.first){visibility:hidden}"
        f".f{{animation:f {SECONDS * len(frames)}s infinite step-end}}"
        f"@keyframes f{{0%{{visibility:visible}}{share:g}%{{visibility:hidden}}}}"
        "@media (prefers-reduced-motion:reduce){.f{animation:none}}"
    )
    title = (
        f'x="{width - 8:g}" y="22" text-anchor="end" font-size="17" font-weight="700" fill="{viz.style.INK}"'
    )
    groups = "".join(
        f'<g class="f{"" if i else " first"}" style="animation-delay:{SECONDS * i:g}s">{_inside(svg)}'
        f"<text {title}>{name}</text></g>"
        for i, (name, svg) in enumerate(frames)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="0 0 {width:g} {height:g}"><style>{css}</style>{groups}</svg>\n'
    )


def _inside(svg: str) -> str:
    """Return what a figure draws, without the names that only widgets and slides use."""
    body = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    body = body[body.index(">") + 1 : body.rindex("</svg>")]
    # a clip that stands in a hidden frame hides what it clips, in every frame
    body = re.sub(r"<clipPath.*?</clipPath>", "", body, flags=re.DOTALL)
    body = re.sub(r' clip-path="[^"]*"', "", body)
    used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', body))
    body = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", body)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"<!--.*?-->", "", body))


GROUND = "#ebeff5"  # turned, it is #0d1117, the ground of dark pages on GitHub; white would be black there


def dark(svg: str) -> str:
    """Return a figure for a dark page: lightness inverted, hues kept, and white areas like the ground of the page."""
    turned = 'style="filter:invert(1) hue-rotate(180deg)" '
    return re.sub(r"<svg ", f"<svg {turned}", svg.replace("#ffffff", GROUND), count=1)


def _both(light: str, name: str, alt: str) -> str:
    said = html.escape(alt, quote=True)
    source = f'<source media="(prefers-color-scheme: dark)" srcset="{FOLDER}/{name}-dark.svg">'
    return f'<picture>{source}<img src="{light}" alt="{said}" width="100%"></picture>'
