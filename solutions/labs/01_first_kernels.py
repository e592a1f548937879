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

# %% map wrong: thread 0 of block 0 and thread 9 of block 0 both write out[0], and each element should belong to one thread: which element is this thread's own?
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[0] = a[i] + 10

# %% map wrong: is the loop needed, and if so, where must each thread begin, and how far must it jump?
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    for i in range(a.size):
        out[i] = a[i] + 10

# %% map wrong: which thread is to write out[0]? a was changed, and is only to be read
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    a[i] += 10

# %% map wrong: out[0] was written and is still no number: out holds none before, so += has nothing to add to
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] += a[i] + 10


# %% map wrong: This adds 10 to the thread's number i; the element is a[i].
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] = i + 10

# %% map wrong: a complex number is stored in out, whose elements are real numbers
@cuda.jit
def add_ten(a, out):
    i = cuda.threadIdx.x
    out[i] = 1j + a[i]

# %% guard
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% guard wrong: thread 10 of block 0 uses a[10], outside the array's shape (10,): a GPU would touch whatever lies there; guard the access
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

# %% guard wrong: the `if` lets this thread through, and the last element is a[9]
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    if i <= a.size:
        out[i] = a[i] + 10


# %% guard wrong: the `if` in line 4 does not send this thread away, and the last element is a[9]
@cuda.jit
def add_ten_guarded(a, out):
    i = cuda.threadIdx.x
    if i > a.size:
        return
    out[i] = a[i] + 10

# %% blocks
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% blocks wrong: thread 0 of block 0 and thread 0 of block 2 both write out[0], and each element should belong to one thread: does i count the threads of the blocks before?
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% blocks wrong: does i count the threads of the blocks before?
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.blockIdx.x + cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% blocks wrong: cuda.blockDim has a part for each direction: write cuda.blockDim.x
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.blockIdx.x * cuda.blockDim + cuda.threadIdx.x
    if i < a.size:
        out[i] = a[i] + 10

# %% blocks wrong: i is 2 numbers, and one is needed
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.grid(2)
    if i < a.size:
        out[i] = a[i] + 10


# %% blocks wrong: both write out[0]: in all threads of a block the index is the same; it must use cuda.threadIdx.x, too
@cuda.jit
def add_ten_blocks(a, out):
    i = cuda.blockIdx.x
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

# %% square wrong: the `if` lets this thread through, and a has 6 rows and 9 columns
@cuda.jit
def add_ten_square(a, out):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[y, x] = a[y, x] + 10


# %% transposed_read
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[x, y]

# %% transposed_read wrong: a has 12 rows and 4 columns, and out 4 rows and 12 columns; which index counts the rows of a?
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[y, x]

# %% transposed_read wrong: Only places that a has, too, were written: let the guard count rows and columns of out
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = a[x, y]

# %% transposed_read wrong: and let thread (x, y) write out[y, x].
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]

# %% transposed_read wrong: thread 4 of block (1, 0) uses a[12, 0], outside the array's shape (12, 4): a GPU would touch whatever lies there; guard the access
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    out[y, x] = a[x, y]

# %% transposed_read wrong: gives the name a new meaning inside this thread
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    out = a.T

# %% transposed_read wrong: a kernel cannot copy an array into a slice of out
@cuda.jit
def transpose(a, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y] = a[:, y]

# %% zip
@cuda.jit
def add(a, b, out):
    i = cuda.threadIdx.x
    out[i] = a[i] + b[i]

# %% zip wrong: b was changed, and is only to be read
@cuda.jit
def add(a, b, out):
    i = cuda.threadIdx.x
    b[i] = a[i] + b[i]
    out[i] = b[i]

# %% zip wrong: gives the name a new meaning inside this thread
@cuda.jit
def add(a, b, out):
    i = cuda.threadIdx.x
    out = a[i] + b[i]

# %% stride
@cuda.jit
def add_ten_stride(a, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[i] = a[i] + 10

# %% stride wrong: 24 of 40 elements of out were written by nobody, the first is out[16]
@cuda.jit
def add_ten_stride(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + 10

# %% stride wrong: do the loop's first number and its jump count the threads of all blocks?
@cuda.jit
def add_ten_stride(a, out):
    for i in range(cuda.threadIdx.x, a.size, cuda.blockDim.x):
        out[i] = a[i] + 10

# %% stride wrong: each element should belong to one thread: how far must the loop jump?
@cuda.jit
def add_ten_stride(a, out):
    for i in range(cuda.grid(1), a.size):
        out[i] = a[i] + 10

# %% stride wrong: each element should belong to one thread: where must each thread begin?
@cuda.jit
def add_ten_stride(a, out):
    for i in range(0, a.size, 16):
        out[i] = a[i] + 10

# %% stride wrong: the loop goes too far; the last element is a[39]
@cuda.jit
def add_ten_stride(a, out):
    for i in range(cuda.grid(1), a.size + 1, cuda.gridsize(1)):
        out[i] = a[i] + 10


# %% broadcast
@cuda.jit
def outer_sum(column, row, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = column[y] + row[x]

# %% broadcast wrong: thread (2, 0) of block (1, 0) uses column[6], outside the array's shape (6,): column has one element per row, and y counts the rows
@cuda.jit
def outer_sum(column, row, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = column[x] + row[y]

# %% broadcast wrong: `column` is the whole array
@cuda.jit
def outer_sum(column, row, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = column + row

# %% broadcast wrong: None makes a new axis of a whole array; a thread takes one element, column[y]
@cuda.jit
def outer_sum(column, row, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = column[y, None] + row[x]


# %% coalesced
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        out[k, t] = a[k, t] + 10

# %% coalesced wrong: neighbouring threads touch addresses 64 B apart on line 5
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        out[t, k] = a[t, k] + 10

# %% coalesced wrong: out is the transpose of what is asked: the first index counts rows, the last one columns
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        out[k, t] = a[t, k] + 10

# %% coalesced wrong: a[k] is a whole row, and one number is needed: an index is missing
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        out[t, k] = a[k] + 10


# %% coalesced wrong: each element should belong to one thread: no index uses t
@cuda.jit
def add_ten_coalesced(a, out):
    t = cuda.threadIdx.x
    for k in range(a.shape[0]):
        out[k, k] = a[k, k] + 10

# %% stencil
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    elif i < a.size:
        out[i] = a[i]

# %% stencil wrong: thread 0 of block 0 uses the negative index a[-1]
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if i < a.size - 1:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    elif i < a.size:
        out[i] = a[i]

# %% stencil wrong: 2 of 20 elements of out were written by nobody, the first is out[0]
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = (a[i - 1] + a[i + 1]) / 2

# %% stencil wrong: every thread runs this line; let only one do it
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    out[0] = a[0]
    out[-1] = a[-1]

# %% stencil wrong: the `else` lets this thread through, and the last element is a[19]
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    else:
        out[i] = a[i]

# %% stencil wrong: lets this thread through, but i + 1 is 20, and the last element is a[19]
@cuda.jit
def neighbours(a, out):
    i = cuda.grid(1)
    if 0 < i < a.size:
        out[i] = (a[i - 1] + a[i + 1]) / 2
    elif i < a.size:
        out[i] = a[i]

# %% reverse
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[7 - t]

# %% reverse wrong: nothing makes one wait for the other: a cuda.syncthreads() is missing between them
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    out[i] = tile[7 - t]

# %% reverse wrong: it does not use shared memory
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    out[i] = a[i - t + 7 - t]

# %% reverse wrong: each block has a tile of its own, indexed from 0 by cuda.threadIdx.x
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[i] = a[i]
    cuda.syncthreads()
    out[i] = tile[7 - t]

# %% reverse wrong: write 7 - t, since the course takes negative indices for mistakes
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[-1 - t]

# %% reverse wrong: its last element is tile[7]; is the index too large, or should fewer threads run this line?
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[8 - t]

# %% reverse wrong: Each block has turned the elements of block 0
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[t]
    cuda.syncthreads()
    out[i] = tile[7 - t]

# %% reverse wrong: the name alone does nothing; call it, `cuda.syncthreads()`
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    cuda.syncthreads
    out[i] = tile[7 - t]


# %% reverse wrong: `tile =` gives the name a new meaning inside this thread and leaves the array as it is; write into an element, tile[t] = a[i].
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = a[i]
    cuda.syncthreads()
    out[i] = tile[7 - t]

# %% reverse wrong: thread 0 of block 0 writes 8 elements of out: let each thread write one
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[i]
    if t == 0:
        cuda.syncthreads()
        for k in range(8):
            out[i + k] = tile[7 - k]

# %% reverse wrong: leaves the array as it is; write into an element, tile[t] = …
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile = a[i : i + 8][::-1]
    out[i] = tile[t]

# %% reverse wrong: count from the front, as in a[a.size - 1 - i]
@cuda.jit
def reverse_blocks(a, out):
    tile = cuda.shared.array(8, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = a[-i]
    cuda.syncthreads()
    out[i] = tile[7 - t]

# %% block_sum
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% block_sum wrong: never comes to it: all threads of a block must pass the same barrier, so move it out of the branch.
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        if t < half:
            cuda.syncthreads()
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% block_sum wrong: Lines 5 and 9, `tile[t] = a[cuda.grid(1)]` and `tile[t] += tile[t + half]`: thread 8 of block 0 writes tile[8]
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% block_sum wrong: This is the last element of the block: where in the tile is the number that is left?
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[15]

# %% block_sum wrong: but a is only to be read: write elsewhere
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            a[t] += a[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% block_sum wrong: thread 0 of block 0 reads 16 elements of the tile, one after the other, while others have nothing to do: fold the tile
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        half //= 2
    if t == 0:
        s = 0.0
        for k in range(16):
            s += tile[k]
        out[cuda.blockIdx.x] = s

# %% block_sum wrong: thread 0 of block 0 reads 16 elements of the tile
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile.sum()

# %% block_sum wrong: Each fold added elements that are 8 away; the second one needs those that are 4 away: tile[t + half].
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + 8]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% block_sum wrong: out[0] was written and is still no number: out holds none before, so cuda.atomic.add has nothing to add to
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    cuda.atomic.add(out, cuda.blockIdx.x, a[cuda.grid(1)])

# %% block_sum wrong: no barrier can stand within a line; does this thread read the element that is meant?
@cuda.jit
def sum_blocks(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[2 * t]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% dot
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])

# %% dot wrong: both change out[0]: each reads it and then writes it, and the other may come between; update it with cuda.atomic.add
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[0] += tile[0]

# %% dot wrong: needs 2 global atomic thread accesses and makes 32
@cuda.jit
def dot(a, b, out):
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    cuda.atomic.add(out, 0, s)

# %% dot wrong: a[16] is read 2 times, and once is enough: how many threads has the grid, and which elements belong to this one?
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, 16):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])

# %% dot wrong: a[32] is read by nobody: which thread should take it?
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), min(a.size, 32), cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])

# %% dot wrong: both write out[0], in any order, and only the last number stays
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[0] = tile[0]

# %% dot wrong: These are the products of thread 0 of each block
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, s)

# %% dot wrong: The elements of a and b were added, not multiplied
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] + b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        cuda.atomic.add(out, 0, tile[0])

# %% dot wrong: out has one element, for all threads together
@cuda.jit
def dot(a, b, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    s = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        s += a[i] * b[i]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


# %% histogram
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(counts, a[i], 1)

# %% histogram wrong: each reads it and then writes it, and the other may come between; update it with cuda.atomic.add, so that they take turns
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        counts[a[i]] += 1

# %% histogram wrong: an atomic takes array, index and value: `cuda.atomic.add(counts, a[i], 1)`.
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(counts[a[i]], 1)

# %% histogram wrong: counts has 5 elements, for all threads together; which is meant here?
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(counts, i, 1)

# %% histogram wrong: Each element counts 1, whatever its value is
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(counts, a[i], a[i])


# %% histogram wrong: counts[0] is 0 and should be 6. a was changed, and is only to be read
@cuda.jit
def histogram(a, counts):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(a, i, 1)

# %% convolution
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 8 + k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% convolution wrong: thread 6 of block 2 uses a[20], outside the array's shape (20,): a GPU would touch whatever lies there; guard the access, and beyond the end of a put what is asked for into tile
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 8 + k - 2
        tile[k] = a[j]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% convolution wrong: needs 28 global load thread accesses and makes 94
@cuda.jit
def convolve(a, w, out):
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for k in range(5):
            j = i + k - 2
            if 0 <= j < a.size:
                s += w[k] * a[j]
        out[i] = s

# %% convolution wrong: w runs the other way: w[0] belongs to a[i - 2], and w[4] to a[i + 2]
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 8 + k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[4 - m] * tile[t + m]
        out[i] = s

# %% convolution wrong: does the tile begin with the halo?
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 8 + k
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% convolution wrong: and its elements are tile[0] to tile[11]: which of them is meant?
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 8 + k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m - 2]
        out[i] = s

# %% convolution wrong: Each block has computed with the elements of block 0
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s


# %% convolution wrong: cuda.grid(1) + k counts it twice
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.grid(1) + k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% convolution wrong: Each thread puts the same element into tile[t] and tile[t + 8]
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.grid(1) - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% convolution wrong: A block goes on 8 elements after the block before, not 12
@cuda.jit
def convolve(a, w, out):
    tile = cuda.shared.array(12, float64)
    t = cuda.threadIdx.x
    for k in range(t, 12, 8):
        j = cuda.blockIdx.x * 12 + k - 2
        tile[k] = a[j] if 0 <= j < a.size else 0.0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        s = 0.0
        for m in range(5):
            s += w[m] * tile[t + m]
        out[i] = s

# %% row_sums
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(t, a.shape[1], 16):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: needs 48 global load sectors and makes 192
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    n = a.shape[1] // 16
    for c in range(n * t, n * (t + 1)):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: both write out[0]: every thread runs this line; let only one do it
@cuda.jit
def row_sums(a, out):
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(a.shape[1]):
        s += a[r, c]
    out[r] = s

# %% row_sums wrong: Each thread has added up the whole row
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(a.shape[1]):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: within a row, count threads by t
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(cuda.grid(1), a.shape[1], 16):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: a row has a.shape[1] elements
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(t, a.shape[0], 16):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: with 2 × 48 elements: line 8, `s += a[r, c]`: thread 12 of block 0 uses a[0, 48], outside the array's shape (2, 48): the loop goes too far
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(4 * t, 4 * t + 4):
        s += a[r, c]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]

# %% row_sums wrong: the first index counts rows, the last one columns; a has 3 rows and 64 columns
@cuda.jit
def row_sums(a, out):
    tile = cuda.shared.array(16, float64)
    t = cuda.threadIdx.x
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(t, a.shape[1], 16):
        s += a[c, r]
    tile[t] = s
    half = 8
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[r] = tile[0]
