"""The stable method, written once for all libraries: one reduction for s iterations, by the Gram matrix of all vectors.

A pass has s fresh vectors, or fewer near the end (``pace.py``). Blocks have room for s vectors in any case, so kernels
are compiled for one s only: what earlier passes left behind the fresh vectors is left out of the Gram matrix, and
has coefficients of zero. A shorter pass keeps directions of the pass before it (``directions.py``).

On a GPU, the scalar work of a pass is done where the vectors live, so passes are queued without waiting: with s = 1, a
pass is an iteration (``ahead.py``), otherwise see ``passes.py``. The host does passes whose numbers need a closer look,
those that may have to be shorter, and those between residuals that are replaced; it then waits for the sums of a pass.
"""

from math import sqrt

import numpy as np

from course_pkg.cg.outcome import SLACK, Stop, nothing_to_solve
from course_pkg.core import CourseError, Status
from course_pkg.core.checks import require_count
from course_pkg.sstep import projection
from course_pkg.sstep.ahead import Numbers, queue, swapped
from course_pkg.sstep.bases import basis, check_bounds
from course_pkg.sstep.bounds import lanczos
from course_pkg.sstep.checks import check_s
from course_pkg.sstep.directions import Directions, drift
from course_pkg.sstep.outcome import diverged, ended, fell
from course_pkg.sstep.pace import Pace
from course_pkg.sstep.passes import Passes
from course_pkg.sstep.scalars import ASKED, CONVERGED, gram_scalars
from course_pkg.sstep.solver import ONE, Start
from course_pkg.sstep.troubles import Spectrum, gram_trouble

BOUNDS = ("gershgorin", "lanczos")
GAIN = 0.5  # a true residual above this share of the last true one ends the method: it no longer improves
REFUSED = "compare A with its transpose, and use MINRES where it is indefinite."


def solve(room, s, name, bounds, replace, rtol, atol, maxiter, callback):
    """The stable method. A pass: a basis of s vectors, one reduction for the Gram matrix, the minimum over both blocks.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> solve(room, 2, "chebyshev", None, 0, 1e-6, 0.0, None, None).iterations
    4
    """
    s = check_s(s)
    require_count(replace=replace)
    start = Start(room, rtol, atol, maxiter)
    if start.zero:
        return nothing_to_solve(room.give(room.vector()))
    solving = _Solving(room, s, name, bounds, replace, start, callback)
    while solving.iterations < start.limit and not solving.over:
        solving.go_on()
    return solving.outcome()


class _Solving:
    """A solve: what its passes have found so far. ``old`` is the block of the last pass, ``buffers[0]`` is free."""

    def __init__(self, room, s, name, bounds, replace, start, callback):
        self.room, self.s, self.asked, self.name, self.replace = room, s, s, name, replace
        self.target, self.limit, self.callback = start.target, start.limit, callback
        self.interval = _interval(room, name, bounds)
        self.spent = room.reductions
        self.buffers, self.old = (room.block(s), room.block(s)), None
        self.norms, self.iterations, self.lengths, self.conditions = [start.norm], 0, [], []
        self.over, self.trouble, self.last_true = False, None, np.inf
        self.fallbacks, self.replaced, self.restarts = [], 0, 0
        self.pace, self.directions = Pace(start.target), Directions()
        self.pace.note(0, start.norm)
        self.spectrum, self.unseen = Spectrum(self.interval, bounds, room.dtype), ([], None)
        self.ahead = not replace  # whether passes may be queued

    def go_on(self) -> None:
        """Do the next passes: as many as can be queued, or one with the host."""
        if self.ahead and self.s == 1:
            stopped = self._queue_iterations()
            if stopped not in (CONVERGED, ASKED):
                self.over = True
                return
        elif passes := self._surely():
            stopped = self._queue_passes(passes)
            if stopped not in (CONVERGED, ASKED):
                return
        else:
            stopped = ASKED
        if stopped == CONVERGED:
            self._confirm()
        else:
            self._pass()

    # ---- queued

    def _queue_iterations(self):
        self._see()
        numbers = Numbers(self.room, self.norms[-1], self.target, self.limit - self.iterations)
        blocks = swapped(*(block[:2] for block in self.buffers))
        queue(self.room, numbers, _pass_of_one, blocks, self.callback)
        self._took(numbers.complete, numbers.iterations, 1)
        self.conditions += [1.0] * numbers.iterations
        self._stopped(numbers.stopped)
        return numbers.stopped

    def _surely(self):
        """Return how many passes to queue."""
        most = 0 if self.old is None or not self.ahead else self.room.most_ahead
        most = min(most, 1) if self.callback else most
        return self.pace.surely(self.iterations, self.s, most) if most else 0

    def _queue_passes(self, passes):
        """Queue passes; while they are being done, look at the sums of those before them."""
        room, s, begun, m = self.room, self.s, self.iterations, 2 * self.s + 1
        fresh, chosen = self.buffers[0][: 2 * s], basis(self.name, s, self.interval)
        numbers = Passes(room, self.norms, self.target, self.limit - begun, s, passes)
        numbers.queue(_pass_of_many, self.old, fresh, chosen)
        self._see()
        numbers.read()
        grams = room.to_host(numbers.grams)[: numbers.done]
        self.unseen = np.where(np.tri(m, k=-1, dtype=bool), grams.transpose(0, 2, 1), grams), chosen
        found = None
        for k, norm in enumerate(numbers.norms):
            within = []
            if k < numbers.done and self.pace.matters(begun + k * s + s, s):  # as after a pass with the host
                G = self.unseen[0][k]
                found = projection.projected(G[:-1, :-1], G[:-1, -1], s)
                within = projection.residuals(found, chosen, G)
            self.pace.note(begun + k * s, norm, *within)
        self._took(numbers.complete, numbers.iterations, s)
        if numbers.done % 2:
            self.old, self.buffers = fresh, self.buffers[::-1]
        self._stopped(numbers.stopped)
        if found and self.old is not None:
            self.directions.coefficients(found._replace(C=room.to_host(room.few((2 * s, s), "C"))), s, s)
        if self.callback is not None and numbers.done:
            self.callback(room.give(room.x))
        return numbers.stopped

    def _took(self, norms, iterations, s):
        self.norms[-1:] = norms
        self.iterations += iterations
        self.lengths += [s] * (iterations // s)

    def _stopped(self, stopped):
        """After the last pass, and where the host is asked, the blocks are no longer those of the last pass."""
        if stopped == ASKED:
            self.ahead, self.restarts = False, self.restarts + (self.old is not None)
            self.room.residual(self.room.x, self.room.r)
        if stopped in (ASKED, CONVERGED):
            self.old = None

    def _see(self):
        """Look at the Gram matrices of passes that were queued: for the bounds, and for conditions."""
        grams, chosen = self.unseen
        self.unseen = [], None
        for G in grams:
            self.spectrum.see(G, chosen)
            d = 1 / np.sqrt(np.diag(G)[-1 - self.s : -1])
            self.conditions.append(
                projection.condition(d[:, None] * G[-1 - self.s : -1, -1 - self.s : -1] * d)
            )

    # ---- with the host

    def _pass(self) -> None:
        """Do one pass whose sums the host looks at."""
        room, s, pace, iterations = self.room, self.s, self.pace, self.iterations
        self._see()
        if pace.looks(iterations, s):
            self.norms[-1] = sqrt(room.dots((room.r, room.r))[0])
            pace.note(iterations, self.norms[-1])
            if self.norms[-1] <= self.target:
                self._confirm()
                return
        length, fresh = pace.length(iterations, s), self.buffers[0][: 2 * s]
        chosen = basis(self.name, length, self.interval)
        room.powers(room.r, chosen, fresh)
        G = room.gram(self.old, fresh, room.r, length)
        self.norms[-1] = sqrt(max(G[-1, -1], 0.0))
        pace.note(iterations, self.norms[-1])
        if self.norms[-1] <= self.target:
            self._confirm()
            return
        found, with_old = self._found(G, chosen)
        if found is None:
            self.over = True
            return
        self.conditions.append(found.condition)
        if not with_old:
            self.restarts, self.old = self.restarts + 1, None
        if with_old and pace.matters(iterations + length, s):
            pace.note(iterations, self.norms[-1], *projection.residuals(found, chosen, G))
        C, a = self.directions.coefficients(found, s, length)
        room.project(fresh if self.old is None else self.old, fresh, C, a, fresh)
        self.old, self.buffers = fresh, self.buffers[::-1]
        self.iterations += length
        self.lengths.append(length)
        if 2 * found.kept < length:
            self.fallbacks.append((self.iterations, s))
            self.s, self.old = max(1, s // 2), None
            pace.begin(self.iterations)
        if self.replace and len(self.lengths) % self.replace == 0:
            room.residual(room.x, room.r)
            self.replaced += 1
        self.norms.append(self.norms[-1])  # until the next reduction computes it
        if self.callback is not None:
            self.callback(room.give(room.x))

    def _found(self, G, chosen):
        """Return a pass's projection and whether old directions take part, or set what is wrong."""
        self.spectrum.see(G, chosen)
        self.trouble = gram_trouble(G, chosen.s, self.iterations, self.interval) or diverged(
            self.norms, self.spectrum.beyond() or "choose a smaller s, or check A and M."
        )
        if not self.trouble:
            try:
                return _projected(G, chosen.s)
            except projection.NotDefinite:
                self.trouble = Stop(
                    Status.NOT_DEFINITE,
                    f"A is not positive definite: after {self.iterations} iterations, a direction d has d·Ad < 0; "
                    f"{REFUSED}",
                )
        return None, False

    def _confirm(self) -> None:
        """Stop on the true residual only; if it is too large, go on from it as long as it improves."""
        true = self.room.residual(self.room.x, self.room.r)
        self.replaced += 1
        self.norms[-1] = true
        if true <= SLACK * self.target or true > GAIN * self.last_true:
            self.norms[-1], self.over = min(true, self.target), True
            return
        self.last_true, self.old = true, None
        self.pace.begin(self.iterations)
        self.pace.note(self.iterations, true)

    def outcome(self):
        """Return the result."""
        self._see()
        beyond = self.spectrum.beyond()
        extra = {
            "s": self.asked, "s_last": self.s, "fallbacks": tuple(self.fallbacks), "lengths": tuple(self.lengths),
            "looks": self.pace.looked, "bounds": self.interval, "conditions": tuple(self.conditions),
            "growth": self.spectrum.growth, "ritz": self.spectrum.ritz, "beyond_bounds": bool(beyond),
            "replaced": self.replaced, "restarts": self.restarts, "setup_reductions": self.spent,
        }  # fmt: skip
        notes = fell(self.asked, self.s, self.fallbacks)
        if beyond and not self.trouble:
            notes += (beyond,)
        return ended(self.room, self.norms, self.target, self.iterations, self.trouble, extra, notes)


def _pass_of_one(room, numbers, old, fresh, first):
    C, a = room.few((2, 1), "C"), room.few((2,), "a")
    room.powers(room.r, ONE, fresh)
    G = room.gram_of_iteration(None if first else old, fresh)
    room.scalar(gram_scalars, G, numbers.state, numbers.history, C, a)
    if not numbers.over:
        room.project(fresh if first else old, fresh, C, a, fresh)


def _pass_of_many(room, numbers, old, fresh, chosen):
    s = numbers.s
    C, a = room.few((2 * s, s), "C"), room.few((2 * s,), "a")
    room.powers(room.r, chosen, fresh)
    G = room.gram_of_iteration(old, fresh)
    room.gram_pass(s, G, numbers.state, numbers.history, numbers.grams, C, a)
    room.project(old, fresh, C, a, fresh)


def _projected(G, s):
    """Return a pass's projection, and whether the old directions take part: not if they have drifted from conjugate."""
    try:
        return projection.projected(G[:-1, :-1], G[:-1, -1], s), True
    except projection.NotDefinite as negative:
        if drift(G[:-1, :-1], s) <= -negative.least:
            raise
    fresh = slice(len(G) - 1 - s, -1)
    return projection.projected(G[fresh, fresh], G[fresh, -1], s), False


def _interval(room, name, bounds):
    if name == "monomial":
        return (0.0, 1.0)
    if bounds is None:
        bounds = "gershgorin" if room.M is None and room.has_rows else "lanczos"
    if isinstance(bounds, str):
        if bounds not in BOUNDS:
            raise CourseError(f"bounds is {bounds!r}: pass {' or '.join(BOUNDS)}, or numbers (lo, hi).")
        if bounds == "gershgorin" and room.M is not None:
            raise CourseError(
                "bounds is 'gershgorin', which knows A alone: with M, pass 'lanczos' or numbers."
            )
        return room.circles() if bounds == "gershgorin" else lanczos(room)
    return check_bounds(bounds)
