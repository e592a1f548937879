# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 3: Shared memory and registers'
# ---

# %% [markdown]
# # Exercise 3: Shared memory and registers
#
# **At the Speed of Memory.** This exercise belongs to lectures 3 and 4. It takes about two hours and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | repair a tile in shared memory | 5 |
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
# ## Part 1: repair a tile (5 points)
#
# The kernel below is meant to smooth a field. Inside the grid, each point becomes the mean of itself and its four
# neighbours; on the boundary, `out = u`.
#
# $$ \text{out}_{j,i} = \tfrac{1}{5} \left( u_{j,i} + u_{j,i-1} + u_{j,i+1} + u_{j-1,i} + u_{j+1,i} \right). $$
#
# Without a tile, each thread reads five numbers from global memory. Here, each block first copies its 8 rows of 32 points
# into shared memory, together with a **halo** of one point on each side. This makes a tile of 10 rows of 34 points. Then the
# threads read their neighbours from the tile. The kernel is always launched with blocks of 32 × 8 threads.
#
# The kernel has two faults.

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
# How do you find faults like these? Looking at the result does not help: if one thread reads what another one writes, the
# result may be right a hundred times and wrong the next time. `simt.profile` runs a launch in the interpreter, counts what
# it moves, and lists its **hazards**, each with the lines, the element and the threads. For each hazard, ask two questions.
# Which thread should have written that element? What makes sure that it was written in time? (`cuda.syncwarp()` waits only
# for the 32 threads of a warp, but this tile is shared by 256 threads.) Two changes are enough to remove all three hazards.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_faulty_smooth"}
u = np.random.default_rng(1).random((16, 64))
print(simt.profile(faulty_smooth_kernel[(2, 2), (32, 8)], u, np.empty_like(u)))


# %% [markdown]
# Write `smooth_kernel`, the repaired kernel: copy the one above and make the two changes. Keep the tile: a test compares the
# traffic with the sectors that all tiles and their halos need, and a kernel that reads five numbers per point from global
# memory moves far more.

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
    """Return a random field, the smoothed field, and an array of NaN for the result: what stays NaN was not written."""
    u = check.rng().random((ny, nx))
    expected = u.copy()
    expected[1:-1, 1:-1] += u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
    expected[1:-1, 1:-1] /= 5
    return u, expected, np.full((ny, nx), np.nan)


def smooth_launch(ny, nx):
    """Return the kernel, configured with enough blocks of 32 × 8 threads for all points."""
    return smooth_kernel[((nx + 31) // 32, (ny + 7) // 8), (32, 8)]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth", "points": 1}
# Only the values are tested, on a field of 2 × 2 blocks.
u, expected, out = smooth_field(16, 64)
out = cuda.to_device(out)
smooth_launch(16, 64)(cuda.to_device(u), out)
check.close(out.copy_to_host(), expected, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15}}
# No hazards, and no more traffic than the tiles need: their own points, and a halo wherever two blocks meet.
ny, nx = 8 * int(check.rng().integers(3, 6)) + 3, 32 * int(check.rng().integers(2, 5)) + 20
u, expected, out = smooth_field(ny, nx)
profile = simt.profile(smooth_launch(ny, nx), u, out)
check.no_hazards(profile)
check.close(out, expected, "out", atol=1e-14)
rows = 2 * (ny // 8) * nx * 8 / 32  # all bytes of a sector in a halo's row are used
columns = 2 * (nx // 32) * ny  # each point of a halo's column costs a whole sector
needed = {"global_load.sectors": ny * nx * 8 / 32 + rows + columns, "global_store.sectors": ny * nx * 8 / 32}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_hidden", "points": 2}
# Hidden tests: fields whose size is no multiple of the block; no hazards; the input must not change.
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
# This part computes the second difference of a field `u[k, j, i]` along z. Outside the grid, `u` is zero:
#
# $$ \text{out}_{k} = u_{k-1} - 2\,u_{k} + u_{k+1}. $$
#
# Each thread takes one column, that is, all points with the same `i` and `j`, and marches along `k`. If it reads three
# numbers at each step, it reads each number three times. But it has read two of these three in the steps before: keep them
# in variables, which live in registers, and read only the new one.
#
# Write the kernel, with `i, j = cuda.grid(2)`. A thread whose `i` or `j` lies beyond the grid has no column and must do
# nothing. The kernel must work in single and in double precision, and also for a field with only one plane.

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
    """Return a random field, its second difference, and an array of NaN for the result: what stays NaN was not written."""
    u = check.rng().uniform(-1, 1, (nz, ny, nx)).astype(dtype)
    expected = -2 * u.astype("float64")
    expected[1:] += u[:-1]
    expected[:-1] += u[1:]
    return u, expected, np.full_like(u, np.nan)


def second_difference_launch(ny, nx):
    """Return the kernel, configured with enough blocks of 32 × 4 threads for all columns."""
    return second_difference_kernel[((nx + 31) // 32, (ny + 3) // 4), (32, 4)]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference", "points": 1}
# 5 rows of 40 columns of 6 points: in each row, the second block has 24 threads without a column.
u, expected, out = column_field(6, 5, 40)
out = cuda.to_device(out)
second_difference_launch(5, 40)(cuda.to_device(u), out)
check.close(out.copy_to_host(), expected, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15}}
# The traffic: each number is read once and written once; no hazards.
nz, ny, nx = int(check.rng().integers(9, 20)), int(check.rng().integers(5, 11)), 4 * int(check.rng().integers(9, 20))
u, expected, out = column_field(nz, ny, nx)
profile = simt.profile(second_difference_launch(ny, nx), u, out)
check.no_hazards(profile)
check.close(out, expected, "out", atol=1e-14)
needed = {"global_load.sectors": u.size * 8 / 32, "global_store.sectors": u.size * 8 / 32}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_second_difference_hidden", "points": 2}
# Hidden tests: other sizes, a single plane, single precision; the input must not change.
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
# A transpose reads rows and writes columns. The kernel below uses whole sectors for both: each block reads a tile of 32 × 32
# numbers from global memory row by row, and also writes its transpose row by row. In between, each warp reads a *column* of
# the tile from shared memory.
#
# Shared memory has 32 **banks**. Bytes 0 to 3 lie in bank 0, bytes 4 to 7 in bank 1, and so on; byte 128 lies in bank 0
# again. In one pass, called a **wavefront**, each bank serves one word of 4 bytes. If a warp accesses doubles, each half of
# the warp has its own wavefronts. Their number is that of the different words which this half needs from the bank with the
# most such words. For example, the 16 doubles of half a row are 32 words, one in each bank, and take 1 wavefront. A whole row
# takes 2 wavefronts, and no access to 32 different doubles takes fewer.

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
# Divide the wavefronts of the shared loads by their requests: how many wavefronts does one request take here? In which banks
# do `tile[0, 5]`, `tile[1, 5]` and `tile[2, 5]` lie? (`profile.show_access(line)` draws the lanes of a warp above the banks
# that they touch.)
#
# Write `transpose_kernel`, in which each shared load and each shared store of a warp takes 2 wavefronts. Its traffic in
# global memory must not grow. It is launched in the same way, with blocks of 32 × 32 threads.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "transpose"}
@cuda.jit
def transpose_kernel(a, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), np.float64)  # from row to row, a column's number moves on by two banks (66 words)
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
    """Return the sectors and wavefronts that a transpose needs if its rows and columns consist of whole sectors."""
    sectors, wavefronts = ny * nx * 8 / 32, 2 * 32 * ((nx + 31) // 32) * ((ny + 31) // 32)
    return {
        "global_load.sectors": sectors,
        "global_store.sectors": sectors,
        "shared_load.wavefronts": wavefronts,
        "shared_store.wavefronts": wavefronts,
    }


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_transpose", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "shared_load.wavefronts": 1.15, "shared_store.wavefronts": 1.15}}
# An array of 2 × 3 tiles: values, hazards, sectors and wavefronts.
check.at_most(run_transpose(64, 96), limits, compulsory=needed_by_transpose(64, 96))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_transpose_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "shared_load.wavefronts": 1.15, "shared_store.wavefronts": 1.15}}
# Hidden tests: arrays whose size is no multiple of the tile, with the same limits.
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
# Many threads add up many numbers in two steps. First, each block adds up its share of the numbers and writes one partial
# sum. Then these partial sums are added. Write the kernel of the first step, `partial_sums_kernel(a, partial)`, in which each
# block writes the sum of its share of `a` to `partial[blockIdx.x]`.
#
# - Blocks have 256 threads. The number of blocks is arbitrary, so there may be more elements than threads, or fewer. Let each
#   thread walk through `a` in steps of `cuda.gridsize(1)`, the number of threads in the grid, and add up its elements in a
#   register.
# - Then a block turns its 256 numbers into one. Use a tree in shared memory, in which first half of the threads add a number,
#   then a quarter of them, and so on; or use shuffles.
# - Each element is read once, the blocks share the work evenly, and each block writes one number. Do not rely on what
#   `partial` held before the launch. `partial` is in double precision, even if `a` is not.

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
    """Return n random numbers, and an array of NaN for the sums of the blocks: what stays NaN was not written."""
    return check.rng().uniform(0.5, 1.5, n).astype(dtype), np.full(blocks, np.nan)


def check_sum(partial, a, rtol=1e-12):
    """Check that each block wrote its partial sum, and that the partial sums add up to the sum of a."""
    written = not np.isnan(partial).any()
    check.that(written, "Each block must write its partial sum, even a block without elements: partial is not zero before.")
    check.close(partial.sum(), a.sum(dtype="float64"), "the sum of the partial sums", rtol=rtol)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums", "points": 1}
# 1000 elements, 4 blocks: the last 24 threads have no element.
a, partial = numbers_to_sum(1000, 4)
partial = cuda.to_device(partial)
partial_sums_kernel[4, 256](cuda.to_device(a), partial)
check_sum(partial.copy_to_host(), a)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.02, "global_store.sectors": 1.0, "global_atomics.sectors": 1.0}}
# Eight elements per thread: each element is read once, a block writes one sector, the shares are equal; no hazards.
blocks = int(check.rng().choice((3, 5, 6, 7)))
a, partial = numbers_to_sum(8 * 256 * blocks, blocks)
profile = simt.profile(partial_sums_kernel[blocks, 256], a, partial)
check.no_hazards(profile)
check_sum(partial, a)
check.that((partial > 0.8 * partial.mean()).all(), "The blocks must share the work evenly.")
needed = {"global_load.sectors": a.size * 8 / 32, "global_store.sectors": blocks, "global_atomics.sectors": blocks}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_partial_sums_hidden", "points": 2}
# Hidden tests: more elements than threads, fewer, a single one; equal shares; single precision; the input must not change.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(1, 255))
for n, blocks, dtype in ((256 * 7 + some, 3, "f8"), (some, 5, "f8"), (1, 2, "f8"), (4096 + some, 2, "f4")):
    a, partial = numbers_to_sum(n, blocks, dtype)
    before = a.copy()
    profile = simt.profile(partial_sums_kernel[blocks, 256], a, partial)
    check.no_hazards(profile)
    check_sum(partial, before, rtol=1e-5 if dtype == "f4" else 1e-12)
    even = n < 8 * 256 * blocks or (partial > 0.8 * partial.mean()).all()
    check.that(even, "The blocks must share the work evenly.")
    check.that((a == before).all(), "a must stay as it is.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: how many blocks fit (3 points)
#
# Tiles and queues are not free. The shared memory and the registers of a multiprocessor are limited, and the blocks on it
# share them. The more one block takes, the fewer blocks fit at the same time, and the fewer loads are in flight.
#
# Write `blocks_per_sm(threads, registers, shared_bytes)`: the number of blocks that fit on one multiprocessor of an H200 at
# the same time. A block has `threads` threads and `shared_bytes` bytes of shared memory; each thread has `registers`
# registers.
#
# | resource | one multiprocessor of an H200 has |
# |---|---|
# | threads | 2,048 |
# | blocks | 32 |
# | registers | 65,536 |
# | shared memory | 228 KiB (1 KiB = 1,024 bytes) |
#
# In addition, the driver takes 1 KiB of shared memory for each block, even for a block that uses no shared memory. Ignore
# that a GPU allocates registers and shared memory in units of a fixed size.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "blocks_per_sm"}
def blocks_per_sm(threads, registers, shared_bytes):
    """Return the number of blocks that fit on one multiprocessor of an H200 at the same time."""
    ### BEGIN SOLUTION
    return min(2048 // threads, 32, 65536 // (registers * threads), 228 * 1024 // (shared_bytes + 1024))
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_blocks_per_sm", "points": 1}
# The smoothing kernel of part 1: 256 threads, 32 registers each, a tile of 10 × 34 doubles.
check.close(blocks_per_sm(256, 32, 10 * 34 * 8), 8, "blocks_per_sm for the smoothing kernel")
# To check with pencil and paper: 96 threads with 60 registers each, without shared memory and with 44 KiB.
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
