# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 9: Many GPUs'
# ---

# %% [markdown]
# # Exercise 9: Many GPUs
#
# **At the Speed of Memory.** This exercise belongs to lecture 9. It takes about a hundred minutes and gives 20 points.
# No GPU is needed. Neither is MPI: all ranks run in this process, in turn, and their messages are kept.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes and ranks: do the same in a cell of your own, such as
#   `check_sends((9, 12), (1, 2))`, `run_pack((2, 4, 33))`, `run_march((5, 4), 6, 2)` or `run_solve((9,), 1e-6)`.
# - Tests also look at messages: how many there are, how many numbers they carry, and what a rank had computed when it began to wait. Times
#   are never judged.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | who sends what, with corners | 3 |
# | 2 | pack four faces in one launch | 2 |
# | 3 | several steps for one exchange, and work beside it | 3 |
# | 4 | conjugate gradients with one reduction | 3 |
# | 5 | latency and bandwidth from noisy times | 3 |
# | 6 | from how many ranks on it pays | 3 |
# | 7 | a matrix and its transpose, any way you like | 3 |
#
# In parts 3, 4 and 7 you write what *each* rank does. `comm` is the communicator of the lecture:
#
# - `comm.rank` and `comm.ranks` are the number of this rank, from 0, and how many there are.
# - `pending = comm.start(sends, receives)` begins to send and to receive, and returns at once. Both arguments are lists of pairs `(rank, array)`. The arrays
#   lie in one piece in memory: a row does, a column does not. Until `pending.wait()` returns, do not change what is sent, and do not read what is received.
# - Messages from one rank to another arrive in the order in which they were sent.
# - `comm.sum(values)` returns the sum over all ranks, an array of the same shape as `values`. All ranks have to call it.
#
# `@on_each_rank` lets the tests run your function on all ranks; leave this line as it is. To try a function yourself: `played = play(march, [(u, 2, out), (v, 2, other)])` runs it on
# two ranks, each with its own arguments. Then `played.results`, `played.messages`, `played.reductions` and `played.moments` say what happened. A result goes into an array that `check.out(shape)`
# has made; all other arguments are inputs, which have to stay as they are. A rank cannot look into another rank's memory: what a global variable holds, other ranks do not see.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check
from course_pkg.grading.ranks import Later, on_each_rank, play


def that(condition, sentence, example):
    """Check a condition; a hidden test shows the sentence alone."""
    if not condition:
        raise check.Failed(f"{sentence}: {example}", verdict=f"{sentence}.")


# %% [markdown]
# ## Part 1: who sends what, with corners (3 points)
#
# A grid of ny × nx points is periodic: beyond the last row comes the first one, and beyond the last column the first one. It is divided into blocks, one for each rank,
# py blocks from top to bottom and px from left to right. `block` below says which rows and columns a rank owns. The stencil has nine points: it reads the eight
# neighbours of each point, those at the corners, too.
#
# Points of the grid have *global* numbers, y · nx + x. The points of a block have *local* numbers, from 0 on, row by row.
#
# - `receives(grid, ranks, rank)` with `grid = (ny, nx)` and `ranks = (py, px)` returns what this rank needs and does not own, as a list of pairs
#   (other rank, global numbers). The numbers are in rising order, and each occurs once. There is one pair for each other rank that owns such a point, and none for others.
# - `sends(grid, ranks, rank)` returns what this rank has to send, as a list of pairs (other rank, local numbers of own points), in the order in which the other rank expects them.
#
# Blocks may be small. With a single row of blocks, a block is its own neighbour above and below: what it owns needs no message. With two blocks in a row, both neighbours of a block are the same rank,
# and a point that the stencil reaches in two ways is still sent once.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "block"}
def block(grid, ranks, rank):
    """Return the first row of a rank and the row after its last one, and the same for columns."""
    (ny, nx), (py, px) = grid, ranks
    j, i = rank // px, rank % px
    return j * ny // py, (j + 1) * ny // py, i * nx // px, (i + 1) * nx // px


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "halo"}
def receives(grid, ranks, rank):
    """Return pairs (other rank, global numbers of its points that this rank needs)."""
    ### BEGIN SOLUTION
    ny, nx = grid

    def reach(whose, far):
        """Return the global numbers of a block, and of what lies up to so many points beside it."""
        top, bottom, left, right = block(grid, ranks, whose)
        rows, columns = range(top - far, bottom + far), range(left - far, right + far)
        return {y % ny * nx + x % nx for y in rows for x in columns}

    needed = reach(rank, 1) - reach(rank, 0)
    shares = ((other, sorted(needed & reach(other, 0))) for other in range(ranks[0] * ranks[1]))
    return [(other, np.array(numbers)) for other, numbers in shares if numbers]
    ### END SOLUTION


def sends(grid, ranks, rank):
    """Return pairs (other rank, local numbers of own points that it needs)."""
    ### BEGIN SOLUTION
    top, _, left, right = block(grid, ranks, rank)
    pairs = []
    for other in range(ranks[0] * ranks[1]):
        for whose, numbers in receives(grid, ranks, other):
            if whose == rank:
                y, x = np.divmod(numbers, grid[1])
                pairs.append((other, (y - top) * (right - left) + x - left))
    return pairs
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_halo"}
def numbers_by_rank(pairs, what):
    """Check that an answer is a list of pairs; return a dictionary of lists."""
    found = {}
    is_list = isinstance(pairs, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in pairs)
    check.that(is_list, f"{what} must return a list of pairs: a rank, and an array of numbers.")
    for other, numbers in pairs:
        numbers = np.asarray(numbers).reshape(-1)
        whole = other == int(other) and all(number == int(number) for number in numbers)
        check.that(whole, f"{what} must return whole numbers: of ranks, and of points.")
        check.that(int(other) not in found, f"{what} names a rank twice: put all that one message carries into one pair.")
        found[int(other)] = [int(number) for number in numbers]
    return found


def check_receives(grid, ranks, rank):
    """Check what a rank receives against the neighbours of its points, one by one."""
    ny, nx = grid
    blocks = [block(grid, ranks, r) for r in range(ranks[0] * ranks[1])]
    owner = np.empty(grid, int)
    for r, (top, bottom, left, right) in enumerate(blocks):
        owner[top:bottom, left:right] = r
    found, expected = numbers_by_rank(receives(grid, ranks, rank), "receives"), {}
    for y, x in np.argwhere(owner == rank):
        for up in (-1, 0, 1):
            for along in (-1, 0, 1):
                row, column = (y + up) % ny, (x + along) % nx
                if owner[row, column] != rank:
                    expected.setdefault(int(owner[row, column]), set()).add(int(row * nx + column))
    check.that(rank not in found, "receives names the rank itself: what it owns needs no message.")
    for numbers in found.values():
        check.that(len(set(numbers)) == len(numbers), "receives names a point twice.")
        check.that(numbers == sorted(numbers), "The numbers of a pair must be in rising order.")
    mine, right = (set().union(*numbers.values()) if numbers else set() for numbers in (found, expected))
    that(not right - mine, "receives lacks points that the stencil reads", f"rank {rank} lacks {sorted(right - mine)[:3]}.")
    that(not mine - right, "receives has points that nobody needs there", f"rank {rank} has {sorted(mine - right)[:3]}.")
    same = found == {other: sorted(numbers) for other, numbers in expected.items()}
    check.that(same, "The points are right, but the ranks that send them are not.")
    return expected


def check_sends(grid, ranks):
    """Check that each rank sends what the others expect, in their order; no answer to the first question is needed."""
    count = ranks[0] * ranks[1]
    everything = np.arange(grid[0] * grid[1]).reshape(grid)
    sent = []
    for rank in range(count):
        top, bottom, left, right = block(grid, ranks, rank)
        own = everything[top:bottom, left:right].reshape(-1)
        found = numbers_by_rank(sends(grid, ranks, rank), "sends")
        check.that(all(0 <= other < count for other in found), "sends names a rank that does not exist.")
        for numbers in found.values():
            check.that(all(0 <= n < own.size for n in numbers), "sends returns local numbers: from 0 to the points of the block, less one.")
        sent.append({other: own[numbers].tolist() for other, numbers in found.items()})
    for rank in range(count):
        needed = wanted(grid, ranks, rank)
        for other in range(count):
            come, expected = sent[other].get(rank, []), needed.get(other, [])
            said = f"rank {other} sends {len(come)} points to rank {rank}, of {grid[0]} × {grid[1]} points on {ranks[0]} × {ranks[1]} ranks."
            that(sorted(come) == expected, "sends names points that the other rank does not need, or not all that it needs", said)
            check.that(come == expected, "What is sent is right, but in another order than it is expected in.")
            check.that(rank not in sent[other] or come, "sends has a pair without numbers: leave it out.")


def wanted(grid, ranks, rank):
    """Return what a rank needs, by the rank that owns it."""
    everything = np.pad(np.arange(grid[0] * grid[1]).reshape(grid), 1, mode="wrap")
    found = {}
    for other in range(ranks[0] * ranks[1]):
        (top, bottom, left, right), mine = block(grid, ranks, other), block(grid, ranks, rank)
        own = everything[1:-1, 1:-1][top:bottom, left:right]
        around = everything[mine[0] : mine[1] + 2, mine[2] : mine[3] + 2]
        numbers = np.intersect1d(own, around)
        if other != rank and numbers.size:
            found[other] = numbers.tolist()
    return found


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_receives", "points": 1}
# Nine ranks, three by three, with equal blocks: each has eight neighbours.
grid = tuple((3 * check.rng().integers(3, 7, 2)).tolist())
for rank in range(9):
    check_receives(grid, (3, 3), rank)
    check.that(len(receives(grid, (3, 3), rank)) == 8, "With three by three ranks, each receives from all others.")

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sends", "points": 1}
# What is sent is what the others expect, for three by three ranks and for three by four.
check_sends((9, 12), (3, 3))
check_sends((10, 13), (3, 4))
check_sends(tuple(check.rng().integers(9, 16, 2).tolist()), (3, 4))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_halo_hidden", "points": 1}
# Hidden tests: what is received, and sent, with one or two blocks in a direction, with blocks of one row, and with a single rank.
### BEGIN HIDDEN TESTS
for grid, ranks in (((8, 9), (2, 2)), ((7, 6), (1, 3)), ((4, 9), (4, 2)), ((3, 3), (2, 1)), ((5, 6), (1, 1))):
    for rank in range(ranks[0] * ranks[1]):
        check_receives(grid, ranks, rank)
check_receives((int(check.rng().integers(9, 14)), int(check.rng().integers(9, 14))), (4, 3), int(check.rng().integers(12)))
for grid, ranks in (((8, 9), (2, 2)), ((7, 6), (1, 3)), ((4, 9), (4, 2)), ((3, 3), (2, 1)), ((5, 6), (1, 1))):
    check_sends(grid, ranks)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: pack four faces in one launch (2 points)
#
# A grid of three dimensions is divided in y and z, but not in x. A brick `u` of the shape (nz, ny, nx), with at least two points in y and z, has four faces to send: z = 0, z = nz − 1,
# y = 0 and y = ny − 1. Many small kernels would cost a launch each, so one kernel packs all four into one buffer, from which the messages are sent.
#
# Write `pack_kernel(u, buffer)`. `buffer` has 2 (ny + nz) nx numbers: first the face z = 0, then z = nz − 1, y = 0 and y = ny − 1. Each face is stored row by row: the first two have a row of nx numbers for
# each y, the other two for each z.
#
# - A point at an edge of the brick belongs to two faces. Still, each point is loaded once.
# - Neighbouring threads load and store neighbours.
# - Blocks have 32 × 4 threads. In x there are at least nx threads, and in y at least one for each row of points that is loaded: 2 ny + 2 (nz − 2) of them. So first
#   find out which row of the brick belongs to a thread.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "pack"}
@cuda.jit
def pack_kernel(u, buffer):
    ### BEGIN SOLUTION
    x, row = cuda.grid(2)
    nz, ny, nx = u.shape
    if x < nx and row < 2 * ny + 2 * (nz - 2):
        if row < ny:
            z, y = 0, row
        elif row < 2 * ny:
            z, y = nz - 1, row - ny
        else:  # two rows of each plane between
            side = row - 2 * ny
            z, y = 1 + side // 2, side % 2 * (ny - 1)
        value = u[z, y, x]
        if z == 0:
            buffer[y * nx + x] = value
        if z == nz - 1:
            buffer[(ny + y) * nx + x] = value
        if y == 0:
            buffer[(2 * ny + z) * nx + x] = value
        if y == ny - 1:
            buffer[(2 * ny + nz + z) * nx + x] = value
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_pack"}
def run_pack(shape):
    """Profile the kernel; check hazards, the buffer and u; return the profile and what is needed."""
    nz, ny, nx = shape
    u, buffer = check.rng().uniform(-1, 1, shape), np.full(2 * (ny + nz) * nx, np.nan)
    before, rows = u.copy(), 2 * ny + 2 * (nz - 2)
    profile = simt.profile(pack_kernel[((nx + 31) // 32, (rows + 3) // 4), (32, 4)], u, buffer)
    check.no_hazards(profile)
    faces = {"z = 0": before[0], "z = nz - 1": before[-1], "y = 0": before[:, 0], "y = ny - 1": before[:, -1]}
    at = 0
    for name, face in faces.items():
        check.close(buffer[at : at + face.size], face.reshape(-1), f"the face {name}")
        at += face.size
    check.that((u == before).all(), "u must stay as it is.")
    return profile, {"global_load.thread_accesses": rows * nx, "global_load.sectors": rows * nx / 4, "global_store.sectors": buffer.size / 4}


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_pack", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_load.sectors": 1.0, "global_store.sectors": 1.0}}
# The buffer and the traffic, for rows of 64 points.
with check.explained(pack_kernel, "u", "buffer"):
    profile, needed = run_pack((int(check.rng().integers(3, 7)), int(check.rng().integers(3, 7)), 64))
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_pack_hidden", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_store.thread_accesses": 1.0}}
# Hidden tests: bricks of two planes or two rows, and rows that do not fill a warp; each point is loaded once.
### BEGIN HIDDEN TESTS
for shape in ((2, 2, 5), (2, 5, 33), (6, 2, 40), (3, 7, int(check.rng().integers(41, 63)))):
    profile, needed = run_pack(shape)
    needed = {"global_load.thread_accesses": needed["global_load.thread_accesses"], "global_store.thread_accesses": 4 * needed["global_store.sectors"]}
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 3: several steps for one exchange, and work beside it (3 points)
#
# A field on a grid spreads heat. `step` below makes one step in time for all rows of an array but its first and its last one, which have no neighbour there. Columns are periodic. Rows, too. Each rank owns some rows, at least
# s of them. Rows with higher numbers lie *above*: rank 1 lies above rank 0, and rank 0 above the last rank, so the ranks form a ring.
#
# Usually a rank exchanges one row with each neighbour before each step. Each of these messages costs a latency. So exchange s rows once, then make s steps without another message. What a rank
# needs of its neighbours' rows after the first step, it computes by itself, once more.
#
# Write `march(comm, u, s, out)`. `u` holds the rows of this rank, `out[j]` gets these rows after j + 1 steps, for j = 0, …, s − 1. So `out` has the shape `(s, *u.shape)`.
#
# - Each rank sends two messages in all, of s rows each, one to each neighbour. A rank that is alone has no messages: its own rows lie beyond both ends.
# - First the messages start, then everything is computed that needs no halo, and only then does the rank wait. So when it calls `wait` for the first time, `out` already holds all rows that the halo has no
#   influence on. How many rows at both ends has it reached after j + 1 steps?
# - The rows of `u` that are sent are made first, so that the messages can start early. The tests of the order take this literally: until both messages have started, all rows of `u` but the
#   first s and the last s are NaN. So compute nothing from them before, and do not copy them.
# - With two ranks, both neighbours are the same rank. Mind the order of the messages.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "step"}
def step(v):
    """Return the rows 1, …, -2 of v after one step: two rows less."""
    middle = v[1:-1]
    beside = np.roll(middle, 1, axis=1) + np.roll(middle, -1, axis=1)
    return middle + 0.2 * (v[:-2] + v[2:] + beside - 4 * middle)


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "march"}
@on_each_rank
def march(comm, u, s, out):
    """Make s steps after one exchange of s rows; out[j] gets the rows of this rank after j + 1 steps."""
    ### BEGIN SOLUTION
    n, nx = u.shape
    from_below, from_above, pending = u[-s:].copy(), u[:s].copy(), None
    if comm.ranks > 1:
        below, above = (comm.rank - 1) % comm.ranks, (comm.rank + 1) % comm.ranks
        # what a neighbour sends first, to the rank below it, comes from above
        pending = comm.start([(below, u[:s]), (above, u[-s:])], [(above, from_above), (below, from_below)])
    v = u
    for j in range(s):
        if len(v) > 2:
            v = step(v)
            out[j, j + 1 : n - j - 1] = v
    if pending:
        pending.wait()
    if n >= 2 * s:  # only what is missing, at both ends
        v, w = np.concatenate([from_below, u[: 2 * s]]), np.concatenate([u[-2 * s :], from_above])
        for j in range(s):
            v, w = step(v), step(w)
            first = s - j - 1  # rows of the neighbour that are still there
            out[j, : j + 1] = v[first:s]
            out[j, n - j - 1 :] = w[len(w) - s : len(w) - first]
    else:
        v = np.concatenate([from_below, u, from_above])
        for j in range(s):
            v = step(v)
            out[j] = v[s - j - 1 : s - j - 1 + n]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_march"}
def play_march(rows, nx, s, ends_first=False):
    """Run it on ranks with these numbers of rows; return what happened, each rank's out, and what is right for it.

    With `ends_first`, only the rows that are sent are there before the messages start.
    """
    whole = check.rng().uniform(-1, 1, (sum(rows), nx))
    cuts, after, v = np.cumsum(rows)[:-1], [], whole
    for _ in range(s):
        v = step(np.concatenate([v[-1:], v, v[:1]]))
        after.append(v)
    inputs, outs = [u.copy() for u in np.split(whole, cuts)], [check.out((s, n, nx)) for n in rows]
    if ends_first:
        inputs = [Later(u, slice(s, len(u) - s), 2) for u in inputs]
    played = play(march, [(u, s, out) for u, out in zip(inputs, outs, strict=True)])
    return played, [np.asarray(out) for out in outs], np.split(np.stack(after), cuts, axis=1)


def check_values(outs, expected, why):
    """Check what the ranks computed; `why` says why rows may not be there."""
    for rank, (out, right) in enumerate(zip(outs, expected, strict=True)):
        for j, found in enumerate(out):
            that(not np.isnan(found).any(), f"march does not write all rows of out, or {why}", f"out[{j}] of rank {rank}.")
            check.close(found, right[j], f"out[{j}] of rank {rank}", atol=1e-13)


def run_march(rows, nx, s):
    """Run it on ranks with these numbers of rows, and check the results."""
    _, outs, expected = play_march(rows, nx, s)
    check_values(outs, expected, "writes what it has not received yet")


def check_order(rows, nx, s):
    """Check the messages, and what was computed when; then the same where only the rows that are sent are there at first."""
    for ends_first in (False, True):
        played, outs, expected = play_march(rows, nx, s, ends_first)
        why = "uses rows of u between those that it sends before both messages have started" if ends_first else "writes what it has not received yet"
        check_values(outs, expected, why)
        sent = [sum(message.source == rank for message in played.messages) for rank in range(len(rows))]
        check.that(sent == [2] * len(rows), "Each rank must send two messages in all, one to each neighbour, for all steps together.")
        check.that(all(message.count == s * nx for message in played.messages), "Each message must carry s rows.")
        check.that(not played.reductions, "No sum over all ranks is needed.")
        for moments, right in zip(played.moments, expected, strict=True):
            check_moments(moments, right, s)


def check_moments(moments, right, s):
    """Check what out held on one rank, when the messages started and when the rank began to wait."""
    first = next(moment for moment in moments if moment.kind == "start").arrays[2]
    check.that(np.isnan(first).all(), "Something was computed before the messages started: they could travel meanwhile.")
    waiting, n = next(moment for moment in moments if moment.kind == "wait").arrays[2], right.shape[1]
    for j in range(s):
        inside = slice(j + 1, max(n - j - 1, j + 1))
        there = np.allclose(waiting[j, inside], right[j, inside], rtol=0, atol=1e-12)
        check.that(there, "When wait() is called, out does not yet hold all rows that need no halo: compute them before.")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_march", "points": 1}
# Only the values: two steps on three ranks.
run_march((5, 4, 6), 8, 2)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_march_order", "points": 1}
# The messages, and what was computed when: three ranks, two steps, then three.
check_order((6, 7, 5), 4, 2)
check_order((9, 8, 8), 5, 3)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_march_hidden", "points": 1}
# Hidden tests: values, messages and order for one rank, for two and for four, for as few rows as there are steps, and for other numbers of steps.
### BEGIN HIDDEN TESTS
run_march((6, 5), 4, 2)
run_march((7,), 5, 3)
run_march((3, 4, 3, 5), 4, 3)
run_march((4, 6), 3, 1)
run_march((int(check.rng().integers(4, 7)), 4, 8), 4, 4)
check_order((7, 6), 4, 2)
check_order((5, 6, 4, 9), 3, 4)
check_order((4, 5, 3), 6, 1)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 4: conjugate gradients with one reduction (3 points)
#
# Unknowns lie on a line: $(A v)_i = d_i v_i - v_{i-1} - v_{i+1}$, with zeros beyond both ends. Each rank owns some neighbouring ones. `multiply` below makes the product on all ranks, with a message to
# each neighbour. The textbook's method with Jacobi's preconditioner, which divides by d, waits for three sums per iteration:
#
# $$ \alpha = \frac{\langle r, u\rangle}{\langle p, A p\rangle}, \qquad x \leftarrow x + \alpha p, \qquad r \leftarrow r - \alpha A p, \qquad \text{stop if } \lVert r \rVert \le \mathrm{rtol}\,\lVert b \rVert, $$
#
# $$ u = r / d, \qquad \beta = \frac{\langle r, u \rangle}{\langle r, u \rangle_{\text{before}}}, \qquad p \leftarrow u + \beta p. $$
#
# It begins with x = 0, so r = b, and with p = u = r / d; if b = 0, x = 0 is the solution already.
#
# Write `solve(comm, d, b, rtol)` for 0 < rtol < 1, which does the same iterations with one sum over all ranks in each. It returns `x, iterations`: this rank's part of the solution, and how often x was updated. `d` and `b` are
# the parts of this rank.
#
# - For k iterations, there are at most k + 2 sums, of at most four numbers each, and at most k + 2 products, whose messages carry one number each.
# - Iterations and solution are those of the textbook's method, up to rounding.
#
# Multiply $u$ by A instead of $p$. Since p = u + β p_before, the product A p follows from A u by the same update, without a message. And $\langle p, A p \rangle$? Put $p = u + \beta p_\text{before}$ into it, on both
# sides; the new p is conjugate to the one before. Everything that then remains is known, or is a product of u, r and A u.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "multiply"}
def multiply(comm, d, v):
    """Return this rank's part of A v; all ranks have to call it."""
    others = [other for other in (comm.rank - 1, comm.rank + 1) if 0 <= other < comm.ranks]
    ends = {comm.rank - 1: v[:1].copy(), comm.rank + 1: v[-1:].copy()}
    beside = {comm.rank - 1: np.zeros(1), comm.rank + 1: np.zeros(1)}
    pending = comm.start([(other, ends[other]) for other in others], [(other, beside[other]) for other in others])
    product = d * v
    product[1:] -= v[:-1]
    product[:-1] -= v[1:]
    pending.wait()
    product[0] -= beside[comm.rank - 1][0]
    product[-1] -= beside[comm.rank + 1][0]
    return product


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "solve"}
@on_each_rank
def solve(comm, d, b, rtol):
    """Return this rank's part of x, and the number of iterations."""
    ### BEGIN SOLUTION
    x, r, p, Ap = np.zeros_like(b), b.copy(), np.zeros_like(b), np.zeros_like(b)
    iterations, energy, before, norm_b = 0, 1.0, np.inf, None
    while True:
        u = r / d
        Au = multiply(comm, d, u)
        ru, uAu, rr = comm.sum([r @ u, u @ Au, r @ r])
        norm_b = np.sqrt(rr) if norm_b is None else norm_b
        if np.sqrt(rr) <= rtol * norm_b:
            return x, iterations
        beta = ru / before  # 0 in the first iteration
        energy = uAu - beta**2 * energy
        p, Ap, before = u + beta * p, Au + beta * Ap, ru
        alpha = ru / energy
        x, r = x + alpha * p, r - alpha * Ap
        iterations += 1
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_solve"}
def textbook(d, b, rtol):
    """Return x, and the norm of the residual over that of b before the first iteration and after each one."""
    x, r, norms = np.zeros_like(b), b.copy(), [1.0]
    p = u = r / d
    while norms[-1] > rtol:
        padded = np.pad(p, 1)
        Ap, ru = d * p - padded[:-2] - padded[2:], r @ u
        alpha = ru / (p @ Ap)
        x, r = x + alpha * p, r - alpha * Ap
        u = r / d
        p = u + (r @ u) / ru * p
        norms.append(np.linalg.norm(r) / np.linalg.norm(b))
    return x, np.array(norms)


def run_solve(sizes, rtol):
    """Run it on ranks with these numbers of unknowns; check x and iterations; return what happened, and iterations."""
    while True:  # until rounding errors cannot decide about the last iteration
        d, b = 2.05 + 40 * check.rng().random(sum(sizes)) ** 4, check.rng().uniform(-1, 1, sum(sizes))
        x, norms = textbook(d, b, rtol)
        if np.abs(norms / rtol - 1).min() > 1e-3:
            break
    ends = np.cumsum(sizes)[:-1]
    played = play(solve, [(*part, rtol) for part in zip(np.split(d, ends), np.split(b, ends), strict=True)])
    check_solution(played, sizes, x, len(norms) - 1)
    return played, len(norms) - 1


def check_solution(played, sizes, x, iterations):
    """Check what solve returned on each rank."""
    for rank, (result, right) in enumerate(zip(played.results, np.split(x, np.cumsum(sizes)[:-1]), strict=True)):
        is_pair = isinstance(result, (list, tuple)) and len(result) == 2
        check.that(is_pair, "solve must return two things: the part of x, and the number of iterations.")
        check.close(result[1], iterations, "the number of iterations")
        check.close(result[0], right, f"x of rank {rank}", rtol=0, atol=1e-7 * max(abs(x).max(), 1e-300))


def check_counts(sizes, rtol):
    """Check how many sums over all ranks there were, of how many numbers, and how many messages."""
    played, iterations = run_solve(sizes, rtol)
    sums, per_product = len(played.reductions), 2 * (len(sizes) - 1)
    that(sums <= iterations + 2, "solve makes more sums over all ranks than one per iteration and two more", f"{sums} in {iterations} iterations.")
    check.that(max(played.reductions, default=0) <= 4, "A sum has more than four numbers.")
    products = len(played.messages) / per_product if per_product else 0
    said = "solve makes more products than one per iteration and two more"
    that(products <= iterations + 2, said, f"messages for {products:g} in {iterations} iterations.")
    numbers = sum(message.count for message in played.messages)
    said = "The messages of solve carry more than a product needs: one number for each neighbour"
    that(numbers <= 2 * per_product * (iterations + 2), said, f"{numbers} in {iterations} iterations.")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_solve", "points": 1}
# x and iterations on three ranks.
run_solve((5, 7, 6), 1e-6)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_solve_counts", "points": 1}
# The number of sums over all ranks, of their numbers, and of messages.
check_counts((60, 50, 80), 1e-6)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_solve_hidden", "points": 1}
# Hidden tests: x, iterations, sums and messages on one, two and four ranks, a large rtol, and b = 0.
### BEGIN HIDDEN TESTS
run_solve((25,), 1e-7)
run_solve((9, 1), 1e-6)
run_solve((4, 7, 2, int(check.rng().integers(5, 9))), 1e-8)
run_solve((5, 6), 0.3)
check_solution(play(solve, [(np.full(3, 4.0), np.zeros(3), 1e-6), (np.full(4, 4.0), np.zeros(4), 1e-6)]), (3, 4), np.zeros(7), 0)
check_counts((110, 90), 1e-7)
check_counts((50, 30, 40, int(check.rng().integers(40, 80))), 1e-6)
check_counts((18,), 1e-6)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: latency and bandwidth from noisy times (3 points)
#
# A message of B bytes takes L + c · B seconds: the latency L, and c for each byte. Messages of many sizes, from a few bytes to many megabytes, were measured. Each time has an error, and the errors are *relative*: of
# a long time as many per cent as of a short one. How many per cent is not known. A straight line through all points would hardly look at the short messages, which alone know the latency.
#
# - `fit(nbytes, seconds)` returns L and c. Both arguments are arrays; a size may occur several times. Dividing an equation by its time makes all errors equally large.
# - `uncertainty(nbytes, seconds)` returns the standard deviations of this L and of this c. For equations $X \theta \approx y$ with errors of the same unknown size, least squares has the covariance
#   $\sigma^2 (X^T X)^{-1}$, and $\sigma^2$ is the sum of squared residuals, divided by the number of equations less that of the coefficients.
#
# Tests draw L and c, make times with errors of two to five per cent, and compare: L and c must be right within 6%. The standard deviations must be of the size of the errors that you
# make, in many such experiments.
#
# No visible test calls `uncertainty`. To check it with pencil and paper: two messages of 0 bytes took 1 and 2 µs, and one of 1,000 bytes 3 µs. Then `fit` returns
# 1.2 µs and 1.8 ns, and `uncertainty` 0.4 µs and 1.4 ns, all in seconds.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "fit"}
def fit(nbytes, seconds):
    """Return the latency in seconds, and the seconds per byte."""
    ### BEGIN SOLUTION
    X = np.stack([1 / seconds, nbytes / seconds], axis=1)
    size = np.linalg.norm(X, axis=0)  # the columns differ by many powers of ten
    latency, byte = np.linalg.lstsq(X / size, np.ones(len(X)), rcond=None)[0] / size
    return latency, byte
    ### END SOLUTION


def uncertainty(nbytes, seconds):
    """Return the standard deviations of the latency and of the seconds per byte."""
    ### BEGIN SOLUTION
    X = np.stack([1 / seconds, nbytes / seconds], axis=1)
    residuals = X @ np.array(fit(nbytes, seconds)) - 1
    size = np.linalg.norm(X, axis=0)
    inverse = np.linalg.inv((X / size).T @ (X / size))
    return np.sqrt(np.diag(inverse) * (residuals @ residuals) / (len(X) - 2)) / size
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_fit"}
def measured(smallest, largest, sizes, repeats, least=0.02, most=0.05):
    """Draw a latency and seconds per byte; return them, and sizes and times with relative errors from `least` to `most`."""
    rng = check.rng()
    latency, byte = 10 ** rng.uniform(-5.7, -4.7), 1e-9 / rng.uniform(10, 200)
    if smallest is None:  # even the shortest message takes half as long again as the latency
        smallest, largest = latency / byte / 2, 5000 * latency / byte
    nbytes = np.repeat(np.round(np.geomspace(smallest, largest, sizes)), repeats)
    error = np.clip(rng.standard_normal(nbytes.size), -3, 3) * rng.uniform(least, most)
    order = rng.permutation(nbytes.size)
    return (latency, byte), nbytes[order], ((latency + byte * nbytes) * (1 + error))[order]


def pair(answer, what):
    """Check that an answer is two numbers; return them."""
    is_pair = isinstance(answer, (list, tuple, np.ndarray)) and len(answer) == 2 and all(np.ndim(x) == 0 for x in answer)
    check.that(is_pair, f"{what} must return two numbers: for the latency, and for a byte.")
    return np.array(answer, dtype=float)


def check_fit(*experiment):
    """Check the latency and the seconds per byte of one experiment."""
    right, nbytes, seconds = measured(*experiment)
    latency, byte = pair(fit(nbytes, seconds), "fit")
    check.that(abs(latency) > abs(byte), "fit must return the latency first, and then the seconds per byte.")
    check.close(byte * 1e9, right[1] * 1e9, "the seconds per byte, in ns", rtol=0.06)
    check.close(latency * 1e6, right[0] * 1e6, "the latency, in µs", rtol=0.06)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fit", "points": 1}
# Ten experiments, with messages of 8 bytes to 2 GB.
for _ in range(10):
    check_fit(8, 2e9, 20, 8)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_fit_hidden", "points": 1}
# Hidden tests: L and c for other sizes, and where even the shortest message takes half as long again as the latency.
### BEGIN HIDDEN TESTS
for _ in range(5):
    check_fit(8, 8e9, 16, 10)
    check_fit(None, None, 15, 12, 0.02, 0.03)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_uncertainty_hidden", "points": 1}
# Hidden tests: the standard deviations, with few times and with many, inexact or better ones; fit must be about as exact as least squares there.
### BEGIN HIDDEN TESTS
def least_squares(nbytes, seconds):
    """Return the latency and the seconds per byte for which the sum of squared relative residuals is least."""
    return np.linalg.lstsq(np.stack([1 / seconds, nbytes * 1e-6 / seconds], axis=1), np.ones(nbytes.size), rcond=None)[0] * [1, 1e-6]


def mean_square(errors):
    """Return the root of the mean square of each of the two errors."""
    return np.sqrt(np.mean(np.square(errors), axis=0))


sizes = []
for repeats, error, many, lowest, highest in ((4, 0.05, 80, 0.65, 1.55), (16, 0.02, 80, 0.65, 1.55), (4, 0.02, 40, 0.5, 2.0), (16, 0.05, 40, 0.5, 2.0)):
    missed, exact, shares = [], [], []
    for _ in range(many):
        right, nbytes, seconds = measured(8, 64e6, 12, repeats, error, error)
        missed.append(pair(fit(nbytes, seconds), "fit") / right - 1)
        exact.append(least_squares(nbytes, seconds) / right - 1)
        shares.append(missed[-1] * right / pair(uncertainty(nbytes, seconds), "uncertainty"))
    check.that((mean_square(missed) < 1.5 * mean_square(exact)).all(), "The errors of fit are larger than those of least squares.")
    sizes.append(mean_square(shares))
    check.that((sizes[-1] > lowest).all(), "The standard deviations are larger than the errors.")
    check.that((sizes[-1] < highest).all(), "The standard deviations are smaller than the errors.")
check.that((np.ptp(np.log(sizes), axis=0) < np.log(2)).all(), "The standard deviations do not follow the errors of the times.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: from how many ranks on it pays (3 points)
#
# A cubic grid of `edge`³ points, 8 bytes each, is divided into slabs of planes, so a rank has at most ⌈edge / ranks⌉ planes. An iteration takes as long as on the rank with the most planes. Here is a model:
#
# | what | seconds |
# |---|---|
# | kernels | `memory_s` for each byte; `per_point` bytes for each point of the rank |
# | halo | one latency, `latency_s`, and `byte_s` for each byte of the planes that come in: one with two ranks, two with more, none with one |
# | sums | `sums` of them per iteration, each in ⌈log₂ ranks⌉ rounds; a round takes `latency_s`, and `byte_s` for each byte of `numbers` numbers |
#
# The product moves 16 of the `per_point` bytes of each point. While it does, the halo travels: it costs only the time by which it takes longer than the product.
#
# A machine is a dictionary with `memory_s`, `latency_s` and `byte_s`; a method is a dictionary with `per_point`, `sums`, `numbers` and `ratio`. Its `sums` may be less than one, 1 / s, and it may need
# more iterations than others: `ratio` times as many.
#
# - `iteration(machine, method, edge, ranks)` returns the seconds of an iteration.
# - `overtakes(machine, slow, fast, edge)` returns the first number of ranks among 1, 2, 4, 8, … up to `edge` with which `fast` needs less time than `slow` for the same problem, and `None` if there is none.
# - `between(machine, deviation, slow, fast, edge)`: the latency is known up to a standard deviation. Return the pair of what `overtakes` gives for a latency that is larger by two deviations, and for
#   one that is smaller by two deviations, but at least 0.
#
# No visible test calls the last two. `check_overtakes(2e-5, TEXTBOOK, ONE_SUM, 128)` compares yours with your `iteration`; with a deviation of 0, `between` returns the same
# number twice.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "model"}
def iteration(machine, method, edge, ranks):
    """Return the seconds of an iteration."""
    ### BEGIN SOLUTION
    latency, byte = machine["latency_s"], machine["byte_s"]
    plane = edge * edge
    planes = -(-edge // ranks)
    product = machine["memory_s"] * 16 * planes * plane
    others = machine["memory_s"] * (method["per_point"] - 16) * planes * plane
    incoming = min(ranks - 1, 2)
    halo = latency + byte * 8 * plane * incoming if incoming else 0.0
    rounds = (ranks - 1).bit_length()
    sums = method["sums"] * rounds * (latency + byte * 8 * method["numbers"])
    return others + max(product, halo) + sums
    ### END SOLUTION


def overtakes(machine, slow, fast, edge):
    """Return the first number of ranks, a power of two, with which fast is faster; None if there is none."""
    ### BEGIN SOLUTION
    ranks = 1
    while ranks <= edge:
        slow_s, fast_s = (m["ratio"] * iteration(machine, m, edge, ranks) for m in (slow, fast))
        if fast_s < slow_s:
            return ranks
        ranks *= 2
    return None
    ### END SOLUTION


def between(machine, deviation, slow, fast, edge):
    """Return what overtakes gives for a latency larger, and smaller, by two deviations."""
    ### BEGIN SOLUTION
    low = max(machine["latency_s"] - 2 * deviation, 0.0)
    high = machine["latency_s"] + 2 * deviation
    return tuple(overtakes({**machine, "latency_s": latency}, slow, fast, edge) for latency in (high, low))
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_model"}
def a_machine(latency_s=None):
    """Draw a machine."""
    rng = check.rng()
    latency_s = 10 ** rng.uniform(-5.5, -4.5) if latency_s is None else latency_s
    return {"memory_s": 1e-12 / rng.uniform(1, 4), "latency_s": float(latency_s), "byte_s": 1e-9 / rng.uniform(20, 200)}


TEXTBOOK = {"per_point": 120, "sums": 2, "numbers": 2, "ratio": 1.0}
ONE_SUM = {"per_point": 144, "sums": 1, "numbers": 3, "ratio": 1.0}
BY_STEPS = {"per_point": 100, "sums": 0.25, "numbers": 81, "ratio": 1.1}


def seconds_of(machine, method, edge, ranks):
    """Return each of the three parts of the table, the kernels in two: the product, the others, the halo, the sums."""
    planes, bytes_of_plane, logarithm = np.ceil(edge / ranks), 8 * edge**2, np.ceil(np.log2(ranks))
    kernels = machine["memory_s"] * planes * bytes_of_plane / 8 * np.array([16, method["per_point"] - 16])
    halo = 0 if ranks == 1 else machine["latency_s"] + machine["byte_s"] * bytes_of_plane * (1 if ranks == 2 else 2)
    return *kernels, halo, method["sums"] * logarithm * (machine["latency_s"] + machine["byte_s"] * 8 * method["numbers"])


def in_all(product, others, halo, sums):
    """Return the seconds of an iteration: the halo travels while the product is computed."""
    return max(product, halo) + others + sums


def check_iteration(machine, method, edge, ranks):
    """Check the seconds of an iteration."""
    product, others, halo, sums = seconds_of(machine, method, edge, ranks)
    right, share = in_all(product, others, halo, sums), edge / ranks / np.ceil(edge / ranks)
    found = iteration(machine, method, edge, ranks)
    near = [
        ("all of the halo is added, but the product hides a part of it", product + halo + others + sums),
        ("the halo is hidden by all kernels, but only the product hides it", max(product + others, halo) + sums),
        ("the halo is left out", product + others + sums),
        ("the sums are left out", max(product, halo) + others),
        ("planes are cut, so that all ranks have equally many points", max(product * share, halo) + others * share + sums),
    ]
    for why, wrong in near:
        same = np.isclose(found, wrong, rtol=1e-9) and not np.isclose(wrong, right, rtol=1e-9)
        check.that(not same, f"This is what comes out if {why}.")
    check.close(found * 1e6, right * 1e6, "the microseconds of an iteration", rtol=1e-9)


def check_overtakes(latency_s, slow, fast, edge):
    """Check from how many ranks on a method is faster by the answer's own iteration; return it."""
    machine = {"memory_s": 3e-13, "latency_s": latency_s, "byte_s": 1e-11}
    counts = [2**k for k in range(edge.bit_length())]
    times = [[method["ratio"] * iteration(machine, method, edge, ranks) for method in (slow, fast)] for ranks in counts]
    right = next((ranks for ranks, (slow_s, fast_s) in zip(counts, times, strict=True) if fast_s < slow_s), None)
    found = overtakes(machine, slow, fast, edge)
    that(found == right, "overtakes does not return what follows from your iteration", f"it returns {found}, and {right} is right.")
    return right


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_iteration", "points": 1}
# The seconds of an iteration on 4 and on 64 ranks.
for ranks in (4, 64):
    check_iteration(a_machine(), TEXTBOOK, 256, ranks)
    check_iteration(a_machine(), BY_STEPS, 200, ranks)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_iteration_hidden", "points": 1}
# Hidden tests: one, two and three ranks, planes that cannot be divided equally, and halos that take longer than the product.
### BEGIN HIDDEN TESTS
for ranks in (1, 2, 3, 7):
    check_iteration(a_machine(), ONE_SUM, ranks * int(check.rng().integers(15, 40)) + 1, ranks)
check_iteration(a_machine(1e-3), TEXTBOOK, 64, 2)
check_iteration(a_machine(1e-7), BY_STEPS, 500, 5)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_overtakes_hidden", "points": 1}
# Hidden tests: a method that is faster at once, from some number of ranks on, or never; and between.
### BEGIN HIDDEN TESTS
dearer = {**BY_STEPS, "per_point": 160, "ratio": 1.2}
first = [check_overtakes(1e-5, TEXTBOOK, BY_STEPS, 256), check_overtakes(1e-5, TEXTBOOK, ONE_SUM, 256), check_overtakes(0.0, TEXTBOOK, ONE_SUM, 100)]
check.that(len(set(first)) > 1, "By your iteration, none of the methods differ: mend it first.")
times = [[iteration({"memory_s": 3e-13, "latency_s": 1e-5, "byte_s": 1e-11}, m, 256, 2**k) for k in range(9)] for m in (TEXTBOOK, BY_STEPS)]
with np.errstate(all="ignore"):
    gain = np.divide(*times)
check.that(bool(np.isfinite(gain).all() and np.ptp(gain) > 1e-9), "By your iteration, none of the methods differ: mend it first.")
pair_of_methods = (TEXTBOOK, BY_STEPS) if gain[1:].max() > gain[0] else (BY_STEPS, TEXTBOOK)
gain = gain if gain[1:].max() > gain[0] else 1 / gain
ratio = float(gain[0] + gain[1:].max()) / 2  # so that one overtakes the other somewhere between one rank and many
check_overtakes(1e-5, {**pair_of_methods[0], "ratio": 1.0}, {**pair_of_methods[1], "ratio": ratio}, 256)
for latency_s in (1e-7, 3e-6, 1e-4):
    check_overtakes(latency_s, TEXTBOOK, dearer, 256)
    check_overtakes(latency_s, ONE_SUM, dearer, 200)
for edge, last in ((32, 32), (32, 64), (48, 32), (48, 64)):  # where one overtakes the other with the largest number of ranks, or only beyond it
    machine = {"memory_s": 3e-13, "latency_s": 1e-5, "byte_s": 1e-11}
    counts = [2**k for k in range(last.bit_length())]
    gain = [np.divide(*(in_all(*seconds_of(machine, m, edge, ranks)) for m in (TEXTBOOK, ONE_SUM))) for ranks in counts]
    check_overtakes(1e-5, TEXTBOOK, {**ONE_SUM, "ratio": float(gain[-1] + max(gain[:-1])) / 2}, edge)
more_sums = {**ONE_SUM, "sums": 3, "per_point": 160}  # faster only if a latency is less than nothing
for deviation, slow, fast in ((3e-6, TEXTBOOK, ONE_SUM), (8e-6, TEXTBOOK, ONE_SUM), (8e-6, ONE_SUM, more_sums)):
    found = between({"memory_s": 3e-13, "latency_s": 1e-5, "byte_s": 1e-11}, deviation, slow, fast, 256)
    check.that(isinstance(found, (list, tuple)) and len(found) == 2, "between must return a pair.")
    right = [check_overtakes(latency_s, slow, fast, 256) for latency_s in (1e-5 + 2 * deviation, max(1e-5 - 2 * deviation, 0.0))]
    check.that(list(found) == right, "between does not return what overtakes gives for the two latencies.")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 7: a matrix and its transpose, any way you like (3 points)
#
# A matrix A of n × n numbers is divided by rows: rank r owns the rows `starts[r]`, …, `starts[r + 1] - 1`. Some ranks own more rows than others, and some may own none. Wanted is the symmetric part of A, (A + Aᵀ) / 2,
# divided in the same way.
#
# `slow_symmetric` below is short and right. Find what it wastes: the table says what each rank sends, and how much of it the others need. A sum over all ranks counts as ⌈log₂ ranks⌉ messages of each rank,
# one for each round, and each of them carries all of its numbers.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "slow_symmetric"}
@on_each_rank
def slow_symmetric(comm, a, starts, out):
    first, end = starts[comm.rank], starts[comm.rank + 1]
    whole = np.zeros((starts[-1], starts[-1]))
    whole[first:end] = a
    whole = comm.sum(whole)  # the others hold zeros where this rank has its rows
    out[:] = (a + whole[:, first:end].T) / 2


def run_symmetric(function, rows):
    """Run it on ranks with these numbers of rows, and check the results; return what each rank sends, and the least."""
    starts = [0, *np.cumsum(rows).tolist()]
    A = check.rng().uniform(-1, 1, (starts[-1], starts[-1]))
    parts = [A[first:end] for first, end in zip(starts[:-1], starts[1:], strict=True)]
    outs = [check.out(part.shape) for part in parts]
    played = play(function, [(part.copy(), starts, out) for part, out in zip(parts, outs, strict=True)])
    for rank, (first, end, out) in enumerate(zip(starts[:-1], starts[1:], outs, strict=True)):
        check_symmetric(np.asarray(out), A[first:end], A.T[first:end], rank)
    return sent_by_each(played, len(rows)), least_of_each(rows)


def check_symmetric(out, mine, transpose, rank):
    """Check the rows of one rank."""
    if out.size:
        check.that(not np.allclose(out, mine + transpose), "What comes out is not halved: the symmetric part is (A + Aᵀ) / 2.")
    check.close(out, (mine + transpose) / 2, f"out of rank {rank}", atol=1e-13)


def sent_by_each(played, ranks):
    """Return how many messages each rank sends, and how many numbers; a sum is a message in each of its rounds."""
    rounds = (ranks - 1).bit_length()
    messages = np.full(ranks, rounds * len(played.reductions))
    numbers = np.full(ranks, rounds * sum(played.reductions))
    for message in played.messages:
        messages[message.source] += 1
        numbers[message.source] += message.count
    return messages, numbers


def least_of_each(rows):
    """Return the least number of messages that each rank has to send, and of numbers: what the others need of it."""
    rows = np.array(rows)
    own = rows > 0
    return np.where(own, own.sum() - 1, 0), rows * (rows.sum() - rows)


(messages, numbers), (least_messages, least_numbers) = run_symmetric(slow_symmetric, (6, 9, 3, 6))
print("rank   messages   the least   numbers   the least")
for rank, row in enumerate(zip(messages, least_messages, numbers, least_numbers, strict=True)):
    print(f"{rank:4d} {row[0]:10d} {row[1]:11d} {row[2]:9d} {row[3]:11d}")

# %% [markdown]
# Write `symmetric(comm, a, starts, out)`, which has the same arguments and results. `a` holds the rows of this rank, as an array of the shape (own rows, n), and `out` gets the same rows of the symmetric part; `starts` is a list
# of ranks + 1 numbers. How it is done is up to you, but each rank must stay within 1.1 times the least in both columns: of numbers, and of messages. A rank without rows sends nothing.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "symmetric"}
@on_each_rank
def symmetric(comm, a, starts, out):
    """Write the rows of this rank of (A + Aᵀ) / 2 into out."""
    ### BEGIN SOLUTION
    columns = [slice(first, end) for first, end in zip(starts[:-1], starts[1:], strict=True)]
    others = [q for q in range(comm.ranks) if q != comm.rank and starts[q] < starts[q + 1] and len(a)]
    come = {q: np.empty((starts[q + 1] - starts[q], len(a))) for q in others}
    pending = comm.start([(q, a[:, columns[q]].copy()) for q in others], list(come.items()))
    own = columns[comm.rank]
    out[:, own] = (a[:, own] + a[:, own].T) / 2
    pending.wait()
    for q, theirs in come.items():
        out[:, columns[q]] = (a[:, columns[q]] + theirs.T) / 2
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_symmetric"}
def check_numbers(rows):
    """Check the results, and how many numbers each rank sends; return its messages, and the least."""
    (messages, numbers), (least_messages, least) = run_symmetric(symmetric, rows)
    for rank, (found, needed) in enumerate(zip(numbers, least, strict=True)):
        said = f"rank {rank} sends {found}, and the others need {needed} of it."
        that(found <= 1.1 * needed, "A rank sends more than 1.1 times the numbers that others need of it", said)
    return messages, least_messages


def check_all(rows):
    """Check the results, and how many numbers and messages each rank sends."""
    for rank, (found, needed) in enumerate(zip(*check_numbers(rows), strict=True)):
        said = f"rank {rank} sends {found}, and {needed} are enough."
        that(found <= 1.1 * needed, "A rank sends more than 1.1 times the messages that are needed", said)


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_symmetric_numbers", "points": 1}
# The results, and the numbers that are sent, on four ranks.
check_numbers((6, 9, 3, 6))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_symmetric_messages", "points": 1}
# The results, the numbers and the messages, on three ranks with equally many rows and on four.
check_all((5, 5, 5))
check_all((6, 9, 3, 6))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_symmetric_hidden", "points": 1}
# Hidden tests: results, numbers and messages of one rank, of ranks without rows, and of more ranks.
### BEGIN HIDDEN TESTS
for rows in ((7,), (4, 0, 6), (1, 1, 1, 1, 1), (2, int(check.rng().integers(3, 9)), 7, 0, 3, 1)):
    check_all(rows)
### END HIDDEN TESTS
