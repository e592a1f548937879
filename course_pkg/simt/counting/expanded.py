"""The instructions that exp, log, sin, cos and asin are made of, read in machine code for compute capability 9.0.

The counts hold for numbers that need no special treatment: results of exp that are neither 0 nor infinite, logarithms
of normal numbers, and angles whose quadrant is found without a table. The quadrant decides which of two polynomials is
computed, and whether the result changes its sign. In double precision, the coefficients are loaded from a table.
"""

import numpy as np

INSIDE = {
    ("exp", "float64"): {"add": 1, "fma": 14},
    ("exp", "float32"): {"add": 1, "fma": 4},  # plus a last product, which an addition may fuse
    ("log", "float64"): {"add": 8, "mul": 4, "fma": 16},
    ("log", "float32"): {"add": 1, "mul": 1, "fma": 11},
    ("sin", "float64"): {"mul": 2, "fma": 10},
    ("sin", "float32"): {"mul": 2, "fma": 7},
}
INSIDE |= {("cos", precision): INSIDE["sin", precision] for precision in ("float64", "float32")}
INSIDE["asin", "float64"] = {"mul": 2, "fma": 13}  # for small numbers; for all others see FAR_FROM_0
FAR_FROM_0 = {"add": 3, "mul": 3, "fma": 20}
SMALL = float.fromhex("0x1.26666p-1")  # 0.575
SIGNED = ("exp", "log", "sqrt")  # functions that look at the bits of a number: it must have its minus sign
RANGES = {
    ("asin", "float64"): (-1, 1),
    ("exp", "float64"): (-708, 709), ("exp", "float32"): (-87, 88),
    ("log", "float64"): (2.3e-308, 1.7e308), ("log", "float32"): (1.2e-38, 3.4e38),
    **{(name, "float64"): (-2.1e9, 2.1e9) for name in ("sin", "cos")},
    **{(name, "float32"): (-1e5, 1e5) for name in ("sin", "cos")},
}  # fmt: skip
TABLE_LOADS = 3  # loads of 16 bytes each, from one of two tables that lie 64 bytes apart


def count_function(ledger, name: str, precision: str, value, argument, where, mask) -> None:
    """Count a call of exp, log, sin, cos or asin, and the instructions inside it."""
    counters, angle = ledger.counters, name in ("sin", "cos")
    low, high = RANGES[name, precision]
    data = argument.data
    usual = mask.narrow((data >= low) & (data <= high)) is mask
    product = ledger.product(value, "inside_mul", mask) if (name, precision) == ("exp", "float32") else None

    def count(lanes):
        new = ledger.first_time(value.key, lanes)
        if not new:
            return
        counters.issue(new)
        counters.operation(precision, "special", where, new.threads)
        if not usual:
            return
        counters.operation(precision, "known", where, new.threads)
        near = new.narrow(np.abs(data) < SMALL) if name == "asin" else new
        for lanes, made in ((near, INSIDE[name, precision]), (new.minus(near), FAR_FROM_0)):
            for kind, times in made.items():
                counters.operation(precision, f"inside_{kind}", where, times * lanes.threads)
        if product is not None:
            counters.operation(precision, "inside_mul", where, new.threads)
            counters.products.append((product, precision, where, new.threads))
        if angle:
            quadrant = np.rint(data * (2 / np.pi)).astype(np.int64) + (name == "cos")
            odd, turned = new.narrow(quadrant % 2 == 1), new.narrow(quadrant & 2 != 0)
            counters.operation(precision, "inside_fma", where, odd.threads + turned.threads)
            if precision == "float64":
                tables = odd.warps + new.minus(odd).warps
                counters.table(where, TABLE_LOADS * new.warps, TABLE_LOADS * tables)

    ledger.originate(value, count, (argument,), mask)
