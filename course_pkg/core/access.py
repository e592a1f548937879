"""One memory request of one warp: what the access strip draws."""

from dataclasses import dataclass, field

import numpy as np

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
WARP = 32
# what a thread does by an access of each kind
VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


@dataclass(frozen=True)
class WarpAccess:
    """The bytes that the 32 lanes of one warp touch with one instruction.

    Attributes
    ----------
    space : str
        ``"global"``, ``"shared"``, ``"local"`` or ``"constant"``.
    kind : str
        ``"load"``, ``"store"`` or ``"atomic"``.
    array : str
        Name of the array in the kernel.
    itemsize : int
        Bytes of one lane's element.
    offsets : ndarray of int64, shape (32,)
        Byte address of each lane's element, counted from an address that is a multiple of 128 bytes; -1 for a lane
        that is switched off.
    line : int
        Line of the source file (or of the notebook's cell).
    source : str
        That line's text.
    function : str
        Name of the function that holds the line.
    block, thread : tuple of int
        Index of the block, and of the warp's first thread in it, as (x, y, z).
    warp : int
        Number of the warp in its block.
    repetition : int
        How often the warp has executed this line before; 0 for the first time.
    sectors : int
        32-byte sectors that the request moves; 0 for shared memory.
    wavefronts : int
        Number of wavefronts that the request needs, that is how often the 32 banks must answer; 0 outside shared
        memory.
    """

    space: str
    kind: str
    array: str
    itemsize: int
    offsets: np.ndarray = field(repr=False)
    line: int
    source: str
    function: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    warp: int
    repetition: int
    sectors: int
    wavefronts: int


@dataclass(frozen=True)
class Touches:
    """The elements of an array that one statement of a kernel touched, each with its thread.

    Attributes
    ----------
    space, kind, array, line : str, str, str, int
        As in :class:`WarpAccess`.
    shape : tuple of int
        Shape of the array.
    block, thread, element : ndarray of int64, shape (n,)
        Entry i of the three arrays describes one access: the number of the block in the launch, of the thread in its
        block, and of the element in the array's memory (in shared memory: in the block's copy). Blocks and threads are
        numbered with x fastest.
    """

    space: str
    kind: str
    array: str
    line: int
    shape: tuple[int, ...]
    block: np.ndarray = field(repr=False)
    thread: np.ndarray = field(repr=False)
    element: np.ndarray = field(repr=False)
