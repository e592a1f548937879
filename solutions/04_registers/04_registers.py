# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 4: Registers'
# ---

# %% [markdown]
# # Exercise 4: Registers
#
# **At the Speed of Memory.** This exercise belongs to lecture 4. It takes about two hours and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs of kernels are random,
#   and different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_power(1000)` or `run_squares(3, 70)`. If something is wrong, a sentence says what.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | a step in place | 5 |
# | 2 | numbers that lie in pairs | 4 |
# | 3 | find the waste | 3 |
# | 4 | two sums, any way you like | 5 |
# | 5 | how many registers a thread may take | 3 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: a step in place (5 points)
#
# A field `u[k, j, i]` is carried along z by a wind. One step of time replaces each number by
#
# $$ u_k \leftarrow u_k - \frac{\nu}{6} \left( 2\,u_{k+1} + 3\,u_k - 6\,u_{k-1} + u_{k-2} \right), $$
#
# where all numbers on the right are those **before** the step, and `u` is zero outside the grid. There is no second array:
# the result replaces `u` itself. So when a thread that began with plane 0 comes to plane k, the planes k − 1 and k − 2 have been
# overwritten already.
#
# Each thread takes one column, that is, all points with the same `i` and `j`, and marches along `k`. Read each number from
# memory once and write it once.
#
# Write the kernel, with `i, j = cuda.grid(2)`. A thread whose `i` or `j` lies beyond the grid has no column and must do
# nothing. The kernel must work in single and in double precision, and also for a field with only one plane.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "carry"}
@cuda.jit
def carry_kernel(u, nu):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    nz, ny, nx = u.shape
    if i < nx and j < ny:
        before, below, centre = 0.0, 0.0, u[0, j, i]
        for k in range(nz):
            above = 0.0
            if k + 1 < nz:
                above = u[k + 1, j, i]
            u[k, j, i] = centre - nu / 6 * (2 * above + 3 * centre - 6 * below + before)
            before, below, centre = below, centre, above
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_carry"}
def carried_field(nz, ny, nx, dtype="float64"):
    """Return a random field, a number nu, and the field after one step."""
    u, nu = check.rng().uniform(-1, 1, (nz, ny, nx)).astype(dtype), float(check.rng().uniform(0.2, 0.8))
    wide = np.zeros((nz + 3, ny, nx))
    wide[2:-1] = u
    return u, nu, wide[2:-1] - nu / 6 * (2 * wide[3:] + 3 * wide[2:-1] - 6 * wide[1:-2] + wide[:-3])


def carry_launch(ny, nx):
    """Return the kernel, configured with enough blocks of 32 × 4 threads for all columns."""
    return carry_kernel[((nx + 31) // 32, (ny + 3) // 4), (32, 4)]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_carry", "points": 1}
# 5 rows of 40 columns of 6 points: in each row, the second block has 24 threads without a column.
with check.explained(carry_kernel, "u"):
    u, nu, expected = carried_field(6, 5, 40)
    u = cuda.to_device(u)
    carry_launch(5, 40)(u, nu)
    check.close(u.copy_to_host(), expected, "u after the step", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_carry_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15}}
# The traffic: each number is read once and written once; no hazards.
with check.explained(carry_kernel, "u"):
    nz, ny, nx = int(check.rng().integers(9, 20)), int(check.rng().integers(5, 11)), 4 * int(check.rng().integers(9, 20))
    u, nu, expected = carried_field(nz, ny, nx)
    profile = simt.profile(carry_launch(ny, nx), u, nu)
    check.no_hazards(profile)
    check.close(u, expected, "u after the step", atol=1e-14)
    needed = {"global_load.sectors": u.size * 8 / 32, "global_store.sectors": u.size * 8 / 32}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_carry_hidden", "points": 1}
# Hidden tests: other sizes, single precision.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for nz, ny, nx, dtype in ((9, 7, 5, "f8"), (4, 1, odd, "f8"), (5, 3, odd, "f4")):
    u, nu, expected = carried_field(nz, ny, nx, dtype)
    check.no_hazards(simt.profile(carry_launch(ny, nx), u, nu))
    precision, error = ("single", 4e-6) if dtype == "f4" else ("double", 1e-14)
    check.close(u, expected, f"u after the step, in {precision} precision", atol=error)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_carry_planes_hidden", "points": 1}
# Hidden tests: fields of one, two and three planes.
### BEGIN HIDDEN TESTS
for nz in check.rng().permutation([1, 2, 3]).tolist():
    u, nu, expected = carried_field(nz, 3, 33)
    check.no_hazards(simt.profile(carry_launch(3, 33), u, nu))
    check.close(u, expected, "u after the step, with few planes", atol=1e-14)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: numbers that lie in pairs (4 points)
#
# A receiver samples a signal as complex numbers. It stores their real and imaginary parts one after the other, in one vector of
# doubles: `z = [re₀, im₀, re₁, im₁, …]`. The power of each sample is wanted:
#
# $$ \text{power}_i = \text{re}_i^2 + \text{im}_i^2. $$
#
# A thread per sample that reads `z[2 * i]` and then `z[2 * i + 1]` gets the right result. But how many of the bytes of a sector
# does each of these two requests use? So the kernel is launched with a thread for each **number** of `z`, in blocks of 64: thread
# t reads `z[t]`, and neighbours read neighbours. Then a thread has one half of what it needs, and its neighbour the other half.
#
# Write the kernel. Every sector of `z` should be asked for once, and every sector of `power` be written once. All lanes that the
# mask names have to take part in a shuffle: with `0xFFFFFFFF` all 32 of a warp, those without a number, too.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "power"}
@cuda.jit
def power_kernel(z, power):
    ### BEGIN SOLUTION
    t = cuda.grid(1)
    number = z[t] if t < z.size else 0.0
    square = number * number
    square += cuda.shfl_down_sync(0xFFFFFFFF, square, 1)  # outside of any branch: every lane takes part
    if t < z.size and t % 2 == 0:
        power[t // 2] = square
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_power"}
@check.again_in_doubt
def run_power(n):
    """Profile the kernel on n random samples; check hazards, result and input; return the profile."""
    z, power = check.rng().uniform(-1, 1, 2 * n), np.full(n, np.nan)
    before = z.copy()
    profile = simt.profile(power_kernel[(2 * n + 63) // 64, 64], z, power)
    check.no_hazards(profile)
    check.close(power, before[::2] ** 2 + before[1::2] ** 2, "the power")
    check.that((z == before).all(), "z must stay as it is.")
    return profile


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power", "points": 1}
# The values: 96 samples, as many numbers as three blocks have threads.
with check.explained(power_kernel, "z", "power"):
    profile = run_power(96)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}}
# The sectors: each one of z is asked for once, and each one of power is written once.
with check.explained(power_kernel, "z", "power"):
    n = 32 * int(check.rng().integers(5, 12))
    check.at_most(run_power(n), limits, compulsory={"global_load.sectors": 2 * n * 8 / 32, "global_store.sectors": n * 8 / 32})

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_hidden", "points": 1}
# Hidden tests: numbers of samples that do not fill the last warp, a single sample among them.
### BEGIN HIDDEN TESTS
for n in (1, 31, 33, 2 * int(check.rng().integers(33, 47)) + 1):  # an odd n never fills it
    run_power(n)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: find the waste (3 points)
#
# For each row of a matrix, the kernel below computes the sum of the squares. One block of 128 threads takes one row. The result is
# right, and there are no hazards. Each number is read once, and neighbours read neighbours. And yet it does
# work that it need not do.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "wasteful_squares"}
@cuda.jit
def wasteful_squares_kernel(a, out):
    tile = cuda.shared.array(128, np.float64)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    nx = a.shape[1]
    whole = 0.0
    for first in range(0, nx, 128):
        tile[t] = a[r, first + t] ** 2 if first + t < nx else 0.0
        cuda.syncthreads()
        half = 64
        while half > 0:
            if t < half:
                tile[t] += tile[t + half]
            cuda.syncthreads()
            half //= 2
        whole += tile[0]
        cuda.syncthreads()
    if t == 0:
        out[r] = whole


# %% [markdown]
# The profile shows the counts beside each line. Divide them by the number of rows, and ask of each line whether it has to run as
# often as it does.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_wasteful_squares"}
a = np.random.default_rng(1).random((4, 1024))
print(simt.profile(wasteful_squares_kernel[4, 128], a, np.empty(4)))


# %% [markdown]
# Write `squares_kernel`, the repaired kernel, launched in the same way. For each row it may ask shared memory as often as one tree over
# 128 numbers does, however long the row is; with shuffles it asks less. Global traffic must not grow.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "squares"}
@cuda.jit
def squares_kernel(a, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array(128, np.float64)
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    nx = a.shape[1]
    total = 0.0
    for i in range(t, nx, 128):  # a share for each thread first, in a register
        total += a[r, i] ** 2
    tile[t] = total
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[r] = tile[0]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_squares"}
@check.again_in_doubt
def run_squares(ny, nx):
    """Profile the kernel on a random matrix; check hazards, result and input; return the profile and what is needed."""
    a, out = check.rng().uniform(-1, 1, (ny, nx)), np.full(ny, np.nan)
    before = a.copy()
    profile = simt.profile(squares_kernel[ny, 128], a, out)
    check.no_hazards(profile)
    check.close(out, (before**2).sum(axis=1), "the sums of squares")
    check.that((a == before).all(), "a must stay as it is.")
    # one tree over the 128 threads of a block: 4 warps write; two warps, then one in 6 steps, load two and store one;
    # at the end, all 4 warps may load the sum
    needed = {"global_load.sectors": ny * nx * 8 / 32, "global_store.sectors": ny}
    needed |= {"shared_load.requests": ny * (2 * 8 + 4), "shared_store.requests": ny * (4 + 8)}
    return profile, needed


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_squares", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.0, "shared_load.requests": 1.0, "shared_store.requests": 1.0}}
# A matrix of 3 rows of 512 numbers: values, hazards, sectors and requests to shared memory.
with check.explained(squares_kernel, "a", "out"):
    profile, needed = run_squares(3, 512)
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_squares_hidden", "points": 2} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.0, "shared_load.requests": 1.0, "shared_store.requests": 1.0}}
# Hidden tests: longer rows with the same limits, and rows of any length.
### BEGIN HIDDEN TESTS
profile, needed = run_squares(2, 128 * int(check.rng().integers(5, 10)))
check.at_most(profile, limits, compulsory=needed)
for ny, nx in ((5, 1), (2, 127), (3, int(check.rng().integers(130, 250)))):
    run_squares(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: two sums, any way you like (5 points)
#
# A solver needs two numbers from the same two vectors: the dot product of `a` and `b`, and that of `a` with itself. Two kernels would
# read `a` twice. Write one, which gives for each block the two sums over its share of the elements:
#
# $$ \text{partial}_{b,0} = \sum_{i \in \text{block } b} a_i b_i, \qquad
#    \text{partial}_{b,1} = \sum_{i \in \text{block } b} a_i^2. $$
#
# - Blocks have 256 threads. The number of blocks is arbitrary, so there may be more elements than threads, or fewer.
# - How a block adds up its numbers, and which elements are its share, is up to you. But the blocks share the work evenly.
# - The traffic must stay within 1.1 times the bound: `a` and `b` are read once, and each block writes two numbers.
# - Do not rely on what `partial` held before the launch. It is in double precision, even if `a` and `b` are not.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "two_sums"}
@cuda.jit
def two_sums_kernel(a, b, partial):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((2, 8), np.float64)
    t = cuda.threadIdx.x
    dot, square = 0.0, 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        x = a[i]
        dot += x * b[i]
        square += x * x
    for distance in (16, 8, 4, 2, 1):
        dot += cuda.shfl_down_sync(0xFFFFFFFF, dot, distance)
        square += cuda.shfl_down_sync(0xFFFFFFFF, square, distance)
    if t % 32 == 0:
        tile[0, t // 32] = dot
        tile[1, t // 32] = square
    cuda.syncthreads()
    if t < 2:
        total = 0.0
        for warp in range(8):
            total += tile[t, warp]
        partial[cuda.blockIdx.x, t] = total
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_two_sums"}
def vectors_to_sum(n, blocks, dtype="float64"):
    """Return two random vectors, and an array of NaN for the sums of the blocks: what stays NaN was not written."""
    a, b = (check.rng().uniform(0.5, 1.5, n).astype(dtype) for _ in "ab")
    return a, b, np.full((blocks, 2), np.nan)


def check_dot(partial, a, b, rtol=1e-12):
    """Check that the blocks wrote their parts of the dot product, and that these add up."""
    written = not np.isnan(partial[:, 0]).any()
    check.that(written, "Each block must write partial[b, 0], even a block without elements: partial is not zero before.")
    check.close(partial[:, 0].sum(), (a.astype("f8") * b).sum(), "the dot product of a and b", rtol=rtol)


def check_square(partial, a, rtol=1e-12):
    """Check that the blocks wrote their parts of the sum of squares, and that these add up."""
    written = not np.isnan(partial[:, 1]).any()
    check.that(written, "Each block must write partial[b, 1], even a block without elements: partial is not zero before.")
    check.close(partial[:, 1].sum(), (a.astype("f8") ** 2).sum(), "the sum of the squares of a", rtol=rtol)


@check.again_in_doubt
def run_two_sums(n, blocks, dtype="float64", rtol=1e-12, dot=True, square=True):
    """Profile the kernel on n random elements; check hazards, the sums that are asked for, and inputs; return profile and partial."""
    a, b, partial = vectors_to_sum(n, blocks, dtype)
    before = a.copy(), b.copy()
    profile = simt.profile(two_sums_kernel[blocks, 256], a, b, partial)
    check.no_hazards(profile)
    if dot:
        check_dot(partial, *before, rtol=rtol)
    if square:
        check_square(partial, before[0], rtol=rtol)
    check.that((a == before[0]).all() and (b == before[1]).all(), "a and b must stay as they are.")
    return profile, partial


def random_launches():
    """Return sizes: more elements than threads, fewer, a single one, and single precision."""
    some = int(check.rng().integers(1, 255))
    return (256 * 7 + some, 3, "f8"), (some, 5, "f8"), (1, 2, "f8"), (4096 + some, 2, "f4")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_sums", "points": 1}
# 1000 elements, 4 blocks: the last 24 threads have no element.
with check.explained(two_sums_kernel, "a", "b", "partial", atomics=False):
    a, b, partial = vectors_to_sum(1000, 4)
    device = cuda.to_device(partial)
    two_sums_kernel[4, 256](cuda.to_device(a), cuda.to_device(b), device)
    partial = device.copy_to_host()
    check_dot(partial, a, b)
    check_square(partial, a)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_sums_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1, "global_atomics.sectors": 1.0}}
# Eight elements per thread: the traffic is within 1.1 times the bound, the shares are equal; no hazards.
with check.explained(two_sums_kernel, "a", "b", "partial", atomics=False):
    blocks = int(check.rng().choice((3, 5, 6, 7)))
    n = 8 * 256 * blocks
    profile, partial = run_two_sums(n, blocks)
    check.that((partial > 0.8 * partial.mean(axis=0)).all(), "The blocks must share the work evenly.")
    needed = {"global_load.sectors": 2 * n * 8 / 32, "global_store.sectors": 2 * blocks, "global_atomics.sectors": 2 * blocks}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_sums_dot_hidden", "points": 1}
# Hidden tests: the dot product of more elements than threads, fewer, a single one; single precision; the inputs must not change.
### BEGIN HIDDEN TESTS
for n, blocks, dtype in random_launches():
    run_two_sums(n, blocks, dtype, rtol=1e-5 if dtype == "f4" else 1e-12, square=False)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_sums_square_hidden", "points": 1}
# Hidden tests: the sum of squares, on the same sizes.
### BEGIN HIDDEN TESTS
for n, blocks, dtype in random_launches():
    run_two_sums(n, blocks, dtype, rtol=1e-5 if dtype == "f4" else 1e-12, dot=False)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: how many registers a thread may take (3 points)
#
# The lecture asks how many blocks fit, given the registers of a thread. Whoever writes a kernel asks the other way round: I want
# `blocks` blocks of `threads` threads on each multiprocessor, so that enough loads are in flight. How many registers may each
# thread take?
#
# Write `most_registers(threads, blocks, shared_bytes)`: the largest number of registers per thread with which this many blocks
# live on one multiprocessor of an H200 at the same time. A block has `shared_bytes` bytes of shared memory, a multiple of 128. If that many
# blocks do not fit, however few registers they take, return 0.
#
# | resource | one multiprocessor of an H200 has |
# |---|---|
# | warps | 64 |
# | blocks | 32 |
# | registers | 65,536, a quarter of them for each quarter of its warps |
# | registers of a thread | at most 255 |
# | shared memory | 228 KiB (1 KiB = 1,024 bytes) |
#
# Three rules go with the table. The driver takes 1 KiB of shared memory for each block, even for a block that uses no shared
# memory. The warps of all blocks are spread over four quarters as evenly as their number allows, and each quarter has 16,384 registers for its
# warps. And a warp gets its registers in units of 256: 8 for each of its 32 threads.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "most_registers"}
def most_registers(threads, blocks, shared_bytes):
    """Return the most registers per thread with which this many blocks live on one multiprocessor of an H200."""
    ### BEGIN SOLUTION
    warps = blocks * -(-threads // 32)
    if warps > 64 or blocks > 32 or blocks * (shared_bytes + 1024) > 228 * 1024:
        return 0
    units = 16_384 // -(-warps // 4) // 256  # of the warps of the fullest quarter
    return min(255, 8 * units)
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_most_registers", "points": 1}
# To check with pencil and paper: one block of 544 threads, three of 192, and three of 1,024, which do not fit; then 64, 48 and 36 warps
# in blocks of a drawn number of warps.
check.close(most_registers(544, 1, 0), 96, "most_registers for a block of 544 threads")
check.close(most_registers(192, 3, 0), 96, "most_registers for 3 blocks of 192 threads")
check.close(most_registers(1024, 3, 0), 0, "most_registers for 3 blocks of 1024 threads")
for all_warps, expected in ((64, 32), (48, 40), (36, 56)):
    warps = int(check.rng().choice([w for w in range(2, 13) if all_warps % w == 0]))
    check.close(most_registers(32 * warps, all_warps // warps, 0), expected, f"most_registers for {all_warps} warps in all")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_most_registers_hidden", "points": 1}
# Hidden tests: launches that fit.
### BEGIN HIDDEN TESTS
uneven = check.rng().choice([9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23])  # what the fullest quarter has decides
for warps in [*check.rng().choice(np.arange(9, 32), 3, replace=False).tolist(), int(uneven)]:
    for blocks in (1, 2):
        quarter = (warps * blocks + 3) // 4
        expected = 16384 // quarter // 256 * 8
        check.close(most_registers(32 * warps, blocks, 1024), min(expected, 255), "most_registers for a launch that fits")
check.close(most_registers(64, 2, 0), 255, "most_registers for a launch with few threads")
check.close(most_registers(100, 16, 0), 32, "most_registers for blocks whose last warp is not full")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_most_registers_unfit_hidden", "points": 1}
# Hidden tests: launches of which too many blocks are asked for.
### BEGIN HIDDEN TESTS
check.close(most_registers(32, 33, 0), 0, "most_registers for too many blocks")
check.close(most_registers(544, 4, 0), 0, "most_registers for too many warps")
for kib, blocks in check.rng().permutation([[38, 6], [57, 4], [76, 3], [114, 2]]).tolist():
    check.close(most_registers(128, blocks, kib * 1024), 0, "most_registers for too much shared memory (each block pays the driver 1 KiB)")
    expected = 16384 // (blocks - 1) // 256 * 8
    check.close(most_registers(128, blocks - 1, kib * 1024), min(255, expected), "most_registers for as much shared memory as there is")
### END HIDDEN TESTS
