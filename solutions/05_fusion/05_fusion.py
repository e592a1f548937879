# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 5: Fusion'
# ---

# %% [markdown]
# # Exercise 5: Fusion
#
# **At the Speed of Memory.** This exercise belongs to lecture 5. It takes about two hours and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_two_steps(100)`. If something is wrong, a sentence says what.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet. Times are
#   never judged.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | count a program | 4 |
# | 2 | find what a fused kernel wastes | 3 |
# | 3 | fuse a dot into a stencil | 3 |
# | 4 | fuse a map into a stencil | 3 |
# | 5 | plan which operations share a kernel | 4 |
# | 6 | two steps in one kernel, any way you like | 3 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: count a program (4 points)
#
# The program below is one iteration of the damped Jacobi method for $A u = b$ on a grid of `shape = (nz, ny, nx)`. `A` is a
# stencil of seven points, the centre and its six neighbours, each with a coefficient of its own. `b`, `c`, `t`, `u` and `z`
# are fields; `omega` and `rho` are scalars.
#
# ```python
# z   = b - A(u)           # stencil
# t   = c * z              # map
# u   = u + omega * t      # map
# rho = (z * z).sum()      # reduction
# ```
#
# Each statement is one kernel. Count what the four kernels together do in one iteration on the whole grid. Use the rules of
# the lecture:
#
# - Count elements of fields, and assume that each point has all its neighbours. Scalars cost nothing.
# - Within one statement, a thread reads an element only once. `reads` counts these reads of all threads, as if there were no
#   cache. For `reads_reused`, each element counts once per statement: a cache serves all other threads that read it.
# - Of the arithmetic, count only multiplications; the stencil has one for each coefficient.
#
# The last function, `halo`, is about several GPUs. The grid is cut along z into slabs, one for each of the `gpus` GPUs. If a
# kernel reads a field at neighbouring points, a GPU must receive one face of this field, `ny` × `nx` elements, from each GPU
# whose slab touches its own. How many elements does GPU number `gpu` (counted from 0) receive in one iteration?

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "count"}
def reads(shape):
    """Return the number of elements that are read without any cache."""
    ### BEGIN SOLUTION
    return (8 + 2 + 2 + 1) * int(np.prod(shape))
    ### END SOLUTION


def reads_reused(shape):
    """Return the number of elements that are read if a cache serves all neighbours."""
    ### BEGIN SOLUTION
    return (2 + 2 + 2 + 1) * int(np.prod(shape))
    ### END SOLUTION


def writes(shape):
    """Return the number of elements that are written."""
    ### BEGIN SOLUTION
    return (1 + 1 + 1 + 0) * int(np.prod(shape))
    ### END SOLUTION


def multiplications(shape):
    """Return the number of multiplications."""
    ### BEGIN SOLUTION
    return (7 + 1 + 1 + 1) * int(np.prod(shape))
    ### END SOLUTION


def halo(shape, gpus, gpu):
    """Return the number of elements that GPU number gpu receives from other GPUs."""
    ### BEGIN SOLUTION
    nz, ny, nx = shape
    neighbours = (gpu > 0) + (gpu < gpus - 1)
    return neighbours * ny * nx  # only u is read at neighbouring points
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_count", "points": 1}
# A grid of 4 × 5 × 6 points and a larger one, and the second of four GPUs, whose slab lies between two others.
check.close(writes((4, 5, 6)), 360, "writes, of z, t and u")
check.close(halo((4, 5, 6), 4, 1), 60, "halo of a GPU between two others")
nz, ny, nx = check.rng().integers(8, 200, 3).tolist()
check.close(writes((nz, ny, nx)), 3 * nz * ny * nx, "writes, of z, t and u")
check.close(halo((nz, ny, nx), 4, 1), 2 * ny * nx, "halo of a GPU between two others")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_reads_hidden", "points": 1}
# Hidden tests: reads and reads_reused, on other grids.
### BEGIN HIDDEN TESTS
for shape in check.rng().integers(3, 300, (3, 3)).tolist():
    points = shape[0] * shape[1] * shape[2]
    check.close(reads(tuple(shape)), 13 * points, "reads")
    check.close(reads_reused(tuple(shape)), 7 * points, "reads_reused")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_multiplications_hidden", "points": 1}
# Hidden tests: writes and multiplications, on other grids.
### BEGIN HIDDEN TESTS
for shape in check.rng().integers(3, 300, (3, 3)).tolist():
    points = shape[0] * shape[1] * shape[2]
    check.close(writes(tuple(shape)), 3 * points, "writes")
    check.close(multiplications(tuple(shape)), 10 * points, "multiplications")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_halo_hidden", "points": 1}
# Hidden tests: the halo on other grids, for a GPU at either end, between two others, and alone.
### BEGIN HIDDEN TESTS
for nz, ny, nx in check.rng().integers(8, 300, (3, 3)).tolist():
    for gpus in (2, 3, 7):
        check.close(halo((nz, ny, nx), gpus, 0), ny * nx, "halo of the first GPU")
        check.close(halo((nz, ny, nx), gpus, gpus - 1), ny * nx, "halo of the last GPU")
    check.close(halo((nz, ny, nx), 7, int(check.rng().integers(1, 6))), 2 * ny * nx, "halo of a GPU between two others")
    check.close(halo((nz, ny, nx), 1, 0), 0, "halo of a GPU that has the whole grid")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: find what a fused kernel wastes (3 points)
#
# The two maps of part 1, fused for two right-hand sides: `u` and `v` are corrected, and `t` is not stored. The kernel below works on
# fields of any length with any number of threads. Its numbers are right and it has no hazards. Its traffic is another matter.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "wasteful"}
@cuda.jit
def wasteful_kernel(c, z, omega, u, v):
    threads = cuda.gridsize(1)
    share = (u.size + threads - 1) // threads
    first = cuda.grid(1) * share
    for i in range(first, min(first + share, u.size)):
        u[i] = u[i] + omega * (c[i] * z[i])
        v[i] = v[i] - omega * (c[i] * z[i])


def map_fields(n, dtype="float64"):
    """Return random c, z, u and v, and what u and v become with omega = 0.5."""
    c, z, u, v = check.rng().uniform(-1, 1, (4, n)).astype(dtype)
    step = np.dtype(dtype).type(0.5) * (c * z)
    return c, z, u, v, u + step, v - step


def print_loads(kernel, n=1024, blocks=2):
    """Print what the loads of a kernel need and make, in all and for each line."""
    profile = simt.profile(kernel[blocks, 128], *map_fields(n)[:2], 0.5, *map_fields(n)[2:4])
    print(f"needed: {4 * n:,} loads of threads, {4 * n * 8 // 32:,} sectors")
    for line, counts in [("all", profile), *profile.by_line.items()]:
        if loads := counts.global_load:
            where = line if line == "all" else profile.sources[line.function].text(line.line)
            print(f"{loads.thread_accesses:6,} loads, {loads.sectors:6,} sectors: {where}")


print_loads(wasteful_kernel)


# %% [markdown]
# Two things are wasted, for two reasons. Which elements does a warp touch at the same time? And why does the second line load
# what the first one had? (What does the compiler know about the memory behind `u` and `c`?)
#
# Write a kernel that does the same work without this waste, again for any length and any number of threads. Each cause that
# you remove gives a point.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "scale_and_correct"}
@cuda.jit
def scale_and_correct_kernel(c, z, omega, u, v):
    ### BEGIN SOLUTION
    for i in range(cuda.grid(1), u.size, cuda.gridsize(1)):
        step = omega * (c[i] * z[i])  # in a register: after a store to u, c and z would be loaded again
        u[i] += step
        v[i] -= step
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_scale_and_correct", "points": 1} course={"limits": {"global_load.thread_accesses": 1.02, "global_store.thread_accesses": 1.02}}
# The numbers are right, without hazards, and each element is loaded once; 256 threads have more than one element each.
with check.explained(scale_and_correct_kernel, "c", "z", "u", "v"):
    n = 1000 + int(check.rng().integers(0, 100))
    c, z, u, v, expected_u, expected_v = map_fields(n)
    profile = simt.profile(scale_and_correct_kernel[2, 128], c, z, 0.5, u, v)
    check.no_hazards(profile)
    check.close(u, expected_u, "u", atol=1e-14)
    check.close(v, expected_v, "v", atol=1e-14)
    check.at_most(profile, limits, compulsory={"global_load.thread_accesses": 4 * n, "global_store.thread_accesses": 2 * n})

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_scale_and_correct_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}}
# The numbers are right, and neighbouring threads touch neighbouring elements: no more sectors than its loads and stores need.
with check.explained(scale_and_correct_kernel, "c", "z", "u", "v"):
    n = 256 * int(check.rng().integers(4, 8))
    c, z, u, v, expected_u, expected_v = map_fields(n)
    profile = simt.profile(scale_and_correct_kernel[2, 128], c, z, 0.5, u, v)
    check.no_hazards(profile)
    check.close(u, expected_u, "u", atol=1e-14)
    check.close(v, expected_v, "v", atol=1e-14)
    needed = {
        "global_load.sectors": check.sectors(max(4 * n, profile.global_load.thread_accesses)),
        "global_store.sectors": check.sectors(max(2 * n, profile.global_store.thread_accesses)),
    }
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_scale_and_correct_hidden", "points": 1} course={"limits": {"global_load.sectors": 2.0, "global_store.sectors": 2.0}}
# Hidden tests: other sizes, more and fewer threads than elements, single precision; no hazards; c and z must not change.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(300, 500))
for n, blocks, dtype in ((1, 1, "f8"), (some, 1, "f8"), (some, 9, "f8"), (4 * some, 3, "f4")):
    c, z, u, v, expected_u, expected_v = map_fields(n, dtype)
    before = c.copy(), z.copy()
    profile = simt.profile(scale_and_correct_kernel[blocks, 64], c, z, 0.5, u, v)
    check.no_hazards(profile)
    precision, error = ("single", 1e-6) if dtype == "f4" else ("double", 1e-14)
    check.close(u, expected_u, f"u, in {precision} precision", atol=error)
    check.close(v, expected_v, f"v, in {precision} precision", atol=error)
    check.that((c == before[0]).all() and (z == before[1]).all(), "c and z must stay as they are.")
    least = check.sectors(n, dtype)
    if n > 1:
        check.at_most(profile, limits, compulsory={"global_load.sectors": 4 * least, "global_store.sectors": 2 * least})
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: fuse a dot into a stencil (3 points)
#
# Conjugate gradient needs $s = A p$ and then $\langle p, s \rangle$. If these are two kernels, the second one reads `p` and
# `s` again, although the first one already had both numbers of each point in registers.
#
# In this exercise the grid is a cylinder. Along x it is closed: the first and the last point of a row are neighbours. Along y
# it ends, and $p$ is zero beyond its ends:
#
# $$ s_{j,i} = 4\,p_{j,i} - p_{j,\,(i-1) \bmod n_x} - p_{j,\,(i+1) \bmod n_x} - p_{j-1,i} - p_{j+1,i}. $$
#
# Write `stencil_dot_kernel(p, s, partial)`. Each thread computes one point of `s`, and each block writes the sum of
# $p_{j,i}\,s_{j,i}$ over its points to `partial[blockIdx.y, blockIdx.x]`.
#
# - The kernel is launched with blocks of 32 × 8 threads, and with at least as many threads as there are points. With `i, j =
#   cuda.grid(2)`, some threads have no point.
# - Do not rely on what `partial` held before the launch.
# - Compute the index of the neighbour beyond the end of a row. A negative index, which NumPy counts from the end, is
#   reported as a hazard.
# - Keep what you have read or computed in variables. If the kernel mentions `p[j, i]` again after a store to `s`, the compiler
#   reads it again, because `p` and `s` could be the same memory.
# - Do not use atomics. With them, the order of the additions, and so the last digit, can change from run to run.
# - The function `block_sum` below may help. It contains a barrier, so all threads of the block must call it, also those that
#   have no point.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "block_sum"}
@cuda.jit(device=True)
def block_sum(value):
    """Return in thread (0, 0) the sum of value over the 32 × 8 threads of a block; every thread must call it."""
    sums = cuda.shared.array(8, np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(5):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16 >> k)
    if x == 0:
        sums[y] = value
    cuda.syncthreads()
    total = 0.0
    if x == 0 and y == 0:
        for warp in range(8):
            total += sums[warp]
    return total


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "stencil_dot"}
@cuda.jit
def stencil_dot_kernel(p, s, partial):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0  # what a thread without a point contributes
    if i < nx and j < ny:
        centre = p[j, i]
        result = 4 * centre
        result -= p[j, (i - 1) % nx]
        result -= p[j, (i + 1) % nx]
        if j > 0:
            result -= p[j - 1, i]
        if j < ny - 1:
            result -= p[j + 1, i]
        s[j, i] = result
        product = centre * result
    total = block_sum(product)  # outside the branch, because it contains a barrier
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        partial[cuda.blockIdx.y, cuda.blockIdx.x] = total
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_stencil_dot"}
def blocks_of(ny, nx):
    """Return how many blocks of 32 × 8 threads along x and y cover all points."""
    return (nx + 31) // 32, (ny + 7) // 8


def five_points(p):
    """Return A p."""
    s = 4 * p - np.roll(p, 1, axis=1) - np.roll(p, -1, axis=1)
    s[1:] -= p[:-1]
    s[:-1] -= p[1:]
    return s


def dot_fields(ny, nx):
    """Return random p, A p, the sums of the blocks, and arrays of NaN for both results: what stays NaN was not written."""
    p = check.rng().uniform(-1, 1, (ny, nx))
    x, y = blocks_of(ny, nx)
    products = np.zeros((8 * y, 32 * x))
    products[:ny, :nx] = p * five_points(p)
    sums = products.reshape(y, 8, x, 32).sum(axis=(1, 3))
    return p, five_points(p), sums, np.full((ny, nx), np.nan), np.full((y, x), np.nan)


@check.again_in_doubt
def run_stencil_dot(ny, nx):
    """Profile the kernel on a random field; check its hazards, both results and its input; return the profile."""
    p, expected, sums, s, partial = dot_fields(ny, nx)
    before = p.copy()
    profile = simt.profile(stencil_dot_kernel[blocks_of(ny, nx), (32, 8)], p, s, partial)
    check.no_hazards(profile)
    check.close(s, expected, "s", atol=1e-13)
    check.close(partial, sums, "partial", atol=1e-11)
    check.that((p == before).all(), "p must stay as it is.")
    return profile


def sectors_of_neighbours(ny, nx):
    """Return the sectors that are read if each thread reads five points, in rows of nx = 64, 96, … doubles.

    A warp's 32 neighbours to the west begin inside a sector, and those to the east end inside one, or one of them is at
    the other end of the row. So either takes one sector more, if a row is longer than a warp.
    """
    row = nx * 8 // 32
    return ny * row + 2 * (ny - 1) * row + 2 * ny * (row + nx // 32)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_stencil_dot", "points": 1}
# Only the values are tested, on a field of 2 × 2 blocks.
with check.explained(stencil_dot_kernel, "p", "s", "partial", atomics=False):
    p, expected, sums, s, partial = dot_fields(16, 64)
    s, partial = cuda.to_device(s), cuda.to_device(partial)
    stencil_dot_kernel[blocks_of(16, 64), (32, 8)](cuda.to_device(p), s, partial)
    check.close(s.copy_to_host(), expected, "s", atol=1e-13)
    check.close(partial.copy_to_host(), sums, "partial", atol=1e-11)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_stencil_dot_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.02, "atomics.requests": 1.0}}
# The traffic: five reads and one write per point, one number per block, no atomics; no hazards.
with check.explained(stencil_dot_kernel, "p", "s", "partial", atomics=False):
    ny, nx = 8 * int(check.rng().integers(2, 6)), 32 * int(check.rng().integers(2, 4))
    profile, (x, y) = run_stencil_dot(ny, nx), blocks_of(ny, nx)
    needed = {
        "global_load.sectors": sectors_of_neighbours(ny, nx),
        "global_store.sectors": ny * nx * 8 / 32 + x * y,
        "atomics.requests": 0,
    }
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_stencil_dot_hidden", "points": 1}
# Hidden tests: fields whose size is not a multiple of the block; no hazards; p must not change.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for ny, nx in ((9, odd), (16, 40), (3, 33), (1, 1)):
    run_stencil_dot(ny, nx)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: fuse a map into a stencil (3 points)
#
# In conjugate gradient, the map $p = r + \beta p$ runs before the stencil $s = A p$. The stencil then reads the new `p` from
# memory, at five points. To save this, one kernel can compute the new `p` at all five points itself, from `r` and the old
# `p`. Here is a first attempt, which has only one field for the old and the new `p`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "in_place"}
@cuda.jit
def in_place_kernel(r, beta, p, s, wait):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    if i < nx and j < ny:
        new = r[j, i] + beta * p[j, i]
        result = 4 * new
        result -= r[j, (i - 1) % nx] + beta * p[j, (i - 1) % nx]
        result -= r[j, (i + 1) % nx] + beta * p[j, (i + 1) % nx]
        if j > 0:
            result -= r[j - 1, i] + beta * p[j - 1, i]
        if j < ny - 1:
            result -= r[j + 1, i] + beta * p[j + 1, i]
    if wait:
        cuda.syncthreads()
    if i < nx and j < ny:
        p[j, i] = new
        s[j, i] = result


# %% [markdown]
# The interpreter reports the hazards: which lines, which element, which threads. Is there a thread for which another thread's
# store of `new` comes too early? If `wait` is true, there is a barrier between the loads and the stores. Each hazard names
# two threads. Look at their blocks, once without the barrier and once with it.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_in_place"}
def hazards_in_place(wait):
    r, p, s = np.random.default_rng(1).random((3, 16, 64))
    profile = simt.profile(in_place_kernel[(2, 2), (32, 8)], r, 0.5, p, s, wait)
    return "\n".join(hazard.message for hazard in profile.hazards)


print("Without a barrier:", hazards_in_place(wait=False))
print("With a barrier:", hazards_in_place(wait=True))


# %% [markdown]
# The barrier removes only the hazards within a block, because it makes only the threads of one block wait for each other. A
# neighbouring point may belong to another block. Two launches, one after the other, would have no hazard, but then we are
# back at a separate map and stencil. (There is a barrier for all blocks, in a *cooperative launch*. But then all blocks must be
# on the GPU at the same time. So a thread of a large grid has many points, and nowhere to keep the new `p` of all of them until the barrier.)
#
# Write `map_stencil_kernel(r, beta, p1, p2, s)`, which has two fields instead of one: it reads the old `p` from `p1` and
# writes the new `p` to `p2`. After each iteration the solver swaps the two fields. Blocks have 32 × 8 threads as before, and
# each thread writes only its own point.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "map_stencil"}
@cuda.jit
def map_stencil_kernel(r, beta, p1, p2, s):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    ny, nx = p1.shape
    if i < nx and j < ny:
        new = r[j, i] + beta * p1[j, i]
        result = 4 * new
        result -= r[j, (i - 1) % nx] + beta * p1[j, (i - 1) % nx]
        result -= r[j, (i + 1) % nx] + beta * p1[j, (i + 1) % nx]
        if j > 0:
            result -= r[j - 1, i] + beta * p1[j - 1, i]
        if j < ny - 1:
            result -= r[j + 1, i] + beta * p1[j + 1, i]
        p2[j, i] = new
        s[j, i] = result
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_map_stencil"}
def map_stencil_fields(ny, nx, beta):
    """Return random r and p1, the new p and A p, and arrays of NaN for both: what stays NaN was not written."""
    r, p1 = check.rng().uniform(-1, 1, (2, ny, nx))
    p = r + beta * p1
    return r, p1, p, five_points(p), np.full((ny, nx), np.nan), np.full((ny, nx), np.nan)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_map_stencil", "points": 1}
# Only the values are tested, on a field of 2 × 2 blocks.
with check.explained(map_stencil_kernel, "r", "p1", "p2", "s"):
    r, p1, p, expected, p2, s = map_stencil_fields(16, 64, 0.5)
    p2, s = cuda.to_device(p2), cuda.to_device(s)
    map_stencil_kernel[blocks_of(16, 64), (32, 8)](cuda.to_device(r), 0.5, cuda.to_device(p1), p2, s)
    check.close(p2.copy_to_host(), p, "p2", atol=1e-13)
    check.close(s.copy_to_host(), expected, "s", atol=1e-13)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_map_stencil_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.02}}
# The traffic: ten reads and two writes per point; no hazards.
with check.explained(map_stencil_kernel, "r", "p1", "p2", "s"):
    ny, nx = 8 * int(check.rng().integers(2, 6)), 32 * int(check.rng().integers(2, 4))
    r, p1, p, expected, p2, s = map_stencil_fields(ny, nx, 0.5)
    profile = simt.profile(map_stencil_kernel[blocks_of(ny, nx), (32, 8)], r, 0.5, p1, p2, s)
    check.no_hazards(profile)
    check.close(p2, p, "p2", atol=1e-13)
    check.close(s, expected, "s", atol=1e-13)
    needed = {"global_load.sectors": 2 * sectors_of_neighbours(ny, nx), "global_store.sectors": 2 * s.size * 8 / 32}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_map_stencil_hidden", "points": 1}
# Hidden tests: fields whose size is not a multiple of the block, other beta; no hazards; r and p1 must not change.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(17, 31)) + 1
for ny, nx in ((9, odd), (16, 40), (3, 33), (1, 1)):
    beta = float(check.rng().uniform(-2, 2))
    r, p1, p, expected, p2, s = map_stencil_fields(ny, nx, beta)
    before = r.copy(), p1.copy()
    profile = simt.profile(map_stencil_kernel[blocks_of(ny, nx), (32, 8)], r, beta, p1, p2, s)
    check.no_hazards(profile)
    check.close(p2, p, "p2", atol=1e-13)
    check.close(s, expected, "s", atol=1e-13)
    check.that((r == before[0]).all() and (p1 == before[1]).all(), "r and p1 must stay as they are.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: plan which operations share a kernel (4 points)
#
# For the planner of the lecture, a program is a list of operations, called containers, with the fields that each of them
# reads and writes. You decide which containers share a kernel. You also decide which fields are never stored, but computed
# again wherever they are read. `plan` then returns what each kernel moves, or why the plan cannot run. It assumes that
# neighbours' values come from a cache. If a kernel writes a field and also reads it at neighbouring points, `plan` assumes
# two copies of the field, as in part 4.
#
# You plan three programs: conjugate residuals, the damped Jacobi method of part 1, and the power method, which computes the
# largest eigenvalue of `A`. Conjugate residuals are a relative of conjugate gradient: `s` is $A p$ in it, too, but the stencil
# is applied to `r`, and an update keeps `s` up to date. The cell below also shows two plans for the program of the lecture.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "programs"}
from course_pkg.cg.fusion import cut, plan
from course_pkg.cg.program import CG, Container, Program
from course_pkg.core import CourseError

JACOBI = Program(
    "damped Jacobi",
    (
        Container(
            "residual", "stencil", "z ← b − A u", reads=("b",), neighbours=("u",), writes=("z",),
            multiplications=1,
        ),
        Container("scale", "map", "t ← c z", reads=("c", "z"), writes=("t",), multiplications=1),
        Container("correct", "map", "u ← u + ω t", reads=("u", "t"), writes=("u",), multiplications=1),
        Container("norm", "reduction", "rho ← ⟨z, z⟩", reads=("z",), makes=("rho",), multiplications=1),
    ),
    results=("u",),
)  # fmt: skip
RESIDUALS = Program(
    "conjugate residuals",
    (
        Container(
            "advance", "map", "x ← x + α p, r ← r − α s", reads=("x", "p", "r", "s"), writes=("x", "r"), needs=("rq", "ss"),
            coefficient="rq / ss", multiplications=2,
        ),
        Container("matVec", "stencil", "q ← A r", neighbours=("r",), writes=("q",), multiplications=1),
        Container("dot rq", "reduction", "rq ← ⟨r, q⟩", reads=("r", "q"), makes=("rq",), multiplications=1),
        Container(
            "direct", "map", "p ← r + β p, s ← q + β s", reads=("r", "p", "q", "s"), writes=("p", "s"), needs=("rq",),
            coefficient="rq / rq_old", multiplications=2,
        ),
        Container("dot ss", "reduction", "ss ← ⟨s, s⟩", reads=("s",), makes=("ss",), multiplications=1),
    ),
    results=("x",),
)  # fmt: skip
POWER = Program(
    "power method",
    (
        Container("apply", "stencil", "w ← A v", neighbours=("v",), writes=("w",), multiplications=1),
        Container("rayleigh", "reduction", "vAv ← ⟨v, w⟩", reads=("v", "w"), makes=("vAv",), multiplications=1),
        Container("length", "reduction", "ww ← ⟨w, w⟩", reads=("w",), makes=("ww",), multiplications=1),
        Container(
            "normalise", "map", "v ← w / √ww", reads=("w",), writes=("v",), needs=("ww",),
            coefficient="1 / √ww", multiplications=1,
        ),
    ),
    results=("v",),
)  # fmt: skip


def show(program, groups, recompute=()):
    """Print what each kernel of a plan reads and writes, and the bytes per point in double precision."""
    chosen = plan(program, groups, recompute=recompute)
    for kernel in chosen.kernels:
        names, writes = ", ".join(c.name for c in kernel.containers), ", ".join(kernel.writes) or "no field"
        print(f"{names}: reads {', '.join(kernel.reads)}; writes {writes}")
    print(chosen.why or f"{8 * sum(chosen.passes)} B per point")


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_plans"}
for container in (*RESIDUALS.containers, *POWER.containers):
    print(f"{container.name:12} {container.kind:10} {container.formula}")
print()
show(CG, [["updateP"], ["matVec"], ["dot pAp"], ["updateXandR"], ["dot rr"]])
print()
show(CG, [["updateP", "matVec"], ["updateXandR"], ["dot pAp", "dot rr"]])

# %% [markdown]
# Write down four plans. Each plan is a dictionary with two keys: `"groups"` is a list with one list for each kernel, the
# names of its containers; `"recompute"` is the list of the names of the fields that are never stored.
#
# - `cr_stored`: the plan for conjugate residuals that moves the fewest bytes without recomputing anything;
# - `cr_recomputed`: a plan for conjugate residuals that moves at most 88 bytes per point;
# - `jacobi_plan` and `power_plan`: the plans for the other two programs that move the fewest bytes of all plans.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "plans"}
# cr_stored = {"groups": [["advance"], ...], "recompute": []}, and so on
### BEGIN SOLUTION
cr_stored = {"groups": [["advance", "matVec", "dot rq"], ["direct", "dot ss"]], "recompute": []}
cr_recomputed = {"groups": [["advance", "matVec", "dot rq"], ["direct", "dot ss"]], "recompute": ["q"]}
jacobi_plan = {"groups": [["residual", "scale", "correct", "norm"]], "recompute": []}
power_plan = {"groups": [["apply", "rayleigh", "length"], ["normalise"]], "recompute": ["w"]}
### END SOLUTION

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "check_plans"}
def are_names(value):
    """Return whether a value is a list of strings."""
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


def bytes_a_point(what, program, answer):
    """Check that an answer is a plan and can run; return the bytes per point that it moves."""
    keys = isinstance(answer, dict) and set(answer) == {"groups", "recompute"}
    check.that(keys, f"{what}: give a dictionary with the keys groups and recompute.")
    groups, recompute = answer["groups"], answer["recompute"]
    check.that(are_names(recompute), f"{what}: recompute is a list of names of fields, which may be empty.")
    lists = isinstance(groups, (list, tuple)) and all(map(are_names, groups))
    check.that(lists, f"{what}: groups is a list of kernels, each a list of names of containers.")
    try:
        chosen = plan(program, groups, recompute=recompute)
    except CourseError as error:
        check.that(False, f"{what}: {error}")
    check.that(chosen.legal, f"{what} cannot run. {chosen.why}")
    return 8 * sum(chosen.passes)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_plans", "points": 1}
# The four plans can run, and cr_stored recomputes nothing.
for what, program, answer in (
    ("cr_stored", RESIDUALS, cr_stored),
    ("cr_recomputed", RESIDUALS, cr_recomputed),
    ("jacobi_plan", JACOBI, jacobi_plan),
    ("power_plan", POWER, power_plan),
):
    bytes_a_point(what, program, answer)
check.that(len(cr_stored["recompute"]) == 0, "cr_stored: recompute stays empty.")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_stored_hidden", "points": 1}
# Hidden tests: cr_stored and jacobi_plan move as few bytes as possible.
### BEGIN HIDDEN TESTS
from itertools import combinations


def least_bytes(program, recompute=()):
    """Return the bytes per point of the best plan that can run."""
    later = [container.name for container in program.containers[1:]]
    starts = [some for count in range(len(later) + 1) for some in combinations(later, count)]
    plans = [plan(program, cut(program, some), recompute=recompute) for some in starts]
    return min(8 * sum(chosen.passes) for chosen in plans if chosen.legal)


few = bytes_a_point("cr_stored", RESIDUALS, cr_stored) <= least_bytes(RESIDUALS)
check.that(len(cr_stored["recompute"]) == 0, "cr_stored: recompute stays empty.")
check.that(few, "cr_stored runs, but another plan moves less: which container could share a kernel with the one before?")
few = bytes_a_point("jacobi_plan", JACOBI, jacobi_plan) <= least_bytes(JACOBI)
check.that(few, "jacobi_plan runs, but another plan moves less: does any container wait for a scalar of this iteration?")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_recomputed_hidden", "points": 1}
# Hidden tests: cr_recomputed moves at most 88 bytes per point, power_plan as few bytes as possible.
### BEGIN HIDDEN TESTS
def question(answer, field):
    """Return a question as a hint for a plan that moves too much, first about its recompute, then about its groups."""
    if set(answer["recompute"]) == {field}:
        return "which containers could share a kernel?"
    return "which field is not needed after the iteration?"


few = bytes_a_point("cr_recomputed", RESIDUALS, cr_recomputed) <= 88
check.that(few, f"cr_recomputed runs, but moves more than 88 B per point: {question(cr_recomputed, 'q')}")
least = min(least_bytes(POWER, recompute) for recompute in ((), ("w",)))
few = bytes_a_point("power_plan", POWER, power_plan) <= least
check.that(few, f"power_plan runs, but another plan moves less: {question(power_plan, 'w')}")
### END HIDDEN TESTS

# %% [markdown]
# The three plans below cannot run. Which rule does each of them break? Decide first, and only then ask the planner: the
# `refusals` of a plan name the rule.
#
# | plan | program | groups | recompute |
# |---|---|---|---|
# | A | power method | `[["apply", "rayleigh", "length", "normalise"]]` | `[]` |
# | B | conjugate residuals | `[["advance", "matVec"], ["dot rq"], ["direct", "dot ss"]]` | `["q"]` |
# | C | two Jacobi steps, `first`: `v ← u + c (b − A u)` and `second`: `u ← v + c (b − A v)` | `[["first", "second"]]` | `[]` |
#
# | rule | the rule forbids |
# |---|---|
# | `"order"` | to run a container before another one on which it depends |
# | `"barrier"` | to use a scalar in the kernel that computes it by a reduction: it is complete only when all blocks have ended |
# | `"race"` | to overwrite the only copy of a field in a kernel that reads this field at neighbouring points |
# | `"wider halo"` | to put two stencils into one kernel if the second needs the first one's result at neighbouring points |
# | `"stored"` | to leave a field unstored that the next iteration needs, or that is a result of the program |
# | `"changed"` | to compute a field again from values that have been overwritten in the meantime |
# | `"idle"` | to compute a field that is not stored in a kernel in which no container reads it |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "rules"}
# rules = {"A": ..., "B": ..., "C": ...}
### BEGIN SOLUTION
rules = {"A": "barrier", "B": "idle", "C": "wider halo"}
### END SOLUTION

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_rules_hidden", "points": 1}
# Hidden tests: the rule of each plan.
### BEGIN HIDDEN TESTS
check.that(isinstance(rules, dict) and set(rules) == {"A", "B", "C"}, "Fill in the dictionary and keep its keys.")
TWO_STEPS = Program(
    "two steps",
    (
        Container("first", "stencil", reads=("b", "c"), neighbours=("u",), writes=("v",)),
        Container("second", "stencil", reads=("b", "c"), neighbours=("v",), writes=("u",)),
    ),
    results=("u",),
)
apart = [["advance", "matVec"], ["dot rq"], ["direct", "dot ss"]]
refused = {
    "A": plan(POWER, cut(POWER, [])),
    "B": plan(RESIDUALS, apart, recompute=["q"]),
    "C": plan(TWO_STEPS, cut(TWO_STEPS, [])),
}
for letter, chosen in refused.items():
    named = isinstance(rules[letter], str) and [rules[letter]] == [refusal.rule for refusal in chosen.refusals]
    check.that(named, f"Plan {letter} breaks another rule.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: two steps in one kernel, any way you like (3 points)
#
# Plan C of part 5 puts two steps of the Jacobi method into one kernel. The planner refuses it, but a kernel that is written by hand can do
# it. The points lie on a ring, so the first and the last one are neighbours:
#
# $$ v_i = u_i + c\,(b_i - 2\,u_i + u_{i-1} + u_{i+1}), \qquad w_i = v_i + c\,(b_i - 2\,v_i + v_{i-1} + v_{i+1}). $$
#
# Write `two_steps_kernel(u, b, c, w)`, which writes only `w`: there is no array for `v`. Blocks have 256 threads, and there are at least as many
# threads as points, and at least five points. How it is done is up to you, but the traffic must stay within 1.1 times the bound, in which each
# number of `u` and `b` is loaded once and each one of `w` is stored once.
#
# - Which numbers of `u` and of `b` do 256 neighbouring points need? The few numbers at their ends may be loaded by two blocks.
# - A warp that loads 32 doubles from an address inside a sector touches nine sectors instead of eight: that alone is too much.
# - Some things can be computed twice.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "two_steps"}
@cuda.jit
def two_steps_kernel(u, b, c, w):
    ### BEGIN SOLUTION
    old, rhs = cuda.shared.array(260, np.float64), cuda.shared.array(258, np.float64)
    middle = cuda.shared.array(258, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, u.size
    first = i - t  # point of the block
    old[t + 2], rhs[t + 1] = u[i % n], b[i % n]
    if t < 4:  # two points more at either end, on their own: the 256 others begin with a sector
        k = t if t < 2 else t + 256
        old[k] = u[(first + k - 2) % n]
    if t < 2:
        rhs[257 * t] = b[(first + 257 * t - 1) % n]
    cuda.syncthreads()
    for k in range(t, 258, 256):  # the first step, at 258 points: those at the ends are computed by two blocks
        middle[k] = old[k + 1] + c * (rhs[k] - 2 * old[k + 1] + old[k] + old[k + 2])
    cuda.syncthreads()
    if i < n:
        w[i] = middle[t + 1] + c * (rhs[t + 1] - 2 * middle[t + 1] + middle[t] + middle[t + 2])
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_two_steps"}
@check.again_in_doubt
def run_two_steps(n):
    """Profile the kernel on n random points; check hazards, result and inputs; return the profile and what is needed."""
    u, b = check.rng().uniform(-1, 1, (2, n))
    c, w = float(check.rng().uniform(0.1, 0.5)), np.full(n, np.nan)
    before = u.copy(), b.copy()
    expected = u
    for _ in range(2):
        expected = expected + c * (b - 2 * expected + np.roll(expected, 1) + np.roll(expected, -1))
    profile = simt.profile(two_steps_kernel[(n + 255) // 256, 256], u, b, c, w)
    check.no_hazards(profile)
    check.close(w, expected, "w", atol=1e-12)
    check.that((u == before[0]).all() and (b == before[1]).all(), "u and b must stay as they are.")
    return profile, {"global_load.sectors": 2 * n * 8 / 32, "global_store.sectors": n * 8 / 32}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_steps", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# The values and the traffic, for 1,024 points: four blocks; no hazards.
with check.explained(two_steps_kernel, "u", "b", "w"):
    profile, needed = run_two_steps(1024)
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_steps_traffic_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# Hidden tests: other numbers of blocks, with the same limits; no hazards; u and b must not change.
### BEGIN HIDDEN TESTS
for blocks in (1, int(check.rng().integers(5, 12))):
    profile, needed = run_two_steps(256 * blocks)
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_two_steps_hidden", "points": 1} course={"limits": {"global_load.sectors": 2.0, "global_store.sectors": 2.0}}
# Hidden tests: numbers of points that do not fill the last block; traffic up to twice the bound.
### BEGIN HIDDEN TESTS
for n in (5, 255, 257):
    run_two_steps(n)
profile, needed = run_two_steps(256 * 3 + int(check.rng().integers(100, 255)))
check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS
