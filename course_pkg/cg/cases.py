"""Test launches of every kernel of conjugate gradient, at sizes that are a multiple of the block and at others."""

import numpy as np

from course_pkg.cg import gpu_numba as cg
from course_pkg.cg.gpu_numba import maps, scalars
from course_pkg.cg.gpu_numba.stencils import residual_kernel_of, search_kernel_of
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.device.launch import blocks_for
from course_pkg.stencil.gpu_numba import BLOCK_3D

cases = Cases()
BOXES = {"64": (16, 32, 64), "odd": (9, 19, 45)}
DTYPES = ("float64", "float32")
PLANES = 4


def state(**values):
    """Return the scalars of a running solver; alpha and beta are 0.5 unless other values are given."""
    made = zeros(cg.STATE_SIZE)
    made[[scalars.ALPHA, scalars.ALPHA_OLD, scalars.BETA]] = 0.5
    made[[scalars.DELTA, scalars.MAXITER]] = 1.0, 1e9
    for name, value in values.items():
        made[getattr(scalars, name)] = value
    return made


PAUSED = state(STOPPED=scalars.PAUSED, SCALE=2.0)


def field(shape, dtype="float64", seed=1, pitched=None):
    """Return a field of random numbers as a vector. Its rows have the pitch that fields of dtype ``pitched`` have."""
    grid = zeros((*shape[:2], cg.row_pitch(shape[2], pitched or dtype)), dtype)
    grid[:, :, : shape[2]] = numbers(shape, dtype, seed)
    return grid.reshape(-1)


def sizes(shape, dtype):
    nz, ny, nx = shape
    return tuple(np.uint32(n) for n in (nx, cg.row_pitch(nx, dtype), ny, nz))


def _marching(name, kernel, fields, out, idea, dtypes=DTYPES, halo=0):
    """Add a case of a marching kernel for every box and precision; ``out`` names the kinds of its results.

    ``halo`` is the number of planes of the box that belong to other GPUs.
    """
    for box, shape in BOXES.items():
        for dtype in dtypes:
            march = cg.march_for(shape, planes=PLANES, strip=2)
            blocks = march.blocks((shape[0] - halo, *shape[1:]))

            def make(shape=shape, dtype=dtype, blocks=blocks, march=march):
                made = {
                    "field": lambda i: field(shape, dtype, i),
                    "partial": lambda i: zeros(int(np.prod(blocks))),
                    "grid": lambda i: numbers(shape, dtype).reshape(-1),
                    "state": lambda i: state(),
                    "double": lambda i: field(shape, "float64", i, pitched=dtype),
                    "double grid": lambda i: numbers(shape).reshape(-1),
                    "paused": lambda i: PAUSED.copy(),
                }
                before, after = ([made[what](i) for i, what in enumerate(part)] for part in (fields, out))
                return (
                    *before,
                    *sizes(shape, dtype),
                    np.uint32(march.planes),
                    np.uint32(march.shift),
                    *after,
                )

            cases.add(kernel, blocks, march.block, make, f"{idea}, {shape}", name=f"cg_{name}_{box}_{dtype}")


THREE, SUMMED = ("field", "field", "state"), "two points per thread, marching, and a sum of the block"
_marching("matvec", cg.matvec_kernel, ("field", "state"), ("field",), "two points per thread, marching")
_marching("matvec_dot", cg.matvec_dot_kernel, ("field", "state"), ("field", "partial"), SUMMED)
_marching(
    "map_stencil", cg.map_stencil_kernel, THREE, ("field", "field"), "a map at each point of the stencil"
)
_marching("search", cg.search_kernel, THREE, ("field", "partial"), SUMMED)
_marching("residual", cg.residual_kernel, ("grid", "field"), ("field", "partial"), "rows of two pitches")
for terms in range(3):
    _marching(
        f"advance_{terms}",
        cg.advance_kernel(terms),
        THREE,
        ("field", "field", "partial"),
        f"two fields in place and {terms} directions for x",
    )
# a slab with a halo: the kernel only reads its first and its last plane
HALO = "as on a whole grid, but for planes between two of others"
_marching("search_halo", search_kernel_of(halo=True), THREE, ("field", "partial"), HALO, halo=2)
_marching(
    "residual_halo", residual_kernel_of(halo=True), ("grid", "field"), ("field", "partial"), HALO, halo=2
)
for terms in range(3):
    advance = cg.advance_kernel(terms, halo=True)
    _marching(f"advance_{terms}_halo", advance, THREE, ("field", "field", "partial"), HALO, halo=2)
SINGLE = ("float32",)
_marching("search_mixed", cg.search_mixed_kernel, THREE, ("field", "partial"), SUMMED, SINGLE)
_marching(
    "advance_mixed",
    cg.advance_mixed_kernel,
    ("field", "state"),
    ("field", "field", "partial"),
    "two fields in place, and A p by differences",
    SINGLE,
)
_marching(
    "refresh",
    cg.refresh_kernel,
    ("double grid", "double", "paused"),
    ("field", "partial"),
    "a result in half the bytes of what it is made of",
    SINGLE,
)


def _over_pairs(name, kernel, make, idea):
    for box, shape in BOXES.items():
        for dtype in DTYPES:
            n = field(shape, dtype).size
            blocks = blocks_for(n // 2, maps.THREADS_MAP)

            def made(shape=shape, dtype=dtype, blocks=blocks):
                return make(lambda seed: field(shape, dtype, seed), np.dtype(dtype), zeros(blocks))

            cases.add(kernel, blocks, maps.THREADS_MAP, made, idea, name=f"cg_{name}_{box}_{dtype}")


_over_pairs("update_p", cg.update_p_kernel, lambda f, dtype, partial: (f(1), state(), f(2)), "a map in place")
_over_pairs(
    "update_x_and_r",
    cg.update_x_and_r_kernel,
    lambda f, dtype, partial: (f(1), f(2), state(), f(3), f(4)),
    "two maps in place",
)
_over_pairs(
    "update_x_and_r_dot",
    cg.update_x_and_r_dot_kernel,
    lambda f, dtype, partial: (f(1), f(2), state(), f(3), f(4), partial),
    "two maps in place, and a sum of the block",
)
for box, shape in BOXES.items():
    blocks = blocks_for(field(shape, *SINGLE).size // 2, maps.THREADS_MAP)
    cases.add(
        cg.gather_kernel,
        blocks,
        maps.THREADS_MAP,
        lambda shape=shape: (PAUSED.copy(), field(shape, "float64", 1, *SINGLE), field(shape, *SINGLE)),
        "pairs of two widths in place",
        name=f"cg_gather_{box}",
    )

_over_pairs("add", cg.add_kernel, lambda f, dtype, partial: (f(1), dtype.type(2), f(2)), "a map in place")
_over_pairs("fill", cg.fill_kernel, lambda f, dtype, partial: (dtype.type(2), f(1)), "stores of pairs alone")

for dtype in DTYPES:
    cases.add(
        cg.dot_kernel,
        4,
        maps.THREADS_MAP,
        lambda dtype=dtype: (field(BOXES["odd"], dtype, 1), field(BOXES["odd"], dtype, 2), zeros(4)),
        "a loop over the grid in pairs, then shuffles",
        name=f"cg_dot_{dtype}",
    )
    cases.add(
        cg.copy_rows_kernel,
        16,
        maps.THREADS_MAP,
        lambda dtype=dtype: (
            numbers(BOXES["odd"], dtype).reshape(-1),
            *(np.uint32(BOXES["odd"][2]),) * 2,
            field(BOXES["odd"], dtype),
            np.uint32(cg.row_pitch(BOXES["odd"][2], dtype)),
        ),
        "rows of one pitch into rows of another",
        name=f"cg_copy_rows_{dtype}",
    )

FINISH, PARTS = scalars.THREADS_FINISH, 3000
cases.add(
    cg.alpha_kernel,
    1,
    FINISH,
    lambda: (numbers(PARTS), np.int32(PARTS), state()),
    "one block adds up the parts and divides",
    name="cg_alpha",
)
cases.add(
    cg.beta_kernel,
    1,
    FINISH,
    lambda: (numbers(PARTS), np.int32(PARTS), state(), zeros(scalars.KEPT)),
    "one block adds up the parts, divides and keeps the residual",
    name="cg_beta",
)
cases.add(
    cg.beta_mixed_kernel,
    1,
    FINISH,
    lambda: (
        numbers(PARTS),
        np.int32(PARTS),
        state(LARGEST=1.0, ENOUGH=0.01),
        np.int32(1),
        zeros(scalars.KEPT),
    ),
    "one block adds up the parts, divides and keeps the residual",
    name="cg_beta_mixed",
)
cases.add(
    cg.settle_kernel,
    1,
    FINISH,
    lambda: (numbers(PARTS), np.int32(PARTS), PAUSED.copy(), zeros(scalars.KEPT)),
    "one block adds up the parts, and ends a pause",
    name="cg_settle",
)
cases.add(
    cg.total_kernel,
    1,
    FINISH,
    lambda: (numbers(PARTS), np.int32(PARTS), state()),
    "one block adds up the parts",
    name="cg_total",
)

for box, shape in {"64": (64, 64, 64), "odd": BOXES["odd"]}.items():
    nz, ny, nx = shape
    three = tuple(np.uint32(n) for n in (nx, ny, nz))
    for name, kernel, results in (
        ("update_p_flat", cg.update_p_flat_kernel, 1),
        ("map_stencil_flat", cg.map_stencil_flat_kernel, 2),
    ):
        cases.add(
            kernel,
            blocks_for(shape, BLOCK_3D),
            BLOCK_3D,
            lambda shape=shape, three=three, results=results: (
                *(numbers(shape, seed=seed).reshape(-1) for seed in (1, 2)),
                np.float64(0.5),
                *three,
                *(zeros(int(np.prod(shape))) for _ in range(results)),
            ),
            f"a field made of two, one point per thread, {shape}",
            name=f"cg_{name}_{box}",
        )
