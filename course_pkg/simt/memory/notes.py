"""Notes: code that looks like a hazard but does no harm with any arguments of the kernel, and likely mistakes.

Three kinds of note are about code that does no harm. First, threads skip a barrier only to leave the kernel: a barrier
does not wait for threads that have left. Second, threads write the same constant to an element, in any order. Third, a
thread reads an element of shared or local memory that no thread has written, and does not use the value.

Two kinds are about mistakes with variables. First, a thread reads a variable that it has not set, because the variable
is set only in a branch that this thread did not take. Second, a kernel stores results in a parameter that is a number,
so that the results are lost.

One kind is about waste: a kernel uses fields of records whose type was made without ``align=True``.
"""

import ast
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from course_pkg.simt.front.walking import walk
from course_pkg.simt.memory.hazard import Hazard
from course_pkg.simt.memory.places import launch_thread, place_of_thread


@dataclass
class Notes:
    """The notes of a launch, and the reads of unwritten memory whose values may still be used.

    Attributes
    ----------
    found : list of Hazard
    """

    found: list[Hazard] = field(default_factory=list)
    _told: set = field(default_factory=set)
    _unread: dict = field(default_factory=dict)

    def add(self, note: Hazard) -> None:
        """Keep a note, unless one of the same kind, line and array is kept already."""
        name = note.kind, note.function, note.line, note.array
        if name not in self._told:
            self._told.add(name)
            self.found.append(note)

    def skipped(self, run, where, came: int, missed: int, row: int, name: str) -> None:
        """Note that a thread skips a barrier only to leave the kernel; ``row`` is its block's number in the wave."""
        who, absent = (place_of_thread(run.wave, row, thread) for thread in (came, missed))
        event = f"{who} waits at this {name} and {absent} skips it"
        rest = ", but only to leave the kernel, and nobody waits for a thread that has left."
        self.add(
            Hazard("skipped_barrier", where.line, None, None, (who, absent), event, rest, where.function)
        )

    def rewritten(self, run, place, number, index, thread: int, first: int) -> None:
        """Note that two threads write the same number to an element, with no order between them."""
        who, whom = (launch_thread(run.wave, one) for one in (thread, first))
        name, where = place.array.name, place.where
        event = f"{whom} and {who} both write {name}[{', '.join(map(str, index))}], in any order"
        rest = f", but both write {number}, so that the order does not matter."
        self.add(Hazard("same_value", where.line, name, index, (who, whom), event, rest, where.function))

    def unset(self, run, where, name: str, missing) -> None:
        """Note that a thread reads a variable that it has not set; ``missing`` is the mask of such threads."""
        row, thread = (int(at[0]) for at in np.nonzero(run.wave.spread(missing.full)))
        who = place_of_thread(run.wave, row, thread)
        event = f"{who} reads the variable {name}"
        rest = (
            ", but has come through no statement that sets it: on a GPU it may hold any number. "
            f"Set {name} before the branch or loop."
        )
        self.add(Hazard("unset_variable", where.line, name, None, (who,), event, rest, where.function))

    def lost(self, program, given: dict) -> None:
        """Note stores in a parameter that is a number, if no other statement reads the parameter.

        ``given``: the arguments by the names of their parameters.
        """
        for name, line in lost_stores(program.tree).items():
            if name in given and isinstance(given[name], (bool, int, float, complex, np.generic)):
                event = f"{name} is a number that the launch passes in, so each thread has a copy of its own"
                rest = ": what is stored in it is gone when the thread ends. Write results to an element of an array."
                self.add(Hazard("lost_store", line, name, None, (), event, rest, program.name))

    def packed(self, where, array: str, name: str, size: int) -> None:
        """Note an access to field ``name``, of ``size`` bytes, of records whose type promises no alignment."""
        event = f"{array} holds records whose type was made without align=True, so a GPU accesses {name} byte by byte"
        rest = f": {size} requests instead of one. Make their type by numpy.dtype([…], align=True)."
        self.add(Hazard("packed_record", where.line, array, None, (), event, rest, where.function))

    def unread(self, hazard: Hazard) -> None:
        """Keep in mind a read of unwritten memory until its value is used, if ever."""
        self._unread.setdefault((hazard.function, hazard.line, hazard.array), hazard)

    def finish(self, hazards: list[Hazard]) -> None:
        """Note the reads of unwritten memory whose values were not used: those that are not among the hazards."""
        used = {(h.function, h.line, h.array) for h in hazards if h.kind == "uninitialised"}
        for name, hazard in self._unread.items():
            if name not in used:
                rest = ", but does not use what it finds there."
                self.add(replace(hazard, kind="unused_read", rest=rest))


@cache
def lost_stores(tree: ast.FunctionDef) -> dict:
    """Return the line of the first store in each parameter that is read only by statements that store in it.

    Examples
    --------
    >>> lost_stores(ast.parse("def k(a, total, n):\\n    total = total + a[n]\\n    n += 1").body[0])
    {'total': 2}
    """
    own: dict[str, list] = {}
    read_by: dict[str, int] = {}
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read_by[node.id] = read_by.get(node.id, 0) + 1
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in {t.id for t in targets if isinstance(t, ast.Name)}:
                own.setdefault(name, []).append(node)
    found = {}
    for name in (a.arg for a in tree.args.args):
        stores = own.get(name, [])
        reads = sum(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            for store in stores
            for n in walk(store)
        )
        if stores and read_by.get(name, 0) == reads:
            found[name] = stores[0].lineno
    return found
