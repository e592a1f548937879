"""The state of an interpretation: one wave of blocks on its way through a kernel."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.counting.ledger import Ledger
from course_pkg.simt.counting.no_ledger import NoLedger
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import Program
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.run.clock import Clock
from course_pkg.simt.run.lanes import Mask, Wave
from course_pkg.simt.run.values import Constants, Numbering, Value

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
    """Lanes that left a loop, or this trip of it."""

    broken: Mask
    continued: Mask
    # variables where a sketch breaks off, and where it continues
    breaking: list = field(default_factory=list)
    continuing: list = field(default_factory=list)


class Run:
    """One wave of blocks: its memories, its time, and the ledger of what it does.

    Parameters
    ----------
    wave : Wave
    launch : object
        Shared by all waves: ``counters`` (or None), ``log`` (of hazards), ``races`` (or None), ``static_shared``,
        ``dynamic_shared`` bytes, ``steps`` left, ``types`` of variables where ways meet; None for a sketch of a run.
    """

    def __init__(self, wave: Wave, launch):
        self.wave, self.launch = wave, launch
        self.log, self.races = launch.log, launch.races
        self.numbering = Numbering()
        self.constant = Constants(self.numbering)
        self.versions = dict.fromkeys(MEMORIES, 0)
        counters = launch.counters
        self.ledger = NoLedger() if counters is None else Ledger(counters, self.numbering, self.versions)
        self.allocations: dict = {}
        self.static_shared = self.constant_bytes = 0
        self.exited = wave.nobody
        self.stored: set = set()  # names of the global arrays that a sketch may write to
        self.in_parts = False  # whether a sketch met a fence, or a barrier of some lanes of a warp
        self.clock = Clock(wave, launch.races)
        self.calling: list = []  # programs of the device functions that are being run
        self.dry = launch.types is None
        self.patience = launch.patience if launch.steps is None else launch.steps
        self.types: dict = {} if self.dry else launch.types
        self.path: tuple = ()

    # values

    # A kernel reads an element when it uses it. So each way to make a value says what it is made of, and a load is left
    # out only where the value that it ends in is used by nobody: nothing else in this package makes a Value.

    def given(self, data, numba_type, what, *keys) -> Value:
        """Make a value that is made of no other: an index, an extent, an argument, or an element that is loaded."""
        return Value(np.asarray(data), numba_type, self.numbering.of(what, *keys))

    def derived(self, data, numba_type, key: int, operands, mask: Mask, constant=False) -> Value:
        """Make a value of others, which are needed where it is."""
        value = Value(np.asarray(data), numba_type, key, constant)
        if not constant:
            self.ledger.made_of(value, operands, mask)
        return value

    def view(self, value: Value, data, numba_type, key: int, constant=False) -> Value:
        """Make a value that is another one, seen differently: cast, negated, one of its parts."""
        return Value(np.asarray(data), numba_type, key, constant, origin=value.origin)

    def fresh(self, data, numba_type, operands=(), mask: Mask | None = None) -> Value:
        """Make a value that nothing else equals, and that takes its operands here and now."""
        for operand in operands:
            self.ledger.demand(operand, mask)
        return Value(np.asarray(data), numba_type, self.numbering.fresh())

    def blank(self, numba_type) -> Value:
        """Return a value of a type, whatever it is."""
        return self.fresh(np.zeros((1,) * 6, dtype_of(numba_type)), numba_type)

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
