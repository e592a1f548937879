# The laboratory of lecture 4, solved: for teachers. Each cell is a step as it stands in the lecture, complete. A cell whose
# name ends with "wrong" is a typical wrong answer, and the sentence after it has to be part of the verdict.

# %% one_offset
@cuda.jit
def north_difference(u, nx, ny, nz, out):
    i, j, k = cuda.grid(3)
    if i < nx and j < ny and k < nz:
        c = np.uint32((k * ny + j) * nx + i)
        north = 0.0
        if j > 0:
            north = u[np.uint32(c - nx)]
        out[c] = u[c] - north

# %% one_offset wrong: elements are wrong
@cuda.jit
def north_difference(u, nx, ny, nz, out):
    i, j, k = cuda.grid(3)
    if i < nx and j < ny and k < nz:
        c = np.uint32((i * ny + j) * nz + k)
        north = 0.0
        if j > 0:
            north = u[np.uint32(c - nz)]
        out[c] = u[c] - north

# %% one_offset wrong: elements are wrong
@cuda.jit
def north_difference(u, nx, ny, nz, out):
    i, j, k = cuda.grid(3)
    if i < nx and j < ny and k < nz:
        c = np.uint32((k * ny + j) * nx + i)
        north = 0.0
        if j > 0:
            north = u[np.uint32(c - ny)]
        out[c] = u[c] - north

# %% plane_queue
@cuda.jit
def fourth_difference(u, out):
    i = cuda.grid(1)
    if i < u.shape[1]:
        a, b, c, d = u[0, i], u[1, i], u[2, i], u[3, i]
        for k in range(out.shape[0]):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            a, b, c, d = b, c, d, e

# %% plane_queue wrong: elements are wrong; out[1, 0] is
@cuda.jit
def fourth_difference(u, out):
    i = cuda.grid(1)
    if i < u.shape[1]:
        a, b, c, d = u[0, i], u[1, i], u[2, i], u[3, i]
        for k in range(out.shape[0]):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            d = e
            c = d
            b = c
            a = b

# %% plane_queue wrong: needs 56 global load thread accesses and makes 120
@cuda.jit
def fourth_difference(u, out):
    i = cuda.grid(1)
    if i < u.shape[1]:
        for k in range(out.shape[0]):
            out[k, i] = u[k, i] - 4 * u[k + 1, i] + 6 * u[k + 2, i] - 4 * u[k + 3, i] + u[k + 4, i]

# %% march_in_chunks
@cuda.jit
def fourth_difference_in_chunks(u, planes, out):
    i = cuda.grid(2)[0]
    first = cuda.blockIdx.y * planes
    last = min(first + planes, out.shape[0])
    if i < u.shape[1]:
        a, b, c, d = u[first, i], u[first + 1, i], u[first + 2, i], u[first + 3, i]
        for k in range(first, last):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            a, b, c, d = b, c, d, e

# %% march_in_chunks wrong: outside the array's shape
@cuda.jit
def fourth_difference_in_chunks(u, planes, out):
    i = cuda.grid(2)[0]
    first = cuda.blockIdx.y * planes
    last = first + planes
    if i < u.shape[1]:
        a, b, c, d = u[first, i], u[first + 1, i], u[first + 2, i], u[first + 3, i]
        for k in range(first, last):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            a, b, c, d = b, c, d, e

# %% march_in_chunks wrong: which part of the loop belongs to this block?
@cuda.jit
def fourth_difference_in_chunks(u, planes, out):
    i = cuda.grid(2)[0]
    first = 0
    last = out.shape[0]
    if i < u.shape[1]:
        a, b, c, d = u[first, i], u[first + 1, i], u[first + 2, i], u[first + 3, i]
        for k in range(first, last):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            a, b, c, d = b, c, d, e

# %% march_in_chunks wrong: elements are wrong; out[3, 0] is
@cuda.jit
def fourth_difference_in_chunks(u, planes, out):
    i = cuda.grid(2)[0]
    first = cuda.blockIdx.y * planes
    last = min(first + planes, out.shape[0])
    if i < u.shape[1]:
        a, b, c, d = u[0, i], u[1, i], u[2, i], u[3, i]
        for k in range(first, last):
            e = u[k + 4, i]
            out[k, i] = a - 4 * b + 6 * c - 4 * d + e
            a, b, c, d = b, c, d, e

# %% paired_axpy
from course_pkg.device.pairs import load_pair, store_pair


@cuda.jit
def axpy_by_pairs(a, x, y):
    i = 2 * cuda.grid(1)
    if i + 1 < x.size:
        x0, x1 = load_pair(x, i)
        y0, y1 = load_pair(y, i)
        store_pair(y, i, a * x0 + y0, a * x1 + y1)
    elif i < x.size:
        y[i] = a * x[i] + y[i]

# %% paired_axpy wrong: needs 2 global load requests and makes 4
from course_pkg.device.pairs import load_pair, store_pair


@cuda.jit
def axpy_by_pairs(a, x, y):
    i = 2 * cuda.grid(1)
    if i + 1 < x.size:
        y[i] = a * x[i] + y[i]
        y[i + 1] = a * x[i + 1] + y[i + 1]
    elif i < x.size:
        y[i] = a * x[i] + y[i]

# %% paired_axpy wrong: Pairs begin at elements of even number
from course_pkg.device.pairs import load_pair, store_pair


@cuda.jit
def axpy_by_pairs(a, x, y):
    i = cuda.grid(1)
    if i + 1 < x.size:
        x0, x1 = load_pair(x, i)
        y0, y1 = load_pair(y, i)
        store_pair(y, i, a * x0 + y0, a * x1 + y1)
    elif i < x.size:
        y[i] = a * x[i] + y[i]

# %% threads_in_flight
def threads_needed(t_eff_gb_s, latency_ns, multiprocessors, bytes_per_thread):
    bytes_in_flight = t_eff_gb_s / 2 * latency_ns
    threads = bytes_in_flight / multiprocessors / bytes_per_thread
    return 32 * math.ceil(threads / 32)

# %% threads_in_flight wrong: found 2400, expected 1216
def threads_needed(t_eff_gb_s, latency_ns, multiprocessors, bytes_per_thread):
    bytes_in_flight = t_eff_gb_s * latency_ns
    threads = bytes_in_flight / multiprocessors / bytes_per_thread
    return 32 * math.ceil(threads / 32)

# %% threads_in_flight wrong: found 1200, expected 1216
def threads_needed(t_eff_gb_s, latency_ns, multiprocessors, bytes_per_thread):
    bytes_in_flight = t_eff_gb_s / 2 * latency_ns
    threads = bytes_in_flight / multiprocessors / bytes_per_thread
    return math.ceil(threads)

# %% warps_that_fit
def resident_warps(threads, registers):
    warps = math.ceil(threads / 32)
    per_warp = 256 * math.ceil(32 * registers / 256)
    fed = 4 * (16_384 // per_warp)
    blocks = min(fed // warps, 64 // warps, 32)
    return blocks * warps

# %% warps_that_fit wrong: with threads = 128, registers = 33
def resident_warps(threads, registers):
    warps = math.ceil(threads / 32)
    per_warp = 32 * registers
    fed = 4 * (16_384 // per_warp)
    blocks = min(fed // warps, 64 // warps, 32)
    return blocks * warps

# %% warps_that_fit wrong: with threads = 1024, registers = 40
def resident_warps(threads, registers):
    warps = math.ceil(threads / 32)
    per_warp = 256 * math.ceil(32 * registers / 256)
    fed = 4 * (16_384 // per_warp)
    return min(fed, 64, 32 * warps)

# %% strided_sum
@cuda.jit
def sum_by_shuffles(a, out):
    per_warp = cuda.shared.array(2, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if t % 32 == 0:
        per_warp[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = per_warp[0] + per_warp[1]

# %% strided_sum wrong: needs 4 shared load requests
@cuda.jit
def sum_by_shuffles(a, out):
    tile = cuda.shared.array(64, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    tile[t] = total
    half = 32
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]

# %% strided_sum wrong: a cuda.syncthreads() is missing, or an index is wrong
@cuda.jit
def sum_by_shuffles(a, out):
    per_warp = cuda.shared.array(2, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if t % 32 == 0:
        per_warp[t // 32] = total
    if t == 0:
        out[cuda.blockIdx.x] = per_warp[0] + per_warp[1]

# %% strided_sum wrong: 2 of 2 elements are wrong; out[0] is
@cuda.jit
def sum_by_shuffles(a, out):
    per_warp = cuda.shared.array(2, float64)
    t = cuda.threadIdx.x
    total = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        total += a[i]
    for distance in (16, 8, 4, 2):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if t % 32 == 0:
        per_warp[t // 32] = total
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = per_warp[0] + per_warp[1]

# %% warp_argmax
@cuda.jit
def argmax_of_rows(a, out):
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, where = a[r, t], t
    for distance in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(0xFFFFFFFF, best, distance)
        place = cuda.shfl_down_sync(0xFFFFFFFF, where, distance)
        if other > best or (other == best and place < where):
            best, where = other, place
    if t == 0:
        out[r] = where

# %% warp_argmax wrong: and should be 9.
@cuda.jit
def argmax_of_rows(a, out):
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, where = a[r, t], t
    for distance in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(0xFFFFFFFF, best, distance)
        place = cuda.shfl_down_sync(0xFFFFFFFF, where, distance)
        if other > best:
            best, where = other, place
    if t == 0:
        out[r] = where

# %% warp_argmax wrong: and should be 9.
@cuda.jit
def argmax_of_rows(a, out):
    r, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, where = a[r, t], t
    for distance in (16, 8, 4, 2, 1):
        other = cuda.shfl_down_sync(0xFFFFFFFF, best, distance)
        if other > best:
            best, where = other, t + distance
    if t == 0:
        out[r] = where
