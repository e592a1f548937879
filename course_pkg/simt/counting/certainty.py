"""How certain a count is: the hardware's number is equal to it, at most as large, at least as large, or about as large.

The interpreter's model of the compiler (:mod:`.compiler`) has rules that were found in machine code, and the counters
of the hardware agree with it. :mod:`.forms` finds the forms of source for which there is no such rule.
"""

import ast
from dataclasses import dataclass, replace

from course_pkg.simt.counting.forms import carries, forms, forms_of_arithmetic, in_long_loops
from course_pkg.simt.front.walking import walk

ACCESSES = ("requests", "sectors", "wavefronts", "bank_conflicts")
SMALL_BYTES = 32  # a local array of at most this size may stay in registers even if a variable indexes it
# at most so many bytes of 4-byte elements stay in registers even if variables index them: if a loop that is not written
# out stores so, if it only loads so, and if no such loop does either
FEW_BYTES = {"store": 48, "load": 96, "": 192}
MANY_ELEMENTS = 32  # a local array of at most this many elements certainly stays in registers
SEVERAL = "threads access different arrays by one instruction"
EXPANDED = "what makes up a function such as exp is not counted"


@dataclass(frozen=True)
class Doubtful:
    """A count that may differ from the hardware's.

    Attributes
    ----------
    quantity : str
        Such as ``"global_load.requests"`` or ``"flops.float64.fma"``.
    word : str
        ``"at most"``, ``"at least"`` or ``"about"``: how the hardware's number compares with the profile's.
    function : str
    line : int
    reason : str
        What the compiler does there.

    Examples
    --------
    >>> str(Doubtful("global_load.requests", "at most", "k", 7, "the compiler keeps elements in registers"))
    'global_load.requests is at most what is shown: k, line 7: the compiler keeps elements in registers.'
    """

    quantity: str
    word: str
    function: str
    line: int
    reason: str

    def __str__(self):
        return (
            f"{self.quantity} is {self.word} what is shown: {self.function}, line {self.line}: {self.reason}."
        )


def doubtful(programs, counters, in_registers, selected) -> dict[str, Doubtful]:
    """Return the counts of a launch that are not certain, by their names.

    Parameters
    ----------
    programs : iterable of Program
        The kernel and the device functions that ran.
    counters : Counters
    in_registers : collection of int
        Regions of the local arrays that are not counted.
    selected : collection of int
        Those of them that variables index, so that elements are selected.
    """
    found: dict[str, Doubtful] = {}
    sites = [s for s in counters.sites.values() if s.region not in in_registers and s.kind != "atomic"]

    def add(quantity, word, function, line, reason):
        first = found.setdefault(quantity, Doubtful(quantity, word, function, line, reason))
        if word != first.word:  # one reason makes the count too large, another one too small
            found[quantity] = replace(first, word="about")

    for program in programs:
        for node, kinds, spaces, word, reason in forms(program):
            for site in sites:
                inside = node.lineno <= site.where.line <= node.end_lineno
                if (
                    site.where.function == program.name
                    and inside
                    and site.kind in kinds
                    and site.space in spaces
                ):
                    for field in ACCESSES:
                        if getattr(site, field):
                            add(f"{site.space}_{site.kind}.{field}", word, program.name, node.lineno, reason)
    for site in sites:
        if site.space == "local" and site.touched is not None:
            small = site.touched.size * site.itemsize <= SMALL_BYTES
            for field in ACCESSES[:2] if small else ():
                quantity = f"local_{site.kind}.{field}"
                add(quantity, "at most", *site.where, "the compiler may keep so small an array in registers")
    for site in counters.sites.values():
        if site.region in selected:
            for field in ACCESSES[:2]:
                reason = "another version of the compiler may not keep so small an array in registers"
                add(f"local_{site.kind}.{field}", "at least", *site.where, reason)
    for site in counters.sites.values():
        large = site.region in in_registers and site.touched is not None and site.touched.size > MANY_ELEMENTS
        if large and any(in_long_loops(program, site) for program in programs):
            for way in ("load", "store"):
                for field in ACCESSES[:2]:
                    reason = "the compiler may not write out so long a loop, and then keeps the array in local memory"
                    add(f"local_{way}.{field}", "at least", *site.where, reason)
    for space, kind, where in sorted(counters.mixed):
        for field in ACCESSES:
            add(f"{space}_{kind}.{field}", "about", *where, SEVERAL)
    for program in programs:
        for node, word, reason in forms_of_arithmetic(program):
            for made in counters.flops.values():
                fused = {(precision, "fma") for precision, kind in made.counts if kind == "mul"}
                for precision, kind in {*made.counts, *fused}:
                    add(f"flops.{precision}.{kind}", word, program.name, node.lineno, reason)
        for node, name in carries(program):
            reason = f"the last trip need not compute {name}, which nobody uses after the loop"
            for where, made in counters.flops.items():
                if where.function == program.name and node.lineno <= where.line <= node.end_lineno:
                    for precision, kind in made.counts:
                        add(f"flops.{precision}.{kind}", "at most", program.name, node.lineno, reason)
    for program in programs:
        for node in _calls_of_itself(program):
            reason = "a function that calls itself keeps its variables in local memory, which is not counted"
            for field in ACCESSES[:2]:
                for way in ("load", "store"):
                    add(f"local_{way}.{field}", "at least", program.name, node.lineno, reason)
    for where, made in counters.flops.items():
        for (precision, kind), threads in made.counts.items():
            if kind == "special" and threads > made.counts.get((precision, "known"), 0):
                for one in ("add", "mul", "fma"):
                    add(f"flops.{precision}.{one}", "at least", *where, EXPANDED)
                for field in ACCESSES[:2]:  # the table of coefficients lies in global memory
                    add(f"global_load.{field}", "at least", *where, EXPANDED)
    return found


def _calls_of_itself(program) -> tuple:
    """Return the calls by which a device function calls itself; its variables then need a stack."""
    return tuple(
        node
        for node in walk(program.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == program.tree.name
    )
