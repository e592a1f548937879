"""The interface of a ledger: every entry that a run can make. This one ignores them all."""

from contextlib import nullcontext


class NoLedger:
    """Ignores every entry: for launches that are not profiled, and for sketches of a run."""

    def new_block(self) -> None:
        """Begin another basic block of the program: operations of different basic blocks are not fused."""

    def one_pass(self, keep_all: bool):
        """Enclose one trip of a loop, after which values that depend on the trip are forgotten.

        ``keep_all``: forget nothing, since the loop is fully unrolled.
        """
        return nullcontext()

    def branch(self, run, frame, node, mask):
        """Enclose both sides of an ``if`` whose condition may differ between threads."""
        return nullcontext()

    def finish(self) -> None:
        """Count what has not been counted yet, at the end of the run."""

    def flush(self) -> None:
        """Count the store that was held back: another thread may read the element from now on."""

    def demand(self, value, mask) -> None:
        """Note that lanes use a value, in the basic block that computed it or in a later branch."""

    def use(self, value) -> None:
        """Note that a value is itself used: its multiplication must then be computed even if an addition fuses it."""

    def settle(self, value) -> None:
        """Count a value for all lanes that computed it."""

    def made_of(self, value, operands, mask) -> None:
        """Note the operands of a value that itself costs nothing."""

    def instruction(self, mask) -> None:
        """Count one instruction for each warp with an active lane."""

    def integer(self, mask) -> None:
        """Count an integer operation."""

    def operation(self, kind, value, a, b, where, mask) -> None:
        """Count an operation on two numbers; ``kind`` is a class of :mod:`ast`, such as ``ast.Add``."""

    def flop(self, value, kind, precision: str, where, operands, mask, times=1) -> None:
        """Count ``times`` floating-point operations in each lane that uses the value and has not computed it before.

        ``kind`` is one of the profile's kinds of flops, such as ``"fma"``, or a tuple of them.
        """

    def load(self, place, value, unwritten=None):
        """Count the load of an element; return the value to use, which an earlier load of a pair may have brought.

        ``unwritten`` (:class:`~course_pkg.simt.memory.notes.Unwritten`) is told which lanes use the value.
        """
        if unwritten is not None:
            unwritten.used_by(place.inside)
        return value

    def load_pair(self, places, values, once: int, lanes) -> None:
        """Count one load of two neighbouring elements; ``once`` is the number of this access."""

    def store(self, place) -> None:
        """Count a store, unless the next store overwrites the same element."""

    def store_pair(self, places, key: int, lanes) -> None:
        """Count one store of two neighbouring elements; ``key`` is the number of the pair."""

    def holds(self, key: int, lanes) -> None:
        """Note that lanes have a value in a register: to load it again costs nothing."""

    def atomic(self, place, name: str) -> None:
        """Count an atomic operation."""

    def barrier(self, blocks: int, mask) -> None:
        """Count a barrier that this number of blocks pass."""
