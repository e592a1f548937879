# The laboratory of lecture 8, solved: for teachers. See 01_first_kernels.py for what the names of the cells mean.

# %% one_update
def one_update(Q, h, x):
    Q_plus, Q_minus = np.maximum(Q, 0), np.maximum(-Q, 0)
    h_plus, h_minus = np.maximum(h, 0), np.maximum(-h, 0)
    return x * (h_minus + Q_minus @ x) / (h_plus + Q_plus @ x)

# %% one_update wrong: Q⁻ and h⁻ hold no negative numbers
def one_update(Q, h, x):
    Q_plus, Q_minus = np.maximum(Q, 0), np.minimum(Q, 0)
    h_plus, h_minus = np.maximum(h, 0), np.minimum(h, 0)
    return x * (h_minus + Q_minus @ x) / (h_plus + Q_plus @ x)

# %% one_update wrong: This is the factor
def one_update(Q, h, x):
    Q_plus, Q_minus = np.maximum(Q, 0), np.maximum(-Q, 0)
    h_plus, h_minus = np.maximum(h, 0), np.maximum(-h, 0)
    return (h_minus + Q_minus @ x) / (h_plus + Q_plus @ x)

# %% one_update wrong: The fraction stands on its head
def one_update(Q, h, x):
    Q_plus, Q_minus = np.maximum(Q, 0), np.maximum(-Q, 0)
    h_plus, h_minus = np.maximum(h, 0), np.maximum(-h, 0)
    return x * (h_plus + Q_plus @ x) / (h_minus + Q_minus @ x)

# %% each_unknown
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        out[i] = x[i] * above / below

# %% each_unknown wrong: These are the factors
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        out[i] = above / below

# %% each_unknown wrong: h was left out of the fraction
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = 0.0, 0.0
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        out[i] = x[i] * above / below

# %% each_unknown wrong: reads x[
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        x[i] = x[i] * above / below

# %% each_unknown wrong: The result is right, but
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            above += max(-Q[i, j], 0.0) * x[j]
        for j in range(x.size):
            below += max(Q[i, j], 0.0) * x[j]
        out[i] = x[i] * above / below

# %% each_unknown wrong: Q⁺ and Q⁻ are exchanged
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(q, 0.0) * x[j]
            below += max(-q, 0.0) * x[j]
        out[i] = x[i] * above / below

# %% each_unknown wrong: The entries of Q⁻ are not negative
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += min(q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        out[i] = x[i] * above / below

# %% each_unknown wrong: each has to be multiplied by its x_j
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0)
            below += max(q, 0.0)
        out[i] = x[i] * above / below

# %% each_unknown wrong: entry j belongs to x_j
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[i]
            below += max(q, 0.0) * x[i]
        out[i] = x[i] * above / below

# %% each_unknown wrong: The fraction stands on its head
@cuda.jit
def each_unknown(Q, h, x, out):
    i = cuda.grid(1)
    if i < x.size:
        above, below = max(-h[i], 0.0), max(h[i], 0.0)
        for j in range(x.size):
            q = Q[i, j]
            above += max(-q, 0.0) * x[j]
            below += max(q, 0.0) * x[j]
        out[i] = x[i] * below / above

# %% tile_of_x
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        if first + t < n:
            tile[t] = x[first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * tile[k]
                minus += max(-q, 0.0) * tile[k]
        cuda.syncthreads()
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% tile_of_x wrong: guard the access, and beyond the end of x put what is asked for into tile
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        tile[t] = x[first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * tile[k]
                minus += max(-q, 0.0) * tile[k]
        cuda.syncthreads()
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% tile_of_x wrong: a cuda.syncthreads() is missing between them
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        if first + t < n:
            tile[t] = x[first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * tile[k]
                minus += max(-q, 0.0) * tile[k]
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% tile_of_x wrong: The result is right, but
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        if first + t < n:
            tile[t] = x[first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * x[first + k]
                minus += max(-q, 0.0) * x[first + k]
        cuda.syncthreads()
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% tile_of_x wrong: a tile begins at `first`
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        if first + t < n:
            tile[t] = x[t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * tile[k]
                minus += max(-q, 0.0) * tile[k]
        cuda.syncthreads()
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% tile_of_x wrong: row first + k belongs to tile[k]
@cuda.jit
def tile_of_x(Q, h, x, out):
    tile = cuda.shared.array(8, np.float64)
    i, t, n = cuda.grid(1), cuda.threadIdx.x, x.size
    plus, minus = 0.0, 0.0
    for first in range(0, n, 8):
        if first + t < n:
            tile[t] = x[first + t]
        cuda.syncthreads()
        if i < n:
            for k in range(min(8, n - first)):
                q = Q[first + k, i]
                plus += max(q, 0.0) * tile[t]
                minus += max(-q, 0.0) * tile[t]
        cuda.syncthreads()
    if i < n:
        out[i] = x[i] * (max(-h[i], 0.0) + minus) / (max(h[i], 0.0) + plus)

# %% warp_per_row
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: These are the sums of lane 0 alone
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: The entries of Q⁻ are not negative
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += min(q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: The result is right, but
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(x.size):
            if j % 32 == lane:
                up += max(Q[j, row], 0.0) * x[j]
                down += max(-Q[j, row], 0.0) * x[j]
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: minus holds the sum of lane 0 alone
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: each sum is 32 times too large
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(x.size):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: the step of the loop is 32
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% warp_per_row wrong: entry j belongs to x[j]
@cuda.jit
def warp_per_row(Q, x, plus, minus):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if row < x.size:
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[row]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and row < x.size:
        plus[row], minus[row] = up, down

# %% f_and_residual
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += x_i * (0.5 * product + h[i])
        worst = max(worst, abs(min(x_i, product + h[i])))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))
    if t == 0:
        found[0], found[1] = total, worst

# %% f_and_residual wrong: The half is missing
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += x_i * (product + h[i])
        worst = max(worst, abs(min(x_i, product + h[i])))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))
    if t == 0:
        found[0], found[1] = total, worst

# %% f_and_residual wrong: This residual is complementarity
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += x_i * (0.5 * product + h[i])
        worst = max(worst, abs(x_i * (product + h[i])))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))
    if t == 0:
        found[0], found[1] = total, worst

# %% f_and_residual wrong: can be negative: its size counts
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += x_i * (0.5 * product + h[i])
        worst = max(worst, min(x_i, product + h[i]))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))
    if t == 0:
        found[0], found[1] = total, worst

# %% f_and_residual wrong: Only the product has a half
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += 0.5 * x_i * (product + h[i])
        worst = max(worst, abs(min(x_i, product + h[i])))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst = max(worst, cuda.shfl_down_sync(0xFFFFFFFF, worst, distance))
    if t == 0:
        found[0], found[1] = total, worst

# %% f_and_residual wrong: elements are wrong; found[
@cuda.jit
def f_and_residual(plus, minus, h, x, found):
    t = cuda.threadIdx.x
    total, worst = 0.0, 0.0
    for i in range(t, x.size, 32):
        x_i, product = x[i], plus[i] - minus[i]
        total += x_i * (0.5 * product + h[i])
        worst = max(worst, abs(min(x_i, product + h[i])))
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
        worst += cuda.shfl_down_sync(0xFFFFFFFF, worst, distance)
    if t == 0:
        found[0], found[1] = total, worst

# %% free_to_change
def free_to_change(x, gradient):
    return (x > 0) | (gradient < 0)

# %% free_to_change wrong: A zero with a negative gradient ought to grow
def free_to_change(x, gradient):
    return x > 0

# %% free_to_change wrong: An unknown that is not 0 is free to change, whatever its gradient is
def free_to_change(x, gradient):
    return gradient < 0

# %% free_to_change wrong: A zero with a positive gradient stays 0
def free_to_change(x, gradient):
    return (x > 0) | (gradient > 0)

# %% free_to_change wrong: found the shape
def free_to_change(x, gradient):
    return np.flatnonzero((x > 0) | (gradient < 0))

# %% by_list
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = active[k]
        for b in range(lane, active.size, 32):
            j = active[b]
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        plus[row], minus[row] = up, down

# %% by_list wrong: lie in the order of the list
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = active[k]
        for b in range(lane, active.size, 32):
            j = active[b]
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        plus[k], minus[k] = up, down

# %% by_list wrong: it has to be x[active[b]]
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = active[k]
        for b in range(lane, active.size, 32):
            j = active[b]
            q, x_j = Q[row, j], x[b]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        plus[row], minus[row] = up, down

# %% by_list wrong: elements are wrong; plus[
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = active[k]
        for b in range(lane, active.size, 32):
            j = active[b]
            q, x_j = Q[k, b], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        plus[row], minus[row] = up, down

# %% by_list wrong: The result is right, but
@cuda.jit
def by_list(Q, x, active, plus, minus):
    k, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    up, down = 0.0, 0.0
    if k < active.size:
        row = active[k]
        for j in range(lane, x.size, 32):
            q, x_j = Q[row, j], x[j]
            up += max(q, 0.0) * x_j
            down += max(-q, 0.0) * x_j
    for distance in (16, 8, 4, 2, 1):
        up += cuda.shfl_down_sync(0xFFFFFFFF, up, distance)
        down += cuda.shfl_down_sync(0xFFFFFFFF, down, distance)
    if lane == 0 and k < active.size:
        plus[row], minus[row] = up, down

# %% best_step
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: the step ends where the first one reaches 0
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    t = -slope / curvature
    return x + t * d

# %% best_step wrong: h is missing
def best_step(x, d, Qx, Qd, h):
    slope = d @ Qx
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: the step ends where the first one reaches 0
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.max(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: The half belongs to F alone
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx / 2 + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: t is twice too long
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd / 2
    falls = d < 0
    longest = np.min(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: The length is negative
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / d[falls])
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: line 5 raises
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / -d[falls])
    t = min(-slope / curvature, longest)
    return x + t * d

# %% best_step wrong: elements are wrong; the result is
def best_step(x, d, Qx, Qd, h):
    slope = d @ (Qx + h)
    curvature = d @ Qd
    falls = d < 0
    longest = np.min(x[falls] / -d[falls], initial=np.inf)
    t = min(-slope / (2 * curvature), longest)
    return x + t * d

# %% one_block_each
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    for j in range(8):
        q[j, i] = Q[p, j, i]
    now[i] = own_x
    for _ in range(times):
        cuda.syncthreads()
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            above += max(-q[j, i], 0.0) * now[j]
            below += max(q[j, i], 0.0) * now[j]
        own_x *= above / below
        cuda.syncthreads()
        now[i] = own_x
    out[p, i] = own_x

# %% one_block_each wrong: a cuda.syncthreads() is missing between them
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    for j in range(8):
        q[j, i] = Q[p, j, i]
    now[i] = own_x
    for _ in range(times):
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            above += max(-q[j, i], 0.0) * now[j]
            below += max(q[j, i], 0.0) * now[j]
        own_x *= above / below
        now[i] = own_x
    out[p, i] = own_x

# %% one_block_each wrong: a cuda.syncthreads() is missing between them
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    for j in range(8):
        q[j, i] = Q[p, j, i]
    now[i] = own_x
    for _ in range(times):
        cuda.syncthreads()
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            above += max(-q[j, i], 0.0) * now[j]
            below += max(q[j, i], 0.0) * now[j]
        own_x *= above / below
        now[i] = own_x
    out[p, i] = own_x

# %% one_block_each wrong: elements are wrong; out[
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    for j in range(8):
        q[j, i] = Q[0, j, i]
    now[i] = own_x
    for _ in range(times):
        cuda.syncthreads()
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            above += max(-q[j, i], 0.0) * now[j]
            below += max(q[j, i], 0.0) * now[j]
        own_x *= above / below
        cuda.syncthreads()
        now[i] = own_x
    out[p, i] = own_x

# %% one_block_each wrong: The result is right, but
@cuda.jit
def one_block_each(Q, h, x, times, out):
    q, now = cuda.shared.array((8, 8), np.float64), cuda.shared.array(8, np.float64)
    p, i = cuda.blockIdx.x, cuda.threadIdx.x
    own_h, own_x = h[p, i], x[p, i]
    now[i] = own_x
    for _ in range(times):
        cuda.syncthreads()
        above, below = max(-own_h, 0.0), max(own_h, 0.0)
        for j in range(8):
            above += max(-Q[p, j, i], 0.0) * now[j]
            below += max(Q[p, j, i], 0.0) * now[j]
        own_x *= above / below
        cuda.syncthreads()
        now[i] = own_x
    out[p, i] = own_x
