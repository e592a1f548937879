# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 2: Memory-bound'
# ---

# %% [markdown]
# # Exercise 2: Memory-bound
#
# **At the Speed of Memory.** This exercise belongs to lecture 2. It takes about ninety minutes and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_smooth(100)` or `run_grey(77)`. If something is wrong, a sentence says what.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | a window in a field | 2 |
# | 2 | a triad with one array backwards | 3 |
# | 3 | count the bytes of a wave | 4 |
# | 4 | heat around a pipe, in one kernel | 3 |
# | 5 | T_eff from a log | 2 |
# | 6 | what is left to gain | 2 |
# | 7 | right and slow: find out why | 2 |
# | 8 | open: a picture in grey | 2 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: a window in a field (2 points)
#
# A field of `ny` rows and `nx` columns lies in memory row by row. A loop reads a window of it: in each row, the `width` elements from column
# `first` on. What it needs is sent in whole pieces of `piece` bytes: 32 from the L2 to a multiprocessor, 64 from the memory of an H200. The field begins
# where a piece begins. Each piece is sent once: what two rows share is still in the cache.
#
# Write `bytes_sent(ny, nx, first, width, dtype, piece)`, the bytes that are sent for the window. `dtype` is anything that `numpy.dtype` accepts,
# such as `"float64"`.
#
# (Hint: draw a few rows of nine doubles, one behind the other, in pieces of four. In which piece does each row of the window begin, and in which does
# it end? Do two rows share a piece?)

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "window"}
def bytes_sent(ny, nx, first, width, dtype, piece):
    """Return the bytes that are sent, in whole pieces, for columns first to first + width - 1 of all rows."""
    ### BEGIN SOLUTION
    itemsize, pieces = np.dtype(dtype).itemsize, set()
    for row in range(ny):
        begin = (row * nx + first) * itemsize
        end = begin + width * itemsize
        pieces.update(range(begin // piece, (end - 1) // piece + 1))
    return piece * len(pieces)
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_window", "points": 1}
# 3 rows of 64 doubles: of each row, columns 3 and 4 lie in two sectors. The same with more rows.
check.close(bytes_sent(3, 64, 3, 2, "float64", 32), 192, "the bytes sent for 2 columns of 3 rows")
ny = int(check.rng().integers(4, 400))
check.close(bytes_sent(ny, 64, 3, 2, "float64", 32), ny * 64, "the bytes sent for 2 columns of more rows")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_window_hidden", "points": 1}
# Hidden tests: rows that begin inside a piece, rows that share a piece, other precisions and pieces.
### BEGIN HIDDEN TESTS
def window_by_marks(ny, nx, first, width, dtype, piece):
    """Return the bytes sent: mark each byte of the window, then count the pieces with a mark."""
    size = np.dtype(dtype).itemsize
    marks = np.zeros(-(-ny * nx * size // piece) * piece, bool)
    marks[: ny * nx * size].reshape(ny, nx * size)[:, first * size : (first + width) * size] = True
    return int(marks.reshape(-1, piece).any(axis=1).sum()) * piece


check.close(bytes_sent(5, 5, 4, 1, "f8", 64), 256, "the bytes sent for a column of short rows")
check.close(bytes_sent(4, 9, 0, 4, "f8", 32), 224, "the bytes sent for rows that begin inside a piece")
check.close(bytes_sent(4, 64, 0, 16, "float32", 32), 256, "the bytes sent for a window of float32")
for dtype, piece in (("float32", 32), ("half", 64), ("f8", 128)):
    ny, nx = (2 * check.rng().integers(4, 20, 2) + 1).tolist()
    first = int(check.rng().integers(0, nx - 2))
    window = ny, nx, first, int(check.rng().integers(1, nx - first + 1))
    expected = window_by_marks(*window, dtype, piece)
    check.close(bytes_sent(*window, dtype, piece), expected, f"the bytes sent for a window of {dtype}")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a triad with one array backwards (3 points)
#
# Write a CUDA kernel that computes each element of `out` once, from arrays of $n$ elements:
#
# $$ \text{out}_i = a_{n-1-i} + s\, b_i $$
#
# So `a` is read from its end to its beginning. Before you run the tests, decide what that costs: how many sectors of `a` does a warp ask for in this
# order, and how many in the usual one?
#
# The kernel is launched with at least as many threads as there are elements, and usually with more. A thread that has no element must do nothing.
# As in exercise 1, the tests take a negative index for a mistake: count from the start.
#
# `cuda.grid(1)` is the index of the thread in the whole grid. If a thread reads or writes beyond the end of an array, the
# SIMT interpreter stops and names the line, the array, the index, the thread and its block.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "triad"}
@cuda.jit
def triad_kernel(a, b, s, out):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    n = out.size
    if i < n:
        out[i] = a[n - 1 - i] + s * b[i]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_triad"}
def run_triad(n, threads_per_block, dtype="float64", s=3.0):
    """Launch the kernel on n random elements, with enough blocks for all; return the inputs and the result."""
    rng = check.rng()
    a, b = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    out = cuda.to_device(np.full(n, np.nan, dtype))
    blocks = (n + threads_per_block - 1) // threads_per_block
    triad_kernel[blocks, threads_per_block](cuda.to_device(a), cuda.to_device(b), np.dtype(dtype).type(s), out)
    return a, b, out.copy_to_host()


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad", "points": 1}
# 100 elements, 4 blocks of 32 threads: 28 threads have no element.
with check.explained(triad_kernel, "a", "b", "out"):
    a, b, found = run_triad(n=100, threads_per_block=32)
    check.close(found, np.flip(a) + 3.0 * b, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "flops.total": 1.0}}
# The traffic in sectors of 32 bytes, and 2 flops per element; no hazards. All arrays begin and end with a whole sector.
with check.explained(triad_kernel, "a", "b", "out"):
    n = 128 * int(check.rng().integers(6, 12))
    a, b, out = check.rng().uniform(-1, 1, (3, n))
    expected = np.flip(a) + 3.0 * b
    profile = simt.profile(triad_kernel[n // 128, 128], a, b, 3.0, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", atol=1e-14)
    needed = {"global_load.sectors": 2 * n * 8 / 32, "global_store.sectors": n * 8 / 32, "flops.total": 2 * n}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad_hidden", "points": 1}
# Hidden tests: other sizes and blocks, another scalar, single precision.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(34, 63))
for n, threads in ((1, 32), (33, 32), (some, 64), (3 * some, 128)):
    a, b, found = run_triad(n, threads, s=-0.5)
    check.close(found, np.flip(a) - 0.5 * b, "out, in double precision", atol=1e-14)
a, b, found = run_triad(some + 64, 32, dtype="float32", s=2.0)
check.close(found, np.flip(a) + np.float32(2) * b, "out, in single precision", rtol=1e-6, atol=1e-6)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: count the bytes of a wave (4 points)
#
# The four statements below do one step of a sound wave in a hall of `ny` × `nx` points. The pressure `p` and the velocity `v` change in
# each step. The square of the speed of sound, `c2`, differs from point to point and never changes. `wall` holds one byte per point, 1 in a wall and 0
# in air, and never changes either. `gamma` and `dt` are numbers.
#
# ```python
# lap = laplacian(p)                       # of each point and its four neighbours
# a   = c2 * lap - gamma * v
# v   = v + dt * a
# p   = where(wall, 0, p + dt * v)
# ```
#
# Each statement is one loop over the grid. A **pass** means that one array is read once, or written once, whatever its elements are. A neighbour
# that was read a moment ago comes from the cache, and is not counted again.
#
# Fill in the number of passes of each statement. Then write `bytes_moved`, the bytes that the four statements move, and `a_eff`, the bytes that
# *must* move in any implementation of the step. `dtype` is that of all arrays except `wall`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "passes"}
# arrays read plus arrays written by each statement: passes = {"lap": ..., "a": ..., "v": ..., "p": ...}
### BEGIN SOLUTION
passes = {"lap": 2, "a": 4, "v": 3, "p": 4}
### END SOLUTION

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "count"}
def bytes_moved(ny, nx, dtype="float64"):
    """Return the bytes that the four statements move in one step."""
    ### BEGIN SOLUTION
    wide = sum(passes.values()) - 1  # all but wall
    return (wide * np.dtype(dtype).itemsize + 1) * ny * nx
    ### END SOLUTION


def a_eff(ny, nx, dtype="float64"):
    """Return A_eff in bytes."""
    ### BEGIN SOLUTION
    return (5 * np.dtype(dtype).itemsize + 1) * ny * nx  # p and v are unknown, c2 and wall are known
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_count", "points": 1}
check.that(set(passes) == {"lap", "a", "v", "p"}, "Fill in the dictionary and keep its keys.")
check.close(passes["lap"], 2, "passes of lap, which reads p and writes lap")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_passes_hidden", "points": 1}
# Hidden tests: the passes of the other statements.
### BEGIN HIDDEN TESTS
for statement, expected in {"lap": 2, "a": 4, "v": 3, "p": 4}.items():
    check.close(passes[statement], expected, f"passes of {statement}")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_bytes_hidden", "points": 1}
# Hidden tests: bytes_moved, in both precisions.
### BEGIN HIDDEN TESTS
for ny, nx in check.rng().integers(10, 5000, (3, 2)).tolist():
    check.close(bytes_moved(ny, nx), 97 * ny * nx, "bytes_moved in double precision")
    check.close(bytes_moved(ny, nx, "float32"), 49 * ny * nx, "bytes_moved in single precision")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_a_eff_hidden", "points": 1}
# Hidden tests: a_eff, in both precisions.
### BEGIN HIDDEN TESTS
for ny, nx in check.rng().integers(10, 5000, (3, 2)).tolist():
    check.close(a_eff(ny, nx), 41 * ny * nx, "a_eff in double precision")
    check.close(a_eff(ny, nx, "float32"), 21 * ny * nx, "a_eff in single precision")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: heat around a pipe, in one kernel (3 points)
#
# The wall of a pipe is cut open and laid flat: `i` runs around the pipe, and `j` along it. So the last point of a row and the first one are
# neighbours. Write one heat step as **one** kernel that reads `T` and `Cp` and writes `out`, without storing anything in between:
#
# $$ \text{out}_{j,i} = T_{j,i} + \frac{\text{factor}}{C_{p\,j,i}} \left( T_{j,\text{left}} + T_{j,\text{right}} + T_{j-1,i} + T_{j+1,i} - 4\,T_{j,i} \right) $$
#
# In the first and the last row, at the ends of the pipe, `out = T`. The arrays are indexed as `[j, i]`, and `i, j = cuda.grid(2)`, so that
# neighbouring threads have neighbouring `i`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "heat"}
@cuda.jit
def heat_kernel(T, Cp, factor, out):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    ny, nx = T.shape
    if i < nx and j < ny:
        if 0 < j < ny - 1:
            left, right = (i - 1) % nx, (i + 1) % nx
            total = T[j, left] + T[j, right] + T[j - 1, i] + T[j + 1, i] - 4 * T[j, i]
            out[j, i] = T[j, i] + factor * total / Cp[j, i]
        else:
            out[j, i] = T[j, i]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_heat"}
def heat_fields(ny, nx):
    """Return random temperatures and heat capacities, and an array of NaN for the result: what stays NaN was not written."""
    rng = check.rng()
    return rng.random((ny, nx)), 1 + rng.random((ny, nx)), np.full((ny, nx), np.nan)


def run_heat(ny, nx, block=(8, 4)):
    """Launch the kernel on random fields; return T, Cp, the result, and T and Cp as they are after the launch."""
    T, Cp, out = heat_fields(ny, nx)
    dT, dCp, dout = cuda.to_device(T), cuda.to_device(Cp), cuda.to_device(out)
    grid = ((nx + block[0] - 1) // block[0], (ny + block[1] - 1) // block[1])
    heat_kernel[grid, block](dT, dCp, 0.1, dout)
    return T, Cp, dout.copy_to_host(), dT.copy_to_host(), dCp.copy_to_host()


def pipe_step(T, Cp, factor):
    """Return what one step gives, by NumPy."""
    around = np.roll(T, 1, axis=1) + np.roll(T, -1, axis=1)
    out = T.copy()
    out[1:-1] += factor * (around[1:-1] + T[:-2] + T[2:] - 4 * T[1:-1]) / Cp[1:-1]
    return out


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat", "points": 1}
with check.explained(heat_kernel, "T", "Cp", "out"):
    T, Cp, found, *_ = run_heat(8, 6)
    check.close(found, pipe_step(T, Cp, 0.1), "out", atol=1e-13)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15, "flops.total": 2.0}}
# The traffic and the flops: each point needs six reads, one write and 8 flops; no hazards.
with check.explained(heat_kernel, "T", "Cp", "out"):
    n = 4 * int(check.rng().integers(16, 25))
    T, Cp, out = heat_fields(n, n)
    before = T.copy(), Cp.copy()
    profile = simt.profile(heat_kernel[((n + 31) // 32, (n + 31) // 32), (32, 32)], T, Cp, 0.1, out)
    check.no_hazards(profile)
    check.close(out, pipe_step(*before, 0.1), "out", atol=1e-13)
    needed = {"global_load.sectors": 6 * n**2 * 8 / 32, "global_store.sectors": n**2 * 8 / 32, "flops.total": 8 * n**2}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat_hidden", "points": 1}
# Hidden tests: other grids, including sizes that are not multiples of the block; inputs must not change.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(4, 9)) + 1
for ny, nx in ((3, 3), (5, odd), (odd, 7)):
    T, Cp, found, T_after, Cp_after = run_heat(ny, nx)
    check.close(found, pipe_step(T, Cp, 0.1), "out", atol=1e-13)
    check.that((T_after == T).all() and (Cp_after == Cp).all(), "T and Cp must stay as they are.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: T_eff from a log (2 points)
#
# Somebody has timed a solver and kept an array `log` with one row per measurement: how many steps were done, and how many **milliseconds** all of
# them took together. The first row includes the compilation of the kernels. Some of the others were disturbed by other programs, but fewer than half.
#
# Write `t_eff(a_eff_bytes, log)`, the typical effective memory throughput in GB/s (1 GB = 10⁹ bytes). `a_eff_bytes` is A_eff of one step.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "t_eff"}
def t_eff(a_eff_bytes, log):
    """Return T_eff in GB/s."""
    ### BEGIN SOLUTION
    steps, milliseconds = log[1:, 0], log[1:, 1]
    return a_eff_bytes / np.median(milliseconds / 1e3 / steps) / 1e9
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_t_eff", "points": 1}
log = np.array([[1, 950.0], [10, 100.0], [20, 200.0], [5, 50.0], [10, 130.0]])
check.close(t_eff(24e9, log), 2400, "GB/s of 24 GB in each step of 10 ms")
slower = check.rng().uniform(1, 5)
check.close(t_eff(24e9, log * [1, slower]), 2400 / slower, "GB/s of 24 GB in longer steps")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_t_eff_hidden", "points": 1}
# Hidden tests: other sizes and times.
### BEGIN HIDDEN TESTS
for size, time in check.rng().uniform(1, 100, (3, 2)):
    steps = check.rng().integers(1, 40, 9).astype(float)
    log = np.stack([steps, steps * time], axis=1)
    log[[0, 3, 4, 7], 1] *= [0.4, 3.0, 1.2, 9.0]
    check.close(t_eff(size * 1e6, log), size / time, "T_eff of some megabytes in some milliseconds")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: what is left to gain (2 points)
#
# A program spends the `share` of its time in a memory-bound kernel that reaches `t_eff_gb_s`. The rest of the time it waits for messages, which no
# better kernel makes shorter. By which factor could the **program** still become faster, at most, on the same machine and with the same algorithm?
#
# Write `remaining_gain(t_eff_gb_s, t_peak_gb_s, share)`, which returns this factor. A factor of 1 means that nothing is left to gain.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "gain"}
def remaining_gain(t_eff_gb_s, t_peak_gb_s, share):
    """Return the largest possible speed-up of the whole program."""
    ### BEGIN SOLUTION
    return 1 / (1 - share + share * t_eff_gb_s / t_peak_gb_s)
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain", "points": 1}
# A quarter of the peak in 80% of the time: 0.8 becomes 0.2, and 0.2 stays. Then another part of the peak.
check.close(remaining_gain(1000, 4000, 0.8), 2.5, "the gain that a quarter of the peak leaves in 80% of the time")
part = check.rng().uniform(0.1, 0.9)
check.close(remaining_gain(4000 * part, 4000, 0.8), 1 / (0.8 * part + 0.2), "the gain of 80% of the time")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain_hidden", "points": 1}
# Hidden tests: at the peak and below it.
### BEGIN HIDDEN TESTS
check.close(remaining_gain(4000, 4000, 0.7), 1, "the gain at T_peak")
check.close(remaining_gain(500, 4000, 1.0), 8, "the gain of a program that is all kernel")
for peak, part, share in check.rng().uniform(0.1, 1, (3, 3)):
    expected = 1 / (1 - share + share * part)
    check.close(remaining_gain(1e4 * peak * part, 1e4 * peak, share), expected, "the gain below T_peak")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 7: right and slow, find out why (2 points)
#
# The kernel below smooths a signal with eight weights: `out[i]` is the sum of `w[k] * a[i + k]`, and `a` has seven elements more than `out`.
# Its result is right, but it has two faults. Look at its profile, find them, and write
# `smooth_kernel` without them. Each fault that you repair gives a point.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "slow"}
@cuda.jit
def slow_kernel(a, w, out):
    i = cuda.threadIdx.x * cuda.gridDim.x + cuda.blockIdx.x
    if i < out.size:
        out[i] = 0.0
        for k in range(8):
            out[i] += w[k] * a[i + k]


signal, weights, smoothed = np.arange(519.0), np.full(8, 0.125), np.empty(512)
simt.profile(slow_kernel[8, 64], signal, weights, smoothed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "smooth"}
@cuda.jit
def smooth_kernel(a, w, out):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for k in range(8):
            total += w[k] * a[i + k]
        out[i] = total
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_smooth"}
def run_smooth(n):
    """Launch the kernel for n random elements; return its profile, after the result was checked."""
    rng = check.rng()
    a, w, out = rng.random(n + 7), rng.random(8), np.full(n, np.nan)
    expected = np.correlate(a, w)
    profile = simt.profile(smooth_kernel[(n + 63) // 64, 64], a, w, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", rtol=1e-11)
    return profile


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth", "points": 1} course={"limits": {"global_load.thread_accesses": 2.0, "global_store.thread_accesses": 1.0}}
# One of the faults: each element of out is to be written once.
with check.explained(smooth_kernel, "a", "w", "out"):
    n = 64 * int(check.rng().integers(6, 12))
    needed = {"global_load.thread_accesses": 16 * n, "global_store.thread_accesses": n}
    check.at_most(run_smooth(n), limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smooth_hidden", "points": 1} course={"limits": {"global_load.sectors": 2.0, "global_store.thread_accesses": 9.0}}
# Hidden tests: the other fault, by the sectors that are loaded; sizes that are not multiples of the block.
### BEGIN HIDDEN TESTS
n = 64 * int(check.rng().integers(6, 12))
# eight requests for a and eight for w, by each warp
needed = {"global_load.sectors": (8 * 8 + 8) * n / 32, "global_store.thread_accesses": n}
check.at_most(run_smooth(n), limits, compulsory=needed)
for n in (1, 65 + int(check.rng().integers(0, 60))):
    run_smooth(n)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 8: open, a picture in grey (2 points)
#
# A picture holds the colours of each pixel side by side: `rgb` is `r g b r g b …`, three doubles per pixel. Write a kernel that computes
# `out[i] = 0.30 * r + 0.59 * g + 0.11 * b` of pixel `i`. It is launched with blocks of 64 threads, one thread per pixel, and a few more.
#
# The first point is for the result. The second one is for a kernel that asks for at most 1.1 times the sectors that the picture fills, in any way
# that you like.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "grey"}
@cuda.jit
def grey_kernel(rgb, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array(192, np.float64)
    t, first = cuda.threadIdx.x, 192 * cuda.blockIdx.x
    for k in range(t, 192, 64):
        if first + k < rgb.size:
            tile[k] = rgb[first + k]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0.30 * tile[3 * t] + 0.59 * tile[3 * t + 1] + 0.11 * tile[3 * t + 2]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_grey"}
@check.again_in_doubt
def run_grey(n):
    """Launch the kernel on n random pixels; return its profile, after the result was checked."""
    rgb, out = check.rng().random(3 * n), np.full(n, np.nan)
    expected = rgb.reshape(n, 3) @ np.array([0.30, 0.59, 0.11])
    profile = simt.profile(grey_kernel[(n + 63) // 64, 64], rgb, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", rtol=1e-11)
    return profile


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_grey", "points": 1}
with check.explained(grey_kernel, "rgb", "out"):
    for n in (128, 65 + int(check.rng().integers(0, 60))):
        run_grey(n)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_grey_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# Hidden tests: within 1.1 times the sectors of the picture and of the result.
### BEGIN HIDDEN TESTS
n = 64 * int(check.rng().integers(3, 9))
needed = {"global_load.sectors": check.sectors(3 * n), "global_store.sectors": check.sectors(n)}
check.at_most(run_grey(n), limits, compulsory=needed)
run_grey(1)
### END HIDDEN TESTS
