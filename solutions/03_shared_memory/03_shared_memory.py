# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 3: Shared memory'
# ---

# %% [markdown]
# # Exercise 3: Shared memory
#
# **At the Speed of Memory.** This exercise belongs to lecture 3. It takes about two hours and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_mixed(5, 70)` or `run_halve(3, 65)`. If something is wrong, a sentence says what.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet.
# - Where the threads of a block share data, a test repeats its launch in other orders: between two
#   [barriers](../../lectures/glossary.md#barrier), the warps with even numbers go first, then those with odd numbers do. A GPU
#   may run warps in any order, so the result must stay right.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | repair a tile | 5 |
# | 2 | a new stencil, and its tile | 4 |
# | 3 | eight numbers per particle: order without bank conflicts | 4 |
# | 4 | a slow kernel: find out why | 3 |
# | 5 | open: halve a field, as near to the bound as you can | 4 |

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
# memory asks for far more.

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


@check.in_each_order
def run_smooth(ny, nx):
    """Profile the kernel on a random field; check its hazards, the result, and that the field stays; return the profile."""
    u, expected, out = smooth_field(ny, nx)
    before = u.copy()
    profile = simt.profile(smooth_launch(ny, nx), u, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", atol=1e-14)
    check.that((u == before).all(), "u must stay as it is.")
    return profile


def run_smooth_values(ny, nx):
    """Run the kernel on a random field, and check the values alone."""
    u, expected, out = smooth_field(ny, nx)
    out = cuda.to_device(out)
    smooth_launch(ny, nx)(cuda.to_device(u), out)
    check.close(out.copy_to_host(), expected, "out", atol=1e-14)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth", "points": 1}
# Only the values are tested, on a field of 2 × 2 blocks.
with check.explained(smooth_kernel, "u", "out"):
    run_smooth_values(16, 64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15}}
# No hazards, and no more traffic than the tiles need: their own points, and a halo wherever two blocks meet.
with check.explained(smooth_kernel, "u", "out"):
    ny, nx = 8 * int(check.rng().integers(3, 6)) + 3, 32 * int(check.rng().integers(2, 5)) + 20
    profile = run_smooth(ny, nx)
    rows = 2 * (ny // 8) * nx * 8 / 32  # all bytes of a sector in a halo's row are used
    columns = 2 * (nx // 32) * ny  # each point of a halo's column costs a whole sector
    needed = {"global_load.sectors": ny * nx * 8 / 32 + rows + columns, "global_store.sectors": ny * nx * 8 / 32}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_hidden", "points": 2}
# Hidden tests: fields whose size is not a multiple of the block; no hazards; the input must not change.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for ny, nx in ((3, 3), (9, 33), (21, odd), (17, 65)):
    run_smooth(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a new stencil, and its tile (4 points)
#
# The mixed second difference needs the four **diagonal** neighbours, and no other point:
#
# $$ \text{out}_{j,i} = \tfrac{1}{4} \left( u_{j+1,i+1} - u_{j+1,i-1} - u_{j-1,i+1} + u_{j-1,i-1} \right). $$
#
# On the boundary, `out = 0`. Write `mixed_kernel(u, out)` for blocks of 32 × 8 threads. A block should ask for each point that it needs once:
# as in part 1, a test compares the traffic with the sectors of all tiles and their halos. Which points does the tile of part 1
# leave out that this stencil needs?

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "mixed"}
@cuda.jit
def mixed_kernel(u, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((10, 34), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    ny, nx = u.shape
    for k in range(32 * y + x, 340, 256):  # the 256 threads fill the tile as one line, so that corners need no case of their own
        r, c = k // 34, k % 34
        row, column = 8 * cuda.blockIdx.y + r - 1, 32 * cuda.blockIdx.x + c - 1
        if 0 <= row < ny and 0 <= column < nx:
            tile[r, c] = u[row, column]
    cuda.syncthreads()
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        out[j, i] = (tile[y + 2, x + 2] - tile[y + 2, x] - tile[y, x + 2] + tile[y, x]) / 4
    elif i < nx and j < ny:
        out[j, i] = 0.0
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_mixed"}
@check.in_each_order
def run_mixed(ny, nx):
    """Profile the kernel on a random field; check its hazards, its result and its input; return the profile."""
    u, out = check.rng().random((ny, nx)), np.full((ny, nx), np.nan)
    before, expected = u.copy(), np.zeros((ny, nx))
    expected[1:-1, 1:-1] = (u[2:, 2:] - u[2:, :-2] - u[:-2, 2:] + u[:-2, :-2]) / 4
    profile = simt.profile(mixed_kernel[((nx + 31) // 32, (ny + 7) // 8), (32, 8)], u, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", atol=1e-14)
    check.that((u == before).all(), "u must stay as it is.")
    return profile


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mixed", "points": 1}
# The values, on a field of 2 × 2 blocks.
with check.explained(mixed_kernel, "u", "out"):
    run_mixed(16, 64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mixed_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15}}
# The traffic: the points of each block and its halo, corners included, each of them once.
with check.explained(mixed_kernel, "u", "out"):
    ny, nx = 8 * int(check.rng().integers(3, 6)) + 3, 32 * int(check.rng().integers(2, 5)) + 20
    crossings = (ny // 8) * (nx // 32)  # where four blocks meet, each of them needs one point of the block opposite
    halo = 2 * (ny // 8) * nx * 8 / 32 + 2 * (nx // 32) * ny + 4 * crossings
    needed = {"global_load.sectors": ny * nx * 8 / 32 + halo, "global_store.sectors": ny * nx * 8 / 32}
    check.at_most(run_mixed(ny, nx), limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mixed_hidden", "points": 2}
# Hidden tests: fields whose size is not a multiple of the block, and small ones.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for ny, nx in ((3, 3), (9, 33), (21, odd), (17, 65), (1, 5)):
    run_mixed(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: eight numbers per particle (4 points)
#
# `a[p, f]` holds eight numbers (fields) of each of n particles, those of a particle side by side. A kernel that needs one field of all
# particles would rather have them as `out[f, p]`. A block of 256 threads, 32 × 8, takes 32 particles: from `a`, it should read whole
# sectors; to `out`, warp `y` should write 32 numbers of field `y`.
#
# In between, the numbers lie in shared memory. It has 32 **banks**: bytes 0 to 3 lie in bank 0, bytes 4 to 7 in bank 1, and so on; byte 128
# lies in bank 0 again. In one **wavefront**, each bank serves one word of 4 bytes. A warp that accesses doubles has wavefronts for each of
# its halves. For half a warp, their number is that of the different words which it needs from the bank with the most such words.
# So no access of a warp to 32 different doubles takes fewer than 2 wavefronts.
#
# Write `fields_kernel(a, out)`, in which every shared store and every shared load of a warp takes 2 wavefronts. The padding of the lecture's
# transpose is not enough here: which numbers does half a warp **write** at a time, and in which banks do they lie? With pencil
# and paper it takes five minutes; `profile.show_access(line)` draws the lanes above their banks.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "fields"}
@cuda.jit
def fields_kernel(a, out):
    ### BEGIN SOLUTION
    # half a warp writes 8 fields of 2 particles: 8 rows have to begin 4 banks apart, and 34 doubles are 4 banks modulo 32
    tile = cuda.shared.array((8, 34), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    k = 32 * y + x
    p, f = k // 8, k % 8
    first = 32 * cuda.blockIdx.x
    if first + p < a.shape[0]:
        tile[f, p] = a[first + p, f]
    cuda.syncthreads()
    if first + x < a.shape[0]:
        out[y, first + x] = tile[y, x]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_fields"}
@check.in_each_order
def run_fields(n):
    """Profile the kernel on n random particles; check its hazards, its result and its input; return the profile."""
    a, out = check.rng().random((n, 8)), np.full((8, n), np.nan)
    before = a.copy()
    profile = simt.profile(fields_kernel[(n + 31) // 32, (32, 8)], a, out)
    check.no_hazards(profile)
    check.close(out, before.T, "out")
    check.that((a == before).all(), "a must stay as it is.")
    return profile


def needed_by_fields(n):
    """Return the sectors and wavefronts that n particles need, for n a multiple of four: half a warp takes one wavefront."""
    return {
        "global_load.sectors": 8 * n * 8 / 32,
        "global_store.sectors": 8 * n * 8 / 32,
        "shared_store.wavefronts": 8 * n / 16,
        "shared_load.wavefronts": 8 * ((n + 15) // 16),
    }


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fields", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# 96 particles: values, hazards, and whole sectors in global memory.
with check.explained(fields_kernel, "a", "out"):
    check.at_most(run_fields(96), limits, compulsory=needed_by_fields(96))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fields_banks", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1, "shared_load.wavefronts": 1.1, "shared_store.wavefronts": 1.1}}
# The same launch: no bank conflict either.
with check.explained(fields_kernel, "a", "out"):
    check.at_most(run_fields(96), limits, compulsory=needed_by_fields(96))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fields_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1, "shared_load.wavefronts": 1.1, "shared_store.wavefronts": 1.1}}
# Hidden tests: other numbers of particles, with all these limits; and numbers that are not multiples of four.
### BEGIN HIDDEN TESTS
some = 32 * int(check.rng().integers(2, 6)) + 16
for n in (64, some):
    check.at_most(run_fields(n), limits, compulsory=needed_by_fields(n))
for n in (1, 33, some + 5):
    run_fields(n)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: a slow kernel (3 points)
#
# The kernel below is right and has no hazards: each point becomes the mean of five points of its column, from `u[j - 2, i]` to `u[j + 2, i]`,
# with 0 outside the field. Its tile has 12 rows of 32 points, so that it asks for each point of a block and its halo once. And yet
# it asks for many more sectors than these points have.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "slow_column_mean"}
@cuda.jit
def slow_column_mean_kernel(u, out):
    tile = cuda.shared.array((12, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    ny, nx = u.shape
    for k in range(32 * y + x, 12 * 32, 256):  # 256 threads fill 12 rows of 32 points
        r, c = k % 12, k // 12
        row, column = 8 * cuda.blockIdx.y + r - 2, 32 * cuda.blockIdx.x + c
        inside = 0 <= row < ny and column < nx
        tile[r, c] = u[row, column] if inside else 0.0
    cuda.syncthreads()
    if i < nx and j < ny:
        total = 0.0
        for m in range(5):
            total += tile[y + m, x]
        out[j, i] = total / 5


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_slow_column_mean"}
u = np.random.default_rng(1).random((64, 64))
slow = simt.profile(slow_column_mean_kernel[(2, 8), (32, 8)], u, np.empty_like(u))
print(slow)
for line, counts in slow.by_line.items():
    print(line, counts.global_load.sectors, counts.shared_store.wavefronts, counts.shared_load.wavefronts)


# %% [markdown]
# Which line is at fault, and what do the lanes of a warp do there? Write `column_mean_kernel`, in which no block asks for a sector twice. Keep the tile.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "column_mean"}
@cuda.jit
def column_mean_kernel(u, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((12, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    ny, nx = u.shape
    for k in range(32 * y + x, 12 * 32, 256):  # 256 threads fill 12 rows of 32 points
        r, c = k // 32, k % 32  # neighbours in a warp take neighbours of a row
        row, column = 8 * cuda.blockIdx.y + r - 2, 32 * cuda.blockIdx.x + c
        inside = 0 <= row < ny and column < nx
        tile[r, c] = u[row, column] if inside else 0.0
    cuda.syncthreads()
    if i < nx and j < ny:
        total = 0.0
        for m in range(5):
            total += tile[y + m, x]
        out[j, i] = total / 5
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_column_mean"}
@check.in_each_order
def run_column_mean(ny, nx):
    """Profile the kernel on a random field; check its hazards, its result and its input; return the profile."""
    u, out = check.rng().random((ny, nx)), np.full((ny, nx), np.nan)
    before, wide = u.copy(), np.pad(u, ((2, 2), (0, 0)))
    profile = simt.profile(column_mean_kernel[((nx + 31) // 32, (ny + 7) // 8), (32, 8)], u, out)
    check.no_hazards(profile)
    check.close(out, sum(wide[m : m + ny] for m in range(5)) / 5, "out", atol=1e-14)
    check.that((u == before).all(), "u must stay as it is.")
    return profile


def needed_by_column_mean(ny, nx):
    """Return the sectors of all tiles, for rows of whole sectors: a block reads two rows beyond its own on either side."""
    rows = sum(min(ny, top + 10) - max(0, top - 2) for top in range(0, ny, 8))
    return {"global_load.sectors": rows * nx * 8 / 32, "global_store.sectors": ny * nx * 8 / 32}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_column_mean", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# A field of 8 × 2 blocks.
with check.explained(column_mean_kernel, "u", "out"):
    check.at_most(run_column_mean(64, 64), limits, compulsory=needed_by_column_mean(64, 64))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_column_mean_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# Hidden tests: fields whose size is not a multiple of the block.
### BEGIN HIDDEN TESTS
four = 4 * int(check.rng().integers(9, 15))
for ny, nx in ((21, four), (7, 60)):
    check.at_most(run_column_mean(ny, nx), limits, compulsory=needed_by_column_mean(ny, nx))
for ny, nx in ((1, 1), (33, 7), (5, four + 1)):
    run_column_mean(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: open (4 points)
#
# Multigrid methods halve a field: each point of the coarse field is the mean of 2 × 2 points of the fine one,
#
# $$ \text{out}_{j,i} = \tfrac{1}{4} \left( u_{2j,2i} + u_{2j,2i+1} + u_{2j+1,2i} + u_{2j+1,2i+1} \right). $$
#
# No number is needed twice, so no cache has to save anything. The bound is each sector of `u` read once and each sector of `out` written once. Write
# `halve_kernel(u, out)` so that a launch stays within **1.1 times** of both, any way you like. It is launched with blocks of
# 32 × 8 threads, as many as the points of `out` need. Both edges of `u` are even.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "halve"}
@cuda.jit
def halve_kernel(u, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((16, 64), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    for k in range(32 * y + x, 16 * 64, 256):
        row, column = 16 * cuda.blockIdx.y + k // 64, 64 * cuda.blockIdx.x + k % 64
        if row < u.shape[0] and column < u.shape[1]:
            tile[k // 64, k % 64] = u[row, column]
    cuda.syncthreads()
    if i < out.shape[1] and j < out.shape[0]:
        upper = tile[2 * y, 2 * x] + tile[2 * y, 2 * x + 1]
        lower = tile[2 * y + 1, 2 * x] + tile[2 * y + 1, 2 * x + 1]
        out[j, i] = (upper + lower) / 4
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_halve"}
@check.in_each_order
def run_halve(ny, nx):
    """Profile the kernel on a random field that gives ny × nx points; check hazards, result, input; return the profile."""
    u, out = check.rng().random((2 * ny, 2 * nx)), np.full((ny, nx), np.nan)
    before = u.copy()
    profile = simt.profile(halve_kernel[((nx + 31) // 32, (ny + 7) // 8), (32, 8)], u, out)
    check.no_hazards(profile)
    check.close(out, before.reshape(ny, 2, nx, 2).mean(axis=(1, 3)), "out", atol=1e-14)
    check.that((u == before).all(), "u must stay as it is.")
    return profile


def bound_of_halve(ny, nx):
    """Return the sectors of u and of out, whose rows consist of whole sectors."""
    return {"global_load.sectors": 4 * ny * nx * 8 / 32, "global_store.sectors": ny * nx * 8 / 32}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_halve", "points": 1}
# The values, on 2 × 2 blocks.
with check.explained(halve_kernel, "u", "out"):
    run_halve(16, 64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_halve_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# The same launch against the bound.
with check.explained(halve_kernel, "u", "out"):
    check.at_most(run_halve(16, 64), limits, compulsory=bound_of_halve(16, 64))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_halve_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# Hidden tests: other fields, against the bound where rows consist of whole sectors.
### BEGIN HIDDEN TESTS
four = 4 * int(check.rng().integers(9, 15))
for ny, nx in ((21, four), (7, 60)):
    check.at_most(run_halve(ny, nx), limits, compulsory=bound_of_halve(ny, nx))
for ny, nx in ((1, 1), (9, 33), (5, four + 1)):
    run_halve(ny, nx)
### END HIDDEN TESTS
