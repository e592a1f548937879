"""Which thread touched which element, found from the addresses that a profile keeps."""

import numpy as np

from course_pkg.core.access import Touches
from course_pkg.simt.counting.sites import Site
from course_pkg.simt.report.kernel_profile import KernelProfile


def touches(profile: KernelProfile) -> list[Touches]:
    """Return who touched which element of global and shared arrays, one entry for each place of the source.

    A load that a compiler would leave out is left out here, too. A profile keeps addresses only for the blocks that it
    traces, and in a long loop only for the first passes.

    Examples
    --------
    >>> from course_pkg import simt
    >>> from course_pkg.vector.gpu_numba import copy_kernel
    >>> found = touches(simt.profile(copy_kernel[2, 2], np.ones(4), np.empty(4)))
    >>> [(t.kind, t.array, t.block.tolist(), t.thread.tolist(), t.element.tolist()) for t in found][0]
    ('load', 'a', [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3])
    """
    return [_of_site(site) for site in profile.sites if site.space in ("global", "shared") and site.passes]


def _of_site(site: Site) -> Touches:
    found = []
    for blocks, offsets in site.passes:
        rows = offsets.reshape(len(blocks), -1)
        row, thread = np.nonzero(rows >= 0)
        found.append((np.asarray(blocks)[row], thread, (rows[row, thread] - site.byte0) // site.itemsize))
    block, thread, element = (np.concatenate(part).astype(np.int64) for part in zip(*found, strict=True))
    # if an access covers several neighbouring elements, the thread touches each of them
    following = np.arange(site.width)
    element = (element[:, None] + following).reshape(-1)
    return Touches(
        site.space, site.kind, site.array, site.where.line, site.shape,
        np.repeat(block, site.width), np.repeat(thread, site.width), element,
    )  # fmt: skip
