"""What one thread of a marching kernel does at each step, from the kernel's profile."""

from course_pkg.simt import KernelProfile, SimtError


def march_of(
    profile: KernelProfile, array: str, out: str, plane_bytes: int, *, block: int = 0, lane: int = 0
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the planes that a thread reads in its own column, and those that it writes, each with its step.

    Step 1 is the first in which the thread writes. Planes that the thread reads before its loop have step 0.

    Parameters
    ----------
    profile : KernelProfile
    array, out : str
        The parameters of the kernel that hold the grid and the result.
    plane_bytes : int
        The size of a plane of the grid.
    block, lane : int
        Which thread, of the block's first warp.

    Returns
    -------
    reads, writes : list of (int, int)
        Step and plane.

    Raises
    ------
    SimtError
        If the thread writes nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from course_pkg import simt
    >>> from course_pkg.stencil.gpu_numba import laplacian_marching_kernel
    >>> n, grid = np.uint32, np.ones(32 * 3 * 4)
    >>> p = simt.profile(laplacian_marching_kernel[(1, 1), (32, 3)], grid, n(32), n(3), n(4), n(4), np.empty(grid.size))
    >>> march_of(p, "u", "out", 32 * 3 * 8)
    ([(0, 0), (0, 1), (1, 2), (2, 3)], [(1, 0), (2, 1), (3, 2), (4, 3)])
    """
    stores, loads = [], []
    for line in profile.by_line:
        for access in profile.accesses(line, block):
            if access.warp == 0 and access.space == "global" and (offset := int(access.offsets[lane])) >= 0:
                if (access.array, access.kind) == (out, "store"):
                    stores.append((access, offset))
                elif (access.array, access.kind) == (array, "load"):
                    loads.append((access, offset))
    if not stores:
        raise SimtError(f"Lane {lane} of block {block} writes nothing to {out}: choose another thread.")
    column = stores[0][1] % plane_bytes
    often = {access.line for access, _ in loads if access.repetition > 0}
    reads = [
        ((access.repetition + 1) * (access.line in often), offset // plane_bytes)
        for access, offset in loads
        if offset % plane_bytes == column
    ]
    return sorted(set(reads)), sorted(
        (access.repetition + 1, offset // plane_bytes) for access, offset in stores
    )
