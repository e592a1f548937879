"""The stable method, written once for all libraries: one reduction for s iterations, by the Gram matrix of all vectors.

A pass has s fresh vectors, or fewer near the end (``pace.py``). Blocks have room for s vectors in any case, so kernels
are compiled for one s only: what earlier passes left behind the fresh vectors is left out of the Gram matrix, and
has coefficients of zero. A shorter pass keeps directions of the pass before it (``directions.py``).

After the sums of a pass the host waits, for its scalar work: once for s iterations. With s = 1 a pass is an iteration,
and its scalar work is done where the vectors live, so passes are queued without waiting (``ahead.py``); the host does
only those whose numbers need a closer look, and those between residuals that are replaced.
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
    s = asked = check_s(s)
    require_count(replace=replace)
    start = Start(room, rtol, atol, maxiter)
    if start.zero:
        return nothing_to_solve(room.give(room.vector()))
    interval = _interval(room, name, bounds)
    spent = room.reductions
    buffers = room.block(s), room.block(s)
    norms, trouble, old, iterations, lengths = [start.norm], None, None, 0, []
    conditions, fallbacks, replaced, restarts, last_true = [], [], 0, 0, np.inf
    pace, directions, ahead = Pace(start.target), Directions(), not replace
    pace.note(0, start.norm)
    spectrum = Spectrum(interval, bounds, room.dtype)
    while iterations < start.limit:
        small = False
        if ahead and s == 1:
            numbers = Numbers(room, norms[-1], start.target, start.limit - iterations)
            queue(room, numbers, _pass_of_one, swapped(*(block[:2] for block in buffers)), callback)
            norms[-1:], old = numbers.complete, None
            iterations, lengths = iterations + numbers.iterations, lengths + [1] * numbers.iterations
            conditions += [1.0] * numbers.iterations
            ahead = small = numbers.stopped == CONVERGED
            if numbers.stopped == ASKED:
                room.residual(room.x, room.r)
            elif not small:
                break
        looked = pace.looks(iterations, s)
        if looked:
            norms[-1] = sqrt(room.dots((room.r, room.r))[0])
            pace.note(iterations, norms[-1])
        if not (small or (looked and norms[-1] <= start.target)):
            length, fresh = pace.length(iterations, s), buffers[0][: 2 * s]
            chosen = basis(name, length, interval)
            room.powers(room.r, chosen, fresh)
            G = room.gram(old, fresh, room.r, length)
            norms[-1] = sqrt(max(G[-1, -1], 0.0))
            pace.note(iterations, norms[-1])
        if small or norms[-1] <= start.target:  # stop on the true residual only
            true = room.residual(room.x, room.r)
            replaced += 1
            norms[-1] = true
            if true <= SLACK * start.target or true > GAIN * last_true:
                norms[-1] = min(true, start.target)
                break
            last_true, old = true, None
            pace.begin(iterations)
            pace.note(iterations, true)
            continue
        spectrum.see(G, chosen)
        trouble = gram_trouble(G, length, iterations, interval) or diverged(
            norms, spectrum.beyond() or "choose a smaller s, or check A and M."
        )
        if trouble:
            break
        try:
            found, with_old = _projected(G, length)
        except projection.NotDefinite:
            reason = f"A is not positive definite: after {iterations} iterations, a direction d has d·Ad < 0; {REFUSED}"
            trouble = Stop(Status.NOT_DEFINITE, reason)
            break
        conditions.append(found.condition)
        restarts, old = restarts + (not with_old), old if with_old else None
        if with_old and pace.matters(iterations + length, s):
            pace.note(iterations, norms[-1], *projection.residuals(found, chosen, G))
        C, a = directions.coefficients(found, s, length)
        room.project(fresh if old is None else old, fresh, C, a, fresh)
        old, buffers = fresh, buffers[::-1]
        iterations += length
        lengths.append(length)
        if 2 * found.kept < length:
            fallbacks.append((iterations, s))
            s, old = max(1, s // 2), None
            pace.begin(iterations)
        if replace and len(lengths) % replace == 0:
            room.residual(room.x, room.r)
            replaced += 1
        norms.append(norms[-1])  # until the next reduction computes it
        if callback is not None:
            callback(room.give(room.x))
    extra = {
        "s": asked, "s_last": s, "fallbacks": tuple(fallbacks), "lengths": tuple(lengths), "looks": pace.looked,
        "bounds": interval, "conditions": tuple(conditions), "growth": spectrum.growth, "ritz": spectrum.ritz,
        "beyond_bounds": bool(beyond := spectrum.beyond()), "replaced": replaced, "restarts": restarts,
        "setup_reductions": spent,
    }  # fmt: skip
    notes = fell(asked, s, fallbacks)
    if beyond and not trouble:
        notes += (beyond,)
    return ended(room, norms, start.target, iterations, trouble, extra, notes)


def _pass_of_one(room, numbers, old, fresh, first):
    C, a = room.few((2, 1), "C"), room.few((2,), "a")
    room.powers(room.r, ONE, fresh)
    G = room.gram_of_iteration(None if first else old, fresh)
    room.scalar(gram_scalars, G, numbers.state, numbers.history, C, a)
    if not numbers.over:
        room.project(fresh if first else old, fresh, C, a, fresh)


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
