"""The sweeps of ``cg/cpu_passes.py`` on one rank among several, so that the fused methods of ``cg`` run unchanged.

During the halo exchange, each method runs the sweep of one process on this rank's slab, as if the slab were surrounded
by zeros. Then it adds the contributions of the neighbours' planes. This is possible because the product is linear in
these planes, and so is p·Ap. A sweep that fuses the update of p with the product needs the halos of *two* fields, r and
the old p, instead of one.
"""

import numpy as np

from course_pkg.cg import cpu_passes as passes
from course_pkg.core.systems import dot
from course_pkg.distributed.halo import HaloExchange
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SUMS, UPDATES
from course_pkg.distributed.slabs import SlabLaplacian


class RankSweeps:
    """The ``sweeps`` argument of a method of ``cg/cpu_numba.py``: fields are slabs of this rank, sums are global.

    Parameters
    ----------
    A : SlabLaplacian
        With at least 3 planes on each rank.

    Examples
    --------
    >>> from course_pkg.cg.cpu_numba import cg_baseline, cg_map_stencil_fused
    >>> from course_pkg.distributed.serial import Serial
    >>> def solve(comm, method):
    ...     A = SlabLaplacian((8, 8, 8), comm)
    ...     return method(np.ones(A.own_shape), sweeps=RankSweeps(A)).iterations
    >>> Serial(2).run(solve, cg_baseline), Serial(2).run(solve, cg_map_stencil_fused)
    ([16, 16], [16, 16])
    """

    def __init__(self, A: SlabLaplacian):
        self.A, self.vectors, self.phases = A, A.vectors, A.phases
        self._kept = (None, None)  # the last new p, and its halo
        # for the second field of a sweep that needs two halos
        self._second = HaloExchange(A.comm, A.exchange.plan, A.dtype)

    def _total(self, mine: float) -> float:
        with self.phases(ALLREDUCE):
            return float(self.A.comm.sum([mine])[0])

    def _finish(self, exchange):
        with self.phases(HALO):
            return exchange.finish()

    def dot(self, a, b) -> float:
        """Return <a, b>."""
        with self.phases(SUMS):
            mine = passes.dot(a, b)
        return self._total(mine)

    def update_p(self, r, beta, p) -> None:
        """Compute ``p = r + beta p``."""
        with self.phases(UPDATES):
            passes.update_p(r, beta, p)

    def update_x_and_r(self, p, s, alpha, x, r) -> None:
        """Compute ``x += alpha p`` and ``r -= alpha s``."""
        with self.phases(UPDATES):
            passes.update_x_and_r(p, s, alpha, x, r)

    def update_x_and_r_dot(self, p, s, alpha, x, r) -> float:
        """Compute ``x += alpha p``, ``r -= alpha s`` and <r, r>."""
        with self.phases(UPDATES):
            mine = passes.update_x_and_r_dot(p, s, alpha, x, r)
        return self._total(mine)

    def matvec(self, p, s) -> None:
        """Compute ``s = A p``."""
        self.A.multiply(p.reshape(-1), s.reshape(-1))

    def matvec_dot(self, p, s) -> float:
        """Compute ``s = A p`` and <p, s>."""
        with self.phases(PRODUCT):
            self.A.exchange.start(p.reshape(-1))
            mine = passes.matvec_dot(p, s)
            halo = self._finish(self.A.exchange)
            self.A.outside(halo, s.reshape(-1))
        return self._total(mine - self._across(p, halo))

    def residual(self, b, x, r) -> float:
        """Compute ``r = b - A x`` and <r, r>; <r, r> is computed in a separate sweep."""
        with self.phases(PRODUCT):
            self.A.exchange.start(x.reshape(-1))
            passes.residual(b, x, r)
            self.A.outside(self._finish(self.A.exchange), r.reshape(-1), -1.0)
        return self.dot(r, r)

    def update_p_and_matvec(self, r, p1, beta, p2, s) -> None:
        """Compute ``p2 = r + beta p1`` and ``s = A p2``."""
        with self.phases(PRODUCT):
            self._start(r, p1)
            passes.update_p_and_matvec(r, p1, beta, p2, s)
            self.A.outside(self._halo_of_p(beta), s.reshape(-1))

    def search(self, r, p1, beta, p2) -> float:
        """Compute ``p2 = r + beta p1`` and <p2, A p2>."""
        with self.phases(PRODUCT):
            self._start(r, p1)
            mine = passes.search(r, p1, beta, p2)
            halo = self._halo_of_p(beta)
        self._kept = (p2, halo)
        return self._total(mine - self._across(p2, halo))

    def advance(self, p, alpha, x, r) -> float:
        """Compute ``x += alpha p``, ``r -= alpha A p`` and <r, r>; <r, r> is computed in a separate sweep.

        If :meth:`search` has just computed p, its halo is already known, and is not exchanged.
        """
        known = self._kept[0] is p
        with self.phases(PRODUCT):
            if not known:
                self.A.exchange.start(p.reshape(-1))
            passes.advance(p, alpha, x, r)
            halo = self._kept[1] if known else self._finish(self.A.exchange)
            self.A.outside(halo, r.reshape(-1), -alpha)
        return self.dot(r, r)

    def _start(self, r, p1) -> None:
        self.A.exchange.start(r.reshape(-1))
        self._second.start(p1.reshape(-1))

    def _halo_of_p(self, beta):
        """Return the halo of ``r + beta p1``, from the halos of both."""
        return self._finish(self.A.exchange) + beta * self._finish(self._second)

    def _across(self, p, halo) -> float:
        """Return the sum of p times its neighbours on other ranks; <p, A p> is smaller by this sum."""
        flat, plan = p.reshape(-1), self.A.exchange.plan
        pairs = zip(plan.sends, plan.receives, strict=True)
        return float(sum(np.float64(dot(flat[here], halo[there])) for (_, here), (_, there) in pairs))
