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
# **At the Speed of Memory.** This exercise belongs to lecture 2. It takes about one hour and gives 20 points.
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
# | 1 | balance from a datasheet | 3 |
# | 2 | a triad kernel | 4 |
# | 3 | count the bytes of a heat step | 4 |
# | 4 | fuse the heat step into one kernel | 5 |
# | 5 | T_eff from a timing | 2 |
# | 6 | what is left to gain | 2 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: balance from a datasheet (3 points)
#
# The balance of a machine is the number of flops that it can do in the time in which it moves one number between processor
# and memory.
#
# Write `balance(peak_gflop_s, bandwidth_gb_s, dtype)`. The peak is in GFLOP/s, the bandwidth in GB/s, and `dtype` is
# anything that `numpy.dtype` accepts, such as `"float64"`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "balance"}
def balance(peak_gflop_s, bandwidth_gb_s, dtype):
    """Return the number of flops that the machine can do while it moves one number of this dtype."""
    ### BEGIN SOLUTION
    return peak_gflop_s / bandwidth_gb_s * np.dtype(dtype).itemsize
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_balance", "points": 1}
# A Tesla P100 (SXM2): 5300 GFLOP/s in double precision, 732 GB/s.
check.close(balance(5300, 732, "float64"), 57.92, "flops of a P100 for each double", atol=0.01)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_balance_hidden", "points": 2}
# Hidden tests: other machines and other precisions.
### BEGIN HIDDEN TESTS
for peak, bandwidth in check.rng().uniform(100, 90000, (3, 2)):
    check.close(balance(peak, bandwidth, "f8"), peak / bandwidth * 8, "the balance in double precision")
    check.close(balance(peak, bandwidth, "float32"), peak / bandwidth * 4, "the balance in single precision")
    check.close(balance(peak, bandwidth, "half"), peak / bandwidth * 2, "the balance in half precision")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a triad kernel (4 points)
#
# Write a CUDA kernel that computes `out[i] = a[i] + s * b[i]`. Each thread computes one element. The kernel is launched with
# at least as many threads as there are elements, and usually with more. A thread that has no element must do nothing.
#
# `cuda.grid(1)` is the index of the thread in the whole grid. If a thread reads or writes beyond the end of an array, the
# SIMT interpreter stops and names the line, the array, the index, the thread and its block.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "triad"}
@cuda.jit
def triad_kernel(a, b, s, out):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + s * b[i]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_triad"}
def run_triad(n, threads_per_block, dtype="float64", s=3.0, blocks=None):
    """Launch the kernel on n random elements, by default with enough blocks for all; return the inputs and the result."""
    rng = check.rng()
    a, b = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    out = cuda.to_device(np.full(n, np.nan, dtype))
    blocks = blocks or (n + threads_per_block - 1) // threads_per_block
    triad_kernel[blocks, threads_per_block](cuda.to_device(a), cuda.to_device(b), np.dtype(dtype).type(s), out)
    return a, b, out.copy_to_host()


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad", "points": 1}
# 100 elements, 4 blocks of 32 threads: 28 threads have no element.
a, b, found = run_triad(n=100, threads_per_block=32)
check.close(found, a + 3.0 * b, "out", atol=1e-14)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.15, "flops.total": 1.0}}
# The traffic in sectors of 32 bytes, and 2 flops per element; no hazards.
n = 128 * int(check.rng().integers(6, 12))
a, b, out = check.rng().uniform(-1, 1, (3, n))
expected = a + 3.0 * b
profile = simt.profile(triad_kernel[n // 128, 128], a, b, 3.0, out)
check.no_hazards(profile)
check.close(out, expected, "out", atol=1e-14)
needed = {"global_load.sectors": 2 * n * 8 / 32, "global_store.sectors": n * 8 / 32, "flops.total": 2 * n}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad_hidden", "points": 2}
# Hidden tests: other sizes and blocks, another scalar, single precision, one element per thread.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(34, 63))
for n, threads in ((1, 32), (33, 32), (some, 64), (3 * some, 128)):
    a, b, found = run_triad(n, threads, s=-0.5)
    check.close(found, a - 0.5 * b, "out, in double precision", atol=1e-14)
a, b, found = run_triad(some + 64, 32, dtype="float32", s=2.0)
check.close(found, a + np.float32(2) * b, "out, in single precision", rtol=1e-6, atol=1e-6)
a, b, found = run_triad(64, 32, blocks=1)
check.that(np.isnan(found[32:]).all(), "Each thread must write one element and no more.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: count the bytes of a heat step (4 points)
#
# The four statements below do one step of heat conduction on a grid of `ny` × `nx` points. `T` is the temperature. `Cp` is
# the heat capacity, which differs from point to point and never changes. All arrays have the size of the grid (ignore that
# `qx` has one column less and `qy` one row less).
#
# ```python
# qx   = -lam * diff(T, axis=x) / h
# qy   = -lam * diff(T, axis=y) / h
# dTdt = -(diff(qx, x) + diff(qy, y)) / h / Cp
# out  = T + dt * dTdt
# ```
#
# Each statement is one loop over the grid. A **pass** means that one array is read once, or written once. A neighbour that
# was read a moment ago comes from the cache, and is not counted again.
#
# Fill in the number of passes of each statement. Then write `bytes_moved`, the bytes that the four statements move, and
# `a_eff`, the bytes that *must* move in any implementation: each unknown field once in and once out, each known field once
# in.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "passes"}
# arrays read plus arrays written by each statement: passes = {"qx": ..., "qy": ..., "dTdt": ..., "out": ...}
### BEGIN SOLUTION
passes = {"qx": 2, "qy": 2, "dTdt": 4, "out": 3}
### END SOLUTION

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "count"}
def bytes_moved(ny, nx, dtype="float64"):
    """Return the bytes that the four statements move in one step."""
    ### BEGIN SOLUTION
    return sum(passes.values()) * ny * nx * np.dtype(dtype).itemsize
    ### END SOLUTION


def a_eff(ny, nx, dtype="float64"):
    """Return A_eff = 2 D_u + D_k in bytes; D_u and D_k are the bytes of the unknown and of the known fields."""
    ### BEGIN SOLUTION
    field = ny * nx * np.dtype(dtype).itemsize
    return 2 * field + field  # T is unknown, Cp is known
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_count", "points": 1}
check.that(set(passes) == {"qx", "qy", "dTdt", "out"}, "Fill in the dictionary and keep its keys.")
check.close(passes["qx"], 2, "passes of qx, which reads T and writes qx")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_passes_hidden", "points": 1}
# Hidden tests: the passes of the other statements.
### BEGIN HIDDEN TESTS
for statement, expected in {"qx": 2, "qy": 2, "dTdt": 4, "out": 3}.items():
    check.close(passes[statement], expected, f"passes of {statement}")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_bytes_hidden", "points": 1}
# Hidden tests: bytes_moved, in both precisions.
### BEGIN HIDDEN TESTS
for ny, nx in check.rng().integers(10, 5000, (3, 2)).tolist():
    check.close(bytes_moved(ny, nx), 11 * ny * nx * 8, "bytes_moved in double precision")
    check.close(bytes_moved(ny, nx, "float32"), 11 * ny * nx * 4, "bytes_moved in single precision")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_a_eff_hidden", "points": 1}
# Hidden tests: a_eff, in both precisions.
### BEGIN HIDDEN TESTS
for ny, nx in check.rng().integers(10, 5000, (3, 2)).tolist():
    check.close(a_eff(ny, nx), 3 * ny * nx * 8, "a_eff in double precision")
    check.close(a_eff(ny, nx, "float32"), 3 * ny * nx * 4, "a_eff in single precision")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: fuse the heat step (5 points)
#
# Write the whole step as **one** kernel that reads `T` and `Cp` and writes `out`, without storing anything in between. Inside
# the grid
#
# $$ \text{out} = T + \frac{\text{factor}}{C_p} \left( T_{j,i-1} + T_{j,i+1} + T_{j-1,i} + T_{j+1,i} - 4\,T_{j,i} \right),
# \qquad \text{factor} = \frac{\lambda\, \Delta t}{h^2} $$
#
# and on the boundary `out = T`. The arrays are indexed as `[j, i]`, and `i, j = cuda.grid(2)`, so that neighbouring threads
# have neighbouring `i`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "heat"}
@cuda.jit
def heat_kernel(T, Cp, factor, out):
    ### BEGIN SOLUTION
    i, j = cuda.grid(2)
    ny, nx = T.shape
    if i < nx and j < ny:
        if 0 < i < nx - 1 and 0 < j < ny - 1:
            total = T[j, i - 1] + T[j, i + 1] + T[j - 1, i] + T[j + 1, i] - 4 * T[j, i]
            out[j, i] = T[j, i] + factor * total / Cp[j, i]
        else:
            out[j, i] = T[j, i]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_heat"}
def heat_fields(ny, nx):
    """Return random temperatures and heat capacities, and an array of NaN for the result: what stays NaN was not written."""
    rng = check.rng()
    return rng.random((ny, nx)), 1 + rng.random((ny, nx)), np.full((ny, nx), np.nan)


def run_heat(ny, nx, block=(8, 4), grid=None):
    """Launch the kernel on random fields; return T, Cp, the result, and T and Cp as they are after the launch."""
    T, Cp, out = heat_fields(ny, nx)
    dT, dCp, dout = cuda.to_device(T), cuda.to_device(Cp), cuda.to_device(out)
    grid = grid or ((nx + block[0] - 1) // block[0], (ny + block[1] - 1) // block[1])
    heat_kernel[grid, block](dT, dCp, 0.1, dout)
    return T, Cp, dout.copy_to_host(), dT.copy_to_host(), dCp.copy_to_host()


def four_statements(T, Cp, factor):
    """Return what the four statements compute."""
    qx, qy = -np.diff(T, axis=1), -np.diff(T, axis=0)
    out = T.copy()
    out[1:-1, 1:-1] -= factor * (np.diff(qx, axis=1)[1:-1] + np.diff(qy, axis=0)[:, 1:-1]) / Cp[1:-1, 1:-1]
    return out


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat", "points": 2}
T, Cp, found, *_ = run_heat(8, 6)
check.close(found, four_statements(T, Cp, 0.1), "out", atol=1e-13)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.15, "flops.total": 2.0}}
# The traffic and the flops: each point needs six reads, one write and 8 flops; no hazards.
n = 4 * int(check.rng().integers(16, 25))
T, Cp, out = heat_fields(n, n)
before = T.copy(), Cp.copy()
profile = simt.profile(heat_kernel[((n + 31) // 32, (n + 31) // 32), (32, 32)], T, Cp, 0.1, out)
check.no_hazards(profile)
check.close(out, four_statements(*before, 0.1), "out", atol=1e-13)
needed = {"global_load.sectors": 6 * n**2 * 8 / 32, "global_store.sectors": n**2 * 8 / 32, "flops.total": 8 * n**2}
check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat_hidden", "points": 2}
# Hidden tests: other grids, also such that are no multiple of the block; inputs must not change; one point per thread.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(4, 9)) + 1
for ny, nx in ((3, 3), (5, odd), (odd, 7)):
    T, Cp, found, T_after, Cp_after = run_heat(ny, nx)
    check.close(found, four_statements(T, Cp, 0.1), "out", atol=1e-13)
    check.that((T_after == T).all() and (Cp_after == Cp).all(), "T and Cp must stay as they are.")
_, _, found, *_ = run_heat(8, 8, grid=(1, 1))
check.that(np.isnan(found[4:]).all(), "Each thread must write one point and no more.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: T_eff from a timing (2 points)
#
# Write `t_eff(a_eff_bytes, t_it_s)`, the effective memory throughput in GB/s (1 GB = 10⁹ bytes).

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "t_eff"}
def t_eff(a_eff_bytes, t_it_s):
    """Return T_eff in GB/s."""
    ### BEGIN SOLUTION
    return a_eff_bytes / t_it_s / 1e9
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_t_eff", "points": 1}
check.close(t_eff(24e9, 0.01), 2400, "GB/s of 24 GB in 10 ms")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_t_eff_hidden", "points": 1}
# Hidden tests: other sizes and times.
### BEGIN HIDDEN TESTS
for size, time in check.rng().uniform(1, 100, (3, 2)):
    check.close(t_eff(size * 1e6, time * 1e-3), size / time, "T_eff of some megabytes in some milliseconds")
check.close(t_eff(16, 1e-9), 16, "T_eff of a few bytes in a nanosecond")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: what is left to gain (2 points)
#
# By which factor could the program still become faster, at most, on the same machine and with the same algorithm? Write
# `remaining_gain(t_eff_gb_s, t_peak_gb_s)`, which returns this factor. A factor of 1 means that nothing is left to gain.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "gain"}
def remaining_gain(t_eff_gb_s, t_peak_gb_s):
    """Return the largest possible speed-up, at least 1 for a memory-bound program."""
    ### BEGIN SOLUTION
    return t_peak_gb_s / t_eff_gb_s
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain", "points": 1}
check.close(remaining_gain(1000, 4000), 4, "the gain that a quarter of the peak leaves")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain_hidden", "points": 1}
# Hidden tests: at the peak and below it.
### BEGIN HIDDEN TESTS
check.close(remaining_gain(4000, 4000), 1, "the gain at T_peak")
for peak, share in check.rng().uniform(0.1, 1, (3, 2)):
    check.close(remaining_gain(1e4 * peak * share, 1e4 * peak), 1 / share, "the gain below T_peak")
### END HIDDEN TESTS
