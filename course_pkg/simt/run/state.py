"""The state of an interpretation: one wave of blocks on its way through a kernel."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import Program, SourceLine
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.run.clock import Clock
from course_pkg.simt.run.lanes import Mask, Wave
from course_pkg.simt.run.values import Constants, Numbering, Origin, Product, Value

MEMORIES = ("global", "shared", "local")


@dataclass(eq=False)
class Frame:
    """A function that is being run: its variables, and the lanes that have left it."""

    program: Program
    entry: Mask
    variables: dict = field(default_factory=dict)
    result: Any = None
    result_mask: Mask | None = None
    returned: int = 0
    raised: SimtError | None = None  # what a sketch found it would raise
    loops: list = field(default_factory=list)
    is_kernel: bool = False


@dataclass(eq=False)
class Loop:
    """Lanes that left a loop, or this pass of it."""

    broken: Mask
    continued: Mask
    breaking: list = field(
        default_factory=list
    )  # variables where a sketch breaks off, and where it continues
    continuing: list = field(default_factory=list)


class Run:
    """One wave of blocks, its memories, and what is being counted.

    Parameters
    ----------
    wave : Wave
    launch : object
        Shared by all waves: ``counters`` (or None), ``log`` (of hazards), ``races`` (or None), ``static_shared``,
        ``dynamic_shared`` bytes, ``steps`` left, ``types`` of variables where ways meet; None for a sketch of a run.
    """

    def __init__(self, wave: Wave, launch):
        self.wave, self.launch = wave, launch
        self.counters, self.log, self.races = launch.counters, launch.log, launch.races
        self.numbering = Numbering()
        self.constant = Constants(self.numbering)
        self.straight = 0
        self.versions = dict.fromkeys(MEMORIES, 0)
        self.available: list[dict] = [{}]
        self.allocations: dict = {}
        self.static_shared = 0
        self.exited = wave.nobody
        self.stored: set = set()  # names of the global arrays that a sketch may write to
        self.clock = Clock(wave, launch.races)
        self.depth = 0
        self.depth_of_loops = 0
        self.dry = launch.types is None
        self.patience = launch.patience if launch.steps is None else launch.steps
        self.types: dict = {} if self.dry else launch.types
        self.path: tuple = ()
        self.open: list = []
        self.hoisted: set = set()
        self.speculating: Mask | None = None
        self.held = None
        self.halves: dict[int, tuple] = {}  # elements that came in pairs: value and lanes
        self.products: dict[int, Product] = {}

    # values

    def fresh(self, data, numba_type) -> Value:
        """Make a value that nothing else equals."""
        return Value(np.asarray(data), numba_type, self.numbering.fresh())

    def derived(self, data, numba_type, what, *keys) -> Value:
        """Make a value that is determined by others."""
        return Value(np.asarray(data), numba_type, self.numbering.of(what, *keys))

    def blank(self, numba_type) -> Value:
        """Return a value of a type, whatever it is."""
        return self.fresh(np.zeros((1,) * 6, dtype_of(numba_type)), numba_type)

    @staticmethod
    def use(value) -> None:
        """Note that a value is needed as such, so that its multiplication cannot vanish into a multiply-add."""
        if isinstance(value, Value) and value.product is not None:
            value.product.needed = True

    def new_block(self) -> None:
        """Begin another straight piece of the program: operations are not fused across its edge."""
        self.straight += 1
        self.flush()

    # who does the work, and where

    def originate(self, value: Value, count, operands, mask: Mask, space: str = "") -> None:
        """Attach to a value how it is counted; in a loop it is counted at once."""
        if self.counters is None:
            return
        mask = self.speculating or mask
        if self.depth_of_loops:
            count(mask)
            for operand in operands:
                self._demand(operand, mask, self.straight)
            return
        version = self.versions.get(space)
        value.origin = Origin(count, operands, mask, self.straight, 0, version, space)

    def demand(self, value, mask: Mask) -> None:
        """Note that lanes use a value: in the piece of the program where it was computed, or in one branch after it."""
        if self.counters is None or not isinstance(value, Value):
            return
        if value.product is not None:
            value.product.needed = True
        self._demand(value, mask, self.straight)

    def _demand(self, value, mask, block) -> None:
        open_values = [(value, mask, block)]
        while open_values:
            value, mask, block = open_values.pop()
            origin = value.origin
            if origin is None or origin.done:
                continue
            elsewhere = origin.wanted_in not in (-1, block)
            if block == origin.block or elsewhere or not self._may_move(origin):
                open_values += self._settle(origin, origin.mask, origin.block)
            else:
                if origin.wanted_in == -1:
                    self.open.append(origin)
                origin.wanted_in = block
                origin.wanted_by = mask if origin.wanted_by is None else origin.wanted_by.union(mask)

    def _may_move(self, origin) -> bool:
        """Whether a computation can be moved into the branch that is being run."""
        return not self.depth_of_loops and self.versions.get(origin.space) == origin.version

    @staticmethod
    def _settle(origin, mask, block) -> list:
        """Count a computation in these lanes; return what it uses."""
        origin.done = True
        origin.count(mask)
        return [(operand, mask, block) for operand in origin.operands]

    def settle(self, value) -> None:
        """Count a value in all the lanes that computed it."""
        if isinstance(value, Value) and value.origin is not None and not value.origin.done:
            for operand in self._settle(value.origin, value.origin.mask, value.origin.block):
                self._demand(*operand)

    def finish(self) -> None:
        """Count what only one branch uses, once nothing else can ask for it."""
        while self.open:
            origin = self.open.pop()
            if not origin.done:
                for operand in self._settle(origin, origin.wanted_by, origin.wanted_in):
                    self._demand(*operand)
        self.flush()

    @staticmethod
    def nothing(lanes) -> None:
        """Count nothing: for values that cost only what they are made of."""

    # stores that another store to the same place may make vain

    def hold_store(self, place, lanes: Mask, count) -> None:
        """Count a store later: one to the same place that follows at once makes it vain."""
        held = self.held
        if held is not None and held[0] == place.key and lanes.union(held[1]) is lanes:
            self.held = None
        self.flush()
        self.held = place.key, lanes, count

    def flush(self) -> None:
        """Count the store that was held back."""
        if self.held is not None:
            _, lanes, count = self.held
            self.held = None
            count(lanes)

    # what has been computed or loaded before

    def first_time(self, key: int, mask: Mask) -> tuple[Mask, list]:
        """Return the lanes that compute ``key`` for the first time, and the entry that remembers it."""
        for layer in reversed(self.available):
            entry = layer.get(key)
            if entry is not None:
                new = mask.minus(entry[0])
                if new:
                    entry[0] = entry[0].union(mask)
                return new, entry
        entry = self.available[-1][key] = [mask, None]
        return mask, entry

    @contextmanager
    def one_pass(self, keep_all: bool):
        """Run one pass of a loop: what depends on the pass is forgotten after it."""
        if keep_all:
            yield
            return
        self.depth_of_loops += 1
        begun = len(self.numbering.birth)
        active: dict = {}
        self.available.append(active)
        yield
        self.depth_of_loops -= 1
        self.available.pop()
        birth = self.numbering.birth
        for key, entry in active.items():
            if birth[key] < begun and entry[0].data is None:
                self.available[-1].setdefault(key, entry)

    def kill(self, *spaces: str) -> None:
        """Forget what is known of memory: it may have changed."""
        for space in spaces:
            self.versions[space] = self.numbering.fresh()

    # time

    def step(self) -> None:
        """Count a statement against the launch's budget."""
        launch = self.launch
        self.patience -= 1
        if launch.steps is not None:
            launch.steps -= 1
        if self.patience < 0 or (launch.steps is not None and launch.steps < 0):
            raise SimtError(
                f"{launch.name} runs on and on, and was stopped: look for a loop whose condition never becomes false. "
                "The threads run in step here, so one that waits in a loop for another waits for ever."
            )

    # counting

    def flop(
        self, value, kind: str, precision: str, where: SourceLine, operands, mask: Mask, times=1
    ) -> None:
        """Count an operation in the lanes that use its value and have not computed it before."""

        def count(lanes):
            new, _ = self.first_time(value.key, lanes)
            if new:
                self.counters.operation(precision, kind, where, times * new.threads)
                self.counters.issue(new)

        self.originate(value, count, operands, mask)

    def multiply(self, value, precision: str, where: SourceLine, operands, mask: Mask, instead="mul") -> None:
        """Count a multiplication, and offer it to an addition that follows.

        ``instead`` is what it counts as when no addition takes it up.
        """
        if self.counters is None:
            return
        product = self.products.setdefault(value.key, Product(self.straight, instead))
        value.product = product

        def count(lanes):
            new, _ = self.first_time(value.key, lanes)
            if new:
                self.counters.operation(precision, instead, where, new.threads)
                self.counters.issue(new)
                self.counters.products.append((product, precision, where, new.threads))

        self.originate(value, count, operands, mask)
