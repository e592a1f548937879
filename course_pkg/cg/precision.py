"""Conjugate gradient in two precisions as programs. Every field has a width in bytes, from which the costs follow.

``MIXED`` is an iteration; it adds to y, which is what x has gained since the last update. ``UPDATE`` is a reliable
update (``updates.py``); a solve needs about one for each digit.
"""

from dataclasses import replace

from course_pkg.cg.fusion import cut, plan
from course_pkg.cg.program import CG, TUPLES, Container, Program

SINGLE, DOUBLE = 4, 8  # bytes
ITERATION = Program(
    "conjugate gradient, r and p in float32",
    tuple(
        replace(c, **{what: tuple("y" if f == "x" else f for f in getattr(c, what)) for what in TUPLES})
        for c in CG.containers
    ),
    results=("y",),
    widths={"r": SINGLE, "p": SINGLE, "s": SINGLE, "y": SINGLE},
)
RELIABLE_UPDATE = Program(
    "reliable update",
    (
        Container("gather", "map", "x ← x + y, y ← 0", reads=("x", "y"), writes=("x", "y"), flops=2),
        Container("matVec", "stencil", "s ← A x", neighbours=("x",), writes=("s",), multiplications=1, flops=1),
        Container("residual", "map", "r ← b − s", reads=("b", "s"), writes=("r",), flops=2),
        Container("dot rr", "reduction", "delta ← ⟨r, r⟩", reads=("r",), makes=("delta",), multiplications=1, flops=2),
    ),
    results=("x", "y", "r"),
    widths={"b": DOUBLE, "x": DOUBLE, "s": DOUBLE, "y": SINGLE, "r": SINGLE},
)  # fmt: skip

MIXED = plan(ITERATION, cut(ITERATION, ["updateXandR"]), recompute=["s"])
UPDATE = plan(RELIABLE_UPDATE, cut(RELIABLE_UPDATE, ["matVec"]))
