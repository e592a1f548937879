"""The ledger of a run: it counts only those operations of the threads that a compiler would keep.

A run reports each load, each operation and each use of a value. The ledger decides which of them become machine code: a
value that is never used is not computed, a loaded element is not loaded again, and a value that only one branch uses is
computed in that branch. The ledger passes the rest on to the :class:`~course_pkg.simt.counting.sites.Counters`.
:mod:`.demands` decides about values, :mod:`.accesses` about memory, and this module about arithmetic.
"""

from course_pkg.simt.counting.accesses import Accesses
from course_pkg.simt.counting.expanded import count_function
from course_pkg.simt.counting.narrowing import width_of
from course_pkg.simt.counting.operations import SLOW_DIVISION, count_operation
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.run.values import Product


class Ledger(Accesses):
    """Keeps each entry until it is clear whether a compiler would keep that operation, and where.

    Its parameters are those of :class:`.Demands`.
    """

    def __init__(self, counters, numbering, versions):
        super().__init__(counters, numbering, versions)
        self._products: dict[int, tuple] = {}  # the multiplication, and the lanes that compute it

    def instruction(self, mask) -> None:
        self.counters.issue(mask)

    def integer(self, mask) -> None:
        self.counters.integer_ops += mask.threads
        self.counters.issue(mask)

    def rounds(self, kind, value, left, right) -> None:
        for operand in (left, right):
            if operand.width is not None:
                operand.width.keep()
        value.width = width_of(self.counters, kind, value.type, left, right)

    def operation(self, kind, value, a, b, where, mask) -> None:
        if not value.constant:
            count_operation(self, kind, value, a, b, where, mask)

    def flop(self, value, kind, precision: str, where, operands, mask, times=1, slow=None) -> None:
        width = value.width

        def count(lanes):
            new = self.computes(value.key, operands, lanes)
            if new:
                for one in (kind,) if isinstance(kind, str) else kind:
                    self._counts(width, precision, one, where, times * new.threads)
                single = width is not None and width.name == "float32"
                for one, more in SLOW_DIVISION.items() if slow is not None and not single else ():
                    self.counters.operation(precision, one, where, more * new.narrow(slow).threads)
                self.counters.issue(new)

        self.originate(value, count, operands, mask)

    def _counts(self, width, precision: str, kind: str, where, threads: int) -> None:
        """Count operations, in single precision if the value has such a width."""
        if width is not None:
            precision = width.count(kind, where, threads)
        self.counters.operation(precision, kind, where, threads)

    def sum(self, value, products: list, precision: str, where, operands, mask) -> None:
        """Count an addition. Only at the end of the launch is it known which product of its basic block it fuses."""

        width = value.width

        def count(lanes):
            new = self.computes(value.key, operands, lanes)
            if new:
                self._counts(width, precision, "add", where, new.threads)
                self.counters.issue(new)
                if products:
                    self.counters.sums.append((products, width or precision, where, new.threads))

        self.originate(value, count, operands, mask)

    def function(self, name: str, precision: str, value, argument, where, mask) -> None:
        count_function(self, name, precision, value, argument, where, mask)

    def signed(self, value, where, mask) -> None:
        if value.sign and not value.constant:
            new = self.first_time(self._numbering.of("signed", value.key), mask)
            if new:
                self.counters.operation(dtype_of(value.type).name, "add", where, new.threads)
                self.counters.issue(new)

    def signed_in_branch(self, value, where, mask) -> None:
        if self._speculating is None:
            self.signed(value, where, mask)
        elif (
            dtype_of(value.type).itemsize > 4
        ):  # in single precision, the instruction that selects between both sides also applies the sign
            self.signed(value, where, self._speculating)

    def replaces(self, value, mask) -> None:
        """Give the last operation a predicate. ptxas does so for values of one register, and then selects no value."""
        origin = value.origin
        if self._speculating is None or origin is None or origin.done or origin.block != self.straight:
            return
        if dtype_of(value.type) == "float32" and not origin.space and origin.mask is self._speculating:
            origin.mask = mask

    def product(self, value, instead: str, mask) -> Product:
        """Note that a value is made by a multiplication, which a later addition may fuse into a multiply-add."""
        known, lanes = self._products.get(value.key, (None, None))
        if known is None or not mask.within(lanes) or self._of_an_earlier_trip(value, known):
            # the other side of a branch, or the next trip of a loop, computes a product of its own
            known = Product(self.straight, instead)
            self._products[value.key] = known, mask
        value.product = known
        return known

    def _of_an_earlier_trip(self, value, known: Product) -> bool:
        """Tell whether a product was made in an earlier trip, from numbers that the loop changes."""
        before = self._loops[-1][1] if self._loops else 0
        return known.block < self._trip_begins and 0 < before <= self._numbering.birth[value.key]

    def multiply(self, value, precision: str, where, operands, mask, instead="mul") -> None:
        """Count a multiplication, which a later addition may fuse into a multiply-add.

        If no addition fuses it, it counts as an operation of the kind ``instead``.
        """
        product, width = self.product(value, instead, mask), value.width

        def count(lanes):
            new = self.computes(value.key, operands, lanes)
            if new:
                self._counts(width, precision, instead, where, new.threads)
                self.counters.issue(new)
                self.counters.products.append((product, width or precision, where, new.threads))

        self.originate(value, count, operands, mask)

    def barrier(self, blocks: int, mask) -> None:
        self.counters.barriers += blocks
        self.counters.issue(mask)
