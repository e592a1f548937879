# The laboratory of lecture 5, solved: for teachers. See 01_first_kernels.py for what the names of the cells mean.

# %% update_p
@cuda.jit
def update_p(r, beta, p):
    i = cuda.grid(1)
    if i < p.size:
        p[i] = r[i] + beta * p[i]

# %% update_p wrong: guard the access, so that threads without an element do nothing
@cuda.jit
def update_p(r, beta, p):
    i = cuda.grid(1)
    p[i] = r[i] + beta * p[i]

# %% update_p wrong: means the whole array, and every thread would write all of it
@cuda.jit
def update_p(r, beta, p):
    i = cuda.grid(1)
    if i < p.size:
        p[:] = r + beta * p

# %% map_stencil
@cuda.jit
def map_stencil(r, p1, beta, c, p2, s):
    i, j = cuda.grid(2)
    ny, nx = p1.shape
    if i < nx and j < ny:
        new = r[j, i] + beta * p1[j, i]
        total = 2 * (1 + c) * new
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            weight = c if di == 0 else 1.0
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= weight * (r[j + dj, i + di] + beta * p1[j + dj, i + di])
        p2[j, i] = new
        s[j, i] = total

# %% map_stencil wrong: of block (0, 1) reads it, but blocks of one launch run in any order
@cuda.jit
def map_stencil(r, p1, beta, c, p2, s):
    i, j = cuda.grid(2)
    ny, nx = p1.shape
    if i < nx and j < ny:
        new = r[j, i] + beta * p1[j, i]
        p2[j, i] = new
        total = 2 * (1 + c) * new
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            weight = c if di == 0 else 1.0
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= weight * p2[j + dj, i + di]
        s[j, i] = total

# %% map_stencil wrong: the `if` lets this thread through, and r has 6 rows and 12 columns
@cuda.jit
def map_stencil(r, p1, beta, c, p2, s):
    i, j = cuda.grid(2)
    ny, nx = p1.shape
    if i < nx and j < ny:
        new = r[j, i] + beta * p1[j, i]
        total = 2 * (1 + c) * new
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            weight = c if di == 0 else 1.0
            total -= weight * (r[j + dj, i + di] + beta * p1[j + dj, i + di])
        p2[j, i] = new
        s[j, i] = total

# %% alternate
@cuda.jit
def search(r, old, beta, new, s):
    i, j = cuda.grid(2)
    ny, nx = old.shape
    if i < nx and j < ny:
        mine = r[j, i] + beta * old[j, i]
        total = 4 * mine
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= r[j + dj, i + di] + beta * old[j + dj, i + di]
        new[j, i] = mine
        s[j, i] = total

def alternate(r, p1, p2, beta, s, times):
    grid = -(-r.shape[1] // 8), -(-r.shape[0] // 4)
    for _ in range(times):
        search[grid, (8, 4)](r, p1, beta, p2, s)
        p1, p2 = p2, p1
    return p1

# %% alternate wrong: `new[j, i] = mine`: thread (0, 0) of block (1, 0) reads new[0, 7] and thread (7, 0) of block (0, 0) writes it
@cuda.jit
def search(r, old, beta, new, s):
    i, j = cuda.grid(2)
    ny, nx = old.shape
    if i < nx and j < ny:
        mine = r[j, i] + beta * old[j, i]
        total = 4 * mine
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= r[j + dj, i + di] + beta * old[j + dj, i + di]
        new[j, i] = mine
        s[j, i] = total

def alternate(r, p1, p2, beta, s, times):
    grid = -(-r.shape[1] // 8), -(-r.shape[0] // 4)
    for _ in range(times):
        search[grid, (8, 4)](r, p1, beta, p1, s)
    return p1

# %% alternate wrong: elements are wrong; s[0, 0] is
@cuda.jit
def search(r, old, beta, new, s):
    i, j = cuda.grid(2)
    ny, nx = old.shape
    if i < nx and j < ny:
        mine = r[j, i] + beta * old[j, i]
        total = 4 * mine
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= r[j + dj, i + di] + beta * old[j + dj, i + di]
        new[j, i] = mine
        s[j, i] = total

def alternate(r, p1, p2, beta, s, times):
    grid = -(-r.shape[1] // 8), -(-r.shape[0] // 4)
    for _ in range(times):
        search[grid, (8, 4)](r, p1, beta, p2, s)
    return p1

# %% stencil_dot
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        product = centre * total
    part = block_total(product)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        partial[cuda.blockIdx.y, cuda.blockIdx.x] = part

# %% stencil_dot wrong: In warp_sum, which it calls: thread (0, 0) of block (1, 0) waits at this shfl_down_sync
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        product = centre * total
        part = block_total(product)
        if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
            partial[cuda.blockIdx.y, cuda.blockIdx.x] = part

# %% stencil_dot wrong: block_total gives the sum to the first thread of the block alone; let no other thread write it
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        product = centre * total
    partial[cuda.blockIdx.y, cuda.blockIdx.x] = block_total(product)

# %% stencil_dot wrong: global load bytes requested and makes
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        product = p[j, i] * s[j, i]
    part = block_total(product)
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        partial[cuda.blockIdx.y, cuda.blockIdx.x] = part

# %% stencil_dot wrong: atomic
from course_pkg.device.sums import block_total

@cuda.jit
def stencil_dot(p, s, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    product = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        s[j, i] = total
        product = centre * total
    cuda.atomic.add(partial, (cuda.blockIdx.y, cuda.blockIdx.x), product)

# %% update_x_r_dot
from course_pkg.device.sums import block_total

@cuda.jit
def update_x_r_dot(p, s, alpha, x, r, partial):
    i = cuda.grid(1)
    square = 0.0
    if i < x.size:
        x[i] += alpha * p[i]
        new = r[i] - alpha * s[i]
        r[i] = new
        square = new * new
    part = block_total(square)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = part

# %% update_x_r_dot wrong: elements are wrong; partial[0] is
from course_pkg.device.sums import block_total

@cuda.jit
def update_x_r_dot(p, s, alpha, x, r, partial):
    i = cuda.grid(1)
    square = 0.0
    if i < x.size:
        x[i] += alpha * p[i]
        old = r[i]
        r[i] = old - alpha * s[i]
        square = old * old
    part = block_total(square)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = part

# %% update_x_r_dot wrong: global load bytes requested and makes
from course_pkg.device.sums import block_total

@cuda.jit
def update_x_r_dot(p, s, alpha, x, r, partial):
    i = cuda.grid(1)
    square = 0.0
    if i < x.size:
        r[i] = r[i] - alpha * s[i]
        x[i] += alpha * p[i]
        square = r[i] * r[i]
    part = block_total(square)
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = part

# %% advance
from course_pkg.device.sums import leave_total

@cuda.jit
def advance(p, alpha, x, r, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    square = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                total -= p[j + dj, i + di]
        x[j, i] += alpha * centre
        new = r[j, i] - alpha * total
        r[j, i] = new
        square = new * new
    leave_total(square, partial)

# %% advance wrong: global load bytes requested and makes
from course_pkg.device.sums import leave_total

@cuda.jit
def advance(p, alpha, x, r, partial):
    i, j = cuda.grid(2)
    ny, nx = p.shape
    square = 0.0
    if i < nx and j < ny:
        centre = p[j, i]
        total = 4 * centre
        r[j, i] -= alpha * total
        for dj, di in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= j + dj < ny and 0 <= i + di < nx:
                r[j, i] += alpha * p[j + dj, i + di]
        x[j, i] += alpha * centre
        square = r[j, i] * r[j, i]
    leave_total(square, partial)

# %% stop_flag
from course_pkg.device.sums import warp_sum

@cuda.jit
def stop_flag(partial, enough, state):
    t = cuda.threadIdx.x
    mine = 0.0
    for b in range(t, partial.size, 32):
        mine += partial[b]
    total = warp_sum(mine)
    if t == 0 and state[2] == 0:
        state[1] = total / state[0]
        state[0] = total
        if total <= enough:
            state[2] = 1

# %% stop_flag wrong: elements are wrong; state[0] is
from course_pkg.device.sums import warp_sum

@cuda.jit
def stop_flag(partial, enough, state):
    t = cuda.threadIdx.x
    mine = 0.0
    for b in range(t, partial.size, 32):
        mine += partial[b]
    total = warp_sum(mine)
    if t == 0:
        state[1] = total / state[0]
        state[0] = total
        if state[2] == 0 and total <= enough:
            state[2] = 1

# %% stop_flag wrong: elements are wrong; state[0] is 154 and should be 180
from course_pkg.device.sums import warp_sum

@cuda.jit
def stop_flag(partial, enough, state):
    t = cuda.threadIdx.x
    mine = partial[t] if t < partial.size else 0.0
    total = warp_sum(mine)
    if t == 0 and state[2] == 0:
        state[1] = total / state[0]
        state[0] = total
        if total <= enough:
            state[2] = 1
