"""The course's signature picture: the 32 lanes of a warp above the memory that they touch.

Global memory answers requests in sectors of 32 bytes: used bytes are coloured, bytes moved for nothing are grey.
Shared memory has 32 banks, each of which delivers one 4-byte word per wavefront: words that wait for the same bank
are stacked.
"""

from dataclasses import dataclass

import numpy as np

from course_pkg.core import CourseError
from course_pkg.core.access import WARP, WarpAccess
from course_pkg.viz import banks, sectors, strip
from course_pkg.viz.picture import Picture, draw
from course_pkg.viz.widgets import slider

MAX_FRAMES = 24


def access_strip(access: WarpAccess) -> Picture:
    """Draw one request of one warp: its lanes above the sectors, or the banks, that they touch.

    Parameters
    ----------
    access : WarpAccess
        From ``profile.access(line)``. In shared memory the banks are drawn, elsewhere the sectors.

    Raises
    ------
    CourseError
        If the access does not describe 32 lanes.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> profile = simt.profile(copy_kernel[2, 32], np.ones(64), np.empty(64))
    >>> line = next(iter(profile.by_line)).line
    >>> access_strip(profile.accesses(line)[0]).alt
    '...'
    """
    if np.shape(access.offsets) != (WARP,):
        raise CourseError(
            f"An access has an address for each of the 32 lanes, not an array of shape {np.shape(access.offsets)}: "
            "give a lane that is off the address -1."
        )
    shared = access.space == "shared"
    room = banks if shared else sectors
    memory = banks.stacks(access) if shared else sectors.touched(access)
    headline = room.headline(access, memory)

    def plot(figure):
        ax = strip.sheet(figure)
        strip.words(ax, access, headline)
        strip.lanes(ax, access)
        (banks.draw_banks if shared else sectors.draw_sectors)(ax, access, memory)

    origin = f"Line {access.line}: {access.source.strip()} ({strip.whose(access)})."
    alt = f"{headline}. {room.described(access, memory)} {origin}"
    return draw(plot, alt, size=(strip.WIDTH / 72, strip.HEIGHT / 72))


def access_strips(accesses):
    """Return a slider over requests: one for each warp and for each time that the warp executed the line.

    Every frame is drawn beforehand, so that the slider works on a slide, without a kernel. If there are more than
    24 requests, 24 evenly spaced ones are shown, including the first and the last, and the label says so. For a single
    request, the result is a picture without a slider.

    Parameters
    ----------
    accesses : sequence of WarpAccess
        From ``profile.accesses(line)``.

    Raises
    ------
    CourseError
        If there is no access.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> profile = simt.profile(copy_kernel[2, 32], np.ones(64), np.empty(64))
    >>> line = next(iter(profile.by_line)).line
    >>> type(access_strips(profile.accesses(line))).__name__
    'Controls'
    """
    accesses = list(accesses)
    if not accesses:
        raise CourseError("There is no access to draw: no warp of a recorded block passed this line.")
    if len(accesses) == 1:
        return access_strip(accesses[0])
    frames = [_Frame(accesses[i], _label(accesses[i], accesses)) for i in _evenly(len(accesses))]
    label = "request" if len(frames) == len(accesses) else f"{len(frames)} of {len(accesses):,} requests"
    return slider(lambda frame: access_strip(frame.access), frames, label=label, start=frames[0])


@dataclass(frozen=True, eq=False)
class _Frame:
    access: WarpAccess
    label: str

    def __str__(self):
        return self.label


def _evenly(n):
    return np.unique(np.linspace(0, n - 1, min(n, MAX_FRAMES)).round().astype(int))


def _label(access, accesses):
    """Name a request by its warp, its trip and anything else that differs among the accesses."""
    parts = []
    if len({a.block for a in accesses}) > 1:
        parts.append(f"block ({','.join(map(str, access.block))})")
    parts += [f"warp {access.warp}", f"trip {access.repetition}"]
    if len({(a.kind, a.array) for a in accesses}) > 1:
        parts.append(f"{access.kind} {access.array}")
    return ", ".join(parts)
