"""The state of the interpreter while one wave of blocks runs through a kernel."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_pkg.simt.counting.ledger import Ledger
from course_pkg.simt.counting.no_ledger import NoLedger
from course_pkg.simt.errors import SimtError
from course_pkg.simt.front.source import Program
from course_pkg.simt.front.typing import dtype_of
from course_pkg.simt.memory.unwritten import together
from course_pkg.simt.run.budget import endless
from course_pkg.simt.run.clock import Clock
from course_pkg.simt.run.lanes import Mask, Wave
from course_pkg.simt.run.values import Constants, Numbering, Value

MEMORIES = ("global", "shared", "local")


@dataclass(eq=False)
class Frame:
    """A running call of a function: its variables, and the lanes that have returned from it."""

    program: Program
    entry: Mask
    variables: dict = field(default_factory=dict)
    result: Any = None
    result_mask: Mask | None = None
    returned: int = 0
    raised: SimtError | None = None  # the error that a sketch of the function would raise
    loops: list = field(default_factory=list)
    scope: dict = field(default_factory=dict)  # see run/sway.py
    is_kernel: bool = False
    filled: set = field(default_factory=set)  # where the call has made local arrays, which hold zeros then
    outer: "Frame | None" = None  # for a nested function, the call in which it was defined


@dataclass(frozen=True)
class LocalFunction:
    """A function that a kernel defines inside itself.

    Attributes
    ----------
    program : Program
    frame : Frame
        The call in which the function was defined. The function's free names are variables of this call.
    """

    program: Program
    frame: Frame


@dataclass(eq=False)
class Loop:
    """The lanes that have left a loop by ``break``, or the current trip by ``continue``.

    ``before``: the first value number that is new in the loop, and the version of global memory before the loop.
    ``kept``: the element that each trip changes, if all lanes hold it in a register before the loop.
    """

    broken: Mask
    continued: Mask
    before: tuple
    may_wait: bool = False
    kept: Any = None
    later: dict = field(
        default_factory=dict
    )  # branches put off until after the loop: {branch: lanes that run it}
    # in a sketch: the variables at each break and at each continue
    breaking: list = field(default_factory=list)
    continuing: list = field(default_factory=list)
    scope: dict = field(default_factory=dict)  # see run/sway.py


class Run:
    """One wave of blocks: its memories, its clock, and the ledger of its operations.

    Parameters
    ----------
    wave : Wave
    launch : object
        The data that all waves share: ``counters`` (or None), ``log`` (of hazards), ``races`` (or None),
        ``static_shared`` and ``dynamic_shared`` (bytes), ``printer`` (or None), ``steps`` (statements left), ``types``
        (of variables where two branches meet; None for a sketch of a run).
    half : Part or None
        The half of the warps (:mod:`.halves`) or the role (:mod:`.roles`) that runs; None while all warps run together.
    """

    def __init__(self, wave: Wave, launch, half=None):
        self.wave, self.launch = wave, launch
        self.log, self.races = launch.log, launch.races
        shared = None if half is None else half.shared
        self.numbering = Numbering() if shared is None else shared.numbering
        self.constant = Constants(self.numbering) if shared is None else shared.constant
        self.versions = dict.fromkeys(MEMORIES, 0)
        counters = launch.counters
        self.ledger = NoLedger() if counters is None else Ledger(counters, self.numbering, self.versions)
        self.allocations: dict = {} if shared is None else shared.allocations
        self.static_shared = self.constant_bytes = 0
        self.exited = wave.nobody
        self.leaving = wave.nobody  # lanes with nothing left to do except to leave the kernel
        self.stored: set = set()  # in a sketch: names of the global arrays that the kernel may write to
        self.narrowest: dict = {}  # in a sketch: {array, by name or place: bytes of its smallest views' elements}
        self.vain: set = set()  # in a sketch: calls of print whose only effect is to print
        self.fetches = (
            False  # whether a sketch met an atomic whose result is used, or which exchanges numbers
        )
        self.added: set = set()  # in a sketch: the sizes of constant integers that atomics take
        self.in_parts = False  # whether a sketch met a fence, or a barrier of some lanes of a warp
        self.clock = Clock(wave, launch.races) if shared is None else shared.clock
        self.parts_of_elements: dict = {}  # views of memory as fields of records or as halves of complex numbers
        self.local_functions: dict = {}  # functions that are defined inside other functions
        self.calling: list = []  # the calls of device functions that are being run: see run/recursing.py
        self.dry = launch.types is None
        self.patience = launch.patience if launch.steps is None else launch.steps
        self.types: dict = {} if self.dry else launch.types
        self.path: tuple = ()
        self.scopes: list[dict] = []  # doubtful floats that decide what is run: see run/sway.py
        self.turns: dict = {}  # {loop whose threads take turns: lanes that have to wait}: see run/turns.py
        self.ways: dict = {}  # {`and` or `or`: lanes that branch early, one group for each of its branches}
        self.gate = None  # the statement of these turns behind which others wait
        self.spins: dict = {}  # what run/turns.py has found out about statements
        self.half = half
        self.watching: list = []  # for each watched loop, the regions that changed in this trip

    # values

    # A load counts only if its value is used in the end. So each of these methods records the operands of the value
    # that it makes, and the ledger drops a load only if no value made from it is used. No other code of the package
    # makes a Value.

    def given(self, data, numba_type, what, *keys) -> Value:
        """Make a value without operands: an index, an extent, an argument, or a loaded element."""
        return Value(np.asarray(data), numba_type, self.numbering.of(what, *keys))

    def derived(self, data, numba_type, key: int, operands, mask: Mask, constant=False) -> Value:
        """Make a value from operands. A use of the value counts as a use of the operands."""
        value = Value(np.asarray(data), numba_type, key, constant)
        if not constant:
            self.ledger.made_of(value, operands, mask)
        for operand in operands:
            if operand.unwritten:
                value.unwritten = together(value.unwritten, operand.unwritten)
        return value

    def view(self, value: Value, data, numba_type, key: int, constant=False) -> Value:
        """Make a value that is another form of ``value``, such as a cast, its negative, or one of its parts."""
        data = np.asarray(data)
        return Value(data, numba_type, key, constant, origin=value.origin, unwritten=value.unwritten)

    def fresh(self, data, numba_type, operands=(), mask: Mask | None = None, moved=None) -> Value:
        """Make a value that equals no other value, and count the use of its operands immediately.

        ``moved``: the operand that the lanes exchange, or vote on. Whoever makes the value follows what it depends on.
        """
        for operand in operands:
            self.ledger.demand(operand, mask, moved=operand is moved)
        return Value(np.asarray(data), numba_type, self.numbering.fresh())

    def blank(self, numba_type) -> Value:
        """Return an arbitrary value of a type. Sketches use it, because only types matter in a sketch."""
        return self.fresh(np.zeros((1,) * 6, dtype_of(numba_type)), numba_type)

    def kill(self, *spaces: str) -> None:
        """Discard the values loaded from these memory spaces, because their contents may have changed."""
        for space in spaces:
            self.versions[space] = self.numbering.fresh()

    # time

    def step(self) -> None:
        """Count a statement against the launch's budget."""
        launch = self.launch
        self.patience -= 1
        launch.ran += 1
        if self.half is not None:
            self.half.stepped()
        if launch.steps is not None:
            launch.steps -= 1
        if self.patience < 0 or (launch.steps is not None and launch.steps < 0):
            raise endless(self)
