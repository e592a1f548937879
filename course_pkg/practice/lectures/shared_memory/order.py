"""Steps on the order of accesses: shapes of blocks, numbers that lie apart, banks, the transpose through a tile."""

import numpy as np

from course_pkg.core.checks import unwritten
from course_pkg.device.launch import blocks_for
from course_pkg.grading import check
from course_pkg.practice.lectures.first_kernels.alone import numbers
from course_pkg.practice.step import Step, Trial, WhatIf
from course_pkg.simt import KernelProfile

SIDE = 16  # side of the tile that is transposed: a half-warp reads one of its rows


def _piece(shape, rng):
    a = numbers(shape, rng).astype(np.float32)
    least = check.sectors(a.size, "float32")
    needed = {"global_load.sectors": least, "global_store.sectors": least}
    grid = blocks_for(shape, (8, 8))
    return Trial({"a": a, "out": unwritten(shape, np.float32)}, {"out": 2 * a}, grid, 64, needed)


def _parts(n, rng):
    z = numbers(2 * n, rng)
    arrays = {"z": z, "re": unwritten(n), "im": unwritten(n)}
    needed = {"global_load.sectors": np.ceil(n / 2), "global_store.sectors": 2 * np.ceil(n / 4)}
    return Trial(arrays, {"re": z[::2], "im": z[1::2]}, blocks_for(n, 32), 32, needed)


def _narrow(shape, rng):
    a = numbers(shape, rng)
    wide = np.pad(a, 1)
    total = wide[1:-1, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] + wide[:-2, 1:-1] + wide[2:, 1:-1]
    grid = blocks_for(shape, (8, 4))
    needed = {"shared_load.wavefronts": 2 * 5 * grid[0] * grid[1]}
    return Trial({"a": a, "out": unwritten(shape)}, {"out": total / 5}, grid, (8, 4), needed)


def _turn(shape, rng):
    a = numbers(shape, rng)
    (ny, nx), (across, down) = shape, blocks_for(shape, (SIDE, SIDE))
    least = check.sectors(a.size)
    needed = {
        "global_load.sectors": least,
        "global_store.sectors": least,
        "shared_store.wavefronts": ny * across,
        "shared_load.wavefronts": nx * down,
    }
    return Trial({"a": a, "out": unwritten((nx, ny))}, {"out": a.T}, (across, down), (SIDE, SIDE), needed)


def uses_tile(profile: KernelProfile, trial: Trial) -> str | None:
    """Return a sentence if the kernel does not use shared memory."""
    if not profile.shared_store:
        return "it does not use shared memory: put the numbers into the tile first, and read them from there."
    return None


FIRST = (
    Step(
        name="piece",
        title="Which thread takes which point?",
        ask="Let the 64 threads of a block double a piece of 8 rows × 8 columns of the matrix, without wasting a byte.",
        trial=_piece,
        sizes=((8, 16), (16, 8), (11, 24)),
        timed=(1 << 12, 1 << 12),
        limits={"global_load.sectors": 1, "global_store.sectors": 1},
        tell="each request of a warp uses all bytes of its sectors",
        hints=(
            "Threads 0 to 31 are a warp. Which points should they take, so that neighbours lie side by side in memory?",
            "Numbers of one row lie side by side. So let 8 threads in a row take a row of the piece: divide t by 8.",
            "`dx = t % 8`, `dy = t // 8`; the guard is `if y < a.shape[0] and x < a.shape[1]:`",
        ),
        what_if=(
            WhatIf(
                "Swap them: `dx = t // 8`, `dy = t % 8`.",
                "The bytes asked for are the same. Why are there twice as many sectors?",
                "A warp then takes 8 rows of 4 numbers: 16 of the 32 bytes of each sector. The other 16 bytes are for "
                "the block's other warp, which asks for the same sectors again.",
            ),
            WhatIf(
                "Think of doubles in place of the 4-byte numbers, and swap again.",
                "Why does the number of sectors now stay?",
                "Four doubles fill a sector, so 8 rows of 4 use every byte. But the warp touches 8 lines of 128 bytes "
                "instead of 4.",
            ),
        ),
    ),
    Step(
        name="parts",
        title="Put numbers in order, by way of a tile",
        ask="z holds n pairs (real part, imaginary part): write all real parts to re and all imaginary parts to im, "
        "and read each sector of z once.",
        trial=_parts,
        sizes=(32, 64, 45),
        timed=1 << 23,
        also=uses_tile,
        limits={"global_load.sectors": 1, "global_store.sectors": 1},
        tell="the tile made rows of scattered numbers: every sector was asked for once",
        hints=(
            "First fill the tile as if the numbers had no meaning: neighbours read neighbours.",
            "A block has 32 pairs, 64 numbers: each thread loads two of them, 32 apart. The pair of thread t then lies "
            "at tile[2 * t] and tile[2 * t + 1].",
            "In the loop: `if first + k < z.size: tile[k] = z[first + k]`. Then `cuda.syncthreads()`, and in the guard "
            "`re[i] = tile[2 * t]`.",
        ),
        what_if=(
            WhatIf(
                "Remove cuda.syncthreads().",
                "The block is one warp. Why may the result still be right, and why is it a hazard?",
                "The lanes of a warp often run in step, but nothing promises it: a lane may read before another one "
                "has written.",
            ),
            WhatIf(
                "Read `z[2 * i]` and `z[2 * i + 1]` directly.",
                "Each number is still read once. Why are the sectors twice as many?",
                "Every second number of a sector waits for the second request, which asks for the same sectors again.",
            ),
        ),
    ),
)

BANKS = (
    Step(
        name="narrow",
        title="How long is a row of the tile?",
        ask="Blocks of 8 × 4 threads average over five points: choose a row of the tile so long that no read has a "
        "bank conflict, and fill it.",
        trial=_narrow,
        sizes=((4, 16), (8, 8), (7, 19)),
        timed=(1 << 12, 1 << 12),
        needs="halo_plane",
        limits={"shared_load.wavefronts": 1},
        tell="each read of a warp took two wavefronts, one for each half-warp",
        hints=(
            "16 lanes, a half-warp, read 8 doubles of one row of the tile and 8 of the next. Which banks do they take?",
            "8 doubles take 16 of the 32 banks. The next row has to begin 16 banks on: 2 × row length, modulo 32.",
            "2 × 24 = 48 is 16 modulo 32: `(6, 24)`. In block (bx, by), element [r, c] of the tile is point "
            "[4 * by + r - 1, 8 * bx + c - 1].",
        ),
        what_if=(
            WhatIf(
                "Make the rows 11 long: one more than the 10 that are needed, as on the slide.",
                "Why does one unused number not help here?",
                "On the slide, a half-warp reads down a column: 16 rows, which have to begin at 16 different pairs of "
                "banks. Here it reads two rows, whose beginnings have to be 16 banks apart.",
            ),
            WhatIf(
                "Make the block 16 × 2.",
                "Which row length is free of conflicts now?",
                "Any: a half-warp reads 16 doubles of one row, which lie in 32 different banks.",
            ),
        ),
    ),
    Step(
        name="turn",
        title="Rows in, rows out",
        ask="The tile holds a piece of a: let each block write the piece's transpose, row by row, into out.",
        trial=_turn,
        sizes=((16, 16), (32, 48), (20, 36)),
        timed=(1 << 12, 1 << 12),
        limits={
            "global_load.sectors": 1,
            "global_store.sectors": 1,
            "shared_store.wavefronts": 1,
            "shared_load.wavefronts": 1,
        },
        tell="rows were read, rows were written, and no lane waited for a bank",
        hints=(
            "Neighbouring threads, x and x + 1, have to write neighbouring elements of a row of out.",
            "Only the blocks change places: the piece at (bx, by) goes to (by, bx). Within the piece, x counts columns "
            "of out as it counted columns of a.",
            "`row = 16 * cuda.blockIdx.x + y`, `column = 16 * cuda.blockIdx.y + x`, `out[row, column] = tile[x, y]`",
        ),
        what_if=(
            WhatIf(
                "Swap x and y too: `row = 16 * bx + x`, `column = 16 * by + y`, `out[row, column] = tile[y, x]`.",
                "The result stays right. What was the tile good for?",
                "For nothing: each thread takes back what it put in, and a warp writes columns, as without the tile.",
            ),
            WhatIf(
                "Count how many times each number of a is read, with the tile and without.",
                "Why does this tile save no read?",
                "Each number is needed once. The tile changes the order of the stores, not their number.",
            ),
        ),
    ),
)
