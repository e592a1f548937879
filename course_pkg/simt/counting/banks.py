"""Wavefronts: the number of passes in which the banks of shared memory serve a request."""

import numpy as np

from course_pkg.core.access import BANK_BYTES, BANKS, WARP
from course_pkg.simt.counting.footprint import NOBODY


def distinct(rows: np.ndarray) -> np.ndarray:
    """Count the distinct entries of each row; entries equal to ``NOBODY`` do not count."""
    rows = np.sort(rows, axis=1)
    count = (rows[:, 1:] != rows[:, :-1]).sum(axis=1) + 1
    return count - (rows[:, -1] == NOBODY)


def wavefronts(addresses: np.ndarray, itemsize: int, kind: str = "load") -> tuple[np.ndarray, np.ndarray]:
    """Count the wavefronts that each row of 32 lanes needs, and those that it would need at best.

    Parameters
    ----------
    addresses : ndarray of int64, shape (warps, 32)
        Byte addresses in shared memory; negative for a lane that is switched off.
    itemsize : int
        Bytes per lane. Accesses of 8 bytes are served by half-warps, those of 16 bytes by quarter-warps. Both halves of
        a load, or both quarters of a half, are served together under two conditions. First, each of their lanes has a
        neighbour that is switched off or reads the same word; the neighbour is one or two lanes away, or four for
        accesses of 16 bytes. Second, no two of their words share a bank. At best, each half or quarter with an active
        lane needs one wavefront.
    kind : str
        ``"load"`` or ``"store"``.
    """
    words = max(1, itemsize // BANK_BYTES)
    word = np.where(addresses < 0, NOBODY, addresses // BANK_BYTES)
    if words == 1:
        passes = _tallest_bank(word)
        return passes, np.minimum(passes, 1)
    pieces = np.where(word[:, :, None] == NOBODY, NOBODY, word[:, :, None] + np.arange(words))
    by_part = pieces.reshape(len(word) * words, -1)
    parts = _tallest_bank(by_part).reshape(len(word), words)
    passes, least = parts.sum(axis=1), np.count_nonzero(parts, axis=1)
    if kind == "store":
        return passes, least
    # the parts of a load are served in pairs: the two halves of the warp, or the two quarters of each half
    lanes = np.repeat(word, words // 2, axis=0).reshape(len(word), words // 2, WARP)
    shares = np.arange(WARP) // (2 * WARP // words) == np.arange(words // 2)[:, None]
    lanes = np.where(shares, lanes, NOBODY).reshape(-1, WARP)
    apart = (1, 2) if words == 2 else (1, 2, 4)
    together = np.logical_or.reduce([_paired(lanes, by) for by in apart]).reshape(len(word), words // 2)
    whole = _tallest_bank(pieces.reshape(len(word) * words // 2, -1)).reshape(together.shape)
    together &= whole <= 1
    by_two = parts.reshape(len(word), words // 2, 2)
    passes = np.where(together, whole, by_two.sum(axis=2))
    least = np.where(together, whole, np.count_nonzero(by_two, axis=2))
    return passes.sum(axis=1), least.sum(axis=1)


def _paired(word: np.ndarray, by: int) -> np.ndarray:
    """Tell for each row whether every active lane's neighbour, ``by`` away, is off or touches the same word."""
    other = word[:, np.arange(WARP) ^ by]
    return ((word == other) | (word == NOBODY) | (other == NOBODY)).all(axis=1)


def _tallest_bank(words: np.ndarray) -> np.ndarray:
    """Return, for each row of word numbers, the largest number of distinct words in one bank."""
    words = np.sort(words, axis=1)
    first = np.ones(words.shape, bool)
    first[:, 1:] = words[:, 1:] != words[:, :-1]
    first &= words != NOBODY
    cell = (words % BANKS) + BANKS * np.arange(len(words))[:, None]
    return np.bincount(cell[first], minlength=BANKS * len(words)).reshape(-1, BANKS).max(axis=1)
