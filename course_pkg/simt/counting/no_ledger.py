"""A ledger that nobody reads: what a run may enter, and what becomes of it where nothing is counted."""

from contextlib import nullcontext


class NoLedger:
    """Takes every entry and keeps none: for launches that nobody profiles, and for sketches of a run."""

    def new_block(self) -> None:
        """Begin another straight piece of the program: operations are not fused across its edge."""

    def one_pass(self, keep_all: bool):
        """Enclose one trip of a loop: what depends on the trip is forgotten after it, unless it is written out."""
        return nullcontext()

    def branch(self, run, frame, node, mask):
        """Enclose both sides of an ``if`` whose condition differs between threads."""
        return nullcontext()

    def finish(self) -> None:
        """Count what is still open, once nothing else can ask for it."""

    def flush(self) -> None:
        """Count the store that was held back, since another thread may read it from here on."""

    def demand(self, value, mask) -> None:
        """Note that lanes use a value: in the piece of the program where it was computed, or in one branch after it."""

    def use(self, value) -> None:
        """Note that a value is needed as such, so that its multiplication cannot vanish into a multiply-add."""

    def settle(self, value) -> None:
        """Count a value in all the lanes that computed it."""

    def made_of(self, value, operands, mask) -> None:
        """Note what a value is made of that costs nothing itself."""

    def instruction(self, mask) -> None:
        """Count one instruction of every warp with a lane at work."""

    def integer(self, mask) -> None:
        """Count an integer operation."""

    def operation(self, kind, value, a, b, where, mask) -> None:
        """Count an operation of two numbers; ``kind`` is a class of :mod:`ast`, such as ``ast.Add``."""

    def flop(self, value, kind, precision: str, where, operands, mask, times=1) -> None:
        """Count an operation, or several, in the lanes that use the value and have not computed it before.

        ``kind`` is one of the profile's kinds of flops, such as ``"fma"``, or a tuple of them.
        """

    def load(self, place, value):
        """Count the load of an element; return the value to go on with, which may have come with its neighbour."""
        return value

    def load_pair(self, places, values, once: int, lanes) -> None:
        """Count two neighbouring elements loaded at once; ``once`` numbers the access."""

    def store(self, place) -> None:
        """Count a store, unless another to the same element follows at once and makes it vain."""

    def store_pair(self, places, key: int, lanes) -> None:
        """Count two neighbouring elements stored at once; ``key`` numbers the pair."""

    def holds(self, key: int, lanes) -> None:
        """Note that lanes have a value in a register already: a load of it costs nothing."""

    def atomic(self, place, name: str) -> None:
        """Count an atomic operation."""

    def barrier(self, blocks: int, mask) -> None:
        """Count a barrier that so many blocks pass."""
