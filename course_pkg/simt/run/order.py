"""Orders: let the warps of each block run one after another, to see whether a result depends on which one is first.

The interpreter runs all threads of a wave in lock step. So a kernel that lacks a barrier may still give the right
result, and a few races through atomics look like honest handovers. A GPU promises no order between two barriers. In
:func:`warps_first`, half of the warps of each block run all statements up to the next barrier, and then the other half
does. A correct kernel gives a right result in each order.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from course_pkg.core.access import WARP
from course_pkg.simt.errors import HazardError, SimtError
from course_pkg.simt.run.lanes import Mask
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.values import Variable

_PARITY: ContextVar[int | None] = ContextVar("parity", default=None)


class NoOrder(SimtError):
    """A kernel cannot run in the order that :func:`warps_first` asks for; that does not make it wrong.

    Examples
    --------
    >>> issubclass(NoOrder, SimtError)
    True
    """


@dataclass(eq=False)
class Order:
    """The order of a launch, or a record of where its barriers are.

    Attributes
    ----------
    parity : int or None
        0 if warps with even numbers are first, 1 if those with odd numbers are. None if all warps run in lock step;
        then ``meeting`` is recorded.
    meeting : set of ast.stmt
        The statements in which threads came to a barrier.
    """

    parity: int | None = None
    meeting: set = field(default_factory=set)

    def behind(self, body: list, at: int) -> int:
        """Return the end of the statements from ``at`` on in which threads come to no barrier."""
        while at < len(body) and body[at] not in self.meeting:
            at += 1
        return at


@contextmanager
def warps_first(parity: int) -> Iterator[None]:
    """Let launches in a ``with`` block run warps one after another between barriers, and look for no races.

    A kernel in which threads wait for another warp of their block without a barrier cannot end in such an order. It
    raises :class:`NoOrder`.

    Parameters
    ----------
    parity : int
        0 if the warps with even numbers are first in each block, 1 if those with odd numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import cuda, simt
    >>> text = "def turn(a):\\n    t = cuda.threadIdx.x\\n    x = a[63 - t]\\n    a[t] = x"
    >>> turn, a = simt.Kernel.from_source(text, "turn", {"cuda": cuda}), np.arange(64)
    >>> with simt.warps_first(0):  # a barrier is missing: the odd warps read what the even ones wrote
    ...     turn[1, 64](a)
    >>> bool((a == np.arange(64)[::-1]).all())
    False
    """
    before = _PARITY.set(parity)
    try:
        yield
    finally:
        _PARITY.reset(before)


def in_order(run_once: Callable, kernel, arrays: list):
    """Run a launch in the present order; return what ``run_once`` returns.

    Parameters
    ----------
    run_once : callable
        Runs the launch with an :class:`Order`. It counts if its second argument is true.
    kernel : Kernel
        Its attribute ``meeting`` holds the statements in which threads came to a barrier in earlier launches.
    arrays : list of ndarray
        All arrays that the launch may write.

    Raises
    ------
    NoOrder
        If the kernel cannot run in this order.
    """
    parity = _PARITY.get()
    if parity is None:
        return run_once(Order(None, kernel.meeting), True)
    if not kernel.sketches:  # this is its first launch
        before = [a.copy() for a in arrays]
        run_once(Order(None, kernel.meeting), False)
        _put(arrays, before)
    try:
        return run_once(Order(parity, kernel.meeting), True)
    except SimtError as error:
        if isinstance(error, HazardError) and error.hazard.kind != "divergent_barrier":
            raise
        raise NoOrder(str(error)) from None


def _put(arrays: list, contents: list) -> None:
    for array, content in zip(arrays, contents, strict=True):
        if array.flags.writeable:
            array[...] = content


def one_after_another(run, frame, body: list, mask: Mask, execute: Callable, assign: Callable) -> Mask:
    """Run statements by the warps that are first, then by the others; return the lanes that reach their end.

    ``execute`` runs statements, and ``assign`` gives a variable a new value in some lanes.
    """
    order, run.order = run.order, None
    entry, before, done, ends = frame.entry, frame.variables, run.wave.nobody, []
    try:
        for lanes in mask.split(run.wave.thread_in_block // WARP % 2 == order.parity):
            if lanes:
                frame.entry, frame.variables = lanes, dict(before)
                run.ledger.new_block()
                done = done.union(execute(run, frame, body, lanes))
                run.ledger.flush()
                run.kill("global", "shared")
                ends.append((lanes, frame.variables))
    finally:
        run.order, frame.entry, frame.variables = order, entry, before
    _put_together(run, frame, mask, ends, assign)
    return mask if done.threads == mask.threads else done


def _put_together(run, frame, mask: Mask, ends: list, assign: Callable) -> None:
    """Give the variables the values that they have in each half of the warps.

    A name may stand for another array afterwards, such as after ``old, new = new, old``. While the other half of the
    warps had not run yet, it stood for two arrays; then it stands for one again.
    """
    before = frame.variables
    for name in {name: None for _, variables in ends for name in variables}:
        found = [(lanes, variables[name]) for lanes, variables in ends if name in variables]
        if name in before and all(variable is before[name] for _, variable in found):
            continue
        if len(found) == len(ends) and all(variable.mask is None for _, variable in found):
            value = found[0][1].value
            for lanes, variable in found[1:]:
                value = merge(run, lanes, variable.value, value)
            found = [(mask, Variable(value, None))]
        for lanes, variable in found:
            known = lanes if variable.mask is None else lanes.narrow(variable.mask.full)
            if known:
                assign(run, frame, name, variable.value, known)
