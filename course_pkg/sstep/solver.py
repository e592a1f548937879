"""Methods, written once for all libraries: conjugate gradient with two reductions, one, or one per s iterations.

====================  ============================  ==================================================================
method                reductions                    source
====================  ============================  ==================================================================
pcg                   2 for each iteration          Hestenes and Stiefel 1952
pfcg                  1 for each iteration          Notay and Napov, J. Comput. Phys. 281, 2015
pcg_sstep_moments     1 for s iterations            Chronopoulos and Gear 1989; Bernaschi et al. 2025, Algorithms 3-6
pcg_sstep             1 for s iterations            the same space, from its Gram matrix in a basis that stays
                                                    well conditioned: ``stable.py``, ``scalar_work.py``, ``bases.py``
====================  ============================  ==================================================================

A pass learns the norm of the residual only from its own reduction, so a method has already computed one block more when
it finds that it has converged. The numbers beside the lines are the steps of Algorithms 1 to 3.
"""

from itertools import repeat
from math import sqrt

from course_pkg.cg.outcome import nothing_to_solve
from course_pkg.core.systems import check_norm, check_target
from course_pkg.sstep import scalar_work
from course_pkg.sstep.ahead import Numbers, queue, swapped
from course_pkg.sstep.bases import basis
from course_pkg.sstep.checks import check_s
from course_pkg.sstep.outcome import diverged, ended, fell
from course_pkg.sstep.pace import Pace
from course_pkg.sstep.passes import Passes
from course_pkg.sstep.scalars import ASKED, BROKEN, KEPT, moments_scalars, pcg_alpha, pcg_beta, pfcg_scalars
from course_pkg.sstep.troubles import broken, moments_trouble

ONE = basis("monomial", 1)  # a basis of the single vector M r, which is the same for every kind of basis


class Start:
    """What every method begins with: the norm to reach, the first residual, and the most iterations.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> Start(room, 1e-6, 0.0, None).norm
    8.0
    """

    def __init__(self, room, rtol, atol, maxiter):
        norm_b = room.residual(room.vector(), room.r)
        check_norm(norm_b, "b")
        self.zero = norm_b == 0
        self.target = 0.0 if self.zero else check_target(max(rtol * norm_b, atol))
        self.norm = room.residual(room.x, room.r)
        check_norm(self.norm, "x0")
        self.limit = 10 * room.unknowns if maxiter is None else maxiter
        room.products = room.reductions = 0

    def numbers(self, room, delta=0.0) -> Numbers:
        """Return the numbers of iterations that are queued from here on; delta is u·r."""
        return Numbers(room, self.norm, self.target, self.limit, delta)


def pcg(room, rtol, atol, maxiter, callback):
    """Algorithm 1: two reductions for each iteration, because beta needs the residual that alpha makes.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> pcg(room, 1e-6, 0.0, None, None).iterations
    4
    """
    start = Start(room, rtol, atol, maxiter)
    if start.zero:
        return _nothing(room)
    u, p, s = room.vector(), room.vector(), room.vector()
    _apply(room, room.r, u)  # 2
    room.copy(u, p)  # 3
    numbers = start.numbers(room, room.dots((u, room.r))[0])
    return _all_queued(room, queue(room, numbers, _pcg_iteration, repeat((u, p, s)), callback))


def _pcg_iteration(room, numbers, u, p, s):
    one, two = room.few((1,), "p·Ap"), room.few((2,), "u·r and r·r")
    room.multiply(p, s)  # 5
    room.totals(one, (p, s))
    room.scalar(pcg_alpha, one, numbers.state)  # 6
    if numbers.over:
        return
    room.follow(room.x, numbers.alpha, p, room.x)  # 7
    room.follow(room.r, numbers.minus_alpha, s, room.r)  # 8
    _apply(room, room.r, u)  # 9
    room.totals(two, (u, room.r), (room.r, room.r))
    room.scalar(pcg_beta, two, numbers.state, numbers.history)  # 10
    room.follow(u, numbers.beta, p, p)  # 11


def pfcg(room, rtol, atol, maxiter, callback):
    """Algorithm 2: p·Ap follows from u·Au, so one reduction takes all sums: their vectors exist at the same time.

    The sums are those of a pass with s = 1: with Z = [p, u], ``ZᵀAZ`` has rho, gamma and beta, and ``Zᵀr`` has alpha.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> pfcg(room, 1e-6, 0.0, None, None).iterations
    4
    """
    start = Start(room, rtol, atol, maxiter)
    if start.zero:
        return _nothing(room)
    first, second = room.block(1), room.block(1)  # p and s = A p; u and w = A u
    numbers = start.numbers(room)
    return _all_queued(room, queue(room, numbers, _pfcg_iteration, swapped(first, second), callback))


def _pfcg_iteration(room, numbers, old, fresh, first):
    beta, alpha = room.few((1, 1), "beta"), room.few((1,), "alpha")
    _apply(room, room.r, fresh[0])  # 9
    room.multiply(fresh[0], fresh[1])  # 10
    G = room.gram_of_iteration(None if first else old, fresh)
    room.scalar(pfcg_scalars, G, numbers.state, numbers.history, beta, alpha)  # 11 to 14
    if not numbers.over:
        room.update(old, fresh, beta, alpha, fresh)  # 15 to 18


def _all_queued(room, numbers):
    return ended(room, numbers.complete, numbers.target, numbers.iterations, numbers.trouble(), {})


def moments(room, s, rtol, atol, maxiter, callback, couple=None, fall_back=True):
    """Algorithm 3: pMPK, cvm and SW, with two blocks that are swapped.

    Examples
    --------
    >>> from course_pkg.sstep import reference
    >>> from course_pkg.sstep.room import Room
    >>> from course_pkg.sstep.problem import Laplacian
    >>> room = Room(reference, Laplacian((4, 4, 4)), np.ones(64), None, None, 1e-6, 0.0, None)
    >>> moments(room, 2, 1e-6, 0.0, None, None).iterations
    4
    """
    s = asked = check_s(s)
    start = Start(room, rtol, atol, maxiter)
    if start.zero:
        return _nothing(room)
    buffers = room.block(s), room.block(s)
    norms, trouble, step, iterations, fallbacks = [start.norm], None, None, 0, []
    pace, most = Pace(start.target, spare=0), 0 if couple else min(room.most_ahead, 1 if callback else KEPT)
    pace.note(0, start.norm)
    if s == 1 and couple is None:
        numbers = queue(room, start.numbers(room), _pass_of_one, swapped(*buffers), callback)
        norms, iterations = numbers.complete, numbers.iterations
        if numbers.stopped == ASKED:
            room.residual(room.x, room.r)
    while norms[-1] > start.target and iterations < start.limit:
        old, fresh = (block[: 2 * s] for block in buffers)
        broke = False
        if step is not None and most:
            passes = pace.surely(iterations, s, most)
            numbers = Passes(room, norms, start.target, start.limit - iterations, s, passes)
            numbers.queue(_pass_of_many, old, fresh, basis("monomial", s))
            numbers.read()
            for k, norm in enumerate(numbers.norms):
                pace.note(iterations + k * s, norm)
            norms[-1:] = numbers.complete
            iterations += numbers.iterations
            buffers = buffers[:: -1 if numbers.done % 2 else 1]
            if callback is not None and numbers.done:
                callback(room.give(room.x))
            if numbers.stopped == ASKED:
                step, most = None, 0
                room.residual(room.x, room.r)
            broke = numbers.stopped == BROKEN
        else:
            room.powers(room.r, basis("monomial", s), fresh)  # 5
            *mu, squared = room.moments(fresh, room.r)  # 6
            norms[-1] = sqrt(max(squared, 0.0))
            pace.note(iterations, norms[-1])
            if norms[-1] <= start.target:
                break
            trouble = moments_trouble(mu, iterations) or diverged(
                norms, "choose a smaller s, or pcg_sstep, whose basis stays well conditioned."
            )
            if trouble:
                break
            try:
                # 7 to 17
                step = scalar_work.first(mu) if step is None else scalar_work.following(mu, step, couple)
            except scalar_work.Breakdown:
                broke = True
            else:
                room.update(old, fresh, step.beta, step.alpha, fresh)  # 18 to 21
                buffers = buffers[::-1]
                iterations += s
                norms.append(_expected(room, norms))
                if most:
                    room.hand(step.W, "W")
                    room.hand(step.alpha, "alpha")
                if callback is not None:
                    callback(room.give(room.x))
        if broke:
            if not fall_back or (s == 1 and any(before == 1 for _, before in fallbacks)):
                trouble = broken(s, iterations)
                break
            fallbacks.append((iterations, s))
            s, step = max(1, s // 2), None
            room.residual(room.x, room.r)
    extra = {"s": asked, "s_last": s, "fallbacks": tuple(fallbacks)}
    return ended(room, norms, start.target, iterations, trouble, extra, fell(asked, s, fallbacks))


def _pass_of_one(room, numbers, old, fresh, first):
    beta, alpha = room.few((1, 1), "beta"), room.few((1,), "alpha")
    room.powers(room.r, ONE, fresh)  # 5
    mu = room.moments_of_iteration(fresh)  # 6
    room.scalar(moments_scalars, mu, numbers.state, numbers.history, beta, alpha)  # 7 to 17
    if not numbers.over:
        room.update(old, fresh, beta, alpha, fresh)  # 18 to 21


def _pass_of_many(room, numbers, old, fresh, chosen):
    s = numbers.s
    W, alpha, beta = room.few((s, s), "W"), room.few((s,), "alpha"), room.few((s, s), "beta")
    room.powers(room.r, chosen, fresh)  # 5
    mu = room.moments_of_iteration(fresh)  # 6
    room.moments_pass(s, mu, numbers.state, numbers.history, W, alpha, beta)  # 7 to 17
    room.update(old, fresh, beta, alpha, fresh)  # 18 to 21


def _apply(room, v, out):
    room.copy(v, out) if room.M is None else room.precondition(v, out)


def _nothing(room):
    return nothing_to_solve(room.give(room.vector()))


def _expected(room, norms):
    """Return a placeholder for the norm that the next reduction will compute: the last norm."""
    return norms[-1]
