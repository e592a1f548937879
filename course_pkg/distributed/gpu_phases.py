"""The phases of an iteration on a GPU, each by itself: a method queues its iterations, and one phase is let through."""

from course_pkg.distributed.gpu_fields import ADVANCES, RankWorkspace
from course_pkg.distributed.phases import ALLREDUCE, HALO, PRODUCT, SCALARS, SUMS, UPDATES

DEVICE_PHASES = (PRODUCT, UPDATES, SUMS, ALLREDUCE, SCALARS, HALO)


class OnlyPhase:
    """A workspace on which a method queues the launches of one phase of its iterations, and no other.

    Parameters
    ----------
    work : RankWorkspace
    phase : str
        One of ``DEVICE_PHASES``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> work = SimpleNamespace(marches=None, r=None, x=None, state=None, partial=None)
    >>> OnlyPhase(work, PRODUCT).make_alpha(4, 0)  # no sum and no scalar
    """

    def __init__(self, work: RankWorkspace, phase: str):
        self.work, self.phase = work, phase
        self.marches, self.r, self.x = work.marches, work.r, work.x
        self.state, self.partial = work.state, work.partial

    def marching(self, kernel, stream, before, after, march=None) -> int:
        """Launch a kernel if it is of the phase, or send what neighbours read of its result; return its blocks."""
        advances = kernel in ADVANCES
        if self.phase == (UPDATES if advances else PRODUCT):
            return self.work.whole(kernel, stream, before, after, march)
        if self.phase == HALO and advances:
            self.work.swap(self.r, stream)
            self.work.link.join(stream)
        return self.work.blocks_of_whole(march)

    def make_alpha(self, blocks, stream) -> None:
        """Launch the part of what makes alpha that is of the phase."""
        self._make(blocks, stream, self.work.alpha_of_sum if self.phase == SCALARS else None)

    def make_beta(self, blocks, stream) -> None:
        """Launch the part of what makes beta that is of the phase."""
        self._make(blocks, stream, self.work.beta_of_sum if self.phase == SCALARS else None)

    def _make(self, blocks, stream, scalar):
        if self.phase == SUMS:
            self.work.add_up_here(blocks, stream)
        elif self.phase == ALLREDUCE:
            self.work.add_up_all(stream)
        elif scalar is not None:
            scalar(stream)
