# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 7: s-step conjugate gradients'
# ---

# %% [markdown]
# # Exercise 7: s-step conjugate gradients
#
# **At the Speed of Memory.** This exercise belongs to lecture 7. It takes about ninety minutes and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet. Times are
#   never judged.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | products for a block, with a preconditioner | 3 |
# | 2 | all sums of a round in one kernel | 4 |
# | 3 | scalar work for an s that falls | 4 |
# | 4 | another basis | 3 |
# | 5 | find the fault by its numbers | 2 |
# | 6 | the update of a block, any way you like | 4 |
#
# In all parts a *block* is an array of 2 s rows. Its first s rows hold the vectors of a round, $Q_0, \dots, Q_{s-1}$; row s + j holds $A Q_j$. Each
# vector is a row, so neighbouring points of a vector are neighbours in memory. Everything counts from 0. Numbers are in double precision where
# nothing else is said.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import re

import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: products for a block, with a preconditioner (3 points)
#
# The unknowns are the points of a grid of `ny` × `nx`. The operator A multiplies each point by a number of its own, `d[y, x]`, and subtracts
# its four neighbours; outside the grid there are zeros. The preconditioner is Jacobi's: it divides each point by `d[y, x]`. So
#
# $$ (A q)_{y,x} = d_{y,x}\,q_{y,x} - q_{y-1,x} - q_{y+1,x} - q_{y,x-1} - q_{y,x+1}, \qquad Q_{j+1} = \frac{A Q_j}{d}. $$
#
# Write `power_kernel(d, j, block)`, which makes the product of $Q_j$ and, in the same sweep, the next vector. Here `block` has the shape
# (2 s, ny, nx): from `block[j]` the kernel computes `block[s + j]`, and `block[j + 1]` too, if this is a vector of the first half. The kernel is launched for
# j = 0, 1, …, s − 1, one launch after the other, with a thread for each point and possibly some more; `cuda.grid(2)` gives a thread its x and y,
# in this order. A thread loads nothing twice, and nothing that it has just computed.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "power"}
@cuda.jit
def power_kernel(d, j, block):
    ### BEGIN SOLUTION
    x, y = cuda.grid(2)
    s = block.shape[0] // 2
    ny, nx = d.shape
    if x < nx and y < ny:
        diagonal = d[y, x]
        product = diagonal * block[j, y, x]
        if y > 0:
            product -= block[j, y - 1, x]
        if y + 1 < ny:
            product -= block[j, y + 1, x]
        if x > 0:
            product -= block[j, y, x - 1]
        if x + 1 < nx:
            product -= block[j, y, x + 1]
        block[s + j, y, x] = product
        if j + 1 < s:  # row s would be the product of the first vector
            block[j + 1, y, x] = product / diagonal
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_power"}
def apply(d, q):
    """Return A q."""
    padded = np.pad(q, 1)
    return d * q - padded[:-2, 1:-1] - padded[2:, 1:-1] - padded[1:-1, :-2] - padded[1:-1, 2:]


def run_powers(s, shape):
    """Profile the launches for j = 0, …, s - 1; check hazards and the block after each; return the profiles."""
    ny, nx = shape
    d, block = check.rng().uniform(5, 7, shape), np.full((2 * s, ny, nx), np.nan)
    block[0] = check.rng().uniform(-1, 1, shape)
    expected, given, profiles = block.copy(), d.copy(), []
    for j in range(s):
        profiles.append(simt.profile(power_kernel[((nx + 31) // 32, (ny + 3) // 4), (32, 4)], d, j, block))
        check.no_hazards(profiles[-1])
        expected[s + j] = apply(given, expected[j])
        if j + 1 < s:
            expected[j + 1] = expected[s + j] / given
        check.that(np.isfinite(block[s + j]).all(), "After a launch, block[s + j] must hold the product at every point.")
        check.close(block[s + j], expected[s + j], "block[s + j]", atol=1e-12)
        others = [row for row in range(2 * s) if np.isfinite(expected[row]).all()]
        check.close(block[others], expected[others], "the block", atol=1e-12)
        rest = [row for row in range(2 * s) if row not in others]
        check.that(np.isnan(block[rest]).all(), "A launch must not write any other row of the block.")
        check.that((d == given).all(), "d must stay as it is.")
    return profiles


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power", "points": 1}
# Only the values: a round of three products on a grid of 8 × 32 points.
with check.explained(power_kernel, "d", "block"):
    run_powers(3, (8, 32))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_traffic", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_load.sectors": 1.0, "global_store.sectors": 1.0}}
# The traffic: six loads per point, fewer at the rim; two stores, and one in the last launch; neighbours are neighbours in a warp.
with check.explained(power_kernel, "d", "block"):
    ny, nx = 4 * int(check.rng().integers(2, 4)), 64
    for j, profile in enumerate(run_powers(2, (ny, nx))):
        points, rows = ny * nx, ny * nx // 32
        loads = 6 * points - 2 * (nx + ny)
        sectors = 6 * 8 * rows - 2 * 8 * (nx // 32) + 2 * (rows - ny)  # a warp's neighbours to the left begin in a ninth sector
        stores = (2 if j == 0 else 1) * points * 8 / 32
        needed = {"global_load.thread_accesses": loads, "global_load.sectors": sectors, "global_store.sectors": stores}
        check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_hidden", "points": 1}
# Hidden tests: other s, s = 1 too, and grids that do not fill the last block.
### BEGIN HIDDEN TESTS
run_powers(1, (5, 7))
run_powers(4, (int(check.rng().integers(5, 8)), int(check.rng().integers(33, 40))))
run_powers(2, (1, 3))
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: all sums of a round in one kernel (4 points)
#
# The cells of a mesh have different volumes, so a dot product of two vectors is a sum with weights: $\langle u, v \rangle = \sum_i w_i\,u_i\,v_i$. A round needs 2 s + 1 of them,
# and they all belong into one reduction:
#
# $$ \langle Q_k, r \rangle \text{ and } \langle Q_k, A Q_{s-1} \rangle \text{ for } k = 0, \dots, s - 1, \text{ and } \langle r, r \rangle. $$
#
# Write `sums_kernel(w, r, block, parts)`. Here `block` has the shape (2 s, n), with any s. Each warp adds up the products of its own 32 points and stores its part of
# each sum once: warp number `cuda.grid(1) // 32` fills its column of `parts`. Row k of `parts` belongs to $\langle Q_k, r \rangle$, row s + k to
# $\langle Q_k, A Q_{s-1} \rangle$, and the last row to $\langle r, r \rangle$. The host adds up the columns.
#
# - Blocks have 64 threads. There is at least one thread per point. `parts` has a column for each warp that has a point, and no other.
# - Every number of `w`, `r` and `block` that is needed is loaded once.
# - `w`, `r` and `block` may be in single precision. Then the products and sums are still in double precision: convert what you load, with `np.float64(…)`.
# - `cuda.shfl_down_sync(0xFFFFFFFF, value, d)` gives a lane the value of the lane that stands d further. All 32 lanes of a warp have to call it.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "sums"}
@cuda.jit
def sums_kernel(w, r, block, parts):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    s, n = block.shape[0] // 2, r.size
    residual, last, weight = 0.0, 0.0, 0.0
    if i < n:
        weight = np.float64(w[i])
        residual = np.float64(r[i])
        last = np.float64(block[2 * s - 1, i])
    for k in range(s + 1):
        with_r, with_last = 0.0, 0.0
        if i < n:
            mine = residual  # for the last row
            if k < s:
                mine = np.float64(block[k, i])
            with_r = weight * mine * residual
            with_last = weight * mine * last
        for distance in (16, 8, 4, 2, 1):
            with_r += cuda.shfl_down_sync(0xFFFFFFFF, with_r, distance)
            with_last += cuda.shfl_down_sync(0xFFFFFFFF, with_last, distance)
        if i % 32 == 0 and i < n:
            if k < s:
                parts[k, i // 32] = with_r
                parts[s + k, i // 32] = with_last
            else:
                parts[2 * s, i // 32] = with_r
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_sums"}
@check.again_in_doubt
def run_sums(s, n, dtype="float64"):
    """Profile the kernel; check hazards, results and inputs; return the profile and what is needed."""
    w = check.rng().uniform(0.5, 2, n).astype(dtype)
    r = check.rng().uniform(-1, 1, n).astype(dtype)
    block = check.rng().uniform(-1, 1, (2 * s, n)).astype(dtype)
    warps = (n + 31) // 32
    before, parts = (w.copy(), r.copy(), block.copy()), np.full((2 * s + 1, warps), np.nan)
    profile = simt.profile(sums_kernel[(n + 63) // 64, 64], w, r, block, parts)
    check.no_hazards(profile)
    terms = np.zeros((2 * s + 1, 32 * warps))
    wide_w, wide_r, wide = (array.astype(np.float64) for array in before)
    terms[:s, :n], terms[s:-1, :n], terms[-1, :n] = wide_w * wide[:s] * wide_r, wide_w * wide[:s] * wide[-1], wide_w * wide_r**2
    check.close(parts, terms.reshape(2 * s + 1, warps, 32).sum(axis=2), "parts", rtol=1e-11, atol=1e-12)
    same = all((now == then).all() for now, then in zip((w, r, block), before, strict=True))
    check.that(same, "w, r and block must stay as they are.")
    return profile, {"global_load.sectors": (s + 3) * n * w.itemsize / 32, "global_store.thread_accesses": parts.size}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sums", "points": 1}
# Only the values: s = 2, and 64 points.
with check.explained(sums_kernel, "w", "r", "block", "parts", atomics=False):
    profile, needed = run_sums(2, 64)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sums_traffic", "points": 1} course={"limits": {"global_load.sectors": 1.02, "global_store.thread_accesses": 1.0}}
# The traffic: w, r, s vectors and one product are loaded once; each part is stored once.
with check.explained(sums_kernel, "w", "r", "block", "parts", atomics=False):
    profile, needed = run_sums(int(check.rng().integers(3, 6)), 64 * int(check.rng().integers(2, 5)))
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sums_hidden", "points": 1}
# Hidden tests: s = 1 and larger s; numbers of points that do not fill the last warp or the last block.
### BEGIN HIDDEN TESTS
run_sums(1, 1)
run_sums(3, 65)
run_sums(8, int(check.rng().integers(97, 127)))
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sums_single_hidden", "points": 1}
# Hidden tests: w, r and block in single precision, sums in double precision.
### BEGIN HIDDEN TESTS
run_sums(3, 64 * int(check.rng().integers(1, 3)), "float32")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: scalar work for an s that falls (4 points)
#
# A solver by moments begins with a large s. When W is no longer positive definite, it goes on with a smaller s, and does not want to lose the directions that
# it has. So the round before had $\tilde s$ vectors, the new one has $s \le \tilde s$. From the round before there are $\alpha$, with $\tilde s$ numbers, and $\tilde W = \tilde P^T A \tilde P$.
# The new moments $\mu_0, \dots, \mu_{2s-1}$ have come by a reduction, for the monomial basis without a preconditioner: $\mu_k = r^T A^k r$.
#
# - In the first round, $W_{i,j} = \mu_{i+j+1}$ and $W \alpha = (\mu_0, \dots, \mu_{s-1})$. Write `first_round(mu)`, which returns `alpha, W`.
# - In a later round, the new directions are $P = Q + \tilde P \beta$, in terms of columns. They have to be conjugate to the old ones: $\tilde P^T A P = 0$. So
#   $\tilde W \beta = C$ with $C = -\tilde P^T A Q$, and $W = P^T A P$ follows from the moments, C and $\beta$. Write `next_round(mu, alpha, W)`, which takes the $\alpha$ and $\tilde W$ of the round
#   before and returns the new `alpha, beta, W`.
#
# How C follows from the moments, you know for $s = \tilde s$. Now C has $\tilde s$ rows and s columns. As before, its entries depend on i + j alone, $C_{i,j} = -t_{i+j}$, and
# t begins with zeros, because r is orthogonal to the old directions. Which is now the first t that is not zero, and how many follow? Multiply $r = \tilde r - A \tilde P \alpha$
# by $Q_i^T$ to derive them: $Q_i^T \tilde r = 0$ for $i < \tilde s$.
#
# Two demands more. W is symmetric to the last digit. And if W is not positive definite, both functions raise an error instead of returning anything, for example a `ValueError`, whose
# message contains the new s in this form: `s = 3`. NumPy's own errors do not name it: catch them, or look at W before.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "scalar_work"}
def first_round(mu):
    """Return alpha and W of the first round, from 2 s moments."""
    ### BEGIN SOLUTION
    W = hankel(mu)
    return steps(W, mu), W
    ### END SOLUTION


def next_round(mu, alpha, W):
    """Return alpha, beta and W of a round, from its 2 s moments, and alpha and W of the round before."""
    ### BEGIN SOLUTION
    s, before = len(mu) // 2, len(alpha)
    t = np.zeros(before + s - 1)
    for i in range(s):
        known = sum(t[before - 1 + j] * alpha[before - 1 - i + j] for j in range(i))
        t[before - 1 + i] = -(mu[i] + known) / alpha[before - 1]
    C = -t[np.add.outer(np.arange(before), np.arange(s))]
    beta = np.linalg.solve(W, C)
    new = hankel(mu) - C.T @ beta
    new = (new + new.T) / 2  # rounding errors of C.T @ beta are not symmetric
    return steps(new, mu), beta, new


def hankel(mu):
    s = len(mu) // 2
    return np.array([[mu[i + j + 1] for j in range(s)] for i in range(s)])


def steps(W, mu):
    s = len(W)
    if not np.linalg.eigvalsh(W)[0] > 0:
        raise ValueError(f"W is not positive definite, for s = {s}")
    return np.linalg.solve(W, mu[:s])
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "check_scalar_work"}
def definite(n, lo, hi):
    """Return a random symmetric matrix with eigenvalues from lo to hi."""
    V = np.linalg.qr(check.rng().standard_normal((n, n)))[0]
    return (V * np.linspace(lo, hi, n)) @ V.T


def powers(A, r, s):
    """Return the rows r, A r, …, of which there are s."""
    rows = [r]
    for _ in range(s - 1):
        rows.append(A @ rows[-1])
    return np.array(rows)


def moments(A, r, s):
    """Return the 2 s moments of r."""
    Q = powers(A, r, s)
    return np.concatenate([Q @ r, Q @ (A @ Q[-1])])


def directly(A, r, s, P=None):
    """Return alpha, beta, W and the directions of a round as rows, from all vectors instead of moments."""
    Q = new = powers(A, r, s)
    beta = None
    if P is not None:
        beta = -np.linalg.solve(P @ A @ P.T, P @ A @ Q.T)
        new = Q + beta.T @ P
    W = new @ A @ new.T
    return np.linalg.solve(W, Q @ r), beta, W, new


def check_parts(found, names):
    """Check that an answer is a tuple of as many arrays."""
    many = isinstance(found, (tuple, list)) and len(found) == len(names)
    check.that(many, "A function of part 3 does not return what the text says: alpha, W or alpha, beta, W.")
    return [np.asarray(part) for part in found]


def check_rounds(*steps):
    """Check the scalar work of rounds with these s, one after the other, on a random system."""
    A, r, P = definite(30, 1, 2), check.rng().standard_normal(30), None
    alpha = W = None
    for s in steps:
        mu, expected = moments(A, r, s), directly(A, r, s, P)
        if P is None:
            alpha, W = check_parts(first_round(mu), ("alpha", "W"))
        else:
            alpha, beta, W = check_parts(next_round(mu, alpha, W), ("alpha", "beta", "W"))
            check.close(beta, expected[1], "beta", rtol=0, atol=1e-4 * abs(expected[1]).max())
        scale = abs(expected[2]).max()
        check.close(W, expected[2], "W", rtol=0, atol=1e-6 * scale)
        check.close(alpha, expected[0], "alpha", rtol=0, atol=1e-4 * abs(expected[0]).max())
        P = expected[3]
        r = r - A @ P.T @ expected[0]
        alpha, W = expected[0], expected[2]


def s_refused(function, *arguments):
    """Return the s that the error of a function names; None if there is no error."""
    try:
        function(*map(np.array, arguments))
    except Exception as error:
        named = re.search(r"\bs = (\d+)", str(error))
        if named is None:
            raise  # an error that says nothing of s
        return int(named[1])
    return None


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_first_round", "points": 1}
# The first round, for s = 1, 2 and 3; two moments of a matrix that is not positive definite: does the error name s?
for s in (1, 2, 3):
    check_rounds(s)
check.that(s_refused(first_round, [1.0, -2.0]) == 1, "first_round must raise an error that names s.")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_next_round", "points": 1}
# Later rounds with the same s as before.
check_rounds(1, 1, 1)
check_rounds(3, 3)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_smaller_hidden", "points": 1}
# Hidden tests: later rounds with the same s as before and with smaller ones.
### BEGIN HIDDEN TESTS
for steps_of_rounds in ((2, 2, 1), (3, 1), (4, 2), (3, 2)):
    check_rounds(*steps_of_rounds)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_definite_hidden", "points": 1}
# Hidden tests: W that is not positive definite, in the first and in later rounds; W is symmetric to the last digit.
### BEGIN HIDDEN TESTS
check.that(s_refused(first_round, [1.0, 2.0, 5.0, 8.0]) == 2, "first_round must raise an error that names s.")
check.that(s_refused(first_round, [1.0, 2.0, 4.0, 8.0 - 1e-6]) == 2, "first_round must raise an error that names s.")
check.that(s_refused(next_round, [0.25, 0.01], [0.5], [[2.0]]) == 1, "next_round must raise an error that names s.")
A = definite(20, 1, 2)
Q = powers(A, check.rng().standard_normal(20), 3)
before = directly(A, Q[0], 3)
gone_far = moments(A, 3 * check.rng().standard_normal(20), 2)  # of a residual that does not belong to the round before
gone_far[1] = 0.1 * gone_far[0]
check.that(s_refused(next_round, gone_far, before[0], before[2]) == 2, "next_round must raise an error that names s.")
for s in (2, 3):
    A, r = definite(30, 1, 2), check.rng().standard_normal(30)
    alpha, _, W, P = directly(A, r, 3)
    r = r - A @ P.T @ alpha
    found, expected = next_round(moments(A, r, s), alpha, W), directly(A, r, s, P)[2]
    found = check_parts(found, ("alpha", "beta", "W"))
    check.close(found[2], expected, "W", rtol=0, atol=1e-6 * abs(expected).max())
    check.that((found[2] == found[2].T).all(), "W must be symmetric to the last digit.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: another basis (3 points)
#
# Powers of A turn ever more into one direction. The Chebyshev basis for the interval from `lo` to `hi`, with centre $c$ and half-width $h$, is
#
# $$ S_0 = r, \qquad S_1 = \frac{A S_0 - c\,S_0}{h}, \qquad S_{j+1} = 2\,\frac{A S_j - c\,S_j}{h} - S_{j-1}. $$
#
# - `basis(A, r, s, lo, hi)` returns an array with s + 1 rows, $S_0, \dots, S_s$. A is a matrix as an array of NumPy.
# - A round needs the products $A S_0, \dots, A S_{s-1}$, too. Nobody has to store them: they are combinations of the rows that are there. `change(s, lo, hi)` returns the array B with s + 1 rows
#   and s columns that says which: $A S_j = \sum_i B_{i,j}\,S_i$.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "chebyshev"}
def basis(A, r, s, lo, hi):
    """Return S_0, …, S_s as rows."""
    ### BEGIN SOLUTION
    c, h = (lo + hi) / 2, (hi - lo) / 2
    S = [r, (A @ r - c * r) / h]
    for _ in range(s - 1):
        S.append(2 * (A @ S[-1] - c * S[-1]) / h - S[-2])
    return np.array(S)
    ### END SOLUTION


def change(s, lo, hi):
    """Return B, of shape (s + 1, s): A S_j is the sum of B[i, j] S_i."""
    ### BEGIN SOLUTION
    c, h = (lo + hi) / 2, (hi - lo) / 2
    B = np.zeros((s + 1, s))
    for j in range(s):
        B[j, j] = c
        B[j + 1, j] = h if j == 0 else h / 2
        if j > 0:
            B[j - 1, j] = h / 2
    return B
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "check_chebyshev"}
def condition(S):
    """Return the condition of the rows of S, each scaled to length 1."""
    return np.linalg.cond(S / np.linalg.norm(S, axis=1)[:, None])


def polynomials(eigenvalues, s, lo, hi):
    """Return the Chebyshev polynomials of degree 0 to s on [lo, hi], at these places."""
    angle = np.arccos(np.clip((2 * eigenvalues - lo - hi) / (hi - lo), -1, 1))
    return np.cos(np.arange(s + 1)[:, None] * angle)


def check_basis(s, lo, hi, n=30):
    """Check the basis of a random matrix with eigenvalues between lo and hi; return the matrix and the basis."""
    eigenvalues = np.linspace(lo, hi, n)
    V = np.linalg.qr(check.rng().standard_normal((n, n)))[0]
    A, parts = (V * eigenvalues) @ V.T, check.rng().uniform(1, 2, n)
    S = np.asarray(basis(A, V @ parts, s, lo, hi))
    check.close(S, (polynomials(eigenvalues, s, lo, hi) * parts) @ V.T, "the basis", rtol=0, atol=1e-8)
    return A, S


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_basis", "points": 1}
# The basis for s = 1 and s = 4. Print condition(S) and condition(powers(A, S[0], 5)) to compare.
check_basis(1, 0.5, 3.0)
A, S = check_basis(4, 0.5, 3.0)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_basis_hidden", "points": 1}
# Hidden tests: larger s, other intervals; the condition of the basis is below 100, that of the powers above a million.
### BEGIN HIDDEN TESTS
for s, lo in ((8, float(check.rng().uniform(0.1, 0.2))), (13, 0.1)):
    A, S = check_basis(s, lo, 2.0)
    check.that(condition(S) < 100, "The condition of the basis is not below 100.")
    check.that(s == 8 or condition(powers(A, S[0], s + 1)) > 1e6, "The powers are no test.")
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_change_hidden", "points": 1}
# Hidden tests: change, for s = 1 and larger s; the products are those with A.
### BEGIN HIDDEN TESTS
for s, lo, hi in ((1, 0.5, 3.0), (2, 0.0, 4.0), (5, float(check.rng().uniform(0.1, 0.2)), 2.0)):
    B = np.asarray(change(s, lo, hi))
    check.that(B.shape == (s + 1, s), "change must return an array with s + 1 rows and s columns.")
    eigenvalues = np.linspace(lo, hi, 20)
    T = polynomials(eigenvalues, s, lo, hi)
    check.close(B.T @ T, eigenvalues * T[:s], "the products", rtol=0, atol=1e-12)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: find the fault by its numbers (2 points)
#
# The solver below is right, but for one fault in `directions`, which makes the new block, $P = Q + \tilde P \beta$ and $A P$, from the old and the fresh one. Its table shows for each round the residual
# that the solver updates, and the one that is true. Which s hide the fault? In which round do the two residuals part, and what, then, was still right in that round: x, or r?
# The answers are for you: they lead to the fault.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "faulty"}
def directions(old, fresh, beta):
    """Return the new block: row j of each half is that of fresh, and what beta adds of the rows of old."""
    s, new = len(beta), fresh.copy()
    for j in range(s):
        for i in range(s):
            new[j] += beta[i, j] * old[i]
            new[s + j] += beta[j, i] * old[s + i]
    return new


def solve(A, b, s, rounds, directions):
    """Do some rounds of the s-step method, all sums taken directly; return updated and true residuals after each."""
    x, r, old, residuals = np.zeros(len(b)), b.copy(), None, []
    for _ in range(rounds):
        Q = powers(A, r, s)
        fresh = np.concatenate([Q, Q @ A])
        if old is not None:
            beta = -np.linalg.solve(old[:s] @ old[s:].T, old[s:] @ Q.T)
            fresh = directions(old, fresh, beta)
        alpha = np.linalg.solve(fresh[:s] @ A @ fresh[:s].T, Q @ r)
        x, r, old = x + alpha @ fresh[:s], r - alpha @ fresh[s:], fresh
        residuals.append((np.linalg.norm(r), np.linalg.norm(b - A @ x)))
    return residuals


def print_residuals(directions):
    """Print the residuals of four rounds, for s = 1, 2 and 3."""
    A, b = np.diag(np.linspace(1, 3, 30)), np.random.default_rng(1).standard_normal(30)
    for s in (1, 2, 3):
        for number, (updated, true) in enumerate(solve(A, b, s, 4, directions)):
            print(f"s = {s}, round {number}: updated residual {updated:.2e}, true residual {true:.2e}")


print_residuals(directions)

# %% [markdown]
# Write `repaired(old, fresh, beta)`, which does what `directions` should do. Its arguments must stay as they are.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "repaired"}
def repaired(old, fresh, beta):
    """Return the new block, of the old and the fresh one."""
    ### BEGIN SOLUTION
    s = len(beta)
    return fresh + np.concatenate([beta.T @ old[:s], beta.T @ old[s:]])
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_repaired", "points": 1}
# After four rounds with s = 2, both residuals are the same, and smaller than the first. New directions are conjugate to the old ones.
A, b, blocks = definite(30, 1, 3), check.rng().standard_normal(30), []


def noted(old, fresh, beta):
    blocks.append((old, repaired(old, fresh, beta)))
    return blocks[-1][1]


residuals = solve(A, b, 2, 4, noted)
updated, true = residuals[-1]
check.close(updated, true, "the updated residual", rtol=1e-4)
check.that(true < 0.1 * residuals[0][1], "The true residual does not fall.")
for old, new in blocks:
    products, size = new[:2] @ A @ old[:2].T, abs(old[:2] @ A @ old[:2].T).max()
    check.close(products, np.zeros((2, 2)), "the products of new directions with A times old ones", atol=1e-9 * size)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_repaired_hidden", "points": 1}
# Hidden tests: the values of the new block for s from 1 to 5; arguments must not change.
### BEGIN HIDDEN TESTS
for s in range(1, 6):
    n = int(check.rng().integers(20, 40))
    old, fresh = check.rng().uniform(-1, 1, (2, 2 * s, n))
    beta = check.rng().uniform(-1, 1, (s, s))
    half = np.einsum("ij,hin->hjn", beta, old.reshape(2, s, n))
    expected = fresh + half.reshape(2 * s, n)
    check.close(repaired(old, fresh, beta), expected, "the new block", atol=1e-12)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: the update of a block, any way you like (4 points)
#
# At the end of a round, the new block is made in place of the fresh one, and x and r advance. Here s is 4:
#
# $$ P_j = Q_j + \sum_i \beta_{i,j}\,\tilde P_i, \qquad A P_j = A Q_j + \sum_i \beta_{i,j}\,A \tilde P_i, $$
#
# $$ x \mathrel{+}= \sum_j \alpha_j P_j, \qquad r \mathrel{-}= \sum_j \alpha_j\,A P_j. $$
#
# Write `update_kernel(beta, alpha, old, fresh, x, r)`. The blocks `old` and `fresh` have 8 rows and n columns, `beta` is 4 × 4, `alpha` has 4 numbers. The kernel overwrites `fresh` with the new block, and
# x and r. It is launched in blocks of 128 threads, with at least one thread per point. The rest is up to you.
#
# The bound: 18 vectors are loaded and 10 are stored; each result is stored once. Beyond it, a kernel within 1.25 times the sectors of the loads gets a point, and a kernel within 1.1 times another one.
# Remember that a number which all threads of a warp read costs each warp a request and a sector, even if all warps read the same. Local memory is not allowed, as in all tests.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "update"}
@cuda.jit
def update_kernel(beta, alpha, old, fresh, x, r):
    ### BEGIN SOLUTION
    coefficients = cuda.shared.array((4, 4), np.float64)
    lengths = cuda.shared.array(4, np.float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 16:
        coefficients[t // 4, t % 4] = beta[t // 4, t % 4]
    if t < 4:
        lengths[t] = alpha[t]
    cuda.syncthreads()
    if i < x.size:
        for half in range(2):
            first, second = old[4 * half, i], old[4 * half + 1, i]
            third, fourth = old[4 * half + 2, i], old[4 * half + 3, i]
            moved = 0.0
            for j in range(4):
                new = fresh[4 * half + j, i]
                new += coefficients[0, j] * first + coefficients[1, j] * second
                new += coefficients[2, j] * third + coefficients[3, j] * fourth
                fresh[4 * half + j, i] = new
                moved += lengths[j] * new  # the new row is in a register
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_update"}
@check.again_in_doubt
def run_update(n):
    """Profile the kernel; check hazards, results and inputs; return the profile and what is needed."""
    old, fresh = check.rng().uniform(-1, 1, (2, 8, n))
    beta, alpha, (x, r) = check.rng().uniform(-1, 1, (4, 4)), check.rng().uniform(-1, 1, 4), check.rng().uniform(-1, 1, (2, n))
    given = beta.copy(), alpha.copy(), old.copy()
    new = fresh + np.concatenate([beta.T @ old[:4], beta.T @ old[4:]])
    expected = new, x + alpha @ new[:4], r - alpha @ new[4:]
    profile = simt.profile(update_kernel[(n + 127) // 128, 128], beta, alpha, old, fresh, x, r)
    check.no_hazards(profile)
    for found, right, name in zip((fresh, x, r), expected, ("fresh", "x", "r"), strict=True):
        check.close(found, right, name, atol=1e-12)
    same = all((now == then).all() for now, then in zip((beta, alpha, old), given, strict=True))
    check.that(same, "beta, alpha and old must stay as they are.")
    return profile, {"global_load.sectors": 18 * n * 8 / 32, "global_store.sectors": 10 * n * 8 / 32}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update", "points": 1}
# Only the values, on 128 points.
with check.explained(update_kernel, "beta", "alpha", "old", "fresh", "x", "r"):
    profile, needed = run_update(128)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_near", "points": 1} course={"limits": {"global_load.sectors": 1.25, "global_store.sectors": 1.1}}
# The sectors: loads within 1.25 times the bound.
with check.explained(update_kernel, "beta", "alpha", "old", "fresh", "x", "r"):
    profile, needed = run_update(128 * int(check.rng().integers(1, 4)))
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_bound", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# The sectors: loads within 1.1 times the bound.
with check.explained(update_kernel, "beta", "alpha", "old", "fresh", "x", "r"):
    profile, needed = run_update(128 * int(check.rng().integers(1, 4)))
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_update_hidden", "points": 1} course={"limits": {"global_load.thread_accesses": 2.0, "global_store.thread_accesses": 1.0}}
# Hidden tests: numbers of points that do not fill the last block, and no hazards; each result is stored once.
### BEGIN HIDDEN TESTS
for n in (1, int(check.rng().integers(33, 63)), int(check.rng().integers(129, 255))):
    profile, _ = run_update(n)
    threads = 128 * ((n + 127) // 128)  # those without a point may load numbers of beta for their warp
    needed = {"global_load.thread_accesses": 60 * threads, "global_store.thread_accesses": 10 * n}
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS
