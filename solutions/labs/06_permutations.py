# The laboratory of lecture 6, solved: for teachers. See 01_first_kernels.py for what the names of the cells mean.

# %% reorder
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    if i < new.size:
        new[i] = old[perm[i]]

# %% reorder wrong: This is the way back: number i went to place perm[i]
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    if i < new.size:
        new[perm[i]] = old[i]

# %% reorder wrong: guard the access, so that threads without an element do nothing
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    new[i] = old[perm[i]]

# %% reorder wrong: `old[i] = old[perm[i]]`: thread
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    if i < new.size:
        old[i] = old[perm[i]]

# %% reorder wrong: elements are wrong; new[0] is
@cuda.jit
def reorder(perm, old, new):
    i = cuda.grid(1)
    if i < new.size:
        new[i] = old[i]

# %% bring_back
@cuda.jit
def bring_back(perm, new, old):
    i = cuda.grid(1)
    if i < new.size:
        old[perm[i]] = new[i]

# %% bring_back wrong: This permutes a second time
@cuda.jit
def bring_back(perm, new, old):
    i = cuda.grid(1)
    if i < new.size:
        old[i] = new[perm[i]]

# %% bring_back wrong: The result is right, but
@cuda.jit
def bring_back(perm, new, old):
    i = cuda.grid(1)
    if i < new.size:
        for j in range(new.size):
            if perm[j] == i:
                old[i] = new[j]

# %% one_row_each
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total

# %% one_row_each wrong: and x is not numbered in this way; which element of x belongs to k?
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[k]
        y[row] = total

# %% one_row_each wrong: what is to be added up, add up in a variable of the thread before
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        for k in range(indptr[row], indptr[row + 1]):
            y[row] += data[k] * x[indices[k]]

# %% one_row_each wrong: elements are wrong; y[
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(indptr[row]):
            total += data[k] * x[indices[k]]
        y[row] = total

# %% one_row_each wrong: global load thread accesses and makes
@cuda.jit
def one_row_each(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(data.size):
            if indptr[row] <= k and k < indptr[row + 1]:
                total += data[k] * x[indices[k]]
        y[row] = total

# %% back_in_place
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == unknown:
                diagonal = data[k]
            else:
                total += data[k] * x[indices[k]]
        x_new[unknown] = (b[i] - total) / diagonal

# %% back_in_place wrong: lie in the order of the rows: row i gives the unknown perm[i]
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == unknown:
                diagonal = data[k]
            else:
                total += data[k] * x[indices[k]]
        x_new[i] = (b[i] - total) / diagonal

# %% back_in_place wrong: b has the order of the rows already: row i needs b[i].
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == unknown:
                diagonal = data[k]
            else:
                total += data[k] * x[indices[k]]
        x_new[unknown] = (b[unknown] - total) / diagonal

# %% back_in_place wrong: the variable 'diagonal' is used before it has a value
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == i:
                diagonal = data[k]
            else:
                total += data[k] * x[indices[k]]
        x_new[unknown] = (b[i] - total) / diagonal

# %% back_in_place wrong: The diagonal entry is in the sum, too
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        diagonal = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == unknown:
                diagonal = data[k]
            total += data[k] * x[indices[k]]
        x_new[unknown] = (b[i] - total) / diagonal

# %% back_in_place wrong: No row found its diagonal entry
@cuda.jit
def back_in_place(perm, indptr, indices, data, b, x, x_new):
    i = cuda.grid(1)
    if i < x_new.size:
        unknown = perm[i]
        total = 0.0
        diagonal = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            if indices[k] == i:
                diagonal = data[k]
            else:
                total += data[k] * x[indices[k]]
        x_new[unknown] = (b[i] - total) / diagonal

# %% renumber
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    inverse = np.argsort(perm)
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        columns = inverse[indices[row]]
        order = np.argsort(columns)
        begin, end = new_indptr[i], new_indptr[i] + columns.size
        new_indptr[i + 1] = end
        new_indices[begin:end] = columns[order]
        new_data[begin:end] = data[row][order]

# %% renumber wrong: perm[i] says where place i comes from, and a column has to know where it goes
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        columns = perm[indices[row]]
        order = np.argsort(columns)
        begin, end = new_indptr[i], new_indptr[i] + columns.size
        new_indptr[i + 1] = end
        new_indices[begin:end] = columns[order]
        new_data[begin:end] = data[row][order]

# %% renumber wrong: in each row they should rise
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    inverse = np.argsort(perm)
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        begin, end = new_indptr[i], new_indptr[i] + row.stop - row.start
        new_indptr[i + 1] = end
        new_indices[begin:end] = inverse[indices[row]]
        new_data[begin:end] = data[row]

# %% renumber wrong: The columns still have their old numbers
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        begin, end = new_indptr[i], new_indptr[i] + row.stop - row.start
        new_indptr[i + 1] = end
        new_indices[begin:end] = indices[row]
        new_data[begin:end] = data[row]

# %% renumber wrong: The values still have the order of the old columns
def renumber(perm, indptr, indices, data, new_indptr, new_indices, new_data):
    inverse = np.argsort(perm)
    new_indptr[0] = 0
    for i, old in enumerate(perm):
        row = slice(indptr[old], indptr[old + 1])
        columns = np.sort(inverse[indices[row]])
        begin, end = new_indptr[i], new_indptr[i] + columns.size
        new_indptr[i + 1] = end
        new_indices[begin:end] = columns
        new_data[begin:end] = data[row]

# %% lanes_share
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 4):
            total += data[k] * x[indices[k]]
    for distance in (2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0 and row < y.size:
        y[row] = total

# %% lanes_share wrong: These are the shares of lane 0 alone
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 4):
            total += data[k] * x[indices[k]]
    if lane == 0 and row < y.size:
        y[row] = total

# %% lanes_share wrong: The distances reach into the next rows
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 4):
            total += data[k] * x[indices[k]]
    for distance in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0 and row < y.size:
        y[row] = total

# %% lanes_share wrong: waits at this shfl_down_sync
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 4):
            total += data[k] * x[indices[k]]
        for distance in (2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0 and row < y.size:
        y[row] = total

# %% lanes_share wrong: each element should belong to one thread
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1], 4):
            total += data[k] * x[indices[k]]
    for distance in (2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if row < y.size:
        y[row] = total

# %% lanes_share wrong: The result is right, but
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size and lane == 0:
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
    if lane == 0 and row < y.size:
        y[row] = total

# %% lanes_share wrong: Some nonzeros are counted by several lanes
@cuda.jit
def lanes_share(indptr, indices, data, x, y):
    thread = cuda.grid(1)
    row, lane = thread // 4, thread % 4
    total = 0.0
    if row < y.size:
        for k in range(indptr[row] + lane, indptr[row + 1]):
            total += data[k] * x[indices[k]]
    for distance in (2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
    if lane == 0 and row < y.size:
        y[row] = total

# %% slices
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(offsets[piece] + i % 32, offsets[piece + 1], 32):
            if indices[k] >= 0:
                total += data[k] * x[indices[k]]
        y[perm[i]] = total

# %% slices wrong: lie in the sorted order: sorted row i is row perm[i]
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(offsets[piece] + i % 32, offsets[piece + 1], 32):
            if indices[k] >= 0:
                total += data[k] * x[indices[k]]
        y[i] = total

# %% slices wrong: indices[k] is −1: padding, which has no x.
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(offsets[piece] + i % 32, offsets[piece + 1], 32):
            total += data[k] * x[indices[k]]
        y[perm[i]] = total

# %% slices wrong: indices[k] is −1: padding, which has no x.
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(offsets[piece] + i % 32, offsets[piece + 1], 32):
            column = indices[k]
            total += data[k] * x[column]
        y[perm[i]] = total

# %% slices wrong: This reads a slice row by row
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        width = (offsets[piece + 1] - offsets[piece]) // 32
        total = 0.0
        for k in range(offsets[piece] + width * (i % 32), offsets[piece] + width * (i % 32 + 1)):
            if indices[k] >= 0:
                total += data[k] * x[indices[k]]
        y[perm[i]] = total

# %% slices wrong: in its slice, thread i has place i % 32
@cuda.jit
def slices(offsets, perm, indices, data, x, y):
    i = cuda.grid(1)
    if i < y.size:
        piece = i // 32
        total = 0.0
        for k in range(offsets[piece] + i, offsets[piece + 1], 32):
            if indices[k] >= 0:
                total += data[k] * x[indices[k]]
        y[perm[i]] = total

# %% both_precisions
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total
        y32[row] = np.float32(total)


def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, y32)
        x64, y64 = y64, x64
        x32, y32 = y32, x32
    return x64

# %% both_precisions wrong: A product of two float32 numbers is rounded to float32
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x32[indices[k]]
        y64[row] = total
        y32[row] = np.float32(total)

def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, y32)
        x64, y64 = y64, x64
        x32, y32 = y32, x32
    return x64

# %% both_precisions wrong: Every launch read the first x32
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total
        y32[row] = np.float32(total)

def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, y32)
        x64, y64 = y64, x64
    return x64

# %% both_precisions wrong: reads y32[0] and thread 0 of block 0 writes it
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total
        y32[row] = np.float32(total)

def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, x32)
        x64, y64 = y64, x64
    return x64

# %% both_precisions wrong: one of the launches only copies: write y32 while the sum is still in a register
@cuda.jit
def product(indptr, indices, data, x32, y64):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total

@cuda.jit
def rounded(y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        y32[row] = np.float32(y64[row])

def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64)
        rounded[blocks, 32](y64, y32)
        x64, y64 = y64, x64
        x32, y32 = y32, x32
    return x64

# %% both_precisions wrong: This is x64 as it was before the first product
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total
        y32[row] = np.float32(total)


def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, y32)
        x32, y32 = y32, x32
    return x64

# %% both_precisions wrong: y64 was copied to x64
@cuda.jit
def product(indptr, indices, data, x32, y64, y32):
    row = cuda.grid(1)
    if row < y64.size:
        total = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            total += np.float64(data[k]) * np.float64(x32[indices[k]])
        y64[row] = total
        y32[row] = np.float32(total)


def both_precisions(indptr, indices, data, x32, x64, y32, y64, times):
    blocks = -(-y64.size // 32)
    for _ in range(times):
        product[blocks, 32](indptr, indices, data, x32, y64, y32)
        x32[:] = y32
        x64[:] = y64
    return x64
