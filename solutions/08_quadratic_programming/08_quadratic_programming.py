# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 8: Quadratic programs'
# ---

# %% [markdown]
# # Exercise 8: Quadratic programs
#
# **At the Speed of Memory.** This exercise belongs to lecture 8. It takes about ninety minutes and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet. Times are
#   never judged.
# - Where the threads of a block share data, a test repeats its launch in other orders: between two
#   [barriers](../../lectures/glossary.md#barrier), the warps with even numbers go first, then those with odd numbers do. A GPU
#   may run warps in any order, so the result must stay right.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | split Q and sum what is negative, in one pass | 3 |
# | 2 | two problems with one matrix | 3 |
# | 3 | when is it solved? | 3 |
# | 4 | skip zeros, and let them grow again | 3 |
# | 5 | a matrix of the free unknowns alone | 3 |
# | 6 | find the waste | 2 |
# | 7 | an update and F at the bound, any way you like | 3 |
#
# All parts are about F(x) = ½ xᵀQx + hᵀx, which is to be as small as possible over x ≥ 0. Q is symmetric and positive semidefinite, and its
# gradient is ∇F = Qx + h. As in the lecture, Q = Q⁺ − Q⁻ with Q⁺ = max(Q, 0) and Q⁻ = max(−Q, 0), entry by entry, and h = h⁺ − h⁻ in the
# same way. With a *shift* r ≥ 0, an update is
#
# $$ \text{new}_i = x_i\, \frac{h^-_i + (Q^-x)_i + r_i x_i}{h^+_i + (Q^+x)_i + r_i x_i}, \qquad \text{new}_i = 0 \text{ where } x_i = 0. $$
#
# All numbers are of double precision: a sector of 32 bytes holds four of them.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


def random_problem(n, negative=0.5):
    """Return a random Q, symmetric and positive definite, and a random h; about this share of Q is negative."""
    Q = check.rng().uniform(negative - 1, negative, (n, n))
    Q = -(Q + Q.T) / 2
    np.fill_diagonal(Q, np.abs(Q).sum(axis=1))
    return Q, check.rng().uniform(-1, 1, n)


def negative_sums(Q):
    """Return the sum of what is negative in each row, without its sign: a shift that is always large enough."""
    return np.maximum(-Q, 0).sum(axis=1)


def updated(Q, h, shift, x):
    """Return one update of x."""
    above = np.maximum(-h, 0) + np.maximum(-Q, 0) @ x + shift * x
    below = np.maximum(h, 0) + np.maximum(Q, 0) @ x + shift * x
    return np.where(x > 0, x * above / np.where(x > 0, below, 1), 0)


def same(arrays, before):
    """Check that a kernel has not changed its inputs."""
    unchanged = all((now == then).all() for now, then in zip(arrays, before, strict=True))
    check.that(unchanged, "The inputs must stay as they are.")


# %% [markdown]
# ## Part 1: split Q and sum what is negative, in one pass (3 points)
#
# A solver that uses library routines needs Q⁺ and Q⁻ as two matrices, and a shift: the sums of the rows of Q⁻,
#
# $$ r_i = \sum_j Q^-_{i,j}. $$
#
# Write `split_kernel(Q, Q_plus, Q_minus, shift)`, which computes all three. Each entry of Q is loaded once, and neighbouring threads load
# neighbours. Blocks have 128 threads, and there are at least 32 threads for each row. It is not known what the results held before.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "split"}
@cuda.jit
def split_kernel(Q, Q_plus, Q_minus, shift):
    ### BEGIN SOLUTION
    n = shift.size
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    total = 0.0
    if row < n:
        for j in range(lane, n, 32):
            q = Q[row, j]  # once: after a store, Q[row, j] would be loaded again
            minus = max(-q, 0.0)
            Q_plus[row, j] = max(q, 0.0)
            Q_minus[row, j] = minus
            total += minus
    for distance in (16, 8, 4, 2, 1):  # outside of any branch: every lane takes part
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, distance)
    if lane == 0 and row < n:
        shift[row] = total
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_split"}
def run_split(Q):
    """Profile the kernel; check hazards, results and Q; return the profile and what is needed."""
    n, before = len(Q), Q.copy()
    Q_plus, Q_minus, shift = np.full((n, n), np.nan), np.full((n, n), np.nan), np.full(n, np.nan)
    profile = simt.profile(split_kernel[(32 * n + 127) // 128, 128], Q, Q_plus, Q_minus, shift)
    check.no_hazards(profile)
    check.close(Q_plus, np.maximum(before, 0), "Q_plus")
    check.close(Q_minus, np.maximum(-before, 0), "Q_minus")
    check.close(shift, negative_sums(before), "shift")
    same([Q], [before])
    # a warp writes one element of the shift at a time: a sector for each row
    return profile, {"global_load.sectors": n * n / 4, "global_store.sectors": 2 * n * n / 4 + n}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_split", "points": 1} course={"steps": 12000}
# Only the values are tested, for 32 unknowns.
with check.explained(split_kernel, "Q", "Q_plus", "Q_minus", "shift"):
    profile, needed = run_split(random_problem(32)[0])

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_split_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}, "steps": 12000}
# The traffic: Q is loaded once, by neighbours, and each result is stored once, by neighbours.
with check.explained(split_kernel, "Q", "Q_plus", "Q_minus", "shift"):
    profile, needed = run_split(random_problem(4 * int(check.rng().integers(16, 26)))[0])
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_split_hidden", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_store.thread_accesses": 1.0}, "steps": 12000}
# Hidden tests: numbers of unknowns that do not fill a warp or a block, a Q without negative entries; no hazards.
### BEGIN HIDDEN TESTS
for n, negative in ((1, 0.5), (int(check.rng().integers(33, 63)), 0.9), (9, 0.0)):
    profile, needed = run_split(random_problem(n, negative)[0])
    check.at_most(profile, limits, compulsory={"global_load.thread_accesses": n * n, "global_store.thread_accesses": 2 * n * n + n})
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: two problems with one matrix (3 points)
#
# Two pictures were taken by the same camera, so that Q is the same for both, and only h differs. `h`, `x` and `new` are arrays with two
# rows, one for each picture; `shift` belongs to Q and is a vector.
#
# Write `update_two_kernel(Q, h, shift, x, new)`, which computes one update of both. Blocks have 64 threads, and thread i = `cuda.grid(1)`
# is responsible for unknown i of both pictures.
#
# - Each entry of Q is loaded once for both pictures, and neighbouring threads load neighbours. Q is symmetric.
# - `x` comes through shared memory. The largest pictures have more unknowns than shared memory has room for: stage 64 unknowns of both
#   pictures at a time. Beside that, a thread may load its own `x`, `h` and `shift` once.
# - The number of unknowns need not fill the last block.
# - Where x is 0, what is below in the fraction may be 0 as well.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "update_two"}
@cuda.jit
def update_two_kernel(Q, h, shift, x, new):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((2, 64), np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, shift.size
    plus_0, minus_0, plus_1, minus_1 = 0.0, 0.0, 0.0, 0.0
    for first in range(0, n, 64):
        if first + t < n:
            tile[0, t] = x[0, first + t]
            tile[1, t] = x[1, first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(64, n - first)):
                q = Q[first + k, i]
                plus, minus = max(q, 0.0), max(-q, 0.0)
                plus_0 += plus * tile[0, k]
                minus_0 += minus * tile[0, k]
                plus_1 += plus * tile[1, k]
                minus_1 += minus * tile[1, k]
        cuda.syncthreads()  # before another tile takes its place
    if i < n:
        r = shift[i]
        for p in range(2):
            x_i, h_i = x[p, i], h[p, i]
            plus, minus = (plus_0, minus_0) if p == 0 else (plus_1, minus_1)
            above, below = max(-h_i, 0.0) + minus + r * x_i, max(h_i, 0.0) + plus + r * x_i
            new[p, i] = x_i * above / below if x_i > 0 else 0.0
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_update_two"}
def run_update_two(n, zeros=0.0):
    """Profile the kernel with about this share of zeros in x; check hazards, result and inputs; return profile and needs."""
    Q, _ = random_problem(n)
    h, shift = check.rng().uniform(-1, 1, (2, n)), negative_sums(Q)
    x = check.rng().uniform(0.5, 2, (2, n)) * (check.rng().random((2, n)) >= zeros)
    if zeros:  # an unknown that is 0 and has nothing below in its fraction
        Q[0, 1:], Q[1:, 0], h[:, 0], x[:, 0], shift[0] = 0, 0, -1, 0, 0
    before, new = [a.copy() for a in (Q, h, shift, x)], np.full((2, n), np.nan)
    blocks = (n + 63) // 64
    profile = simt.profile(update_two_kernel[blocks, 64], Q, h, shift, x, new)
    check.no_hazards(profile)
    expected = np.stack([updated(before[0], before[1][p], before[2], before[3][p]) for p in range(2)])
    check.close(new, expected, "new", atol=1e-13)
    same((Q, h, shift, x), before)
    # Q once; both x once for each block; x, h and the shift once more
    return profile, {"global_load.sectors": (n * n + blocks * 2 * n + 5 * n) / 4, "global_store.sectors": 2 * n / 4}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_two", "points": 1} course={"steps": 12000}
# Only the values are tested: 64 unknowns, one block, one tile.
with check.explained(update_two_kernel, "Q", "h", "shift", "x", "new"):
    run_update_two(64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_two_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}, "steps": 12000}
# The traffic, for several tiles: Q is loaded once, by neighbours, and x once for each block.
with check.explained(update_two_kernel, "Q", "h", "shift", "x", "new"):
    profile, needed = run_update_two(4 * int(check.rng().choice((30, 31, 33, 34, 35))))  # the last block is never full
    check.at_most(profile, limits, compulsory=needed)
    check.in_each_order(run_update_two)(64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_two_hidden", "points": 1} course={"steps": 12000}
# Hidden tests: numbers of unknowns that do not fill the last block, zeros in x; no hazards; inputs must not change.
### BEGIN HIDDEN TESTS
for n, zeros in ((1, 0.0), (int(check.rng().integers(65, 90)), 0.4), (31, 0.0)):
    check.in_each_order(run_update_two)(n, zeros)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: when is it solved? (3 points)
#
# Here each unknown has an upper bound, too: 0 ≤ x_i ≤ u_i. An upper bound may be `np.inf`. At the solution, the gradient g = Qx + h is 0
# where x_i lies between its bounds; it is not negative where x_i = 0, and not positive where x_i = u_i. To measure how far from this x
# is, go from each x_i by −g_i, and from there to the nearest number that lies within the bounds. Where that is x_i again, nothing is left
# to do. The *residual* is the largest distance between x_i and the place where this ends.
#
# Write three functions of the host, with NumPy:
#
# - `residual(Q, h, upper, x)` returns this residual, a number. If an entry of x or of g is infinite or NaN, it returns `np.inf`, so that
#   no solver accepts such an x as a solution. An x_i outside of its bounds is measured in the same way.
# - `fooled(Q, h, x, tolerance)`, without upper bounds: it returns the numbers i of all unknowns, in rising order, which satisfy
#   complementarity, |x_i g_i| ≤ tolerance, and still are not solved: their own residual, without upper bounds, is larger than the
#   tolerance. All numbers are finite here.
# - `may_fall(Q, h, upper, x)`, for an x within its bounds: it returns a number by which F can fall at most, from x to any y within the
#   bounds. F is convex, so F(y) ≥ F(x) + gᵀ(y − x) for all y. How small can the right side become if each y_i may be chosen between 0 and
#   u_i? The number is to be as small as this argument allows; it is `np.inf` if F falls without end by this argument. All g_i are finite,
#   and some may be 0, also where u_i is infinite. With 2 on the diagonal of Q, h = (−3, −2), u = (2, ∞) and x = (0, 1), it returns 6.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "residual"}
def residual(Q, h, upper, x):
    """Return the largest distance between x and the nearest place within the bounds to x - g."""
    ### BEGIN SOLUTION
    g = Q @ x + h
    if not (np.isfinite(x).all() and np.isfinite(g).all()):
        return np.inf
    return np.abs(x - np.clip(x - g, 0, upper)).max()
    ### END SOLUTION


def fooled(Q, h, x, tolerance):
    """Return the unknowns that satisfy complementarity, and are not solved."""
    ### BEGIN SOLUTION
    g = Q @ x + h
    return np.flatnonzero((np.abs(x * g) <= tolerance) & (np.abs(np.minimum(x, g)) > tolerance))
    ### END SOLUTION


def may_fall(Q, h, upper, x):
    """Return by how much F can fall at most within the bounds."""
    ### BEGIN SOLUTION
    g = Q @ x + h
    farthest = np.where(g > 0, 0, np.where(g < 0, upper, x))  # the y where the right side is least; 0 times infinity is NaN
    return g[g != 0] @ (x - farthest)[g != 0]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_residual"}
def bounded(n):
    """Return Q, h, upper bounds, and a solution: a third each is 0, between the bounds, and at the upper one."""
    Q, _ = random_problem(n)
    upper = check.rng().uniform(1, 2, n)
    kind = check.rng().permutation(n) % 3
    x = np.choose(kind, (np.zeros(n), upper / 2, upper))
    upper[kind == 1] *= np.where(check.rng().random((kind == 1).sum()) < 0.5, 1, np.inf)
    gradient = np.choose(kind, (1.0, 0.0, -1.0)) * check.rng().uniform(0.5, 1, n)
    return Q, gradient - Q @ x, upper, x


def check_fooled(found, expected):
    """Check a list of unknowns."""
    found = np.asarray(found, dtype=float).reshape(-1)
    check.that(found.shape == np.shape(expected), "fooled returns too few or too many unknowns.")
    check.close(found, expected, "what fooled returns")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_residual", "points": 1}
# Two unknowns with Q = 2 on the diagonal. At x = (0, 1), complementarity holds, but the first unknown ought to grow. Then other Q and h.
Q, h, far = 2 * np.eye(2), np.array([-3.0, -2.0]), np.array([np.inf, np.inf])
check.close(residual(Q, h, far, np.array([0.0, 1.0])), 3, "the residual")
check.close(residual(Q, h, far, np.array([1.5, 1.0])), 0, "the residual of a solution")
check.close(residual(Q, h, np.array([1.0, 5.0]), np.array([1.0, 1.0])), 0, "the residual of a solution at an upper bound")
check_fooled(fooled(Q, h, np.array([0.0, 1.0]), 1e-6), [0])
more = check.rng().uniform(1, 9)
check.close(residual(more * Q, more * h, far, np.array([0.0, 1.0])), 3 * more, "the residual")
check.close(residual(Q, h - more, far, np.array([1.5, 1.0])), more, "the residual")
check_fooled(fooled(more * Q, more * h[::-1], np.array([1.0, 0.0]), 1e-6), [1])

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_residual_hidden", "points": 1}
# Hidden tests: residuals of solutions, of an x with one wrong element of each kind, outside of the bounds, infinite, and NaN.
### BEGIN HIDDEN TESTS
n = int(check.rng().integers(20, 40))
Q, h, upper, x = bounded(n)
check.close(residual(Q, h, upper, x), 0, "the residual of a solution", atol=1e-10)
for wrong in (-0.25, 0.25, 4.0, 100.0):
    other = x.copy()
    other[int(check.rng().integers(n))] += wrong
    g = Q @ other + h
    check.close(residual(Q, h, upper, other), np.abs(other - np.minimum(np.maximum(other - g, 0), upper)).max(), "the residual", rtol=1e-9)
for wrong in (np.inf, np.nan):
    other = x.copy()
    other[int(check.rng().integers(n))] = wrong
    check.that(residual(Q, h, upper, other) == np.inf, "The residual of an infinite x or of a NaN is not np.inf.")
check.that(residual(Q, np.where(x == 0, np.nan, h), upper, x) == np.inf, "The residual of an infinite x or of a NaN is not np.inf.")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fooled_hidden", "points": 1}
# Hidden tests: fooled, for drawn x with zeros that ought to grow, and without; may_fall, for bounds that are finite or infinite.
### BEGIN HIDDEN TESTS
n = int(check.rng().integers(20, 40))
Q, _ = random_problem(n)
x = check.rng().uniform(1, 2, n) * (check.rng().random(n) < 0.5)
x[:7] = (0, 0, 0, 1e-9, 2, 1e-9, 1e-4)
g = np.where(x > 0, 0, 1) * check.rng().uniform(0.5, 1, n)
g[:7] = (-1, -1e-9, 0, -0.5, 0.5, 0.5, 1e-4)
check_fooled(fooled(Q, g - Q @ x, x, 1e-6), [0, 3, 6])
x[6] = 0
check_fooled(fooled(Q, np.abs(g) - Q @ x, x, 1e-6), [])
slopes, upper = check.rng().uniform(0.1, 1, n) * check.rng().choice([-1, 1], n), x + 1
check.close(may_fall(Q, slopes - Q @ x, upper, x), np.where(slopes > 0, x, -1) @ slopes, "what may_fall returns", rtol=1e-9)
high = np.where(slopes > 0, np.inf, upper)
check.close(may_fall(Q, slopes - Q @ x, high, x), np.where(slopes > 0, x, -1) @ slopes, "what may_fall returns", rtol=1e-9)
check.close(may_fall(Q, slopes - Q @ x, np.full(n, np.inf), x), np.inf, "what may_fall returns for a bound that is infinite")
still = np.zeros(n)
check.close(may_fall(np.zeros((n, n)), still, np.full(n, np.inf), x), 0, "what may_fall returns where the gradient is 0")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: skip zeros, and let them grow again (3 points)
#
# What is multiplied by a zero need not be loaded. But a zero whose gradient g_i = (Qx)_i + h_i is negative ought to grow, and no product
# makes it grow. So zeros get another step, with a length `step[i]` that is given:
#
# $$ \text{new}_i = \begin{cases} \text{the update, as before,} & x_i > 0,\\ \max(0,\, -\text{step}_i\, g_i), & x_i = 0. \end{cases} $$
#
# Write `safe_kernel(Q, h, shift, step, x, new)` for this, with a thread for each unknown and possibly some more, in blocks of 128. Every
# thread computes the two sums of its unknown, of zeros, too: otherwise their gradient would not be known. But no entry of Q is loaded
# that is multiplied by a zero. Which way through Q lets whole warps skip together? In this part, each thread may load every element of
# `x`, and x need not come through shared memory.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "safe"}
@cuda.jit
def safe_kernel(Q, h, shift, step, x, new):
    ### BEGIN SOLUTION
    i, n = cuda.grid(1), x.size
    if i < n:
        plus, minus = 0.0, 0.0
        for j in range(n):
            x_j = x[j]
            if x_j != 0:  # the same for all threads: a row of Q is loaded by neighbours, or by nobody
                q = Q[j, i]
                plus += max(q, 0.0) * x_j
                minus += max(-q, 0.0) * x_j
        x_i, h_i = x[i], h[i]
        shifted = shift[i] * x_i
        grown = max(0.0, -step[i] * (plus - minus + h_i))
        above, below = max(-h_i, 0.0) + minus + shifted, max(h_i, 0.0) + plus + shifted
        new[i] = x_i * above / below if x_i > 0 else grown  # one store: in two branches it would be two requests
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_safe"}
def run_safe(n, zeros):
    """Profile the kernel with about this share of zeros in x; check hazards, result and inputs; return profile and needs."""
    Q, h = random_problem(n)
    shift, step = negative_sums(Q), 1 / np.abs(Q).sum(axis=1)
    x = check.rng().uniform(0.5, 2, n) * (check.rng().random(n) >= zeros)
    h -= 0.7 * (Q @ x) * (x == 0)  # so that zeros of both kinds are there
    before, new = [a.copy() for a in (Q, h, shift, step, x)], np.full(n, np.nan)
    profile = simt.profile(safe_kernel[(n + 127) // 128, 128], Q, h, shift, step, x, new)
    check.no_hazards(profile)
    expected = np.where(before[4] > 0, updated(Q, h, shift, x), np.maximum(0, -step * (Q @ x + h)))
    check.close(new, expected, "new", atol=1e-12)
    same((Q, h, shift, step, x), before)
    rows, warps = int((x > 0).sum()), (n + 31) // 32
    # rows of Q whose x is not 0; every x for each warp; x, h, shift and step of a thread's own unknown
    return profile, {"global_load.sectors": rows * n / 4 + warps * n + 4 * n / 4, "global_store.sectors": n / 4}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_safe", "points": 1} course={"steps": 12000}
# Only the values are tested: 128 unknowns, half of them 0.
with check.explained(safe_kernel, "Q", "h", "shift", "step", "x", "new"):
    profile, needed = run_safe(128, 0.5)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_safe_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 2.0}, "steps": 12000}
# The traffic, for different shares of zeros: no entry of Q is loaded that is multiplied by a zero.
with check.explained(safe_kernel, "Q", "h", "shift", "step", "x", "new"):
    for zeros in (0.4, 0.8):
        profile, needed = run_safe(4 * int(check.rng().integers(24, 33)), zeros)
        check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_safe_hidden", "points": 1} course={"steps": 12000}
# Hidden tests: numbers of unknowns that do not fill the last block, no zeros, nothing but zeros; no hazards; inputs must not change.
### BEGIN HIDDEN TESTS
for n, zeros in ((1, 0.0), (int(check.rng().integers(129, 160)), 0.7), (37, 0.0), (50, 1.1)):
    run_safe(n, zeros)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: a matrix of the free unknowns alone (3 points)
#
# A list `active` holds the numbers of the *free* unknowns, x_i ≠ 0, in rising order, as integers of four bytes. With such a list, an
# update reads single entries of a row of Q. But a load brings whole sectors: four entries, of which one may be needed. If the list
# stays the same for many iterations, it pays to copy the entries that are needed into a smaller matrix: `packed[a, b] = Q[active[a],
# active[b]]`.
#
# - Write `pack_kernel(Q, active, packed)`. `packed` has a row for each free unknown. So that each row begins where a sector begins, its
#   number of columns is a multiple of four; columns without a free unknown hold 0. It is not known what `packed` held before. Blocks
#   have 128 threads, and there are at least as many threads as `packed` has elements. Neighbouring threads write neighbours. Loads of
#   `active` do not count, unless it is loaded more than twice for each element of `packed` plus 64 times for each of its rows.
# - Write `pays_after(active, n)`, a function of the host. It compares two ways to make k updates, and counts bytes of Q and of `packed`
#   in whole sectors:
#   - *by the list*: each update loads, for each free row, all sectors of Q in which a free unknown has its column;
#   - *packed*: at first, the same sectors are loaded once, and `packed` is stored; then each update loads all of `packed`.
#
#   It returns the smallest k for which the second way moves fewer bytes, or `np.inf` if there is none: 3 for the unknowns 0, 4 and 8 of 12.
#   n, the number of rows of Q, is a multiple of four, and `active` is not empty.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "pack"}
@cuda.jit
def pack_kernel(Q, active, packed):
    ### BEGIN SOLUTION
    m, width = packed.shape
    t = cuda.grid(1)
    if t < m * width:
        a, b = t // width, t % width
        packed[a, b] = Q[active[a], active[b]] if b < m else 0.0
    ### END SOLUTION


def pays_after(active, n):
    """Return the smallest number of iterations for which packing moves fewer bytes, or infinity."""
    ### BEGIN SOLUTION
    m = len(active)
    by_list, packed = m * len(np.unique(np.asarray(active) // 4)), m * ((m + 3) // 4)  # sectors
    if by_list <= packed:
        return np.inf
    return (by_list + packed) // (by_list - packed) + 1  # the smallest k with by_list + packed + k packed < k by_list
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_pack"}
def some(n, many):
    """Return the numbers of this many active unknowns, in rising order."""
    return np.sort(check.rng().choice(n, many, replace=False)).astype(np.int32)


def run_pack(n, many):
    """Profile the kernel; check hazards, result and inputs; return the profile and what is needed."""
    Q, active = random_problem(n)[0], some(n, many)
    width = (many + 3) // 4 * 4
    before, packed = (Q.copy(), active.copy()), np.full((many, width), np.nan)
    profile = simt.profile(pack_kernel[(packed.size + 127) // 128, 128], Q, active, packed)
    check.no_hazards(profile)
    expected = np.zeros((many, width))
    expected[:, :many] = before[0][np.ix_(active, active)]
    check.close(packed, expected, "packed")
    same((Q, active), before)
    of_list = profile.by_array.get("active")
    named = of_list is not None and of_list.global_load.unique_bytes <= active.nbytes
    check.that(named, "The parameters keep the names Q, active and packed.")
    often = of_list.global_load.thread_accesses <= 2 * packed.size + 64 * many
    check.that(often, "active is loaded more than twice for each element of packed plus 64 times for each of its rows.")
    # the limit is for loads of Q: what the list takes is added to both sides
    sectors = many * len(np.unique(active // 4)) + of_list.global_load.sectors / 1.15
    return profile, {"global_load.sectors": sectors, "global_store.sectors": packed.size / 4}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_pack", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.25}}
# The values and the sectors, for a third of the unknowns; no hazards.
with check.explained(pack_kernel, "Q", "active", "packed"):
    n = 4 * int(check.rng().integers(50, 70))
    profile, needed = run_pack(n, n // 6 * 2 + 1)
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_pack_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.15, "global_store.sectors": 1.25}}
# Hidden tests: few and many active unknowns, with the same limits; one alone; all of them; inputs must not change.
### BEGIN HIDDEN TESTS
for share in (0.25, 0.7):
    n = 4 * int(check.rng().integers(50, 60))
    profile, needed = run_pack(n, int(share * n))
    check.at_most(profile, limits, compulsory=needed)
for n, many in ((7, 1), (30, 30), (int(check.rng().integers(30, 60)), 17)):
    run_pack(n, many)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_pays_hidden", "points": 1}
# Hidden tests: pays_after, for scattered and for neighbouring unknowns.
### BEGIN HIDDEN TESTS
def bytes_moved(active, iterations):
    """Return the bytes moved with the list, and with a packed matrix."""
    m, sectors = len(active), 32 * len(active) * len(set((active // 4).tolist()))
    packed = 32 * m * -(-m // 4)
    return iterations * sectors, sectors + packed + iterations * packed


for many in (*check.rng().integers(5, 90, 4).tolist(), 1, 200):
    active = some(200, many)
    wins = (k for k in range(1, 5000) if bytes_moved(active, k)[1] < bytes_moved(active, k)[0])
    check.close(pays_after(active, 200), next(wins, np.inf), "what pays_after returns")
check.close(pays_after(np.arange(16, 60, dtype=np.int32), 200), np.inf, "what pays_after returns for neighbours")
check.close(pays_after(np.arange(0, 200, 2, dtype=np.int32), 200), 4, "what pays_after returns for every second unknown")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: find the waste (2 points)
#
# Many small problems are solved at once, a block of 32 threads for each. `Q` has the shape (problems, n, n) with n ≤ 32, and `h`, `x` and
# `new` have the shape (problems, n). The kernel below loads each Q once, keeps it in shared memory for all iterations, and computes
# updates without a shift. Its result is right, and it has no hazards.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "wasteful"}
@cuda.jit
def wasteful_kernel(Q, h, x, new, iterations):
    q = cuda.shared.array((32, 32), np.float64)
    now = cuda.shared.array(32, np.float64)
    p, i, n = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    if i < n:
        for j in range(n):
            q[j, i] = Q[p, j, i]
        now[i] = x[p, i]
        own_h, own_x = h[p, i], x[p, i]
    cuda.syncthreads()
    for _ in range(iterations):
        if i < n:
            above, below = max(-own_h, 0.0), max(own_h, 0.0)
            for j in range(n):
                entry, x_j = q[i, j], now[j]
                below += max(entry, 0.0) * x_j
                above += max(-entry, 0.0) * x_j
            own_x *= above / below
        cuda.syncthreads()
        if i < n:
            now[i] = own_x
        cuda.syncthreads()
    if i < n:
        new[p, i] = own_x


def print_traffic(kernel, problems=4, n=32, iterations=3):
    """Print what a launch moves: 4 problems of 32 unknowns, 3 iterations."""
    rng = np.random.default_rng(1)
    Q, h, x = rng.uniform(-1, 2, (problems, n, n)), rng.uniform(-1, 1, (problems, n)), np.ones((problems, n))
    Q = (Q + Q.transpose(0, 2, 1)) / 2
    profile = simt.profile(kernel[problems, 32], Q, h, x, np.empty((problems, n)), iterations)
    for name in ("global_load", "global_store"):
        counts = getattr(profile, name)
        print(f"{name}: accesses of threads {counts.thread_accesses:,}, requests {counts.requests:,}, sectors {counts.sectors:,}")
    for name in ("shared_load", "shared_store"):
        counts = getattr(profile, name)
        print(f"{name}: accesses of threads {counts.thread_accesses:,}, requests {counts.requests:,}, wavefronts {counts.wavefronts:,}")


print_traffic(wasteful_kernel)


# %% [markdown]
# Compare what is moved with what is needed: a request for 32 numbers of double precision takes two wavefronts if it meets no conflict,
# and a request in which all lanes want the same number takes one. Then write `batch_kernel`, which does the same work without the waste.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "batch"}
@cuda.jit
def batch_kernel(Q, h, x, new, iterations):
    ### BEGIN SOLUTION
    q = cuda.shared.array((32, 32), np.float64)
    now = cuda.shared.array(32, np.float64)
    p, i, n = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    if i < n:
        for j in range(n):
            q[j, i] = Q[p, j, i]
        own_h, own_x = h[p, i], x[p, i]
        now[i] = own_x
    cuda.syncthreads()
    for _ in range(iterations):
        if i < n:
            above, below = max(-own_h, 0.0), max(own_h, 0.0)
            for j in range(n):
                entry, x_j = q[j, i], now[j]  # down a column: the same numbers, and neighbours in neighbouring banks
                below += max(entry, 0.0) * x_j
                above += max(-entry, 0.0) * x_j
            own_x *= above / below
        cuda.syncthreads()
        if i < n:
            now[i] = own_x
        cuda.syncthreads()
    if i < n:
        new[p, i] = own_x
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_batch"}
def run_batch(problems, n, iterations):
    """Profile the kernel; check hazards, result and inputs; return the profile and what is needed."""
    drawn = [random_problem(n) for _ in range(problems)]
    Q, h = np.stack([Q for Q, _ in drawn]), np.stack([h for _, h in drawn])
    x, new = check.rng().uniform(0.5, 2, (problems, n)), np.full((problems, n), np.nan)
    before = [a.copy() for a in (Q, h, x)]
    profile = simt.profile(batch_kernel[problems, 32], Q, h, x, new, iterations)
    check.no_hazards(profile)
    expected = before[2].copy()
    for p in range(problems):
        for _ in range(iterations):
            expected[p] = updated(before[0][p], before[1][p], 0, expected[p])
    check.close(new, expected, "new", rtol=1e-10)
    same((Q, h, x), before)
    return profile, {
        "global_load.sectors": problems * (n * n + 2 * n) / 4,
        "global_store.sectors": problems * n / 4,
        # of Q two wavefronts for a row, and one for x_j; some more for a thread's own x
        "shared_load.wavefronts": problems * iterations * (3 * n + 4),
        "shared_store.wavefronts": problems * (2 * n + 2 * iterations + 4),
    }


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_batch", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05, "shared_load.wavefronts": 1.05, "shared_store.wavefronts": 1.05}, "steps": 12000}
# The values and the wavefronts, for problems of 32 unknowns; no hazards.
with check.explained(batch_kernel, "Q", "h", "x", "new"):
    profile, needed = run_batch(int(check.rng().integers(2, 5)), 32, 2)
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_batch_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05, "shared_load.wavefronts": 1.05, "shared_store.wavefronts": 1.05}, "steps": 12000}
# Hidden tests: other numbers of iterations and unknowns, with the same limits; one unknown alone; inputs must not change.
### BEGIN HIDDEN TESTS
for n, iterations in ((32, 1), (20, 2), (24, 3)):
    profile, needed = run_batch(int(check.rng().integers(1, 4)), n, iterations)
    check.at_most(profile, limits, compulsory=needed)
run_batch(3, 1, 2)
run_batch(2, int(check.rng().integers(5, 19)), 3)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 7: an update and F at the bound, any way you like (3 points)
#
# Most unknowns are 0, and stay 0 for many iterations. For each of these iterations, the update of the others is wanted, and F:
#
# $$ F = \sum_i x_i \left( \tfrac12 (Qx)_i + h_i \right). $$
#
# Find a way to store what is needed, and a kernel that reads it once for Q⁺x, Q⁻x and F together, and moves at most 1.1 times what the
# bound says: for m unknowns that are not 0, m² entries of Q, and m elements each of x, h and shift, of eight bytes each.
#
# - `prepare(Q, h, shift, active)`, a function of the host, gets the list of the unknowns that are not 0, in rising order. It returns a
#   pair: the number of threads that you want, at most 64 for each unknown, and a list with as many arrays of numbers as you like. It may take its
#   time.
# - The kernel `any_way_kernel` gets the arrays of your list, in their order, and then `x`, `new` and `F`, which must be the names of its
#   last three parameters. Blocks have 128 threads, and there are as many blocks as your number of threads needs.
# - `x` and `new` have an element for each unknown, of zeros, too; `F` is an array with one element. `new` and `F` are 0 before the
#   launch. The results must be those of a computation in double precision, and all unknowns in `active` have x_i > 0.
# - The bound is for all loads together; an atomic operation counts as a load and as a store. Each unknown in `active` may take a sector
#   of stores for `new`, and each warp one for F.
#
# What do 32 neighbours take if they do not begin where a sector begins? How often is x loaded, and where is it scattered?

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "any_way"}
def prepare(Q, h, shift, active):
    """Return the number of threads, and a list of arrays for the kernel."""
    ### BEGIN SOLUTION
    m = len(active)
    packed = np.zeros((m, (m + 3) // 4 * 4))  # each row begins where a sector begins
    packed[:, :m] = Q[np.ix_(active, active)]
    return m, [packed, h[active], shift[active], np.asarray(active, np.int32)]
    ### END SOLUTION


# @cuda.jit
# def any_way_kernel(…, x, new, F):
### BEGIN SOLUTION
@cuda.jit
def any_way_kernel(packed, h, shift, active, x, new, F):
    tile, sums = cuda.shared.array(128, np.float64), cuda.shared.array(128, np.float64)
    a, t, m = cuda.grid(1), cuda.threadIdx.x, h.size
    plus, minus, own_x, part = 0.0, 0.0, 0.0, 0.0
    for first in range(0, m, 128):
        if first + t < m:
            tile[t] = x[active[first + t]]
        cuda.syncthreads()
        if a < m:
            if a - first == t:
                own_x = tile[t]
            for k in range(min(128, m - first)):
                q = packed[first + k, a]
                plus += max(q, 0.0) * tile[k]
                minus += max(-q, 0.0) * tile[k]
        cuda.syncthreads()
    if a < m:
        own_h, shifted = h[a], shift[a] * own_x
        new[active[a]] = own_x * (max(-own_h, 0.0) + minus + shifted) / (max(own_h, 0.0) + plus + shifted)
        part = own_x * (0.5 * (plus - minus) + own_h)
    sums[t] = part
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(F, 0, sums[0])
### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_any_way"}
def run_any_way(n, many):
    """Profile the kernel; check hazards, results and x; return the profile and what is needed."""
    Q, h = random_problem(n)
    shift, active, x = negative_sums(Q), some(n, many), np.zeros(n)
    x[active] = 10.0 ** check.rng().uniform(-2, 0.5, many)
    answer = prepare(Q.copy(), h.copy(), shift.copy(), active.copy())
    pair = isinstance(answer, (list, tuple)) and len(answer) == 2 and isinstance(answer[1], (list, tuple))
    check.that(pair, "prepare must return two things: the number of threads and a list of arrays.")
    threads, arrays = int(answer[0]), [np.asarray(array) for array in answer[1]]
    check.that(0 < threads <= 64 * n, "prepare asks for no thread, or for more than 64 per unknown.")
    before, new, F = x.copy(), np.zeros(n), np.zeros(1)
    profile = simt.profile(any_way_kernel[(threads + 127) // 128, 128], *arrays, x, new, F)
    check.no_hazards(profile)
    check.close(new, updated(Q, h, shift, before), "new", atol=1e-13)
    check.close(F, [before @ (Q @ before / 2 + h)], "F", rtol=1e-11)
    check.that((x == before).all(), "x must stay as it is.")
    of_x = profile.by_array.get("x")
    check.that(of_x is not None and of_x.global_load.unique_bytes <= x.nbytes, "The last three parameters keep the names x, new and F.")
    warps = 4 * ((threads + 127) // 128)
    return profile, {"global_load.sectors": (many * many + 3 * many) / 4, "global_store.sectors": many + warps}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.0}, "steps": 12000}
# The values and the traffic: of 600 unknowns, 128 are not 0; no hazards.
with check.explained(any_way_kernel, "x", "new", "F"):
    profile, needed = run_any_way(600, 128)
    check.at_most(profile, limits, compulsory=needed)
    check.in_each_order(run_any_way)(132, 130)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.0}, "steps": 12000}
# Hidden tests: other numbers of unknowns that are not 0, more than one block of them, with the same limits; no hazards; x must not change.
### BEGIN HIDDEN TESTS
for least in (55, 70):
    profile, needed = run_any_way(600, 2 * int(check.rng().integers(least, least + 8)) + 1)
    check.at_most(profile, limits, compulsory=needed)
check.in_each_order(run_any_way)(140, 135)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way_few_hidden", "points": 1} course={"limits": {"global_load.sectors": 3.0, "global_store.sectors": 2.0}, "steps": 12000}
# Hidden tests: few unknowns that are not 0, one alone, and all of them; traffic up to three times the bound and 16 sectors more.
### BEGIN HIDDEN TESTS
for n, many in ((50, 1), (40, int(check.rng().integers(5, 12))), (int(check.rng().integers(65, 90)), None)):
    profile, needed = check.in_each_order(run_any_way)(n, n if many is None else many)
    needed["global_load.sectors"] += 16 / limits["global_load.sectors"]
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS
