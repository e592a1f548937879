"""Requests of a warp that the tests of the access strip draw, and functions that read numbers from a drawing."""

import re
from xml.etree import ElementTree

import numpy as np

from course_pkg.core.access import WarpAccess
from course_pkg.viz import access_strip

LANE = np.arange(32)
ANYWHERE = np.random.default_rng(3).integers(0, 1 << 20, 32)


def access(offsets, itemsize=8, *, space="global", kind="load", wavefronts=0, **changed):
    offsets = np.asarray(offsets, dtype=np.int64)
    on = offsets[offsets >= 0]
    moved = 0 if space == "shared" else len({b // 32 for o in on for b in range(o, o + itemsize)})
    fields = {
        "array": "u",
        "line": 42,
        "source": "    total -= u[k, j, i - 1]",
        "function": "laplacian_kernel",
        "block": (1, 2, 0),
        "thread": (0, 3, 0),
        "warp": 3,
        "repetition": 5,
        "sectors": moved,
    }
    return WarpAccess(
        space, kind, itemsize=itemsize, offsets=offsets, wavefronts=wavefronts, **fields | changed
    )


def shared(offsets, itemsize=8, wavefronts=1, **changed):
    return access(offsets, itemsize, space="shared", wavefronts=wavefronts, **changed)


GLOBAL = {
    "coalesced": (access(8 * LANE), 8, 256, 2),
    "misaligned by one": (access(8 * LANE + 8), 9, 256, 3),
    "stride 2": (access(16 * LANE), 16, 256, 4),
    "stride 32": (access(256 * LANE), 32, 256, 32),
    "broadcast": (access(0 * LANE + 1040), 1, 8, 1),
    "half off": (access(np.where(LANE < 16, 8 * LANE, -1)), 4, 128, 1),
    "every other off": (access(np.where(LANE % 2, -1, 8 * LANE)), 8, 128, 2),
    "fp32": (access(4 * LANE, 4), 4, 128, 1),
    "int8": (access(LANE, 1), 1, 32, 1),
    "16 bytes": (access(16 * LANE, 16), 16, 512, 4),
    "backwards": (access(8 * LANE[::-1]), 8, 256, 2),
    "across sectors": (access(256 * LANE + 28), 64, 256, 32),
}
SHARED = {
    # offsets, itemsize, wavefronts: words that wait, distinct words, banks, rows
    "fp64 row": (shared(8 * LANE, 8, 2), 64, 64, 32, 2),
    "fp64 column": (shared(256 * LANE, 8, 32), 64, 64, 2, 32),
    "fp64 column, padded": (shared(264 * LANE, 8, 2), 64, 64, 32, 2),
    "fp32 row": (shared(4 * LANE, 4, 1), 32, 32, 32, 1),
    "fp32 stride 2": (shared(8 * LANE, 4, 2), 32, 32, 16, 2),
    "fp32 column": (shared(128 * LANE, 4, 32), 32, 32, 1, 32),
    "fp32 broadcast": (shared(0 * LANE + 40, 4, 1), 1, 1, 1, 1),
    "fp64 broadcast, by halves": (shared(0 * LANE + 40, 8, 2), 4, 2, 2, 2),
    "fp64 broadcast, at once": (shared(0 * LANE + 40, 8, 1), 2, 2, 2, 1),
    "int8 row": (shared(LANE, 1, 1), 8, 8, 8, 1),
    "16 bytes": (shared(16 * LANE, 16, 4), 128, 128, 32, 4),
    "halves that differ": (
        shared(np.where(LANE < 16, LANE % 3 * 128, LANE % 5 * 128 + 64), 8, 8),
        16,
        16,
        4,
        8,
    ),
    "atomics": (shared(0 * LANE, 4, 32, kind="atomic"), 1, 1, 1, 32),
}
ALL = [case[0] for case in [*GLOBAL.values(), *SHARED.values()]]


_pictures = {}


def drawn(one):
    """Return the strip of one of ``ALL``, which is drawn once and read by many tests."""
    known = next(i for i, case in enumerate(ALL) if case is one)
    if known not in _pictures:
        _pictures[known] = access_strip(one)
    return _pictures[known]


def marks(picture):
    """Return the ids of the drawing, and its groups by id."""
    root = ElementTree.fromstring(picture.svg)
    groups = {g.get("id"): g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("id")}
    return list(groups), groups


def count(ids, pattern):
    return sum(bool(re.fullmatch(pattern, i)) for i in ids)


def corners(group):
    """Return the points of the paths in a group, in points from the upper left."""
    paths = " ".join(path.get("d") for path in group.iter("{http://www.w3.org/2000/svg}path"))
    return [tuple(map(float, point.split())) for point in re.findall(r"[-\d.]+ [-\d.]+", paths)]


def width(group):
    """Return the width of a box in points."""
    x = [x for x, _ in corners(group)]
    return max(x) - min(x)
