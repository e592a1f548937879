# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
#   title: 'Exercise 1: First kernels'
# ---

# %% [markdown]
# # Exercise 1: First kernels
#
# **At the Speed of Memory.** This exercise belongs to lecture 1. It takes about ninety minutes and gives 20 points.
# No GPU is needed.
#
# - Write your answer where a cell says `YOUR CODE HERE`, and delete the line that raises `NotImplementedError`.
# - The cell after your answer tests a part of what will be graded; further tests are hidden. The inputs are random, and
#   different in each run. A hidden test often repeats the visible one with other sizes: do the same in a cell of your own, such
#   as `run_diagonal(6, 9, -1)` or `profile_rotate(rotate_kernel, 100)`. If something is wrong, a sentence says what.
# - Some tests count traffic in [sectors](../../lectures/glossary.md#sector) of 32 bytes: `limits` says by which factor a kernel
#   may exceed what is needed. And in every launch they look for hazards, such as two threads that write one element.
# - Where the threads of a block share data, a test repeats its launch in other orders: between two
#   [barriers](../../lectures/glossary.md#barrier), the warps with even numbers go first, then those with odd numbers do. A GPU
#   may run warps in any order, so the result must stay right.
# - Write each kernel in any way you like. A loop over several elements for each thread is as good as one element for each
#   thread.
# - To see what a thread does, let it `print`, as in `if x == 3: print(x, y)`. Nothing is lost if you leave that in.
# - Only the answer cells are graded: put your own helper functions and constants there too.
# - Before you hand in: *Kernel → Restart Kernel and Run All Cells*.
#
# | part | what | points |
# |---|---|---|
# | 1 | a mirrored image, and its launch | 4 |
# | 2 | a diagonal | 3 |
# | 3 | find what is slow, and repair it | 3 |
# | 4 | find the race, and repair it | 3 |
# | 5 | the box around bright pixels | 3 |
# | 6 | the power of a spectrum, as you like | 4 |

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "setup"}
import numpy as np
from numba import float64, int64  # types for cuda.shared.array
from course_pkg import cuda  # Numba CUDA with a GPU, the SIMT interpreter without
from course_pkg import simt
from course_pkg.grading import check


# %% [markdown]
# ## Part 1: a mirrored image, and its launch (4 points)
#
# An image is an array of `ny` rows and `nx` columns. Write the kernel `mirror_kernel(image, out)`, which swaps left and right:
# the pixel in row `y` and column `x` of `out` is the one as far from the right end of row `y` of `image`. The kernel is launched
# on a two-dimensional [grid](../../lectures/glossary.md#grid) with at least `nx` threads along x and `ny` threads along y. A
# thread without a pixel must do nothing. The tests take a negative index for a mistake, since in kernels it often is one: count
# columns from the left.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "mirror"}
@cuda.jit
def mirror_kernel(image, out):
    ### BEGIN SOLUTION
    x, y = cuda.grid(2)
    ny, nx = image.shape
    if x < nx and y < ny:
        out[y, x] = image[y, nx - 1 - x]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_mirror"}
def run_mirror(ny, nx, block):
    """Profile the kernel on a random image; check its hazards, the result, and that the image stays as it is."""
    image, out = check.rng().random((ny, nx)), check.out((ny, nx))
    before = image.copy()
    blocks = (nx + block[0] - 1) // block[0], (ny + block[1] - 1) // block[1]
    profile = simt.profile(mirror_kernel[blocks, block], image, out)
    check.no_hazards(profile)
    check.close(out, np.fliplr(before), "out")
    check.that((image == before).all(), "The image must stay as it is.")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mirror", "points": 1}
# 5 rows of 9 pixels, blocks of 4 × 4 threads.
with check.explained(mirror_kernel, "image", "out"):
    run_mirror(5, 9, (4, 4))

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mirror_hidden", "points": 1}
# Hidden tests: other images and other blocks; the image must stay as it is.
### BEGIN HIDDEN TESTS
odd = 2 * int(check.rng().integers(10, 20)) + 1
for ny, nx, block in ((1, 1, (8, 8)), (odd, 3, (32, 4)), (2, odd, (4, 16)), (32, 32, (16, 8))):
    run_mirror(ny, nx, block)
### END HIDDEN TESTS

# %% [markdown]
# Now launch it. Write the function `mirrored(image)`, which runs on the host. It copies the NumPy array `image` to the GPU,
# launches `mirror_kernel` in blocks of 16 × 8 threads, as many as the image needs, and returns the result as a NumPy array.
#
# `cuda.to_device(array)` returns a copy on the GPU, `cuda.device_array(shape, dtype)` memory for a result, and
# `array.copy_to_host()` brings it back.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "mirrored"}
def mirrored(image):
    """Return the image with left and right swapped, computed by mirror_kernel."""
    ### BEGIN SOLUTION
    ny, nx = image.shape
    on_gpu = cuda.to_device(image)
    out = cuda.device_array(image.shape, image.dtype)
    blocks = (nx + 15) // 16, (ny + 7) // 8
    mirror_kernel[blocks, (16, 8)](on_gpu, out)
    return out.copy_to_host()
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mirrored", "points": 1}
# 20 rows of 40 pixels; and the kernel does the work: with another kernel in its place, the result is another one.
@cuda.jit
def turned_kernel(image, out):  # what becomes of a pixel depends on its place in its block of 16 × 8 threads
    x, y = cuda.grid(2)
    ny, nx = image.shape
    if x < nx and y < ny:
        out[y, x] = image[ny - 1 - y, x] + 3 * cuda.threadIdx.x + cuda.threadIdx.y


with check.explained(mirror_kernel, "image", "out"):
    image = check.rng().random((20, 40))
    check.close(mirrored(image), np.fliplr(image), "the mirrored image")
    turned = check.using(mirrored, mirror_kernel=turned_kernel)(image)
    expected = image[::-1] + 3 * (np.arange(40) % 16) + np.arange(20)[:, None] % 8
    check.close(turned, expected, "the image that mirrored returns if turned_kernel takes the place of mirror_kernel")


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_mirrored_hidden", "points": 1}
# Hidden tests: images of other shapes, higher than wide and wider than high, large ones too; single precision; another kernel.
### BEGIN HIDDEN TESTS
long, longer = check.rng().integers((100, 4000), (130, 5000)).tolist()
for ny, nx in ((long, 5), (3, long), (8, 16), (longer, 2), (3, longer)):
    image = check.rng().random((ny, nx)).astype("float32")
    check.close(mirrored(image), np.fliplr(image), "the mirrored image")


@cuda.jit
def shifted_kernel(image, out):
    x, y = cuda.grid(2)
    ny, nx = image.shape
    if x < nx and y < ny:
        out[y, x] = image[y, (x + 3) % nx] * (2 * y + 1) - x * cuda.threadIdx.x + cuda.blockDim.y


image = check.rng().random((9, 20))
shifted = check.using(mirrored, mirror_kernel=shifted_kernel)(image)
expected = np.roll(image, -3, axis=1) * (2 * np.arange(9)[:, None] + 1) - np.arange(20) * (np.arange(20) % 16) + 8
check.close(shifted, expected, "the image that mirrored returns if mirror_kernel does something else")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 2: a diagonal (3 points)
#
# Write the kernel `diagonal_kernel(A, offset, s)`, which adds `s` to the elements `A[i, i + offset]` of a matrix, as far as the
# matrix has them, and leaves all others alone. With `offset = 0` that is the main diagonal, with `offset = 2` the one that
# begins at `A[0, 2]`, and with `offset = -1` the one that begins at `A[1, 0]`. The grid has one dimension, and at least as many
# threads as `A` has rows.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "diagonal"}
@cuda.jit
def diagonal_kernel(A, offset, s):
    ### BEGIN SOLUTION
    row = cuda.grid(1)
    ny, nx = A.shape
    column = row + offset
    if row < ny and 0 <= column < nx:
        A[row, column] += s
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_diagonal"}
def run_diagonal(ny, nx, offset, threads=32):
    """Profile the kernel on a random matrix; check the result; return the profile and the diagonal's length."""
    A = check.rng().random((ny, nx))
    expected = A + 0.5 * np.eye(ny, nx, offset)
    profile = simt.profile(diagonal_kernel[(ny + threads - 1) // threads, threads], A, offset, 0.5)
    check.no_hazards(profile)
    check.close(A, expected, "A")
    return profile, np.diagonal(expected, offset).size


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_diagonal", "points": 1}
# 6 rows, 9 columns, the diagonal that begins at A[0, 2].
with check.explained(diagonal_kernel, "A"):
    run_diagonal(6, 9, 2)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_diagonal_traffic", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_store.thread_accesses": 1.0}}
# Each element of the diagonal is read once and written once, and no other is touched.
with check.explained(diagonal_kernel, "A"):
    profile, length = run_diagonal(40, 40, 3, threads=64)
    needed = {"global_load.thread_accesses": length, "global_store.thread_accesses": length}
    check.at_most(profile, limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_diagonal_hidden", "points": 1}
# Hidden tests: negative offsets, high and wide matrices, offsets beyond the matrix.
### BEGIN HIDDEN TESTS
n = int(check.rng().integers(40, 60))
for ny, nx, offset in (
    (6, 9, -2),
    (n, 4, -n // 2),
    (4, n, n // 2),
    (5, 5, 5),
    (5, 5, -5),
    (1, 1, 0),
    (n, n, 1 - n),
):
    run_diagonal(ny, nx, offset)
### END HIDDEN TESTS


# %% [markdown]
# ## Part 3: find what is slow, and repair it (3 points)
#
# Each column of a camera's sensor has its own `gain`, and each row its own `dark` level. The kernel below corrects an image for
# both. Its result is right.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "slow_develop"}
@cuda.jit
def slow_develop_kernel(image, gain, dark, out):
    k = cuda.grid(1)
    ny, nx = image.shape
    if k < ny * nx:
        row, column = k % ny, k // ny
        out[row, column] = gain[column] * (image[row, column] - dark[row])


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_slow_develop"}
def profile_develop(kernel, ny, nx):
    """Profile a kernel on a random image, one thread per pixel; check its result; return the profile."""
    rng = check.rng()
    image, gain, dark, out = rng.random((ny, nx)), rng.random(nx), rng.random(ny), check.out((ny, nx))
    expected = gain * (image - dark[:, None])
    profile = simt.profile(kernel[(ny * nx + 127) // 128, 128], image, gain, dark, out)
    check.no_hazards(profile)
    check.close(out, expected, "out", atol=1e-14)
    return profile


slow = profile_develop(slow_develop_kernel, 64, 64)
print(slow)


# %% [markdown]
# In one [request](../../lectures/glossary.md#request), the 32 lanes of a warp ask for one element each. `slow.by_array["dark"].global_load`
# has the counts of the array `dark` alone, among them `requests` and `sectors`. How many sectors does one request for each of the
# arrays take here? Before you look, think: which elements do the threads 0, 1 and 2 read? The test of your three
# numbers is hidden: compare them with what you expected, and find out why where they differ.

# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "sectors"}
# sectors of one request: sectors_per_request = {"image": ..., "gain": ..., "dark": ...}
### BEGIN SOLUTION
sectors_per_request = {
    name: slow.by_array[name].global_load.sectors / slow.by_array[name].global_load.requests
    for name in ("image", "gain", "dark")
}
### END SOLUTION

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_sectors_hidden", "points": 1}
# Hidden tests: the sectors of one request for each of the three arrays.
### BEGIN HIDDEN TESTS
check.that(set(sectors_per_request) == {"image", "gain", "dark"}, "Fill in the dictionary and keep its keys.")
for name, expected in {"image": 32, "gain": 1, "dark": 8}.items():
    check.close(sectors_per_request[name], expected, f"sectors of one request for {name}")
### END HIDDEN TESTS

# %% [markdown]
# Write `develop_kernel`, which computes the same from the same launch, so that neighbouring threads touch neighbouring pixels in
# memory.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "develop"}
@cuda.jit
def develop_kernel(image, gain, dark, out):
    ### BEGIN SOLUTION
    k = cuda.grid(1)
    ny, nx = image.shape
    if k < ny * nx:
        row, column = k // nx, k % nx
        out[row, column] = gain[column] * (image[row, column] - dark[row])
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_develop", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# The sectors on an image of 64 × 96 pixels: those of each pixel, of its gain, and one of dark for each warp.
with check.explained(develop_kernel, "image", "gain", "dark", "out"):
    n = 64 * 96
    needed = {"global_load.sectors": 2 * check.sectors(n) + n / 32, "global_store.sectors": check.sectors(n)}
    check.at_most(profile_develop(develop_kernel, 64, 96), limits, compulsory=needed)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_develop_hidden", "points": 1} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# Hidden tests: other images with the same limits, and images whose size is not a multiple of a block.
### BEGIN HIDDEN TESTS
high = int(check.rng().integers(20, 40))
for ny, nx in ((high, 128), (2, 32 * high)):
    n = ny * nx
    needed = {"global_load.sectors": 2 * check.sectors(n) + n / 32, "global_store.sectors": check.sectors(n)}
    check.at_most(profile_develop(develop_kernel, ny, nx), limits, compulsory=needed)
for ny, nx in ((1, 1), (high, 7), (3, high)):
    profile_develop(develop_kernel, ny, nx)
### END HIDDEN TESTS


# %% [markdown]
# ## Part 4: find the race, and repair it (3 points)
#
# The kernel below is meant to rotate an array piece by piece, in place. The threads of a [block](../../lectures/glossary.md#block)
# share a piece: each moves the element on its right into its own place, and the last thread of the piece moves the first
# element into its place. If the array ends within a block, the last piece is shorter.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "racing_rotate"}
@cuda.jit
def racing_rotate_kernel(a):
    i = cuda.grid(1)
    first = cuda.blockIdx.x * cuda.blockDim.x
    last = min(first + cuda.blockDim.x, a.size) - 1
    if i < a.size:
        if i < last:
            a[i] = a[i + 1]
        else:
            a[i] = a[first]


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "look_at_racing_rotate"}
@check.in_each_order
def profile_rotate(kernel, n, threads=64, dtype="float64"):
    """Profile a kernel on n random numbers; check its result and its hazards."""
    a = check.rng().integers(1, 1000, n).astype(dtype)
    pieces = [a[k : k + threads] for k in range(0, n, threads)]
    expected = np.concatenate([np.roll(piece, -1) for piece in pieces])
    profile = simt.profile(kernel[(n + threads - 1) // threads, threads], a)
    check.no_hazards(profile, notes=True)  # a barrier that some threads skip counts, too
    check.close(a, expected, "a")


a = np.arange(128.0)
for hazard in simt.profile(racing_rotate_kernel[2, 64], a).hazards:
    print(hazard.message)


# %% [markdown]
# Which thread may read an element that another one has already overwritten? Write `rotate_kernel`, which does what is meant,
# without a hazard, for blocks of any size; all threads of a block come to each barrier. (If you want a shared array: its size must be a constant, and no block has more than
# 1,024 threads.)


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "rotate"}
@cuda.jit
def rotate_kernel(a):
    ### BEGIN SOLUTION
    i = cuda.grid(1)
    first = cuda.blockIdx.x * cuda.blockDim.x
    last = min(first + cuda.blockDim.x, a.size) - 1
    kept = 0
    if i < a.size:
        kept = a[i + 1] if i < last else a[first]
    cuda.syncthreads()  # all threads of the block have read, and all of them come here
    if i < a.size:
        a[i] = kept
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_rotate", "points": 1}
# 2 blocks of 64 threads, 128 elements.
with check.explained(rotate_kernel, "a"):
    profile_rotate(rotate_kernel, 128)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_rotate_end_hidden", "points": 1}
# Hidden tests: arrays that end within a block of 64 threads.
### BEGIN HIDDEN TESTS
for n in (1, 63, 64 + int(check.rng().integers(1, 60)), 129):
    profile_rotate(rotate_kernel, n)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_rotate_hidden", "points": 1}
# Hidden tests: blocks of other sizes, and other types of numbers.
### BEGIN HIDDEN TESTS
for n, threads in ((96, 32), (400, 100), (1024, 512)):
    profile_rotate(rotate_kernel, n, threads)
profile_rotate(rotate_kernel, 128, 64, "int32")
### END HIDDEN TESTS

# %% [markdown]
# ## Part 5: the box around bright pixels (3 points)
#
# Write the kernel `box_kernel(image, threshold, box)`. It finds the smallest box around all pixels that are larger than
# `threshold`: the four elements of `box` become their first row, last row, first column and last column. Before the launch,
# `box` is `[ny, -1, nx, -1]`, and that is what it stays if no pixel is bright. The grid has two dimensions and at least one
# thread for each pixel.
#
# Many threads want to change the same four numbers. `cuda.atomic.min(array, index, value)` and `cuda.atomic.max` let them take
# turns. That is enough for two of the points. For the third one, let the threads of each block agree in shared memory first:
# then `box` needs no more than four [atomic](../../lectures/glossary.md#atomic) operations for each block. Each pixel is to be
# read once, too. In a cell of your own, `profile, blocks = run_box(12, 20, 5)` gives the counts of a launch and its number of
# blocks: `profile.global_atomics.thread_accesses` and `profile.global_load.thread_accesses`. An atomic works on a shared array
# as on a global one. One thread of the block gives the four shared numbers their first values, those that `box`
# has before the launch. In a two-dimensional block, `cuda.threadIdx.x == 0` is a whole column: the first thread also has
# `cuda.threadIdx.y == 0`.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "box"}
@cuda.jit
def box_kernel(image, threshold, box):
    ### BEGIN SOLUTION
    own = cuda.shared.array(4, int64)
    x, y = cuda.grid(2)
    ny, nx = image.shape
    is_first = cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0
    if is_first:
        own[0], own[1], own[2], own[3] = ny, -1, nx, -1
    cuda.syncthreads()
    if x < nx and y < ny and image[y, x] > threshold:
        cuda.atomic.min(own, 0, y)
        cuda.atomic.max(own, 1, y)
        cuda.atomic.min(own, 2, x)
        cuda.atomic.max(own, 3, x)
    cuda.syncthreads()
    if is_first:
        cuda.atomic.min(box, 0, own[0])
        cuda.atomic.max(box, 1, own[1])
        cuda.atomic.min(box, 2, own[2])
        cuda.atomic.max(box, 3, own[3])
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_box"}
@check.in_each_order
def run_box(ny, nx, bright, block=(8, 8)):
    """Profile the kernel on an image with so many bright pixels; check the box; return the profile and the blocks."""
    rng = check.rng()
    image = rng.uniform(0, 0.4, (ny, nx))
    image.reshape(-1)[rng.choice(ny * nx, bright, replace=False)] += 0.5
    rows, columns = np.nonzero(image > 0.45)
    expected = [rows.min(), rows.max(), columns.min(), columns.max()] if bright else [ny, -1, nx, -1]
    box, before = np.array([ny, -1, nx, -1]), image.copy()
    blocks = (nx + block[0] - 1) // block[0], (ny + block[1] - 1) // block[1]
    profile = simt.profile(box_kernel[blocks, block], image, 0.45, box)
    check.no_hazards(profile)
    check.close(box, np.array(expected), "box")
    check.that((image == before).all(), "The image must stay as it is.")
    return profile, blocks[0] * blocks[1]


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_box", "points": 1}
# 12 rows of 20 pixels, five of them bright: four images.
with check.explained(box_kernel, "image", "box"):
    for _ in range(4):
        run_box(12, 20, 5)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_box_hidden", "points": 1}
# Hidden tests: other images and blocks; one bright pixel, none, all.
### BEGIN HIDDEN TESTS
long = int(check.rng().integers(30, 50))
for ny, nx, bright, block in (
    (9, long, 1, (8, 8)),
    (long, 9, 0, (8, 8)),
    (5, 6, 30, (4, 4)),
    (long, 3, 9, (16, 4)),
    *((7, long, 4, (8, 8)) for _ in range(4)),
):
    run_box(ny, nx, bright, block)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_box_atomics_hidden", "points": 1} course={"limits": {"global_load.thread_accesses": 1.0, "global_store.thread_accesses": 1.0, "global_atomics.thread_accesses": 1.0}}
# Hidden tests: each pixel is read once, and each block does at most four atomic operations on box.
### BEGIN HIDDEN TESTS
wide = int(check.rng().integers(50, 70))
for ny, nx, block in ((24, wide, (8, 8)), (wide, 40, (32, 4))):
    profile, blocks = run_box(ny, nx, 3 * wide, block)
    needed = {"global_load.thread_accesses": ny * nx, "global_store.thread_accesses": 0}
    needed |= {"global_atomics.thread_accesses": 4 * blocks}
    check.at_most(profile, limits, compulsory=needed)
### END HIDDEN TESTS

# %% [markdown]
# ## Part 6: the power of a spectrum, as you like (4 points)
#
# A spectrum is stored as real numbers: real part and imaginary part of the first value, then of the second, and so on. The array
# `z` with `2 * n` numbers holds `n` values. Write `power_kernel(z, power)`, which computes
#
# $$ \text{power}_k = z_{2k}^2 + z_{2k+1}^2. $$
#
# The kernel is launched with blocks of 128 threads, and at least one thread for each value. Two of the points are for the result.
# The other two are for traffic: reach 1.1 times the sectors that `z` and `power` fill, in any way you like. First look at the
# profile of a kernel in which each thread reads its two numbers, and ask which bytes of each sector a request uses.


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": true, "locked": false, "grade_id": "power"}
@cuda.jit
def power_kernel(z, power):
    ### BEGIN SOLUTION
    tile = cuda.shared.array(256, float64)
    t, k = cuda.threadIdx.x, cuda.grid(1)
    first = 256 * cuda.blockIdx.x
    for m in range(t, 256, 128):  # neighbouring threads read neighbouring numbers
        if first + m < z.size:
            tile[m] = z[first + m]
    cuda.syncthreads()
    if k < power.size:
        power[k] = tile[2 * t] * tile[2 * t] + tile[2 * t + 1] * tile[2 * t + 1]
    ### END SOLUTION


# %% nbgrader={"schema_version": 3, "task": false, "grade": false, "solution": false, "locked": true, "grade_id": "run_power"}
@check.in_each_order
def run_power(n):
    """Profile the kernel on n random values; check its result, its hazards and its input; return the profile."""
    z, power = check.rng().uniform(-1, 1, 2 * n), check.out(n)
    before = z.copy()
    profile = simt.profile(power_kernel[(n + 127) // 128, 128], z, power)
    check.no_hazards(profile)
    check.close(power, before[::2] ** 2 + before[1::2] ** 2, "power", atol=1e-14)
    check.that((z == before).all(), "z must stay as it is.")
    return profile


# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power", "points": 1}
# 256 values, 2 blocks: the result.
with check.explained(power_kernel, "z", "power"):
    run_power(256)

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_hidden", "points": 1}
# Hidden tests: the result for other numbers of values, also such that do not fill the last block.
### BEGIN HIDDEN TESTS
for n in (1, 127, 128 + int(check.rng().integers(2, 99)), 640):
    run_power(n)
### END HIDDEN TESTS

# %% nbgrader={"schema_version": 3, "task": false, "grade": true, "solution": false, "locked": true, "grade_id": "test_power_traffic", "points": 2} course={"limits": {"global_load.sectors": 1.1, "global_store.sectors": 1.1}}
# The sectors, for a number of values that is drawn.
with check.explained(power_kernel, "z", "power"):
    n = 128 * int(check.rng().integers(4, 12))
    needed = {"global_load.sectors": check.sectors(2 * n), "global_store.sectors": check.sectors(n)}
    check.at_most(run_power(n), limits, compulsory=needed)
