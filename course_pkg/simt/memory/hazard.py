"""A hazard: a report to a learner that a kernel is wrong, even if its result happens to be right."""

from dataclasses import dataclass

from course_pkg.simt.memory.places import Thread


@dataclass(frozen=True)
class Hazard:
    """Something that is wrong with a kernel, though its result may look right.

    Attributes
    ----------
    kind : str
        ``race``, ``missing_syncwarp``, ``divergent_barrier``, ``out_of_bounds``, ``negative_index``,
        ``uninitialised`` or ``absent_lane``.
    line : int
    array : str or None
    index : tuple of int or None
        The index as the kernel wrote it.
    threads : tuple of Thread
        The thread that the message is about, then the thread that it conflicts with, if there is one.
    message : str
        One sentence for a learner.
    function : str
    other_line : int or None
        Where the other thread touched the element.
    alike : tuple of Thread
        Other threads, at most 256, whose index was also outside the array in the same access.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import sum_kernel
    >>> found = simt.profile(sum_kernel[2, 256], np.ones(256), np.empty(1))  # two blocks, one result
    >>> found.hazards[0].kind, found.hazards[0].array
    ('race', 'out')
    """

    kind: str
    line: int
    array: str | None
    index: tuple[int, ...] | None
    threads: tuple[Thread, ...]
    message: str
    function: str
    other_line: int | None = None
    alike: tuple[Thread, ...] = ()

    def __str__(self):
        return f"{self.function}, {self.message}"
