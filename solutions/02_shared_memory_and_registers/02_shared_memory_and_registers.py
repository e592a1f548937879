# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 2: Shared memory and registers'
# ---

# %% [markdown]
# # Exercise 2: Shared memory and registers
#
# **At the Speed of Memory.** It goes with lecture 2; about two hours; 20 points. No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after it tests a part of what will be graded; further tests are hidden. Inputs are drawn anew each time.
# - Kernels are also judged by what they move and by whether their threads get into each other's way, which is looked
#   for in every launch; `limits` in a test says how many times what is needed they may move.
# - Only what stands in the answer cells is graded: put your own helpers and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | mend a tile in shared memory | 5 |
# | 2 | a queue in registers | 5 |
# | 3 | a transpose without bank conflicts | 3 |
# | 4 | sums of blocks | 4 |
# | 5 | how many blocks fit | 3 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: mend a tile (5 points)
#
# The kernel below is meant to smooth a field. Inside the grid, each point becomes the mean of itself and its four
# neighbours; on the boundary, `out = u`:
#
# $$ \text{out}_{j,i} = \tfrac{1}{5} \left( u_{j,i} + u_{j,i-1} + u_{j,i+1} + u_{j-1,i} + u_{j+1,i} \right). $$
#
# Without a tile, a thread reads five numbers from global memory. Here each block first copies its 8 rows of 32 points
# into shared memory, with a **halo** of one point on each side, so 10 rows of 34; then its threads read their
# neighbours from the tile. It is always launched with blocks of 32 × 8 threads.
#
# Two things are wrong with it.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "faulty_smooth"}
@cuda.jit
def faulty_smooth_kernel(u, out):
    tile = cuda.shared.array((10, 34), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1  # the thread's own place in the tile
    i, j = cuda.grid(2)
    ny, nx = u.shape
    if i < nx and j < ny:
        tile[y, x] = u[j, i]
        if x == 1 and i > 0:
            tile[y, 0] = u[j, i - 1]
        if x == 32 and i < nx - 1:
            tile[y, 32] = u[j, i + 1]
        if y == 1 and j > 0:
            tile[0, x] = u[j - 1, i]
        if y == 8 and j < ny - 1:
            tile[9, x] = u[j + 1, i]
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        total = tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]
        out[j, i] = total / 5
    elif i < nx and j < ny:
        out[j, i] = tile[y, x]


# %% [markdown]
# How do you find faults like these? Not by looking at the result: where threads get into each other's way, it may be
# right a hundred times and wrong the next time. `simt.profile` runs a launch in the interpreter, counts what it moves,
# and names its **hazards**, each with the lines, the element and the threads. Ask of each of them: which thread should
# have written that element, and what makes sure that it was written in time? (`cuda.syncwarp()` waits for the 32 threads of a
# warp; this tile belongs to 256.) Two changes mend all three.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_faulty_smooth"}
u = np.random.default_rng(1).random((16, 64))
print(simt.profile(faulty_smooth_kernel[(2, 2), (32, 8)], u, np.empty_like(u)))


# %% [markdown]
# Write `smooth_kernel`, the mended kernel: copy the one above and change what must be changed. Keep the tile. The test
# of the traffic knows how many sectors the points of all tiles and their halos need, and five reads a point are far
# more.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "smooth"}
@cuda.jit
def smooth_kernel(u, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((10, 34), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1  # the thread's own place in the tile
    i, j = cuda.grid(2)
    ny, nx = u.shape
    if i < nx and j < ny:
        tile[y, x] = u[j, i]
        if x == 1 and i > 0:
            tile[y, 0] = u[j, i - 1]
        if x == 32 and i < nx - 1:
            tile[y, 33] = u[j, i + 1]
        if y == 1 and j > 0:
            tile[0, x] = u[j - 1, i]
        if y == 8 and j < ny - 1:
            tile[9, x] = u[j + 1, i]
    cuda.syncthreads()  # outside the branch: every thread of the block must reach it
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        total = tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]
        out[j, i] = total / 5
    elif i < nx and j < ny:
        out[j, i] = tile[y, x]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_smooth"}
def smooth_field(ny, nx):
    """Return a random field, what it is smoothed to, and memory for the result that shows what was not written."""
    u = check.rng().random((ny, nx))
    expected = u.copy()
    expected[1:-1, 1:-1] += u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    expected[1:-1, 1:-1] /= 5
    return u, expected, np.full((ny, nx), np.nan)


def smooth_launch(ny, nx):
    """Return the kernel's launch with enough blocks of 32 × 8 threads for all points."""
    return smooth_kernel[((nx + 31) // 32, (ny + 7) // 8), (32, 8)]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth", "points": 1}
# The numbers alone, on a field of two blocks by two.
u, expected, out = smooth_field(16, 64)
out = cuda.to_device(out)
smooth_launch(16, 64)(cuda.to_device(u), out)
check.close(out.copy_to_host(), expected, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15}}
# No thread in another's way; and what the tiles need: their own points, and a halo wherever two blocks meet.
ny, nx = 32, 128
u, expected, out = smooth_field(ny, nx)
profile = simt.profile(smooth_launch(ny, nx), u, out)
check.no_hazards(profile)
check.close(out, expected, "out", atol=1e-14)
rows = 2 * (ny // 8 - 1) * nx * 8 / 32  # a halo's rows are read whole,
columns = 2 * (nx // 32 - 1) * ny  # its columns cost a sector for each point
needed = {"global_load.sectors": ny * nx * 8 / 32 + rows + columns, "global_store.sectors": ny * nx * 8 / 32}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_hidden", "points": 2}
# Hidden tests: fields that the blocks do not divide; no thread in another's way; an input that must stay as it is.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for ny, nx in ((3, 3), (9, 33), (21, odd), (17, 65)):
    u, expected, out = smooth_field(ny, nx)
    before = u.copy()
    profile = simt.profile(smooth_launch(ny, nx), u, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", atol=1e-14)
    check.that((u == before).all(), "u must stay as it is.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a queue in registers (5 points)
#
# The second difference along z of a field `u[k, j, i]`, where `u` is zero outside the grid:
#
# $$ \text{out}_{k} = u_{k-1} - 2\,u_{k} + u_{k+1}. $$
#
# One thread takes one column, all points with the same `i` and `j`, and marches along `k`. If it reads three numbers
# at each step, it reads each number three times. But two of the three were in its hands a step ago: keep them in
# variables, which live in registers, and read only the one that is new.
#
# Write the kernel. `i, j = cuda.grid(2)`; threads beyond the grid have no column and must do nothing. It must work in
# both precisions, and for a single plane too.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "second_difference"}
@cuda.jit
def second_difference_kernel(u, out):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    nz, ny, nx = u.shape
    if i < nx and j < ny:
        below, centre = 0.0, u[0, j, i]
        for k in range(nz):
            above = 0.0
            if k + 1 < nz:
                above = u[k + 1, j, i]
            out[k, j, i] = below - 2 * centre + above
            below, centre = centre, above
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_second_difference"}
def column_field(nz, ny, nx, dtype="float64"):
    """Return a random field, its second difference, and memory for the result that shows what was not written."""
    u = check.rng().uniform(-1, 1, (nz, ny, nx)).astype(dtype)
    expected = -2 * u.astype("float64")
    expected[1:] += u[:-1]
    expected[:-1] += u[1:]
    return u, expected, np.full_like(u, np.nan)


def second_difference_launch(ny, nx):
    """Return the kernel's launch with enough blocks of 32 × 4 threads for all columns."""
    return second_difference_kernel[((nx + 31) // 32, (ny + 3) // 4), (32, 4)]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference", "points": 1}
# Columns of 6 points, 40 × 5 of them: the second block of each row has 24 threads without a column.
u, expected, out = column_field(6, 5, 40)
out = cuda.to_device(out)
second_difference_launch(5, 40)(cuda.to_device(u), out)
check.close(out.copy_to_host(), expected, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15}}
# What the kernel moves: each number is read once and written once; and no thread in another's way.
u, expected, out = column_field(16, 8, 64)
profile = simt.profile(second_difference_launch(8, 64), u, out)
check.no_hazards(profile)
check.close(out, expected, "out", atol=1e-14)
needed = {"global_load.sectors": u.size * 8 / 32, "global_store.sectors": u.size * 8 / 32}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference_hidden", "points": 2}
# Hidden tests: other sizes, a single plane, single precision, an input that must stay as it is.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for nz, ny, nx, dtype in ((1, 3, 33, "f8"), (2, 1, odd, "f8"), (9, 7, 5, "f8"), (5, 3, odd, "f4"), (1, 2, 7, "f4")):
    u, expected, out = column_field(nz, ny, nx, dtype)
    before = u.copy()
    profile = simt.profile(second_difference_launch(ny, nx), u, out)
    check.no_hazards(profile)
    precision, error = ("single", 2e-6) if dtype == "f4" else ("double", 1e-14)
    check.close(out, expected, f"out, in {precision} precision", atol=error)
    check.that((u == before).all(), "u must stay as it is.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: a transpose without bank conflicts (3 points)
#
# A transpose reads rows and writes columns. The kernel below does both with whole sectors: a block reads a tile of
# 32 × 32 numbers by rows, and writes it by rows too; in between, each warp takes a *column* out of shared memory.
#
# Shared memory has 32 **banks**. The bytes 0 to 3 lie in bank 0, the bytes 4 to 7 in bank 1, and so on; byte 128 lies
# in bank 0 again. In one turn, a **wavefront**, each bank serves one word of 4 bytes. Of doubles, each half of a warp has its
# own turns: as many as there are different words in the fullest bank of that half. The 16 doubles of half a row are 32
# words, one in each bank: 1 wavefront a half and 2 for the row, the least there can be for 32 different doubles.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "conflicting_transpose"}
@cuda.jit
def conflicting_transpose_kernel(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    ny, nx = a.shape
    i, j = 32 * cuda.blockIdx.x + x, 32 * cuda.blockIdx.y + y
    if i < nx and j < ny:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x
    if row < nx and column < ny:
        out[row, column] = tile[x, y]


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_conflicting_transpose"}
a = np.random.default_rng(1).random((64, 64))
print(simt.profile(conflicting_transpose_kernel[(2, 2), (32, 32)], a, np.empty((64, 64))))


# %% [markdown]
# Divide: how many wavefronts does a request of a shared load take here? In which banks do `tile[0, 5]`, `tile[1, 5]`
# and `tile[2, 5]` lie? (`profile.show_access(line)` draws the lanes of a warp above the banks that they touch.)
#
# Write `transpose_kernel`, which takes 2 wavefronts for each load and for each store, with the traffic in global
# memory as it is. It is launched in the same way, with blocks of 32 × 32 threads.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "transpose"}
@cuda.jit
def transpose_kernel(a, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), np.float64)  # a column's numbers are 66 words apart: two banks further each
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    ny, nx = a.shape
    i, j = 32 * cuda.blockIdx.x + x, 32 * cuda.blockIdx.y + y
    if i < nx and j < ny:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row, column = 32 * cuda.blockIdx.x + y, 32 * cuda.blockIdx.y + x
    if row < nx and column < ny:
        out[row, column] = tile[x, y]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_transpose"}
def run_transpose(ny, nx):
    """Profile the kernel on a random array; check its hazards, its result and its input; return the profile."""
    a, out = check.rng().random((ny, nx)), np.full((nx, ny), np.nan)
    before = a.copy()
    profile = simt.profile(transpose_kernel[((nx + 31) // 32, (ny + 31) // 32), (32, 32)], a, out)
    check.no_hazards(profile)
    check.close(out, before.T, "out")
    check.that((a == before).all(), "a must stay as it is.")
    return profile


def needed_by_transpose(ny, nx):
    """Return what a transpose needs whose rows and columns are whole sectors: 2 wavefronts for each row of a tile."""
    sectors, wavefronts = ny * nx * 8 / 32, 2 * 32 * ((nx + 31) // 32) * ((ny + 31) // 32)
    return {
        "global_load.sectors": sectors,
        "global_store.sectors": sectors,
        "shared_load.wavefronts": wavefronts,
        "shared_store.wavefronts": wavefronts,
    }


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_transpose", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "shared_load.wavefronts": 1.15, "shared_store.wavefronts": 1.15}}
# An array of two tiles by three: the numbers, the hazards, the sectors and the wavefronts.
check.at_most(run_transpose(64, 96), limits, compulsory=needed_by_transpose(64, 96))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_transpose_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "shared_load.wavefronts": 1.15, "shared_store.wavefronts": 1.15}}
# Hidden tests: arrays that the tiles do not divide, with the same limits.
### BEGIN HIDDEN TESTS
four = 4 * int(check.rng().integers(9, 15))
for ny, nx in ((36, four), (four, 60)):
    check.at_most(run_transpose(ny, nx), limits, compulsory=needed_by_transpose(ny, nx))
for ny, nx in ((1, 1), (33, 7), (5, four + 1), (31, 65)):
    run_transpose(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: sums of blocks (4 points)
#
# A sum of many numbers by many threads takes two steps: each block sums its share and leaves one number, then somebody
# adds these. Write the first step, `partial_sums_kernel(a, partial)`, which writes this block's share of the sum of
# `a` to `partial[blockIdx.x]`.
#
# - Blocks have 256 threads. There may be any number of blocks, so there may be more elements than threads, or fewer:
#   let each thread walk through `a` in steps of the whole grid, `cuda.gridsize(1)`, and add up its elements in a
#   register.
# - Then 256 numbers become one: by a tree in shared memory, in which half of the threads add, then a quarter, and so
#   on; or by shuffles.
# - Each element is read once, the blocks share the work evenly, and each block writes one number. Nothing is known
#   about `partial` before. Its numbers are doubles, also where those of `a` are not.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "partial_sums"}
@cuda.jit
def partial_sums_kernel(a, partial):
    ### BEGIN SOLUTION
    tile = cuda.shared.array(256, np.float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    tile[t] = total
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = tile[0]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_partial_sums"}
def numbers_to_sum(n, blocks, dtype="float64"):
    """Return n random numbers and memory for the sums of the blocks that shows what was not written."""
    return check.rng().uniform(0.5, 1.5, n).astype(dtype), np.full(blocks, np.nan)


def check_sum(partial, a, rtol=1e-12):
    """Check that each block set its number, and that they add up to the sum of a."""
    written = not np.isnan(partial).any()
    check.that(written, "Each block must set its number, even one without elements: what it held before is not zero.")
    check.close(partial.sum(), a.sum(dtype="float64"), "the sum of the partial sums", rtol=rtol)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums", "points": 1}
# 1000 elements, 4 blocks: the last 24 threads have none.
a, partial = numbers_to_sum(1000, 4)
partial = cuda.to_device(partial)
partial_sums_kernel[4, 256](cuda.to_device(a), partial)
check_sum(partial.copy_to_host(), a)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.02, "global_store.sectors": 1.0, "global_atomics.sectors": 1.0}}
# Eight elements a thread: each is read once, a block writes one sector; no thread in another's way; equal shares.
a, partial = numbers_to_sum(8 * 1024, 4)
profile = simt.profile(partial_sums_kernel[4, 256], a, partial)
check.no_hazards(profile)
check_sum(partial, a)
check.that((partial > 0.8 * partial.mean()).all(), "The blocks must share the work evenly.")
needed = {"global_load.sectors": a.size * 8 / 32, "global_store.sectors": 4, "global_atomics.sectors": 4}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums_hidden", "points": 2}
# Hidden tests: more elements than threads, fewer, one; single precision; an input that must stay as it is.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(1, 255))
for n, blocks, dtype in ((256 * 7 + some, 3, "f8"), (some, 5, "f8"), (1, 2, "f8"), (3000 + some, 2, "f4")):
    a, partial = numbers_to_sum(n, blocks, dtype)
    before = a.copy()
    profile = simt.profile(partial_sums_kernel[blocks, 256], a, partial)
    check.no_hazards(profile)
    check_sum(partial, before, rtol=1e-5 if dtype == "f4" else 1e-12)
    check.that((a == before).all(), "a must stay as it is.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: how many blocks fit (3 points)
#
# Tiles and queues are not free: a multiprocessor has only so much shared memory and so many registers, and what one
# block takes another cannot have. Fewer blocks at a time mean fewer loads under way.
#
# Write `blocks_per_sm(threads, registers, shared_bytes)`: how many blocks are resident on one multiprocessor of an
# H200 at a time, if a block has so many threads and so many bytes of shared memory, and a thread so many registers.
#
# | one multiprocessor of an H200 | has at most |
# |---|---|
# | threads | 2,048 |
# | blocks | 32 |
# | registers | 65,536 |
# | shared memory | 228 KiB (1 KiB = 1,024 bytes) |
#
# Of the shared memory the driver takes 1 KiB for itself for each block, also for one that uses none. Ignore that a GPU
# hands out registers and shared memory in lots.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "blocks_per_sm"}
def blocks_per_sm(threads, registers, shared_bytes):
    """Return the blocks that live on one multiprocessor of an H200 at a time."""
    ### BEGIN SOLUTION
    return min(2048 // threads, 32, 65536 // (registers * threads), 228 * 1024 // (shared_bytes + 1024))
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_blocks_per_sm", "points": 1}
# The smoothing kernel of part 1: 256 threads, 32 registers each, a tile of 10 × 34 doubles.
check.close(blocks_per_sm(256, 32, 10 * 34 * 8), 8, "blocks_per_sm for the smoothing kernel")
# One launch with a pencil: 96 threads with 60 registers each, without shared memory and with 44 KiB.
check.close(blocks_per_sm(96, 60, 0), 11, "blocks_per_sm for 96 threads of 60 registers")
check.close(blocks_per_sm(96, 60, 44 * 1024), 5, "blocks_per_sm for 96 threads of 60 registers and 44 KiB")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_blocks_per_sm_hidden", "points": 1}
# Hidden tests: launches that threads, blocks or registers limit.
### BEGIN HIDDEN TESTS
check.close(blocks_per_sm(1024, 16, 0), 2, "blocks_per_sm for a launch that threads limit")
check.close(blocks_per_sm(32, 16, 0), 32, "blocks_per_sm for a launch that the number of blocks limits")
for registers in check.rng().choice(np.arange(72, 256, 8), 3, replace=False).tolist():
    expected = 65536 // (registers * 128)
    check.close(blocks_per_sm(128, registers, 0), expected, "blocks_per_sm for a launch that registers limit")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_blocks_per_sm_shared_hidden", "points": 1}
# Hidden tests: launches that shared memory limits.
### BEGIN HIDDEN TESTS
for kib in check.rng().permutation([38, 57, 76, 114]).tolist():
    expected = 228 // (kib + 1)
    check.close(blocks_per_sm(128, 32, kib * 1024), expected, "blocks_per_sm for a launch that shared memory limits (each block pays the driver 1 KiB)")
### END HIDDEN TESTS
