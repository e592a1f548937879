# The laboratory of lecture 7, solved: for teachers. See 01_first_kernels.py for what the names of the cells mean.

# %% both_dots
from course_pkg.device.sums import warp_sum


@cuda.jit
def both_dots(u, w, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    first, second = 0.0, 0.0
    if i < u.size:
        mine = u[i]
        first, second = mine * r[i], mine * w[i]
    first, second = warp_sum(first), warp_sum(second)
    if lane == 0:
        parts[0, cuda.blockIdx.x], parts[1, cuda.blockIdx.x] = first, second

# %% both_dots wrong: The two rows of parts are exchanged
from course_pkg.device.sums import warp_sum


@cuda.jit
def both_dots(u, w, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    first, second = 0.0, 0.0
    if i < u.size:
        mine = u[i]
        first, second = mine * w[i], mine * r[i]
    first, second = warp_sum(first), warp_sum(second)
    if lane == 0:
        parts[0, cuda.blockIdx.x], parts[1, cuda.blockIdx.x] = first, second

# %% both_dots wrong: In warp_sum, which it calls: thread 0 of block 1 waits at this shfl_down_sync
from course_pkg.device.sums import warp_sum


@cuda.jit
def both_dots(u, w, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    first, second = 0.0, 0.0
    if i < u.size:
        first, second = warp_sum(u[i] * r[i]), warp_sum(u[i] * w[i])
    if lane == 0:
        parts[0, cuda.blockIdx.x], parts[1, cuda.blockIdx.x] = first, second

# %% both_dots wrong: Each part is the product of lane 0 alone
from course_pkg.device.sums import warp_sum


@cuda.jit
def both_dots(u, w, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    first, second = 0.0, 0.0
    if i < u.size:
        first, second = u[i] * r[i], u[i] * w[i]
    if lane == 0:
        parts[0, cuda.blockIdx.x], parts[1, cuda.blockIdx.x] = first, second

# %% block_moments
from course_pkg.device.sums import warp_sum


@cuda.jit
def block_moments(block, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    s = block.shape[0] // 2
    residual, last = 0.0, 0.0
    if i < r.size:
        residual, last = r[i], block[2 * s - 1, i]
    for k in range(s):
        q = 0.0
        if i < r.size:
            q = block[k, i]
        first, second = warp_sum(q * residual), warp_sum(q * last)
        if lane == 0:
            parts[k, cuda.blockIdx.x] = first
            parts[s + k, cuda.blockIdx.x] = second

# %% block_moments wrong: Each vector met its own product
from course_pkg.device.sums import warp_sum


@cuda.jit
def block_moments(block, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    s = block.shape[0] // 2
    residual, last = 0.0, 0.0
    if i < r.size:
        residual, last = r[i], block[2 * s - 1, i]
    for k in range(s):
        q, its = 0.0, 0.0
        if i < r.size:
            q, its = block[k, i], block[s + k, i]
        first, second = warp_sum(q * residual), warp_sum(q * its)
        if lane == 0:
            parts[k, cuda.blockIdx.x] = first
            parts[s + k, cuda.blockIdx.x] = second

# %% block_moments wrong: warp_sum gives the sum to lane 0 alone; let no other thread write it
from course_pkg.device.sums import warp_sum


@cuda.jit
def block_moments(block, r, parts):
    i = cuda.grid(1)
    s = block.shape[0] // 2
    residual, last = 0.0, 0.0
    if i < r.size:
        residual, last = r[i], block[2 * s - 1, i]
    for k in range(s):
        q = 0.0
        if i < r.size:
            q = block[k, i]
        first, second = warp_sum(q * residual), warp_sum(q * last)
        parts[k, cuda.blockIdx.x], parts[s + k, cuda.blockIdx.x] = first, second

# %% block_moments wrong: global load bytes requested and makes
from course_pkg.device.sums import warp_sum


@cuda.jit
def block_moments(block, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    s = block.shape[0] // 2
    residual, last = 0.0, 0.0
    if i < r.size:
        residual, last = r[i], block[2 * s - 1, i]
    for k in range(2 * s):
        q, other = 0.0, residual if k < s else last
        if i < r.size:
            q = block[k % s, i]
        total = warp_sum(q * other)
        if lane == 0:
            parts[k, cuda.blockIdx.x] = total

# %% gram_once
from course_pkg.device.sums import warp_sum


@cuda.jit
def gram_once(Z, AZ, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    products = (0.0, 0.0, 0.0, 0.0, 0.0)
    if i < r.size:
        z0, z1 = Z[0, i], Z[1, i]
        a0, a1, mine = AZ[0, i], AZ[1, i], r[i]
        products = (z0 * a0, z0 * a1, z1 * a1, z0 * mine, z1 * mine)
    for entry in range(5):
        total = warp_sum(products[entry])
        if lane == 0:
            parts[entry, cuda.blockIdx.x] = total

# %% gram_once wrong: All entries lack A
from course_pkg.device.sums import warp_sum


@cuda.jit
def gram_once(Z, AZ, r, parts):
    i, lane = cuda.grid(1), cuda.threadIdx.x
    products = (0.0, 0.0, 0.0, 0.0, 0.0)
    if i < r.size:
        z0, z1, mine = Z[0, i], Z[1, i], r[i]
        products = (z0 * z0, z0 * z1, z1 * z1, z0 * mine, z1 * mine)
    for entry in range(5):
        total = warp_sum(products[entry])
        if lane == 0:
            parts[entry, cuda.blockIdx.x] = total

# %% step_lengths
def step_lengths(mu):
    s = mu.size // 2
    W = np.empty((s, s))
    for i in range(s):
        for j in range(s):
            W[i, j] = mu[i + j + 1]
    return np.linalg.solve(W, mu[:s])

# %% step_lengths wrong: W begins with mu[1], the right-hand side with mu[0]
def step_lengths(mu):
    s = mu.size // 2
    W = np.empty((s, s))
    for i in range(s):
        for j in range(s):
            W[i, j] = mu[i + j]
    return np.linalg.solve(W, mu[:s])

# %% step_lengths wrong: W and the right-hand side are equally many moments along
def step_lengths(mu):
    s = mu.size // 2
    W = np.empty((s, s))
    for i in range(s):
        for j in range(s):
            W[i, j] = mu[i + j + 1]
    return np.linalg.solve(W, mu[1 : s + 1])

# %% step_lengths wrong: Each length was found for itself
def step_lengths(mu):
    s = mu.size // 2
    W = np.empty((s, s))
    for i in range(s):
        for j in range(s):
            W[i, j] = mu[i + j + 1]
    return mu[:s] / np.diag(W)

# %% conjugate
def conjugate(mu, alpha, W):
    s = alpha.size
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    C = np.zeros((s, s))
    for i in range(s):
        for j in range(s):
            C[i, j] = -t[i + j]
    return np.linalg.solve(W, C)

# %% conjugate wrong: This is the loop as it is printed
def conjugate(mu, alpha, W):
    s = alpha.size
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    C = np.zeros((s, s))
    for i in range(s):
        for j in range(i):
            C[i, j] = -t[i + j]
    return np.linalg.solve(W, C)

# %% conjugate wrong: The sign is that of t
def conjugate(mu, alpha, W):
    s = alpha.size
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    C = np.zeros((s, s))
    for i in range(s):
        for j in range(s):
            C[i, j] = t[i + j]
    return np.linalg.solve(W, C)

# %% conjugate wrong: This is C itself. β solves W β = C.
def conjugate(mu, alpha, W):
    s = alpha.size
    t = np.zeros(2 * s - 1)
    for i in range(s):
        known = sum(t[s - 1 + j] * alpha[s - 1 - i + j] for j in range(i))
        t[s - 1 + i] = -(mu[i] + known) / alpha[s - 1]
    C = np.zeros((s, s))
    for i in range(s):
        for j in range(s):
            C[i, j] = -t[i + j]
    return C

# %% chebyshev_step
@cuda.jit
def chebyshev_step(before, now, c, h, product, after):
    i, j = cuda.grid(2)
    ny, nx = now.shape
    if i < nx and j < ny:
        centre = now[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= now[j + dj, i + di]
        product[j, i] = total
        after[j, i] = 2 * (total - c * centre) / h - before[j, i]

# %% chebyshev_step wrong: after lacks the factor 2
@cuda.jit
def chebyshev_step(before, now, c, h, product, after):
    i, j = cuda.grid(2)
    ny, nx = now.shape
    if i < nx and j < ny:
        centre = now[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= now[j + dj, i + di]
        product[j, i] = total
        after[j, i] = (total - c * centre) / h - before[j, i]

# %% chebyshev_step wrong: product is already shifted by c
@cuda.jit
def chebyshev_step(before, now, c, h, product, after):
    i, j = cuda.grid(2)
    ny, nx = now.shape
    if i < nx and j < ny:
        centre = now[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= now[j + dj, i + di]
        total -= c * centre
        product[j, i] = total
        after[j, i] = 2 * total / h - before[j, i]

# %% advance_block
@cuda.jit
def advance_block(old, fresh, beta, alpha, x, r):
    i = cuda.grid(1)
    if i < x.size:
        for half in range(2):
            first, second = old[2 * half, i], old[2 * half + 1, i]
            moved = 0.0
            for j in range(2):
                row = 2 * half + j
                new = fresh[row, i] + beta[0, j] * first + beta[1, j] * second
                fresh[row, i] = new
                moved += alpha[j] * new
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved

# %% advance_block wrong: x and r moved along the fresh vectors
@cuda.jit
def advance_block(old, fresh, beta, alpha, x, r):
    i = cuda.grid(1)
    if i < x.size:
        for half in range(2):
            first, second = old[2 * half, i], old[2 * half + 1, i]
            moved = 0.0
            for j in range(2):
                row = 2 * half + j
                moved += alpha[j] * fresh[row, i]
                fresh[row, i] += beta[0, j] * first + beta[1, j] * second
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved

# %% advance_block wrong: The entries of beta are those of its transpose
@cuda.jit
def advance_block(old, fresh, beta, alpha, x, r):
    i = cuda.grid(1)
    if i < x.size:
        for half in range(2):
            first, second = old[2 * half, i], old[2 * half + 1, i]
            moved = 0.0
            for j in range(2):
                row = 2 * half + j
                new = fresh[row, i] + beta[j, 0] * first + beta[j, 1] * second
                fresh[row, i] = new
                moved += alpha[j] * new
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved

# %% advance_block wrong: fresh is as it was: the new rows belong there.
@cuda.jit
def advance_block(old, fresh, beta, alpha, x, r):
    i = cuda.grid(1)
    if i < x.size:
        for half in range(2):
            first, second = old[2 * half, i], old[2 * half + 1, i]
            moved = 0.0
            for j in range(2):
                row = 2 * half + j
                moved += alpha[j] * (fresh[row, i] + beta[0, j] * first + beta[1, j] * second)
            if half == 0:
                x[i] += moved
            else:
                r[i] -= moved

# %% smoother_step
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        centre, diagonal = z[j, i], d[j, i]
        total = diagonal * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= z[j + dj, i + di]
        new[j, i] = centre + omega * (r[j, i] - total) / diagonal

# %% smoother_step wrong: new lacks z
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        centre, diagonal = z[j, i], d[j, i]
        total = diagonal * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= z[j + dj, i + di]
        new[j, i] = omega * (r[j, i] - total) / diagonal

# %% smoother_step wrong: This is omega times Jacobi's new z.
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        total = r[j, i]
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total += z[j + dj, i + di]
        new[j, i] = omega * total / d[j, i]

# %% smoother_step wrong: The change was not divided by the diagonal
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        total = d[j, i] * z[j, i]
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= z[j + dj, i + di]
        new[j, i] = z[j, i] + omega * (r[j, i] - total)

# %% smoother_step wrong: A z was formed with 4 on the diagonal
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        total = 4 * z[j, i]
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= z[j + dj, i + di]
        new[j, i] = z[j, i] + omega * (r[j, i] - total) / d[j, i]

# %% smoother_step wrong: z is only to be read: write elsewhere
@cuda.jit
def smoother_step(r, d, omega, z, new):
    i, j = cuda.grid(2)
    ny, nx = z.shape
    if i < nx and j < ny:
        centre, diagonal = z[j, i], d[j, i]
        total = diagonal * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= z[j + dj, i + di]
        new[j, i] = centre + omega * (r[j, i] - total) / diagonal
        z[j, i] = new[j, i]
