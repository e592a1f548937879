# The laboratory of lecture 3, solved: for teachers. Each cell is a step's kernel as it stands in the lecture, complete. A
# cell whose name ends with "wrong" is a typical wrong answer, and the sentence after it has to be part of the verdict.

# %% piece
@cuda.jit
def double_by_pieces(a, out):
    t = cuda.threadIdx.x
    dx = t % 8
    dy = t // 8
    x = 8 * cuda.blockIdx.x + dx
    y = 8 * cuda.blockIdx.y + dy
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = 2 * a[y, x]

# %% piece wrong: needs 16 global load sectors and makes 32, 2.0×
@cuda.jit
def double_by_pieces(a, out):
    t = cuda.threadIdx.x
    dx = t // 8
    dy = t % 8
    x = 8 * cuda.blockIdx.x + dx
    y = 8 * cuda.blockIdx.y + dy
    if y < a.shape[0] and x < a.shape[1]:
        out[y, x] = 2 * a[y, x]

# %% piece wrong: with 11 × 24 elements
@cuda.jit
def double_by_pieces(a, out):
    t = cuda.threadIdx.x
    dx = t % 8
    dy = t // 8
    x = 8 * cuda.blockIdx.x + dx
    y = 8 * cuda.blockIdx.y + dy
    if x < a.shape[1]:
        out[y, x] = 2 * a[y, x]

# %% parts
@cuda.jit
def take_apart(z, re, im):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    first = 64 * cuda.blockIdx.x
    for k in range(t, 64, 32):
        if first + k < z.size:
            tile[k] = z[first + k]
    cuda.syncthreads()
    if i < re.size:
        re[i] = tile[2 * t]
        im[i] = tile[2 * t + 1]

# %% parts wrong: nothing makes one wait for the other: a cuda.syncthreads() is missing between them
@cuda.jit
def take_apart(z, re, im):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    first = 64 * cuda.blockIdx.x
    for k in range(t, 64, 32):
        if first + k < z.size:
            tile[k] = z[first + k]
    if i < re.size:
        re[i] = tile[2 * t]
        im[i] = tile[2 * t + 1]

# %% parts wrong: it does not use shared memory
@cuda.jit
def take_apart(z, re, im):
    i = cuda.grid(1)
    if i < re.size:
        re[i] = z[2 * i]
        im[i] = z[2 * i + 1]

# %% parts wrong: needs 16 global load sectors and makes 32, 2.0×
@cuda.jit
def take_apart(z, re, im):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < re.size:
        tile[2 * t] = z[2 * i]
        tile[2 * t + 1] = z[2 * i + 1]
    cuda.syncthreads()
    if i < re.size:
        re[i] = tile[2 * t]
        im[i] = tile[2 * t + 1]

# %% halo_line
@cuda.jit
def mean_of_three(a, out):
    tile = cuda.shared.array(18, np.float64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x + 1
    tile[t] = a[i] if i < a.size else 0.0
    if t == 1:
        tile[0] = a[i - 1] if i > 0 else 0.0
    if t == 16:
        tile[17] = a[i + 1] if i + 1 < a.size else 0.0
    cuda.syncthreads()
    if i < a.size:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3

# %% halo_line wrong: reads tile[17], which nobody has written
@cuda.jit
def mean_of_three(a, out):
    tile = cuda.shared.array(18, np.float64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x + 1
    tile[t] = a[i] if i < a.size else 0.0
    if t == 1:
        tile[0] = a[i - 1] if i > 0 else 0.0
    if t == 16:
        tile[16] = a[i + 1] if i + 1 < a.size else 0.0
    cuda.syncthreads()
    if i < a.size:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3

# %% halo_line wrong: guard the access
@cuda.jit
def mean_of_three(a, out):
    tile = cuda.shared.array(18, np.float64)
    i = cuda.grid(1)
    t = cuda.threadIdx.x + 1
    tile[t] = a[i] if i < a.size else 0.0
    if t == 1:
        tile[0] = a[i - 1] if i > 0 else 0.0
    if t == 16:
        tile[17] = a[i + 1]
    cuda.syncthreads()
    if i < a.size:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3

# %% halo_plane
@cuda.jit
def mean_of_five(a, out):
    tile = cuda.shared.array((10, 10), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    i, j = cuda.grid(2)
    ny, nx = a.shape
    tile[y, x] = a[j, i] if i < nx and j < ny else 0.0
    if x == 1:
        tile[y, 0] = a[j, i - 1] if i > 0 and j < ny else 0.0
    if x == 8:
        tile[y, 9] = a[j, i + 1] if i + 1 < nx and j < ny else 0.0
    if y == 1:
        tile[0, x] = a[j - 1, i] if i < nx and j > 0 else 0.0
    if y == 8:
        tile[9, x] = a[j + 1, i] if i < nx and j + 1 < ny else 0.0
    cuda.syncthreads()
    if i < nx and j < ny:
        out[j, i] = (tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]) / 5

# %% halo_plane wrong: with 13 × 11 elements
@cuda.jit
def mean_of_five(a, out):
    tile = cuda.shared.array((10, 10), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    i, j = cuda.grid(2)
    ny, nx = a.shape
    tile[y, x] = a[j, i] if i < nx and j < ny else 0.0
    if x == 1:
        tile[y, 0] = a[j, i - 1] if i > 0 and j < ny else 0.0
    if x == 8:
        tile[y, 9] = a[j, i + 1] if i + 1 < nx else 0.0
    if y == 1:
        tile[0, x] = a[j - 1, i] if j > 0 else 0.0
    if y == 8:
        tile[9, x] = a[j + 1, i] if j + 1 < ny else 0.0
    cuda.syncthreads()
    if i < nx and j < ny:
        out[j, i] = (tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]) / 5

# %% halo_plane wrong: global load thread accesses
@cuda.jit
def mean_of_five(a, out):
    tile = cuda.shared.array((10, 10), np.float64)
    x, y = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    i, j = cuda.grid(2)
    ny, nx = a.shape
    tile[y, x] = a[j, i] if i < nx and j < ny else 0.0
    if x == 1:
        tile[y, 0] = a[j, i - 1] if i > 0 and j < ny else 0.0
    if x == 8:
        tile[y, 9] = a[j, i + 1] if i + 1 < nx and j < ny else 0.0
    if y == 1:
        tile[0, x] = a[j - 1, i] if i < nx and j > 0 else 0.0
    if y == 8:
        tile[9, x] = a[j + 1, i] if i < nx and j + 1 < ny else 0.0
    if x == 1 and y == 1:
        tile[0, 0] = a[j - 1, i - 1] if i > 0 and j > 0 else 0.0
        tile[0, 9] = a[j - 1, i + 8] if i + 8 < nx and j > 0 else 0.0
        tile[9, 0] = a[j + 8, i - 1] if i > 0 and j + 8 < ny else 0.0
        tile[9, 9] = a[j + 8, i + 8] if i + 8 < nx and j + 8 < ny else 0.0
    cuda.syncthreads()
    if i < nx and j < ny:
        out[j, i] = (tile[y, x] + tile[y, x - 1] + tile[y, x + 1] + tile[y - 1, x] + tile[y + 1, x]) / 5

# %% rounds
@cuda.jit
def smooth_ring(a, times, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    for _ in range(times):
        cuda.syncthreads()
        mean = (tile[(t + 63) % 64] + tile[(t + 1) % 64]) / 2
        cuda.syncthreads()
        tile[t] = mean
    out[cuda.grid(1)] = tile[t]

# %% rounds wrong: thread 0 of block 0 writes it, but no barrier lies between them
@cuda.jit
def smooth_ring(a, times, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    for _ in range(times):
        cuda.syncthreads()
        mean = (tile[(t + 63) % 64] + tile[(t + 1) % 64]) / 2
        tile[t] = mean
    out[cuda.grid(1)] = tile[t]

# %% rounds wrong: outside the array's shape (64,)
@cuda.jit
def smooth_ring(a, times, out):
    tile = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    tile[t] = a[cuda.grid(1)]
    for _ in range(times):
        cuda.syncthreads()
        mean = (tile[(t + 63) % 64] + tile[t + 1]) / 2
        cuda.syncthreads()
        tile[t] = mean
    out[cuda.grid(1)] = tile[t]

# %% narrow
@cuda.jit
def mean_of_five_narrow(a, out):
    tile = cuda.shared.array((6, 24), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for r in range(y, 6, 4):
        for c in range(x, 10, 8):
            j = 4 * cuda.blockIdx.y + r - 1
            i = 8 * cuda.blockIdx.x + c - 1
            tile[r, c] = a[j, i] if 0 <= j < a.shape[0] and 0 <= i < a.shape[1] else 0.0
    cuda.syncthreads()
    s = tile[y + 1, x + 1] + tile[y + 1, x] + tile[y + 1, x + 2] + tile[y, x + 1] + tile[y + 2, x + 1]
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        out[j, i] = s / 5

# %% narrow wrong: because 2 lanes of a half-warp meet in one bank
@cuda.jit
def mean_of_five_narrow(a, out):
    tile = cuda.shared.array((6, 10), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for r in range(y, 6, 4):
        for c in range(x, 10, 8):
            j = 4 * cuda.blockIdx.y + r - 1
            i = 8 * cuda.blockIdx.x + c - 1
            tile[r, c] = a[j, i] if 0 <= j < a.shape[0] and 0 <= i < a.shape[1] else 0.0
    cuda.syncthreads()
    s = tile[y + 1, x + 1] + tile[y + 1, x] + tile[y + 1, x + 2] + tile[y, x + 1] + tile[y + 2, x + 1]
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        out[j, i] = s / 5

# %% narrow wrong: needs 20 shared load wavefronts and makes 40, 2.0×
@cuda.jit
def mean_of_five_narrow(a, out):
    tile = cuda.shared.array((6, 11), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for r in range(y, 6, 4):
        for c in range(x, 10, 8):
            j = 4 * cuda.blockIdx.y + r - 1
            i = 8 * cuda.blockIdx.x + c - 1
            tile[r, c] = a[j, i] if 0 <= j < a.shape[0] and 0 <= i < a.shape[1] else 0.0
    cuda.syncthreads()
    s = tile[y + 1, x + 1] + tile[y + 1, x] + tile[y + 1, x + 2] + tile[y, x + 1] + tile[y + 2, x + 1]
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        out[j, i] = s / 5

# %% turn
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((16, 17), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row = 16 * cuda.blockIdx.x + y
    column = 16 * cuda.blockIdx.y + x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]

# %% turn wrong: global store sectors and makes 128, 2.0×: neighbouring threads touch addresses 128 B apart
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((16, 17), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row = 16 * cuda.blockIdx.x + x
    column = 16 * cuda.blockIdx.y + y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[y, x]

# %% turn wrong: because 16 lanes of a half-warp meet in one bank
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((16, 16), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row = 16 * cuda.blockIdx.x + y
    column = 16 * cuda.blockIdx.y + x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]

# %% turn wrong: with 32 × 48 elements
@cuda.jit
def turn(a, out):
    tile = cuda.shared.array((16, 17), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    if j < a.shape[0] and i < a.shape[1]:
        tile[y, x] = a[j, i]
    cuda.syncthreads()
    row = 16 * cuda.blockIdx.y + y
    column = 16 * cuda.blockIdx.x + x
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[x, y]

# %% no_tile
@cuda.jit
def difference(a, out):
    i, j = cuda.grid(2)
    ny, nx = a.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        out[j, i] = a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i] - 4 * a[j, i]
    elif i < nx and j < ny:
        out[j, i] = a[j, i]

# %% no_tile wrong: a barrier is left
@cuda.jit
def difference(a, out):
    i, j = cuda.grid(2)
    ny, nx = a.shape
    cuda.syncthreads()
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        out[j, i] = a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i] - 4 * a[j, i]
    elif i < nx and j < ny:
        out[j, i] = a[j, i]

# %% no_tile wrong: needs no shared store requests
@cuda.jit
def difference(a, out):
    tile = cuda.shared.array((8, 8), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.grid(2)
    ny, nx = a.shape
    tile[y, x] = a[j, i] if i < nx and j < ny else 0.0
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        out[j, i] = a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i] - 4 * tile[y, x]
    elif i < nx and j < ny:
        out[j, i] = tile[y, x]

# %% no_tile wrong: were written by nobody, the first is out[0, 0]
@cuda.jit
def difference(a, out):
    i, j = cuda.grid(2)
    ny, nx = a.shape
    if 0 < i < nx - 1 and 0 < j < ny - 1:
        out[j, i] = a[j, i - 1] + a[j, i + 1] + a[j - 1, i] + a[j + 1, i] - 4 * a[j, i]
