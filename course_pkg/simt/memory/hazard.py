"""A hazard: a report to a learner that a kernel is wrong, even if its result happens to be right."""

from dataclasses import dataclass

from course_pkg.simt.memory.places import Thread

OTHER_DATA = "a GPU would touch whatever lies there"
WRAPS = "which wraps to the other end of the array"
NOT_IN_STEP = "lanes of a warp do not run in step"
EITHER = "the branch or the loop"


def all_must_pass(out_of: str) -> str:
    """Return what to do about a barrier that only some threads reach, because it is in ``out_of``."""
    return f"all threads of a block must pass the same barrier, so move it out of {out_of}"


def beyond(who, element: str, shape: tuple) -> str:
    """Return what happened if a thread used an element that its array does not have."""
    return f"{who} uses {element}, outside the array's shape {shape}"


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
    event : str
        What the threads did: the first half of a sentence for a learner.
    rest : str
        The second half, with the punctuation between the two: what comes of it, or what to do about it.
    function : str
    other_line : int or None
        Where the other thread touched the element.
    alike : tuple of Thread
        Other threads, at most 256, whose index was also outside the array in the same access.
    verbs : tuple of str
        What each of the two threads of a race does: ``reads``, ``writes`` or ``updates``.
    shape : tuple of int or None
        The shape of the array, as the first thread sees it, if the index does not lie in it.
    operation : str
        The warp-level function at which a thread waits, or from which it takes a value; empty for a barrier.

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
    event: str
    rest: str
    function: str
    other_line: int | None = None
    alike: tuple[Thread, ...] = ()
    verbs: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    operation: str = ""

    @property
    def words(self) -> str:
        """The kind in words, such as ``divergent barrier``."""
        return self.kind.replace("_", " ")

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of the other thread, if it is another one, then that of the thread that the message is about."""
        return tuple(dict.fromkeys(n for n in (self.other_line, self.line) if n is not None))

    @property
    def message(self) -> str:
        """One sentence for a learner, which begins with the lines."""
        where = " and ".join(map(str, self.lines))
        return f"line{'s' * (len(self.lines) > 1)} {where}: {self.event}{self.rest}"

    @property
    def element(self) -> str:
        """The array with the index, as in ``a[3, 0]``."""
        return f"{self.array}[{', '.join(map(str, self.index or ()))}]"

    def __str__(self):
        return f"{self.function}, {self.message}"
