# The laboratory of lecture 2, solved: for teachers. Each cell is a step's kernel or function as it stands in the lecture,
# complete. A cell whose name ends with "wrong" is a typical wrong answer, and the sentence after it has to be part of the
# verdict. The tests try all of them, and check that the lecture has the same lines with some of them replaced by "...".

# %% one_pass
@cuda.jit
def one_pass(a, b, c, out):
    i = cuda.grid(1)
    if i < out.size:
        u = a[i] * b[i] + c[i]
        out[i] = u * u

# %% one_pass wrong: makes 20, 2.0×: each element is written 2.0 times
@cuda.jit
def one_pass(a, b, c, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] * b[i]
        out[i] = out[i] + c[i]
        out[i] = out[i] * out[i]

# %% one_pass wrong: a thread writes its own element, out[i]
@cuda.jit
def one_pass(a, b, c, out):
    i = cuda.grid(1)
    if i < out.size:
        out[:] = (a * b + c) ** 2

# %% recompute
@cuda.jit
def recompute(u, c, h, out):
    i = cuda.grid(1)
    if i < out.size:
        x = i * h
        out[i] = u[i] * (1 + x * x)

# %% recompute wrong: needs 10 global load sectors and makes 20, 2.0×
@cuda.jit
def recompute(u, c, h, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = u[i] * c[i]

# %% mask_bits
@cuda.jit
def mask_bits(u, words, out):
    i = cuda.grid(1)
    if i < out.size:
        bit = (words[i // 32] >> (i % 32)) & 1
        out[i] = u[i] * bit

# %% mask_bits wrong: divide with `//`
@cuda.jit
def mask_bits(u, words, out):
    i = cuda.grid(1)
    if i < out.size:
        bit = (words[i / 32] >> (i % 32)) & 1
        out[i] = u[i] * bit

# %% mask_bits wrong: elements are wrong
@cuda.jit
def mask_bits(u, words, out):
    i = cuda.grid(1)
    if i < out.size:
        bit = words[i // 32] >> (i % 32)
        out[i] = u[i] * bit

# %% mask_bits wrong: outside the array's shape (2,)
@cuda.jit
def mask_bits(u, words, out):
    i = cuda.grid(1)
    if i < out.size:
        bit = words[i] & 1
        out[i] = u[i] * bit

# %% split
@cuda.jit
def split(records, fields):
    i = cuda.grid(1)
    if i < records.size:
        fields[i % 4, i // 4] = records[i]

# %% split wrong: needs 16 global load sectors and makes 64, 4.0×
@cuda.jit
def split(records, fields):
    i = cuda.grid(1)
    if i < fields.shape[1]:
        for f in range(4):
            fields[f, i] = records[4 * i + f]

# %% split wrong: elements are wrong
@cuda.jit
def split(records, fields):
    i = cuda.grid(1)
    if i < records.size:
        fields[i // fields.shape[1], i % fields.shape[1]] = records[i]

# %% two_steps
@cuda.jit
def two_steps(u, out):
    i = cuda.grid(1)
    if i < u.size:
        total = 0.0
        for d in range(-2, 3):
            total += (3 - abs(d)) * u[(i + d) % u.size]
        out[i] = total / 9

# %% two_steps wrong: blocks of one launch run in any order
@cuda.jit
def two_steps(u, out):
    i = cuda.grid(1)
    n = u.size
    if i < n:
        out[i] = (u[(i - 1) % n] + u[i] + u[(i + 1) % n]) / 3
    cuda.syncthreads()
    if i < n:
        out[i] = (out[(i - 1) % n] + out[i] + out[(i + 1) % n]) / 3

# %% two_steps wrong: outside the array's shape (40,)
@cuda.jit
def two_steps(u, out):
    i = cuda.grid(1)
    if i < u.size:
        total = 0.0
        for d in range(-2, 3):
            total += (3 - abs(d)) * u[i + d]
        out[i] = total / 9

# %% halve
@cuda.jit
def halve(a, out):
    tile = cuda.shared.array(64, float64)
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    i = cuda.grid(1)
    for k in range(t, 64, 32):
        if first + k < a.size:
            tile[k] = a[first + k]
    cuda.syncthreads()
    if i < out.size:
        out[i] = (tile[2 * t] + tile[2 * t + 1]) / 2

# %% halve wrong: makes 32, 2.0×
@cuda.jit
def halve(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[2 * i] + a[2 * i + 1]) / 2

# %% halve wrong: nothing makes one wait for the other: a cuda.syncthreads() is missing between them
@cuda.jit
def halve(a, out):
    tile = cuda.shared.array(64, float64)
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    i = cuda.grid(1)
    for k in range(t, 64, 32):
        if first + k < a.size:
            tile[k] = a[first + k]
    if i < out.size:
        out[i] = (tile[2 * t] + tile[2 * t + 1]) / 2

# %% must_move
def must_move(fields, n, itemsize):
    passes = {"unknown": 2, "known": 1, "scratch": 0}
    return sum(passes[kind] for kind in fields.values()) * n * itemsize

# %% must_move wrong: found 4000, expected 2400
def must_move(fields, n, itemsize):
    passes = {"unknown": 2, "known": 1, "scratch": 2}
    return sum(passes[kind] for kind in fields.values()) * n * itemsize

# %% must_move wrong: with fields = {'p': 'unknown'
def must_move(fields, n, itemsize):
    passes = {"unknown": 2, "known": 1, "scratch": 0}
    return sum(passes[kind] for kind in fields.values()) * n * 8

# %% bandwidth
def bandwidth(samples_s, bytes_moved):
    typical_s = np.median(samples_s[1:])
    return bytes_moved / typical_s / 1e9

# %% bandwidth wrong: The result: found
def bandwidth(samples_s, bytes_moved):
    typical_s = np.mean(samples_s)
    return bytes_moved / typical_s / 1e9

# %% gain
def gain(a_eff_bytes, t_it_s, t_peak_gb_s):
    t_eff_gb_s = a_eff_bytes / t_it_s / 1e9
    return t_peak_gb_s / t_eff_gb_s if t_eff_gb_s <= t_peak_gb_s else float("nan")

# %% gain wrong: expected nan
def gain(a_eff_bytes, t_it_s, t_peak_gb_s):
    t_eff_gb_s = a_eff_bytes / t_it_s / 1e9
    return t_peak_gb_s / t_eff_gb_s
