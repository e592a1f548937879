# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 6: Permutations'
# ---

# %% [markdown]
# # Exercise 6: Permutations
#
# **At the Speed of Memory.** This exercise belongs to lecture 6. It takes about ninety minutes and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_restore(100)` or `run_permute_rows(50, 3)`. If something is wrong, a sentence says what.
# - Tests also check how much data a kernel moves: `limits` says by which factor it may exceed what is needed. And in
#   every launch they look for hazards, such as a thread that reads what another one may not have written yet. Times are
#   never judged.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | undo and combine permutations | 3 |
# | 2 | permute half of a symmetric matrix | 2 |
# | 3 | put two vectors back in order | 3 |
# | 4 | a Jacobi step with eight lanes per row | 4 |
# | 5 | swap without copying | 3 |
# | 6 | find the waste | 2 |
# | 7 | rows of very different lengths, any way you like | 3 |
#
# In all parts a permutation is a vector of integers `perm`, as in the lecture: `new[i] = old[perm[i]]`. Everything counts from 0. A
# matrix in CSR is three arrays, `indptr`, `indices` and `data`: the entries of row i are those from number `indptr[i]` up to, but not
# including, `indptr[i + 1]`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import re

import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: undo and combine permutations (3 points)
#
# Write two functions of the host, with NumPy. Each one returns a new vector of integers. Permutations have n entries.
#
# - `invert(perm)` returns the permutation that undoes `perm`: if `new = old[perm]`, then `old = new[invert(perm)]`. If `perm` holds a
#   wrong entry, the function raises an error instead, for example a `ValueError`. An entry `perm[i]` is wrong if it is none of 0, 1, …,
#   n − 1, or if the same number stands at an earlier place. Of all wrong entries, the message names the first one, beginning with its
#   place: `perm[4] is 9, but there are 8 elements`.
# - Two solvers hold the same vector `x` in different orders: one has `u = x[p]`, the other `v = x[q]`. `translate(p, q)` returns the
#   permutation r that turns one into the other: `v = u[r]`, whatever x is. Here, `p` and `q` have no wrong entries. No visible test
#   tries it: draw x, p and q at random, and compare `x[p][translate(p, q)]` with `x[q]`.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "permutations"}
def invert(perm):
    """Return the permutation that undoes perm; raise an error that names the first wrong entry."""
    ### BEGIN SOLUTION
    n = len(perm)
    inverse = np.full(n, -1)
    for place, number in enumerate(perm):
        if not 0 <= number < n:
            raise ValueError(f"perm[{place}] is {number}, but there are {n} elements")
        if inverse[number] >= 0:
            raise ValueError(f"perm[{place}] is {number}, as perm[{inverse[number]}] is")
        inverse[number] = place
    return inverse
    ### END SOLUTION


def translate(p, q):
    """Return r with v = u[r], where u = x[p] and v = x[q]."""
    ### BEGIN SOLUTION
    return invert(p)[q]  # u has x[q[i]] at the place where p holds q[i]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "check_permutations"}
def place_refused(perm):
    """Return the place that an error names first, such as 4 for perm[4]; None if there is no error."""
    said = None
    try:
        invert(perm)
    except Exception as error:
        said = str(error)
        kind = getattr(error, "kind", type(error).__name__)  # a report of the grader holds it
        if kind != "ValueError" and "perm[" not in said:
            raise  # an error that refuses nothing
    if said is None:
        return None
    place = re.search(r"perm\[(\d+)\]", said)
    check.that(place is not None, "The error of invert names no place: its message has to begin like perm[4] is 9.")
    return int(place[1])


def check_refused(perm, place):
    """Check that a permutation is refused with an error that names this place."""
    found = place_refused(np.array(perm))
    check.that(found is not None, "invert accepts a vector that is no permutation.")
    check.that(found == place, "The error of invert names another place than that of the first wrong entry.")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_invert", "points": 1}
# A permutation of four elements and one of ten, and vectors that are none.
check.close(invert(np.array([2, 0, 3, 1])), [1, 3, 0, 2], "the inverse")
check_refused([0, 4, 1, 2], 1)
check_refused([0, 1, 1, 2], 2)
perm = check.rng().permutation(10)
found = np.asarray(invert(perm))
check.that(found.shape == (10,), "invert must return a vector with as many elements as perm.")
check.close(found[perm], np.arange(10), "the inverse, read in the order of perm")
perm[3] = perm[0]
check_refused(perm, 3)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_invert_hidden", "points": 1}
# Hidden tests: longer permutations, and vectors with several wrong entries: too large, negative, repeated; perm must not change.
### BEGIN HIDDEN TESTS
n = int(check.rng().integers(20, 60))
perm = check.rng().permutation(n)
check.close(invert(perm), np.argsort(perm), "the inverse")
check.close(invert(np.array([0])), [0], "the inverse of a permutation of one element")
early, late = np.sort(check.rng().choice(np.arange(1, n), 2, replace=False)).tolist()
for first, second in ((n, perm[0]), (-1, n + 3), (perm[0], -2), (perm[early - 1], perm[0])):
    wrong = perm.copy()
    wrong[early], wrong[late] = first, second
    check_refused(wrong, early)
for first in (-1, n):
    check_refused([first, *perm[1:]], 0)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_translate_hidden", "points": 1}
# Hidden tests: translate, for the same and for different orders.
### BEGIN HIDDEN TESTS
n = int(check.rng().integers(20, 60))
p, q, x = check.rng().permutation(n), check.rng().permutation(n), check.rng().random(n)
for one, other in ((p, q), (q, p), (np.arange(n), q), (p, np.arange(n)), (p, p)):
    r = np.asarray(translate(one, other))
    check.that(r.shape == (n,) and r.dtype.kind in "iu", "translate must return a vector of integers, one for each element.")
    check.that(bool(((r >= 0) & (r < n)).all()), "translate must return a vector of integers from 0 to n - 1.")
    check.close(x[one][r], x[other], "v, from u and the result of translate")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: permute half of a symmetric matrix (2 points)
#
# A matrix A is symmetric: entry (i, j) and entry (j, i) are the same number. So only the entries with column ≥ row are stored, in CSR. A
# symmetric permutation gives the matrix B with
#
# $$ B_{i,j} = A_{\text{perm}[i],\,\text{perm}[j]}. $$
#
# Write `permute_symmetric(perm, indptr, indices, data)`, a function of the host, which returns the three arrays of B in the same form:
# only the entries with column ≥ row, and in each row the columns rise. An entry of A that comes to lie below the diagonal
# of B is not stored there; where is it stored? A may have empty rows, or no entry at all.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "permute_symmetric"}
def permute_symmetric(perm, indptr, indices, data):
    """Return indptr, indices and data of B; of A and B, only the entries with column ≥ row are stored."""
    ### BEGIN SOLUTION
    n = len(perm)
    inverse = np.empty(n, np.int64)
    inverse[perm] = np.arange(n)
    one, other = inverse[np.repeat(np.arange(n), np.diff(indptr))], inverse[indices]
    row, column = np.minimum(one, other), np.maximum(one, other)  # of an entry and its mirror image, the upper one
    order = np.lexsort((column, row))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    return indptr, column[order], data[order]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_permute_symmetric"}
def upper(dense):
    """Return the entries of a dense matrix on and above its diagonal, as indptr, indices and data of CSR."""
    rows, columns = np.nonzero(np.triu(dense))
    return np.searchsorted(rows, np.arange(len(dense) + 1)), columns, dense[rows, columns]


def symmetric(indptr, indices, data):
    """Return the symmetric dense matrix of which these entries are stored."""
    n = len(indptr) - 1
    dense = np.zeros((n, n))
    rows = np.repeat(np.arange(n), np.diff(indptr))
    np.add.at(dense, (rows, indices), data)
    return dense + dense.T - np.diag(dense.diagonal())


def check_csr(found):
    """Check that an answer is three vectors which describe a matrix in CSR; return them as arrays."""
    three = isinstance(found, (tuple, list)) and len(found) == 3
    check.that(three, "permute_symmetric must return three arrays: indptr, indices and data.")
    indptr, indices, data = map(np.asarray, found)
    integers = indptr.dtype.kind in "iu" and indices.dtype.kind in "iu"
    check.that(integers, "indptr and indices must be vectors of integers; NumPy makes floats of an empty list.")
    pointers = indptr.ndim == 1 and indptr.size > 1 and indptr[0] == 0 and bool((np.diff(indptr) >= 0).all())
    check.that(pointers, "indptr must begin with 0 and never fall.")
    check.that(indices.shape == data.shape == (indptr[-1],), "indptr must end with the number of entries.")
    inside = bool(((indices >= 0) & (indices < indptr.size - 1)).all())
    check.that(inside, "Each column must be one of 0, 1, …, n - 1.")
    return indptr, indices, data


def random_symmetric(n, share):
    """Return a random permutation and a random symmetric matrix with about this share of entries; some rows are empty."""
    dense = check.rng().uniform(1, 2, (n, n)) * (check.rng().random((n, n)) < share)
    dense[n // 2], dense[:, n // 2] = 0, 0
    return check.rng().permutation(n), np.triu(dense) + np.triu(dense, 1).T


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_permute_symmetric", "points": 1}
# The 3 × 3 matrix below, in the order 2, 0, 1, and a drawn one. Print B to compare: its first row is 6, 3, 5.
# Only the values of B are compared here: where they are stored is left to the hidden tests.
drawn = check.rng().integers(1, 9, (6, 6))
for dense, perm in (
    (np.array([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]]), np.array([2, 0, 1])),
    (1.0 * drawn + drawn.T, check.rng().permutation(6)),
):
    found = check_csr(permute_symmetric(perm, *upper(dense)))
    check.close(symmetric(*found), dense[perm][:, perm], "B")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_permute_symmetric_hidden", "points": 1}
# Hidden tests: larger matrices, with empty rows and without; no entry lies below the diagonal, and in each row the columns rise.
### BEGIN HIDDEN TESTS
for n, share in ((1, 1.0), (int(check.rng().integers(20, 40)), 0.3), (30, 0.05), (9, 1.0)):
    perm, dense = random_symmetric(n, share)
    indptr, indices, data = check_csr(permute_symmetric(perm, *upper(dense)))
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    check.that(bool((indices >= rows).all()), "An entry of B lies below the diagonal.")
    expected = upper(dense[perm][:, perm])
    check.close(indptr, expected[0], "indptr")
    check.close(indices, expected[1], "indices")
    check.close(data, expected[2], "data")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: put two vectors back in order (3 points)
#
# A solver worked in the new order. At its end it holds two vectors, `new_u` and `new_v`, and it wants both back in the old order, in `u` and
# `v`. It has `perm`, as integers of four bytes, but nobody has computed the inverse. So the threads read where neighbours are neighbours,
# and write wherever `perm` tells them: a scatter.
#
# Write `restore_kernel(perm, new_u, new_v, u, v)`. There may be more threads than elements. Each number, and each entry of `perm`,
# is loaded once. The compiler does not know whether `u` and `perm` share memory: what is still needed after a store, keep in a variable.
#
# Then count what the scattered side costs. `sectors(index, itemsize)` is a function of the host: thread t accesses element `index[t]` of
# an array whose elements have `itemsize` bytes, and which begins at the begin of a sector. A request is what the 32 threads of a warp access
# together, and the last warp may have fewer. For each request, count the different sectors that it touches; return the sum over all
# requests. The same number holds for a gather and for a scatter. Two examples to try: `sectors(np.arange(40), 8)` is 10, and
# `sectors(np.arange(40)[::-1] // 2, 4)` is 4.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "restore"}
@cuda.jit
def restore_kernel(perm, new_u, new_v, u, v):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < perm.size:
        place = perm[i]  # in a register: after a store to u, perm[i] would be loaded again
        u[place] = new_u[i]
        v[place] = new_v[i]
    ### END SOLUTION


def sectors(index, itemsize):
    """Return the number of sectors that the requests of all warps touch, if thread t accesses element index[t]."""
    ### BEGIN SOLUTION
    touched = np.asarray(index) * itemsize // 32
    return sum(len(np.unique(touched[first : first + 32])) for first in range(0, len(touched), 32))
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_restore"}
def vectors_to_restore(n, dtype="float64"):
    """Return a random permutation, two vectors in its order, and in the old one; arrays of NaN for the result."""
    perm = check.rng().permutation(n).astype(np.int32)
    old_u, old_v = check.rng().uniform(-1, 1, (2, n)).astype(dtype)
    return perm, old_u[perm], old_v[perm], old_u, old_v, np.full(n, np.nan, dtype), np.full(n, np.nan, dtype)


def run_restore(n, dtype="float64"):
    """Profile the kernel in blocks of 64 threads; check hazards, results and inputs; return the profile and perm."""
    perm, new_u, new_v, old_u, old_v, u, v = vectors_to_restore(n, dtype)
    before = perm.copy(), new_u.copy(), new_v.copy()
    profile = simt.profile(restore_kernel[(n + 63) // 64, 64], perm, new_u, new_v, u, v)
    check.no_hazards(profile)
    check.close(u, old_u, "u in the old order")
    check.close(v, old_v, "v in the old order")
    same = all((now == then).all() for now, then in zip((perm, new_u, new_v), before, strict=True))
    check.that(same, "perm, new_u and new_v must stay as they are.")
    return profile, perm


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_restore", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.thread_accesses": 1.0}}
# The values, and the traffic: perm and both vectors are read once, by neighbours; each result is written once; no hazards.
with check.explained(restore_kernel, "perm", "new_u", "new_v", "u", "v"):
    profile, perm = run_restore(64 * int(check.rng().integers(3, 9)))
    needed = {"global_load.sectors": perm.size * (4 + 8 + 8) / 32, "global_store.thread_accesses": 2 * perm.size}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_restore_hidden", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_store.thread_accesses": 1.0}}
# Hidden tests: numbers of elements that do not fill the last block, single precision; no hazards; inputs must not change.
### BEGIN HIDDEN TESTS
for n, dtype in ((1, "f8"), (33, "f8"), (int(check.rng().integers(65, 127)), "f4")):
    profile, perm = run_restore(n, dtype)
    needed = {"global_load.thread_accesses": 3 * n, "global_store.thread_accesses": 2 * n}
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sectors_hidden", "points": 1}
# Hidden tests: sectors, for permutations from orderly to random, elements of 4 and 8 bytes, and a last warp that is not full.
### BEGIN HIDDEN TESTS
@cuda.jit
def gather_kernel(index, x, y):
    i = cuda.grid(1)
    if i < index.size:
        y[i] = x[index[i]]


def sectors_counted(index, dtype):
    """Return the sectors that the interpreter counts for a gather with these indices."""
    x = np.zeros(index.max() + 1, dtype)
    profile = simt.profile(gather_kernel[(index.size + 63) // 64, 64], index, x, np.zeros(index.size, dtype))
    check.no_hazards(profile)
    return profile.by_array["x"].global_load.sectors


n = 4 * int(check.rng().integers(30, 60)) + 2
stride = np.arange(n).reshape(2, -1).T.ravel()
for index in (np.arange(n), np.arange(n)[::-1].copy(), stride, check.rng().permutation(n), check.rng().integers(0, 9, n)):
    for dtype in ("f8", "f4"):
        check.close(sectors(index, np.dtype(dtype).itemsize), sectors_counted(index, dtype), "sectors")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: a Jacobi step with eight lanes per row (4 points)
#
# The rows of a matrix are short: most have five to twelve entries. With a thread for each row, the lanes of a warp read at places that are
# far apart. With a warp for each row, most lanes have nothing to do. So eight neighbouring lanes share a row, and a warp has four rows.
#
# Write `jacobi_kernel(indptr, indices, data, b, x, new)`, which computes a step of Jacobi's method for each row:
#
# $$ \text{new}_i = \frac{1}{a_{i,i}} \Big( b_i - \sum_{j \neq i} a_{i,j}\,x_j \Big). $$
#
# Here the diagonal is not stored apart: the entry of row i with column i stands somewhere among the others of the row, and one of the eight
# lanes comes across it. The rows are the first ones of a larger matrix, so `x` is longer than `b` and `new`.
#
# - Blocks have 128 threads, and there are at least eight threads for each row: those with `cuda.grid(1) // 8 == i` share row i.
# - Each row has an entry on the diagonal. It may have no other, and it may have more than eight.
# - Each lane adds up its share of a row. Then the eight lanes put their results together. For a shuffle, all 32 lanes of a warp have to take part,
#   those without a row, too. `cuda.shfl_xor_sync(0xFFFFFFFF, value, d)` returns the value of the lane whose number differs by the bit `d`:
#   with `d` = 4, 2 and 1, a lane meets only lanes of its own eight.
# - `new` is written once, and it is not known what it held before.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "jacobi"}
@cuda.jit
def jacobi_kernel(indptr, indices, data, b, x, new):
    ### BEGIN SOLUTION
    thread = cuda.grid(1)
    row, lane = thread // 8, thread % 8
    total, diagonal = 0.0, 0.0
    if row < new.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 8):
            column, value = indices[k], data[k]
            if column == row:
                diagonal = value
            else:
                total += value * x[column]
    for distance in (4, 2, 1):  # outside of any branch: every lane takes part
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, distance)
        diagonal += cuda.shfl_xor_sync(0xFFFFFFFF, diagonal, distance)  # seven of the eight are 0
    if lane == 0 and row < new.size:
        new[row] = (b[row] - total) / diagonal
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_jacobi"}
def random_matrix(lengths, columns):
    """Return a random matrix in CSR whose rows have these lengths, with rising columns."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rows = [np.sort(check.rng().choice(columns, length, replace=False)) for length in lengths]
    indices = np.concatenate(rows).astype(np.int32)
    return indptr, indices, check.rng().uniform(-1, 1, indices.size)


def product(indptr, indices, data, x):
    """Return A x."""
    return np.bincount(np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), data * x[indices], indptr.size - 1)


def needs_of_eight_lanes(indptr, indices):
    """Return the requests and sectors that are needed if eight lanes share a row and each number is loaded once."""
    rows, requests, touched = indptr.size - 1, 0, 0
    row_of = np.repeat(np.arange(rows), np.diff(indptr))
    for first in range(0, rows, 4):  # the first of four rows that share a warp
        four = np.arange(first, min(first + 4, rows))
        requests += 3  # where the rows begin, where they end, and b
        touched += sum(len(np.unique(places)) for places in (four // 8, (four + 1) // 8, four // 4))
        for trip in range(0, int(np.diff(indptr)[four].max()), 8):
            k = np.concatenate([np.arange(indptr[i] + trip, min(indptr[i] + trip + 8, indptr[i + 1])) for i in four])
            requests += 3  # columns, numbers, and x
            met = indices[k][indices[k] != row_of[k]]  # places of x
            touched += sum(len(np.unique(places)) for places in (k // 8, k // 4, met // 4))
    needed = {"global_load.requests": requests, "global_load.sectors": touched}
    return needed | {"global_store.requests": (rows + 3) // 4, "global_store.sectors": (rows + 3) // 4}


def jacobi_matrix(lengths, columns=200):
    """Return a random matrix whose rows have these lengths, each with an entry on the diagonal that is far from zero."""
    indptr, indices, data = random_matrix(lengths, columns)
    for i in range(len(lengths)):
        row = slice(indptr[i], indptr[i + 1])
        if i not in indices[row]:
            indices[check.rng().integers(indptr[i], indptr[i + 1])] = i
            indices[row].sort()
        data[row][indices[row] == i] += 3
    return indptr, indices, data


def run_jacobi(lengths):
    """Profile the kernel; check hazards, result and inputs; return the profile and what is needed."""
    rows = len(lengths)
    indptr, indices, data = matrix = jacobi_matrix(lengths)
    b, x, new = check.rng().uniform(-1, 1, rows), check.rng().uniform(-1, 1, 200), np.full(rows, np.nan)
    on_diagonal = indices == np.repeat(np.arange(rows), np.diff(indptr))
    expected = (b - product(indptr, indices, np.where(on_diagonal, 0, data), x)) / data[on_diagonal]
    arrays = [array.copy() for array in (*matrix, b, x)]
    profile = simt.profile(jacobi_kernel[(8 * rows + 127) // 128, 128], *arrays, new)
    check.no_hazards(profile)
    check.close(new, expected, "new", atol=1e-13)
    same = all((now == then).all() for now, then in zip(arrays, (*matrix, b, x), strict=True))
    check.that(same, "The matrix, b and x must stay as they are.")
    return profile, needs_of_eight_lanes(*matrix[:2])


def short_rows():
    """Return random lengths of short rows."""
    return check.rng().integers(5, 13, 16 * int(check.rng().integers(4, 9)))


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_jacobi", "points": 1}
# Only the values are tested, on 16 rows of three to eight entries: one block.
with check.explained(jacobi_kernel, "indptr", "indices", "data", "b", "x", "new"):
    profile, needed = run_jacobi(check.rng().integers(3, 9, 16))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_jacobi_sectors", "points": 1} course={"limits": {"global_load.sectors": 1.4, "global_store.sectors": 4.0}}
# The sectors: neighbouring lanes read neighbouring entries of a row.
with check.explained(jacobi_kernel, "indptr", "indices", "data", "b", "x", "new"):
    profile, needed = run_jacobi(short_rows())
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_jacobi_requests", "points": 1} course={"limits": {"global_load.requests": 1.1, "global_load.sectors": 1.1, "global_store.requests": 1.1, "global_store.sectors": 1.1}}
# The requests, and the sectors more strictly: a warp asks once for what its four rows need, and for each number once.
with check.explained(jacobi_kernel, "indptr", "indices", "data", "b", "x", "new"):
    profile, needed = run_jacobi(short_rows())
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_jacobi_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.5, "global_store.sectors": 4.0}}
# Hidden tests: rows of one entry, rows of more than eight, and rows that do not fill the last block; no hazards.
### BEGIN HIDDEN TESTS
run_jacobi([3])
run_jacobi([1, 1, 8, 9, 2, 16, 17, 40, 1])
profile, needed = run_jacobi(check.rng().integers(1, 30, int(check.rng().integers(17, 31))))
check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: swap without copying (3 points)
#
# A wave is computed step by step from its last two states: $\text{next} = A\,\text{now} - \text{before}$. As in the lecture, the product runs in
# mixed precision. There are four arrays: `now`, `before` and `y` in double precision, and `x32`, which is `now` rounded to single precision. The
# product comes from a library: it reads `x32`, writes `y`, and cannot be changed.
#
# Write `combine_kernel(y, before, new, x32)`, with a thread for each element and possibly some more: it puts `y[i] - before[i]` into
# `new[i]` and, rounded, into `x32[i]`. In a launch, `new` may be the same array as `y` or as `before`.
#
# Then write `iteration`, the list of the steps of one iteration. Four kinds of steps exist:
#
# | step | what it does |
# |---|---|
# | `("product", "x32", "y")` | computes `y = A x32` |
# | `("combine", y, before, new, x32)` | launches your kernel with the four arrays that you name |
# | `("copy", a, b)` | a kernel copies array `a` to array `b`, number by number |
# | `("swap", a, b)` | swaps two pointers: what was called `a` is now called `b`, and what was called `b` is now called `a` |
#
# A name is a string: `("copy", "y", "now")`. After an iteration, `now` is the next state, `before` is the one that was `now`, and `x32` is `now`,
# rounded. `y` may then hold anything. There is no fifth array. Apart from the product, an iteration moves as few bytes as possible.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "iteration"}
@cuda.jit
def combine_kernel(y, before, new, x32):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    if i < y.size:
        value = y[i] - before[i]
        new[i] = value
        x32[i] = value
    ### END SOLUTION


# iteration = [("product", "x32", "y"), …]
### BEGIN SOLUTION
iteration = [
    ("product", "x32", "y"),
    ("combine", "y", "before", "before", "x32"),  # the oldest state is read for the last time: the next one takes its place
    ("swap", "before", "now"),
]
### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_iteration"}
@cuda.jit
def copy_kernel(a, b):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i]


KINDS = {"product": 3, "combine": 5, "copy": 3, "swap": 3}
NAMES = ("now", "before", "y", "x32")


def check_steps(steps):
    """Check that an answer is a list of steps that exist."""
    check.that(isinstance(steps, (list, tuple)), "iteration must be a list of steps.")
    for step in steps:
        known = isinstance(step, (list, tuple)) and len(step) > 0 and isinstance(step[0], str) and step[0] in KINDS
        check.that(known, "Each step must be a tuple that begins with product, combine, copy or swap.")
        check.that(len(step) == KINDS[step[0]], "A step has too few names of arrays, or too many.")
        check.that(all(name in NAMES for name in step[1:]), "A step names an array that does not exist.")
        product_as_it_is = step[0] != "product" or tuple(step[1:]) == ("x32", "y")
        check.that(product_as_it_is, "The product reads x32 and writes y, and cannot be changed.")


def wave(n):
    """Return a random matrix and random arrays to begin with; those that hold nothing yet hold NaN."""
    now, before = check.rng().uniform(-1, 1, (2, n))
    arrays = {"now": now, "before": before, "y": np.full(n, np.nan), "x32": now.astype(np.float32)}
    return random_matrix(check.rng().integers(1, 6, n), n), arrays


def run_iteration(steps, matrix, arrays):
    """Do the steps; check hazards; return the arrays under their new names, and the profiles of combine and copy."""
    check_steps(steps)
    arrays, profiles, n = dict(arrays), [], arrays["now"].size
    for kind, *names in steps:
        held = [arrays[name] for name in names]
        if kind == "product":
            arrays["y"][:] = product(*matrix, arrays["x32"])
        elif kind == "swap":
            arrays[names[0]], arrays[names[1]] = held[1], held[0]
        else:
            kernel = combine_kernel if kind == "combine" else copy_kernel
            profiles.append(simt.profile(kernel[(n + 63) // 64, 64], *held))
            check.no_hazards(profiles[-1])
    return arrays, profiles


def check_iterations(n, many):
    """Do several iterations and check the arrays after each; return the profiles of the last one."""
    matrix, arrays = wave(n)
    now, before = arrays["now"].copy(), arrays["before"].copy()
    for _ in range(many):
        arrays, profiles = run_iteration(iteration, matrix, arrays)
        now, before = product(*matrix, now.astype(np.float32)) - before, now
        single = arrays["x32"].dtype == np.float32
        check.that(single, "After an iteration, x32 must be the array in single precision.")
        check.close(arrays["now"], now, "now", atol=1e-12)
        check.close(arrays["before"], before, "before", atol=1e-12)
        check.close(arrays["x32"], now.astype(np.float32), "x32", rtol=1e-6)
    return profiles


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_iteration", "points": 1}
# The values: one iteration with 64 elements.
with check.explained(combine_kernel, "y", "before", "new", "x32"):
    profiles = check_iterations(64, 1)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_iteration_bytes", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}}
# The bytes: in three iterations the values are right, and beside the product each one loads 16 and stores 12 bytes per element.
with check.explained(combine_kernel, "y", "before", "new", "x32"):
    n = 64 * int(check.rng().integers(3, 9))
    profiles = check_iterations(n, 3)
    check.that(len(profiles) > 0, "An iteration needs a combine.")
    products = sum(step[0] == "product" for step in iteration)
    check.that(products == 1, "An iteration needs one product, and no second one: a product moves more than all else.")
    for profile in profiles:
        check.at_most(profile, limits, compulsory={"global_load.sectors": 16 * n / 32, "global_store.sectors": 12 * n / 32})
    loaded = sum(profile.global_load.sectors * 32 for profile in profiles)
    stored = sum(profile.global_store.sectors * 32 for profile in profiles)
    check.that(loaded <= limits["global_load.sectors"] * 16 * n, f"An iteration loads {loaded / n:.0f} bytes per element, and needs 16.")
    check.that(stored <= limits["global_store.sectors"] * 12 * n, f"An iteration stores {stored / n:.0f} bytes per element, and needs 12.")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_iteration_hidden", "points": 1}
# Hidden tests: the values after four iterations, for numbers of elements that do not fill the last block.
### BEGIN HIDDEN TESTS
for n in (5, 63, int(check.rng().integers(65, 127))):
    check_iterations(n, 4)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: find the waste (2 points)
#
# A solver works on `k` right-hand sides at the same time. So its vectors are arrays with n rows of `k` numbers each. The kernel below puts the
# rows of such an array into a new order. Its result is right, and it has no hazards.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "wasteful"}
@cuda.jit
def wasteful_kernel(perm, old, new):
    i = cuda.grid(1)
    n, k = new.shape
    if i < n:
        for c in range(k):
            new[i, c] = old[perm[i], c]


def print_requests(kernel, n=256, k=8):
    """Print what each line of a kernel moves, when it permutes n rows of k numbers."""
    perm, old = np.random.default_rng(1).permutation(n).astype(np.int32), np.zeros((n, k))
    profile = simt.profile(kernel[(n * k + 127) // 128, 128], perm, old, np.zeros((n, k)))
    print(f"needed: {n * k * 8 // 32:,} sectors to load old, and as many to store new")
    for name, counts in profile.by_array.items():
        for what in ("load", "store"):
            if moved := getattr(counts, f"global_{what}"):
                print(f"{name}: {what}s of threads {moved.thread_accesses:,}, requests {moved.requests:,}, sectors {moved.sectors:,}")


print_requests(wasteful_kernel)


# %% [markdown]
# Which numbers do the 32 lanes of a warp touch at the same time? Write `permute_rows_kernel`, which does the same work without this
# waste. It is launched with at least as many threads as `new` has numbers, and `k` may be any number.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "permute_rows"}
@cuda.jit
def permute_rows_kernel(perm, old, new):
    ### BEGIN SOLUTION
    n, k = new.shape
    t = cuda.grid(1)
    if t < n * k:
        i, c = t // k, t % k  # neighbouring threads: neighbouring numbers of a row
        new[i, c] = old[perm[i], c]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_permute_rows"}
def run_permute_rows(n, k):
    """Profile the kernel; check hazards, result and inputs; return the profile and what is needed."""
    perm, old = check.rng().permutation(n).astype(np.int32), check.rng().uniform(-1, 1, (n, k))
    before, new = (perm.copy(), old.copy()), np.full((n, k), np.nan)
    profile = simt.profile(permute_rows_kernel[(n * k + 127) // 128, 128], perm, old, new)
    check.no_hazards(profile)
    check.close(new, before[1][before[0]], "new")
    check.that((perm == before[0]).all() and (old == before[1]).all(), "perm and old must stay as they are.")
    # a warp's 32 numbers lie in 32 / k rows, and the places of these in one sector of perm
    return profile, {"global_load.sectors": n * k * (8 + 1) / 32, "global_store.sectors": n * k * 8 / 32}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_permute_rows", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}}
# The values and the sectors, for rows of eight numbers; no hazards.
with check.explained(permute_rows_kernel, "perm", "old", "new"):
    profile, needed = run_permute_rows(16 * int(check.rng().integers(4, 13)), 8)
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_permute_rows_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.05, "global_store.sectors": 1.05}}
# Hidden tests: rows of other lengths, the sectors for 4 and 16 numbers; no hazards; perm and old must not change.
### BEGIN HIDDEN TESTS
for k in (4, 16):
    profile, needed = run_permute_rows(32 * int(check.rng().integers(2, 6)), k)
    check.at_most(profile, limits, compulsory=needed)
for n, k in ((1, 1), (int(check.rng().integers(20, 40)), 3), (5, 37), (70, 1)):
    run_permute_rows(n, k)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 7: rows of very different lengths, any way you like (3 points)
#
# A matrix has three kinds of rows, in random order: most have four to six entries, some 12 to 16, a few 60 to 64. Whatever number of lanes
# you give to a row, it does not suit all of them. All entries are positive, and what is wanted is a weighted mean for each row:
#
# $$ y_i = \frac{\sum_j a_{i,j}\,x_j}{\sum_j a_{i,j}}, \qquad y_i = 0 \text{ for an empty row}. $$
#
# Find a way to store the matrix, and a kernel that moves at most 1.2 times what the bound says: each entry takes 12 bytes, for a column and
# a number, and each row takes eight bytes more, for example to say how long it is and where its result belongs.
#
# - `prepare(indptr, indices, data)`, a function of the host, gets the matrix in CSR. It returns a pair: the number of threads that you
#   want, and a list with as many arrays of numbers as you like. It may take its time.
# - The kernel `mean_kernel` gets the arrays of your list, in their order, and then `x` and `y`, which must be the names of its last two
#   parameters. Blocks have 128 threads, and there are as many blocks as your number of threads needs.
# - `y` is zero before the launch. The result must be that of a computation in double precision.
# - The bound is for the loads from all your arrays together. Elements of `x` may be loaded 1.1 times as often as there are entries, and each
#   row may take one sector of stores.
#
# If a lane has nothing to do, the sectors that its neighbours load are used in part. Which rows should be neighbours, and
# which of their entries?

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "any_way"}
def prepare(indptr, indices, data):
    """Return the number of threads, and a list of arrays for the kernel."""
    ### BEGIN SOLUTION
    lengths = np.diff(indptr)
    perm = np.argsort(-lengths, kind="stable").astype(np.int32)  # neighbours are rows of nearly the same length
    lengths = lengths[perm].astype(np.int32)
    begins = np.concatenate([[0], np.cumsum(32 * lengths[::32])])  # of the slices, each as wide as its longest row
    columns, numbers = np.zeros(begins[-1], np.int32), np.zeros(begins[-1])
    for i, row in enumerate(perm):
        places = begins[i // 32] + i % 32 + 32 * np.arange(lengths[i])  # the first entries of 32 rows, the second ones, …
        columns[places] = indices[indptr[row] : indptr[row + 1]]
        numbers[places] = data[indptr[row] : indptr[row + 1]]
    return len(perm), [begins.astype(np.int32), perm, lengths, columns, numbers]
    ### END SOLUTION


# @cuda.jit
# def mean_kernel(…, x, y):
### BEGIN SOLUTION
@cuda.jit
def mean_kernel(begins, perm, lengths, columns, numbers, x, y):
    i = cuda.grid(1)
    if i < y.size:
        k = begins[i // 32] + i % 32
        total, weights = 0.0, 0.0
        for _ in range(lengths[i]):
            weight = numbers[k]
            total += weight * x[columns[k]]
            weights += weight
            k += 32
        if weights > 0:
            y[perm[i]] = total / weights
### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_any_way"}
def three_kinds(rows):
    """Return the lengths of rows of three kinds, in random order."""
    kinds = check.rng().choice(3, rows, p=(0.7, 0.2, 0.1))
    choices = [check.rng().integers(low, high, rows) for low, high in ((4, 7), (12, 17), (60, 65))]
    return np.choose(kinds, choices)


def run_any_way(lengths, columns=300):
    """Profile the kernel; check hazards, result and x; return the profile and what is needed."""
    rows = len(lengths)
    indptr, indices, data = random_matrix(lengths, columns)
    data = 1.5 + data / 2  # positive
    x, y = check.rng().uniform(-1, 1, columns), np.zeros(rows)
    sums, weights = product(indptr, indices, data, x), product(indptr, indices, data, np.ones(columns))
    answer = prepare(indptr, indices, data)
    pair = isinstance(answer, (list, tuple)) and len(answer) == 2 and isinstance(answer[1], (list, tuple))
    check.that(pair, "prepare must return two things: the number of threads and a list of arrays.")
    threads, arrays = int(answer[0]), [np.asarray(array) for array in answer[1]]
    check.that(0 < threads <= 64 * (rows + data.size), "prepare asks for no thread, or for more than 64 per row and entry.")
    before = x.copy()
    profile = simt.profile(mean_kernel[(threads + 127) // 128, 128], *arrays, x, y)
    check.no_hazards(profile)
    check.close(y, np.where(weights > 0, sums / np.where(weights > 0, weights, 1), 0), "y", atol=1e-12)
    check.that((x == before).all(), "x must stay as it is.")
    of_x = profile.by_array.get("x")
    check.that(of_x is not None and of_x.global_load.unique_bytes <= x.nbytes, "The last two parameters keep the names x and y.")
    often = of_x.global_load.thread_accesses <= 1.1 * data.size
    check.that(often, "Elements of x are loaded more often than 1.1 times the number of entries.")
    # the limit is for loads from all arrays but x: what x takes is added to both sides
    of_others = (12 * data.size + 8 * rows) / 32
    needed = {"global_load.sectors": of_others + of_x.global_load.sectors / limits["global_load.sectors"], "global_store.sectors": rows}
    check.at_most(profile, limits, compulsory=needed)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way", "points": 1} course={"limits": {"global_load.sectors": 1.2, "global_store.sectors": 1.0}}
# The values and the traffic, for 1,792 rows of three kinds; no hazards.
with check.explained(mean_kernel, "x", "y"):
    run_any_way(three_kinds(1792))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.2, "global_store.sectors": 1.0}}
# Hidden tests: other numbers of rows of three kinds, with the same limits; no hazards; x must not change.
### BEGIN HIDDEN TESTS
for rows in check.rng().integers(1500, 2400, 2).tolist():
    run_any_way(three_kinds(rows))
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_any_way_rows_hidden", "points": 1} course={"limits": {"global_load.sectors": 2.0, "global_store.sectors": 1.0}}
# Hidden tests: rows of any length, empty ones among them, and few rows; traffic up to twice the bound.
### BEGIN HIDDEN TESTS
some = int(check.rng().integers(1000, 1500))  # so many that rests of loops do not matter
lengths = check.rng().integers(20, 41, some)
lengths[::9] = 0  # the longest of 32 rows in any order is still less than twice as long as they are in the mean
run_any_way(lengths)
run_any_way(np.sort(check.rng().integers(0, 20, some)))
run_any_way(np.array([40, 0, 40, 40, 40, 0, 40, 40]))
### END HIDDEN TESTS
