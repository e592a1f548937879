"""Tiles in shared memory: transpose, matrix product, double buffer."""

from mutants.algorithm import Algorithm, Mutant, reals
from numba import float64

from course_pkg import cuda

TILE = 8
PADDED, NARROW = TILE + 1, TILE - 1
BLOCK = 64


def transpose(a, out):
    tile = cuda.shared.array((TILE, PADDED), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.x * TILE + x
    j = cuda.blockIdx.y * TILE + y
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()  # the tile is loaded
    column = cuda.blockIdx.y * TILE + x
    row = cuda.blockIdx.x * TILE + y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]


def matmul(A, B, C):
    a = cuda.shared.array((TILE, TILE), float64)
    b = cuda.shared.array((TILE, TILE), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = 0.0
    for start in range(0, A.shape[1], TILE):
        a[y, x] = A[row, start + x] if row < A.shape[0] and start + x < A.shape[1] else 0.0
        b[y, x] = B[start + y, column] if start + y < B.shape[0] and column < B.shape[1] else 0.0
        cuda.syncthreads()  # both tiles are loaded
        for k in range(TILE):
            total += a[y, k] * b[k, x]
        cuda.syncthreads()  # both tiles are used
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total


def reverse_chunks(x, out):
    tile = cuda.shared.array((2, BLOCK), float64)
    t = cuda.threadIdx.x
    for chunk in range(x.size // BLOCK):
        now = chunk % 2
        tile[now, t] = x[chunk * BLOCK + t]
        cuda.syncthreads()
        out[chunk * BLOCK + t] = tile[now, BLOCK - 1 - t]


_TILE_STORE = "out[row, column] = tile[x, y]"

TRANSPOSE = Algorithm(
    transpose,
    (3, 2),
    (TILE, TILE),
    lambda: {"a": reals(13, 19), "out": reals(19, 13)},
    lambda a: {"out": a["a"].T},
    (
        Mutant(
            "no barrier between load and store",
            "race",
            _TILE_STORE,
            "tile",
            ("cuda.syncthreads()  # the tile is loaded", "pass"),
            other="tile[y, x] = a[j, i]",
        ),
        Mutant(
            "rows not guarded",
            "out_of_bounds",
            "tile[y, x] = a[j, i]",
            "a",
            ("if j < a.shape[0] and i < a.shape[1]:", "if i < a.shape[1]:"),
        ),
        Mutant(
            "the store is guarded by the input's shape",
            "out_of_bounds",
            _TILE_STORE,
            "out",
            (
                "if row < out.shape[0] and column < out.shape[1]:",
                "if row < a.shape[1] and column < a.shape[1]:",
            ),
        ),
        Mutant(
            "tile one column short",
            "out_of_bounds",
            "tile[y, x] = a[j, i]",
            "tile",
            (
                "tile = cuda.shared.array((TILE, PADDED), float64)",
                "tile = cuda.shared.array((TILE, NARROW), float64)",
            ),
        ),
        Mutant(
            "barrier only where the tile is full",
            "divergent_barrier",
            "cuda.syncthreads()",
            None,
            ("cuda.syncthreads()  # the tile is loaded", "    cuda.syncthreads()"),
        ),
        Mutant(
            "transposed in place",
            "race",
            _TILE_STORE,
            "out",
            arguments=lambda a: a.update(a=(square := reals(16, 16)), out=square),
            other="tile[y, x] = a[j, i]",
        ),
        Mutant(
            "every row of blocks stores to the same columns",
            "race",
            _TILE_STORE,
            "out",
            ("column = cuda.blockIdx.y * TILE + x", "column = x"),
        ),
        Mutant(
            "only half of the tile is loaded",
            "uninitialised",
            _TILE_STORE,
            "tile",
            (
                "if j < a.shape[0] and i < a.shape[1]:",
                "if j < a.shape[0] and i < a.shape[1] and x < TILE // 2:",
            ),
        ),
    ),
)

_PRODUCT = "total += a[y, k] * b[k, x]"
_LOAD_A = "a[y, x] = A[row, start + x] if row < A.shape[0] and start + x < A.shape[1] else 0.0"
_LOAD_B = "b[y, x] = B[start + y, column] if start + y < B.shape[0] and column < B.shape[1] else 0.0"

MATMUL = Algorithm(
    matmul,
    (2, 2),
    (TILE, TILE),
    lambda: {"A": reals(13, 20), "B": reals(20, 11), "C": reals(13, 11)},
    lambda a: {"C": a["A"] @ a["B"]},
    (
        Mutant(
            "no barrier after the load",
            "race",
            _PRODUCT,
            "b",
            ("cuda.syncthreads()  # both tiles are loaded", "pass"),
            other=_LOAD_B,
        ),
        Mutant(
            "no barrier before the tiles are reused",
            "race",
            _LOAD_B,
            "b",
            ("cuda.syncthreads()  # both tiles are used", "pass"),
            other=_PRODUCT,
        ),
        Mutant(
            "last tile of A not guarded",
            "out_of_bounds",
            "a[y, x] = A[row, start + x] if row < A.shape[0] else 0.0",
            "A",
            (_LOAD_A, "a[y, x] = A[row, start + x] if row < A.shape[0] else 0.0"),
        ),
        Mutant(
            "threads outside C leave before they load",
            "uninitialised",
            _PRODUCT,
            "b",
            ("total = 0.0", "total = 0.0\n    if row >= C.shape[0]: return"),
        ),
        Mutant(
            "C not guarded",
            "out_of_bounds",
            "C[row, column] = total",
            "C",
            ("if row < C.shape[0] and column < C.shape[1]:", "if row < C.shape[0]:"),
        ),
        Mutant(
            "B is loaded for the columns of A",
            "out_of_bounds",
            "b[y, x] = B[start + y, column] if start + y < B.shape[0] else 0.0",
            "B",
            (_LOAD_B, "b[y, x] = B[start + y, column] if start + y < B.shape[0] else 0.0"),
        ),
    ),
)

REVERSE_CHUNKS = Algorithm(
    reverse_chunks,
    (1,),
    (BLOCK,),
    lambda: {"x": reals(5 * BLOCK), "out": reals(5 * BLOCK)},
    lambda a: {"out": a["x"].reshape(5, BLOCK)[:, ::-1].ravel()},
    (
        Mutant(
            "one buffer where two are needed",
            "race",
            "tile[now, t] = x[chunk * BLOCK + t]",
            "tile",
            ("now = chunk % 2", "now = 0"),
            other="out[chunk * BLOCK + t] = tile[now, BLOCK - 1 - t]",
        ),
        Mutant(
            "no barrier after the load",
            "race",
            "out[chunk * BLOCK + t] = tile[now, BLOCK - 1 - t]",
            "tile",
            ("cuda.syncthreads()", "pass"),
            other="tile[now, t] = x[chunk * BLOCK + t]",
        ),
        Mutant(
            "a third buffer that does not exist",
            "out_of_bounds",
            "tile[now, t] = x[chunk * BLOCK + t]",
            "tile",
            ("now = chunk % 2", "now = chunk % 3"),
        ),
        Mutant(
            "reversed to one element before the first",
            "negative_index",
            "out[chunk * BLOCK + t] = tile[now, BLOCK - 2 - t]",
            "tile",
            (
                "out[chunk * BLOCK + t] = tile[now, BLOCK - 1 - t]",
                "out[chunk * BLOCK + t] = tile[now, BLOCK - 2 - t]",
            ),
        ),
    ),
)


ALGORITHMS = (TRANSPOSE, MATMUL, REVERSE_CHUNKS)
