"""The Laplacian of an irregular mesh of tetrahedra, assembled from linear finite elements (P1), at any size.

The nodes are the points of a grid, each moved at random by up to ``JITTER`` grid spacings in every direction. The
random moves repeat after ``TILE`` points, so the Delaunay tetrahedra of one tile, computed once, fill all of space.
Connections and numbers differ from node to node within a tile.

For a tetrahedron T with volume ``|T|``, and φ_i the linear function that is 1 at node i and 0 at its other nodes, the
coupling of nodes i and j is ``∫ ∇φ_i · ∇φ_j = |T| ∇φ_i · ∇φ_j`` (A. Ern, J.-L. Guermond, Theory and Practice of Finite
Elements, Springer, 2004, chapters 3 and 8).
"""

from functools import cache

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import Delaunay

from course_pkg.permutation.checks import check_entries

TILE = 16  # points along each direction until the random moves repeat
AROUND = 4  # points on each side of a tile that are also triangulated; no tetrahedron is longer than this
JITTER = 0.3  # grid spacings


def tetrahedral_laplacian(edge: int, seed: int = 0) -> csr_array:
    """Assemble the matrix for the nodes of a box of ``edge`` × ``edge`` × ``edge`` grid points; x is numbered fastest.

    The nodes outside the box are the Dirichlet boundary, with the value 0. An obtuse angle couples two nodes with the
    wrong, positive sign. Such couplings are removed and added to both diagonals, which keeps the sums of the rows (D.
    Kuzmin, S. Turek, Flux correction tools for finite elements, Journal of Computational Physics 175, 2002). So the
    matrix is symmetric, weakly diagonally dominant, and strictly so beside the boundary: it is positive definite.

    Examples
    --------
    >>> A = tetrahedral_laplacian(6)
    >>> A.shape, bool(abs(A - A.T).max() == 0), bool((A.diagonal() > 0).all())
    ((216, 216), True, True)
    """
    first, offsets, couplings = _tile(seed)
    check_entries(couplings.size * edge**3 // TILE**3, f"A mesh of {edge}³ nodes", "choose a smaller edge")
    line = np.arange(edge)
    y, x = (c.reshape(-1) for c in np.meshgrid(line, line, indexing="ij"))
    lengths, indices, data = [], [], []
    for z in range(edge):  # plane by plane: then little memory is needed besides the matrix
        node = ((z % TILE) * TILE + y % TILE) * TILE + x % TILE
        count = first[node + 1] - first[node]
        ends = np.cumsum(count)
        entry = np.arange(ends[-1]) + np.repeat(first[node] - (ends - count), count)
        zyx = [
            np.repeat(c, count) + d[entry] for c, d in zip((np.full(x.size, z), y, x), offsets, strict=True)
        ]
        inside = np.logical_and.reduce([(c >= 0) & (c < edge) for c in zyx])
        lengths.append(np.add.reduceat(inside, ends - count, dtype=np.int32))
        indices.append(((zyx[0] * edge + zyx[1]) * edge + zyx[2])[inside].astype(np.int32))
        data.append(couplings[entry][inside])
    indptr = np.concatenate([[0], *lengths]).cumsum(dtype=np.int32)
    return csr_array((np.concatenate(data), np.concatenate(indices), indptr), shape=(edge**3, edge**3))


@cache
def _tile(seed):
    """Return the rows of one tile's nodes: the start of each row, its neighbours as (dz, dy, dx), and its couplings."""
    cells, positions = _points(seed)
    tetrahedra = Delaunay(positions).simplices
    # every tile has a copy of each tetrahedron: take the copy whose first node lies in this tile
    number = (cells * (3 * TILE) ** np.arange(3)[::-1]).sum(axis=1)
    first_node = np.take_along_axis(tetrahedra, number[tetrahedra].argmin(axis=1)[:, None], axis=1)[:, 0]
    tetrahedra = tetrahedra[((cells[first_node] >= 0) & (cells[first_node] < TILE)).all(axis=1)]
    pairs = tetrahedra[:, :, None] + np.zeros(4, int), tetrahedra[:, None, :] + np.zeros((4, 1), int)
    row, column = (cells[nodes.reshape(-1)] for nodes in pairs)
    local = np.ravel_multi_index(tuple((row % TILE).T), (TILE,) * 3)
    reach = 2 * AROUND + 1
    towards = np.ravel_multi_index(tuple((column - row + AROUND).T), (reach,) * 3)
    keys, entry = np.unique(local * reach**3 + towards, return_inverse=True)
    couplings = np.bincount(entry, weights=_stiffness(positions[tetrahedra]).reshape(-1))
    node, towards = np.divmod(keys, reach**3)
    return _without_positive(node, np.stack(np.unravel_index(towards, (reach,) * 3)) - AROUND, couplings)


def _points(seed):
    """Return the grid cells (z, y, x) in and around the first tile, and the positions of their nodes."""
    moves = np.random.default_rng(seed).uniform(-JITTER, JITTER, (TILE, TILE, TILE, 3))
    line = np.arange(-AROUND, TILE + AROUND)
    cells = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    return cells, cells + moves[tuple((cells % TILE).T)]


def _stiffness(corners):
    """Return the 4 × 4 couplings of each tetrahedron, from the positions of its corners, shape (n, 4, 3)."""
    sides = corners[:, 1:] - corners[:, :1]
    gradients = np.linalg.inv(sides).transpose(0, 2, 1)  # of the functions of corners 1, 2 and 3
    gradients = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
    volumes = np.abs(np.linalg.det(sides)) / 6
    # multiply by the volume last, so that rounding keeps the symmetry
    return volumes[:, None, None] * np.einsum("tid,tjd->tij", gradients, gradients)


def _without_positive(node, offsets, couplings):
    """Remove positive couplings between different nodes; the diagonal makes the sum of each row 0."""
    diagonal = ~offsets.any(axis=0)
    kept = diagonal | (couplings < 0)
    node, offsets, couplings, diagonal = node[kept], offsets[:, kept], couplings[kept], diagonal[kept]
    couplings[diagonal] = 0
    couplings[diagonal] = -np.bincount(node, weights=couplings)
    return np.searchsorted(node, np.arange(TILE**3 + 1)), offsets, couplings
