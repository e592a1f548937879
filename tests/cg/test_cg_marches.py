"""Marches: each point of a grid belongs to one thread, blocks are in the order of strips, and CUDA's limits hold."""

import numpy as np
import pytest

from course_pkg.cg.gpu_numba import March, Marches, march_for
from course_pkg.core import CourseError

SHAPES = [(4, 5, 6), (9, 19, 45), (250, 250, 250), (64, 1000, 32), (1000, 1000, 1000), (4000, 600, 600)]


def pieces(march, shape):
    """Return first plane and first row of each block along y and z, in the order in which blocks start."""
    _, along_y, strips = march.blocks(shape)
    y, z = np.meshgrid(np.arange(along_y), np.arange(strips))
    chunk, row = y >> march.shift, (z << march.shift) + (y & (march.strip - 1))
    return np.stack([chunk.ravel() * march.planes, row.ravel() * march.block[1]], axis=1)


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_cover_each_plane_and_row_once(shape):
    for march in vars(Marches.on(shape, 8)).values():
        nz, ny, nx = shape
        inside = [tuple(p) for p in pieces(march, shape) if p[1] < ny]
        wanted = {(k, j) for k in range(0, nz, march.planes) for j in range(0, ny, march.block[1])}
        assert len(inside) == len(wanted)
        assert set(inside) == wanted
        assert 2 * march.block[0] * march.blocks(shape)[0] >= nx
        assert max(march.blocks(shape)[1:]) <= 65_535
        assert march.block[0] * march.block[1] % 32 == 0


def test_the_next_chunk_of_a_strip_comes_before_the_next_strip():
    march, shape = March((32, 2, 1), planes=3, strip=4).on((6, 16, 64)), (6, 16, 64)
    rows = [(0, j) for j in (0, 2, 4, 6)]
    assert [tuple(p) for p in pieces(march, shape)][:8] == rows + [(3, j) for _, j in rows]


def test_a_strip_is_no_wider_than_the_grid_and_as_narrow_as_a_launch_needs():
    assert march_for((8, 20, 64)).strip == 2  # two blocks of 16 rows
    assert March((32, 1, 1), 1, 64).on((4000, 600, 64)).strip == 16


def test_a_grid_of_too_many_blocks_is_refused():
    with pytest.raises(CourseError, match="let x be the longest direction"):
        March((32, 1, 1), 1).on((70_000, 8, 64))
