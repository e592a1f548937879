"""The interface of a ledger: every entry that a run can make. This one ignores them all."""

from contextlib import nullcontext


class NoLedger:
    """Ignores every entry: for launches that are not profiled, and for sketches of a run."""

    counts = False

    def new_block(self) -> None:
        """Begin another basic block of the program: operations of different basic blocks are not fused."""

    def one_pass(self, keep_all: bool, lanes=None, entrance=None):
        """Enclose one trip of a loop, after which values that depend on the trip are forgotten.

        ``keep_all``: forget nothing, since the loop is fully unrolled. ``lanes``: the lanes that make this trip, if
        what does not change from trip to trip is computed before the loop. ``entrance``: the lanes that enter the loop,
        the first value number of the loop, and the state of global memory before it.
        """
        return nullcontext()

    def branch(self, run, frame, node, mask):
        """Context manager around both sides of an ``if`` whose condition may differ between threads."""
        return nullcontext()

    def opens(self, branch: tuple) -> None:
        """Note that a branch begins, an ``if``, a choice or a function with several returns (:mod:`.selecting`)."""

    def putting_off(self, may: bool):
        """Context manager around loop statements: values wait until it is clear whether only a branch uses them."""
        return nullcontext()

    def finish(self) -> None:
        """Count what has not been counted yet, at the end of the run."""

    def flush(self) -> None:
        """Count the accesses that were held back: another thread may touch the elements from now on."""

    def demand(self, value, mask, moved=False) -> None:
        """Note that lanes use a value, in the basic block that computed it or in a later branch.

        ``moved``: whether the value only goes elsewhere, where it is followed further if it was read from memory that
        nobody has written.
        """

    def use(self, value) -> None:
        """Note that a value is itself used: its multiplication must then be computed even if an addition fuses it."""

    def settle(self, value) -> None:
        """Count a value for all lanes that computed it."""

    def made_of(self, value, operands, mask) -> None:
        """Note the operands of a value whose own computation costs nothing."""

    def instruction(self, mask) -> None:
        """Count one instruction for each warp with an active lane."""

    def integer(self, mask) -> None:
        """Count an integer operation."""

    def rounds(self, kind, value, left, right) -> None:
        """Note the operands of an operation as they were before their conversion (:mod:`.narrowing`)."""

    def operation(self, kind, value, a, b, where, mask) -> None:
        """Count an operation on two numbers; ``kind`` is a class of :mod:`ast`, such as ``ast.Add``."""

    def flop(self, value, kind, precision: str, where, operands, mask, times=1, slow=None) -> None:
        """Count ``times`` floating-point operations in each lane that uses the value and has not computed it before.

        ``kind`` is one of the profile's kinds of flops, such as ``"fma"``, or a tuple of them. ``slow``: the lanes in
        which a division takes its slow path.
        """

    def function(self, name: str, precision: str, value, argument, where, mask) -> None:
        """Count a function that the compiler expands, such as exp (:mod:`.expanded`)."""

    def signed(self, value, where, mask) -> None:
        """Count the operation that negates a number or takes its absolute value, if no other operation can do it."""

    def signed_in_branch(self, value, where, mask) -> None:
        """Note that a branch of some lanes sets a variable to a number, with or without a minus sign."""

    def replaces(self, value, mask) -> None:
        """Note that a branch of some lanes gives a variable a new value, and that nothing else holds the old one."""

    def load(self, place, value):
        """Count the load of an element; return the value to use, which an earlier load of a pair may have brought."""
        return value

    def load_pair(self, places, values, once: int, lanes) -> None:
        """Count one load of two neighbouring elements; ``once`` is the number of this access."""

    def local_array(self, array, where, lanes, alive) -> None:
        """Note that lanes begin a function with a local array; ``alive`` returns those of them that are still there."""

    def store(self, place) -> None:
        """Count a store, unless the next store overwrites the same element."""

    def store_pair(self, places, key: int, lanes) -> None:
        """Count one store of two neighbouring elements; ``key`` is the number of the pair."""

    def holds(self, key: int, lanes) -> None:
        """Note that lanes have a value in a register: to load it again costs nothing."""

    def known_to(self, key: int):
        """Return the lanes that have a value in a register; None if no lane has it."""
        return None

    def untouched(self, place, version: int):
        """Return ``(number, lanes)`` of each element that lanes have in registers and that a store cannot change.

        ``version`` is the state of the memory before the store.
        """
        return ()

    def first_test(self) -> None:
        """Note that a ``while`` has been tested once: this test comes before the loop, and what it loads is kept."""

    def tested(self, begun: int) -> None:
        """Note that a ``while`` has been tested, whose values have numbers from ``begun`` on.

        The compiler puts the test behind the body. The body loads an element of the test once more: it does not see
        that an index is the same which the trip before has computed.
        """

    def since(self, key: int, version: int) -> int:
        """Return the earliest state of memory from which on the compiler knows that an element has not changed."""
        return version

    def stored(self, place, version: int) -> None:
        """Note that a store changes only one element; ``version`` is the state of the memory before the store."""

    def joined(self, ends) -> None:
        """Note that the sides of a branch join again.

        ``ends``: for each side, the lanes that reach its end, and the state of global memory there.
        """

    def atomic(self, place, name: str, behind=None) -> None:
        """Count an atomic operation; ``behind``: the lanes that do it at the same time in other arrays."""

    def several(self, space: str, kind: str, function: str, line: int) -> None:
        """Note that one access to several arrays is counted as several accesses."""

    def barrier(self, blocks: int, mask) -> None:
        """Count a barrier that this number of blocks pass."""
