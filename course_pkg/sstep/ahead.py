"""Iterations that are queued ahead of the host: it does not wait for their numbers, but looks at them now and then."""

from itertools import chain, cycle

import numpy as np

from course_pkg.cg.checks import why_stopped
from course_pkg.cg.outcome import Stop, preconditioner_not_definite
from course_pkg.sstep.scalars import (
    ALPHA,
    BETA,
    BROKEN,
    CONVERGED,
    DELTA,
    INDEFINITE,
    ITERATION,
    KEPT,
    KNOWN,
    LEAST,
    LIMIT,
    LIMITED,
    MINUS_ALPHA,
    P_A_P,
    RUNNING,
    SIZE,
    STOPPED,
    TARGET,
)  # fmt: skip


class Numbers:
    """The numbers of a solve: where the scalar work is done, and what the host has seen of them.

    Parameters
    ----------
    room : Room
    norm, target : float
        Norm of the first residual, and the norm to reach.
    limit : int
        Most iterations.
    delta : float
        u·r before the first iteration, for pcg.
    least : float, optional
        Smallest norm so far; by default, ``norm``.

    Attributes
    ----------
    state, history : array
        Where the room does its scalar work.
    alpha, minus_alpha, beta : array, shape (1,)
        Parts of ``state``.
    norms : list of float
        Norms of the residual as far as the host knows them, from that before the first iteration on.
    iterations, stopped : int
        As of the last look.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.problem import Laplacian
    >>> from course_pkg.sstep.room import Room
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> numbers = Numbers(room, 8.0, 8e-6, 640)
    >>> numbers.norms, numbers.stopped == RUNNING, numbers.over
    ([8.0], True, False)
    """

    def __init__(self, room, norm, target, limit, delta=0.0, least=None):
        state = np.zeros(SIZE)
        state[DELTA], state[TARGET], state[LIMIT] = delta, target**2, limit
        state[LEAST] = (norm if least is None else least) ** 2
        state[STOPPED] = CONVERGED if norm <= target else RUNNING if limit > 0 else LIMITED
        self.room, self.norms, self.iterations, self.stopped = room, [norm], 0, int(state[STOPPED])
        self.target, self.seen, self.queued = target, state, 0
        self.state, self.history = room.numbers(state), room.numbers(np.zeros(KEPT))
        self.on_host = isinstance(self.state, np.ndarray)
        self.alpha, self.minus_alpha, self.beta = (
            self.state[at : at + 1] for at in (ALPHA, MINUS_ALPHA, BETA)
        )

    @property
    def over(self) -> bool:
        """Whether the solve has stopped, as far as the host knows without waiting for a GPU."""
        state = self.state if self.on_host else self.seen
        return bool(state[STOPPED] != RUNNING)

    def look(self, always: bool = False) -> None:
        """Count an iteration as queued; if the room says that it is time to, read the numbers."""
        self.queued += 1
        if not always and not self.room.looks(self.queued):
            return
        read = np.array if self.on_host else self.room.to_host
        self.seen, history = read(self.state), read(self.history)
        known, self.iterations = int(self.seen[KNOWN]), int(self.seen[ITERATION])
        self.stopped = int(self.seen[STOPPED])
        self.norms += [float(np.sqrt(history[k % KEPT])) for k in range(len(self.norms), known + 1)]

    @property
    def complete(self) -> list[float]:
        """Norms with one for each iteration: that after the last may be unknown, so the one before it stands for it."""
        return self.norms + self.norms[-1:] * (self.iterations + 1 - len(self.norms))

    def trouble(self) -> Stop | None:
        """Return why the method had to stop, if it had to."""
        if self.stopped == INDEFINITE:
            return preconditioner_not_definite(float(self.seen[DELTA]))
        if self.stopped == BROKEN:
            return why_stopped(float(self.seen[P_A_P]), self.iterations + 1)
        return None


def queue(room, numbers: Numbers, iteration, vectors, callback) -> Numbers:
    """Queue iterations until the numbers say that the solve has stopped.

    Parameters
    ----------
    room : Room
    numbers : Numbers
    iteration : callable
        Called with the room, the numbers and the next item of ``vectors``, a tuple.
    vectors : iterator of tuples
    callback : callable or None
        Called with x after each iteration.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.problem import Laplacian
    >>> from course_pkg.sstep.room import Room
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> numbers = Numbers(room, 8.0, 9.0, 640)
    >>> queue(room, numbers, None, iter(()), None).iterations  # the first residual is small enough
    0
    """
    while numbers.stopped == RUNNING:
        arguments, before = next(vectors), numbers.iterations
        room.iteration((iteration.__name__, *arguments), iteration, room, numbers, *arguments)
        numbers.look(always=callback is not None)
        if callback is not None and numbers.iterations > before:
            callback(room.give(room.x))
    return numbers


def swapped(first, second):
    """Return arguments of iterations whose old and fresh block change places: old, fresh, and whether it is the first.

    Examples
    --------
    >>> blocks = swapped("a", "b")
    >>> [next(blocks) for _ in range(3)]
    [('a', 'b', True), ('b', 'a', False), ('a', 'b', False)]
    """
    return chain([(first, second, True)], cycle([(second, first, False), (first, second, False)]))
