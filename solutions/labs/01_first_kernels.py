# The laboratory of lecture 1, solved: for teachers. Each cell is a step's kernel as it stands in the lecture, complete. A
# cell whose name ends with "wrong" is a typical wrong answer, and the sentence after it has to be part of the verdict.
# The tests try all of them, and check that the lecture has the same lines with some of them replaced by "...".

# %% map
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10

# %% map wrong: a thread writes its own element, out[i]
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[:] = a + 10

# %% map wrong: thread 0 of block 0 writes it
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[0] = a[i] + 10

# %% guard
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% guard wrong: thread 10 of block 0 uses a[10], outside the array's shape (10,)
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10

# %% guard wrong: with 31 elements
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    if i < 10:
        out[i] = a[i] + 10

# %% blocks
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% blocks wrong: thread 0 of block 2 writes out[0] and thread 0 of block 0 writes it
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% square
@cuda.jit
def add_ten_square(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = a[y, x] + 10

# %% square wrong: x counts columns, the last index
@cuda.jit
def add_ten_square(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[x, y] = a[x, y] + 10

# %% square wrong: x and y are swapped
@cuda.jit
def add_ten_square(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[x, y] + 10
