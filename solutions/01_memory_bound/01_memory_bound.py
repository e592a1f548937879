# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 1: Memory-bound'
# ---

# %% [markdown]
# # Exercise 1: Memory-bound
#
# **At the Speed of Memory.** It goes with lecture 1; about one hour; 20 points. No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after it tests a part of what will be graded; further tests are hidden.
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


# %% [markdown]
# ## Part 1: balance from a datasheet (3 points)
#
# The balance of a machine is the number of flops that it can do while it moves one number between processor and memory.
#
# Write `balance(peak_gflop_s, bandwidth_gb_s, dtype)`. The peak is in GFLOP/s, the bandwidth in GB/s, and `dtype` is
# anything that `numpy.dtype` accepts, such as `"float64"`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "balance"}
def balance(peak_gflop_s, bandwidth_gb_s, dtype):
    """Return the flops that the machine can do for each number of this dtype that it moves."""
    ### BEGIN SOLUTION
    return peak_gflop_s / bandwidth_gb_s * np.dtype(dtype).itemsize
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_balance", "points": 1}
# A Tesla P100 (SXM2): 5300 GFLOP/s in double precision, 732 GB/s.
assert abs(balance(5300, 732, "float64") - 57.92) < 0.01, "a P100 can do about 58 flops for each double"

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_balance_hidden", "points": 2}
# Hidden tests: other machines and other precisions.
### BEGIN HIDDEN TESTS
assert np.isclose(balance(34000, 4800, np.float64), 34000 / 4800 * 8), "an H200 in double precision"
assert np.isclose(balance(67000, 4800, "float32"), 67000 / 4800 * 4), "an H200 in single precision"
assert np.isclose(balance(422, 89.6, np.dtype("float64")), 422 / 89.6 * 8), "a laptop CPU in double precision"
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a triad kernel (4 points)
#
# Write a CUDA kernel that computes `out[i] = a[i] + s * b[i]`, one element a thread. It is launched with at least as many
# threads as there are elements, and usually with more: the threads that have no element must do nothing.
#
# `cuda.grid(1)` is the index of the thread in the whole grid. If a thread touches an element that is not there, the
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
def run_triad(n, threads_per_block, dtype="float64", s=3.0, seed=None, blocks=None):
    """Launch the kernel on n random elements, with enough blocks for all; return the inputs and the result."""
    rng = np.random.default_rng(seed)
    a, b = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
    out = cuda.to_device(np.full(n, np.nan, dtype))
    blocks = blocks or (n + threads_per_block - 1) // threads_per_block
    triad_kernel[blocks, threads_per_block](cuda.to_device(a), cuda.to_device(b), np.dtype(dtype).type(s), out)
    return a, b, out.copy_to_host()


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad", "points": 2}
# 100 elements, 4 blocks of 32 threads: 28 threads have nothing to do
a, b, found = run_triad(n=100, threads_per_block=32)
np.testing.assert_allclose(found, a + 3.0 * b, rtol=1e-14, err_msg="an element that is nan was written by no thread")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_triad_hidden", "points": 2}
# Hidden tests: other sizes and blocks, another scalar, single precision, one element a thread.
### BEGIN HIDDEN TESTS
for n, threads in ((1, 32), (33, 32), (100, 64), (127, 128)):
    a, b, found = run_triad(n, threads, s=-0.5)
    np.testing.assert_allclose(found, a - 0.5 * b, rtol=1e-14, err_msg=f"{n} elements, {threads} threads a block")
a, b, found = run_triad(70, 32, dtype="float32", s=2.0)
np.testing.assert_allclose(found, a + np.float32(2) * b, rtol=1e-6, err_msg="single precision")
a, b, found = run_triad(64, 32, blocks=1)
assert np.isnan(found[32:]).all(), "32 threads must write 32 elements: one element a thread"
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: count the bytes of a heat step (4 points)
#
# One step of heat conduction on an `ny` × `nx` grid, in four statements. `T` is the temperature, `Cp` the heat capacity,
# which differs from point to point and never changes; all are arrays of the size of the grid (ignore that `qx` and `qy`
# are one row or column smaller).
#
# ```python
# qx   = -lam * diff(T, axis=x) / h
# qy   = -lam * diff(T, axis=y) / h
# dTdt = -(diff(qx, x) + diff(qy, y)) / h / Cp
# out  = T + dt * dTdt
# ```
#
# Each statement is one loop over the grid. A **pass** is one array read once or written once; a neighbour that was read
# a moment ago comes from the cache and is not counted again.
#
# Fill in the passes of each statement; then the bytes that the four statements move, and A_eff, the bytes that *must* move:
# twice the unknown fields plus the known ones.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "passes"}
# passes of each statement, arrays read plus arrays written: passes = {"qx": ..., "qy": ..., "dTdt": ..., "out": ...}
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
    """Return A_eff = 2 D_u + D_k in bytes."""
    ### BEGIN SOLUTION
    field = ny * nx * np.dtype(dtype).itemsize
    return 2 * field + field  # T is unknown, Cp is known
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_count", "points": 1}
assert set(passes) == {"qx", "qy", "dTdt", "out"}, "fill in the dictionary; keep its keys"
assert passes["qx"] == 2, "qx reads T and writes qx"

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_passes_hidden", "points": 1}
# Hidden tests: the passes of the other statements.
### BEGIN HIDDEN TESTS
assert passes == {"qx": 2, "qy": 2, "dTdt": 4, "out": 3}, "the passes of a statement"
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_bytes_hidden", "points": 1}
# Hidden tests: bytes_moved, in both precisions.
### BEGIN HIDDEN TESTS
assert bytes_moved(100, 200) == 11 * 100 * 200 * 8, "bytes_moved in double precision"
assert bytes_moved(64, 32, "float32") == 11 * 64 * 32 * 4, "bytes_moved in single precision"
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_a_eff_hidden", "points": 1}
# Hidden tests: a_eff, in both precisions.
### BEGIN HIDDEN TESTS
assert a_eff(100, 200) == 3 * 100 * 200 * 8, "a_eff in double precision"
assert a_eff(64, 32, "float32") == 3 * 64 * 32 * 4, "a_eff in single precision"
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: fuse it (5 points)
#
# Write the whole step as **one** kernel that reads `T` and `Cp` and writes `out`, with nothing in between. Inside the grid
#
# $$ \text{out} = T + \frac{\text{factor}}{C_p} \left( T_{j,i-1} + T_{j,i+1} + T_{j-1,i} + T_{j+1,i} - 4\,T_{j,i} \right),
# \qquad \text{factor} = \frac{\lambda\, \Delta t}{h^2} $$
#
# and on the boundary `out = T`. The arrays are indexed `[j, i]`, and `i, j = cuda.grid(2)`: neighbouring threads have
# neighbouring `i`.

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
def run_heat(ny, nx, block=(8, 4), seed=None, grid=None):
    """Launch the kernel on random fields, with enough blocks; return what it read, before and after, and the result."""
    rng = np.random.default_rng(seed)
    T, Cp = rng.random((ny, nx)), 1 + rng.random((ny, nx))
    dT, dCp, out = cuda.to_device(T), cuda.to_device(Cp), cuda.to_device(np.full((ny, nx), np.nan))
    grid = grid or ((nx + block[0] - 1) // block[0], (ny + block[1] - 1) // block[1])
    heat_kernel[grid, block](dT, dCp, 0.1, out)
    return T, Cp, out.copy_to_host(), dT.copy_to_host(), dCp.copy_to_host()


def four_statements(T, Cp, factor):
    """Return what the four statements compute."""
    qx, qy = -np.diff(T, axis=1), -np.diff(T, axis=0)
    out = T.copy()
    out[1:-1, 1:-1] -= factor * (np.diff(qx, axis=1)[1:-1] + np.diff(qy, axis=0)[:, 1:-1]) / Cp[1:-1, 1:-1]
    return out


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat", "points": 2}
T, Cp, found, *_ = run_heat(8, 6)
np.testing.assert_allclose(
    found, four_statements(T, Cp, 0.1), rtol=1e-13, err_msg="a point that is nan was written by no thread"
)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_heat_hidden", "points": 3}
# Hidden tests: other grids, blocks that do not divide them, inputs that must stay as they are, one point a thread.
### BEGIN HIDDEN TESTS
for ny, nx in ((3, 3), (5, 17), (13, 7)):
    T, Cp, found, T_after, Cp_after = run_heat(ny, nx)
    np.testing.assert_allclose(found, four_statements(T, Cp, 0.1), rtol=1e-13, err_msg=f"a grid of {ny} x {nx}")
    np.testing.assert_array_equal(T_after, T, err_msg="T is read only")
    np.testing.assert_array_equal(Cp_after, Cp, err_msg="Cp is read only")
_, _, found, *_ = run_heat(8, 8, grid=(1, 1))
assert np.isnan(found[4:]).all(), "8 x 4 threads must write 8 x 4 points: one point a thread"
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
assert np.isclose(t_eff(24e9, 0.01), 2400), "24 GB in 10 ms are 2400 GB/s"

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_t_eff_hidden", "points": 1}
# Hidden tests: other sizes and times.
### BEGIN HIDDEN TESTS
assert np.isclose(t_eff(3 * 4096**2 * 8, 11.4e-3), 35.32, atol=0.01), "a heat step of 4096 x 4096 in 11.4 ms"
assert np.isclose(t_eff(16, 1e-9), 16), "16 bytes in a nanosecond"
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: what is left to gain (2 points)
#
# Write `remaining_gain(t_eff_gb_s, t_peak_gb_s)`: by which factor could the program still become faster, at most, on the
# same machine and with the same algorithm? 1 means that nothing is left.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "gain"}
def remaining_gain(t_eff_gb_s, t_peak_gb_s):
    """Return the largest possible speed-up, at least 1 for a memory-bound program."""
    ### BEGIN SOLUTION
    return t_peak_gb_s / t_eff_gb_s
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain", "points": 1}
assert np.isclose(remaining_gain(1000, 4000), 4), "a quarter of the peak leaves a factor of four"

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_gain_hidden", "points": 1}
# Hidden tests: at the peak and below it.
### BEGIN HIDDEN TESTS
assert np.isclose(remaining_gain(4000, 4000), 1), "a program at T_peak has nothing left to gain"
assert np.isclose(remaining_gain(1933, 4305), 4305 / 1933), "a naive stencil on an H200"
### END HIDDEN TESTS
