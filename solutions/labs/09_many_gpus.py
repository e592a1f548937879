# The laboratory of lecture 9, solved: for teachers. See 01_first_kernels.py for what the names of the cells mean.

# %% plane_owner
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = np.searchsorted(first, planes, side="right") - 1
    return np.array([rank, planes - first[rank]])

# %% plane_owner wrong: The slabs are not all of the same size
def plane_owner(planes, nz, ranks):
    each = nz // ranks
    return np.array([planes // each, planes % each])

# %% plane_owner wrong: first[rank] belongs to rank itself
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = np.searchsorted(first, planes) - 1
    return np.array([rank, planes - first[rank]])

# %% plane_owner wrong: a rank counts from its own first plane
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = np.searchsorted(first, planes, side="right") - 1
    return np.array([rank, planes])

# %% plane_owner wrong: look the plane up in first
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = planes * ranks // nz
    return np.array([rank, planes - first[rank]])

# %% plane_owner wrong: a rest of a division does not count within one
def plane_owner(planes, nz, ranks):
    first = np.arange(ranks + 1) * nz // ranks
    rank = np.searchsorted(first, planes, side="right") - 1
    return np.array([rank, planes % (nz // ranks)])

# %% beyond_rows
def beyond_rows(indices, first, last):
    return np.unique(indices[(indices < first) | (indices >= last)])

# %% beyond_rows wrong: it is sent once
def beyond_rows(indices, first, last):
    return np.sort(indices[(indices < first) | (indices >= last)])

# %% beyond_rows wrong: last is the first entry after the block
def beyond_rows(indices, first, last):
    return np.unique(indices[(indices < first) | (indices > last)])

# %% beyond_rows wrong: the others are asked for
def beyond_rows(indices, first, last):
    return np.unique(indices[(indices >= first) & (indices < last)])

# %% beyond_rows wrong: sort them
def beyond_rows(indices, first, last):
    return np.array(list(dict.fromkeys(i for i in indices if not first <= i < last)))

# %% own_numbers
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, indices - first, last - first + np.searchsorted(halo, indices))

# %% own_numbers wrong: the halo begins after the owned entries
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, indices - first, np.searchsorted(halo, indices))

# %% own_numbers wrong: the rank's first row is its row 0
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, indices, last - first + np.searchsorted(halo, indices))

# %% own_numbers wrong: a rank owns last - first entries, not last
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, indices - first, last + np.searchsorted(halo, indices))

# %% own_numbers wrong: A column of the halo has the number of its place in `halo`
def own_numbers(indices, first, last, halo):
    owned = (indices >= first) & (indices < last)
    return np.where(owned, indices - first, last - first + indices)

# %% swap_faces
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    if comm.rank < comm.ranks - 1:
        sends.append((comm.rank + 1, v[-plane:]))
        receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: To the rank above goes the last plane of the slab
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    if comm.rank < comm.ranks - 1:
        sends.append((comm.rank + 1, v[:plane]))
        receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: the first half is for the plane below
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    if comm.rank < comm.ranks - 1:
        sends.append((comm.rank + 1, v[-plane:]))
        receives.append((comm.rank + 1, halo[:plane]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: that rank 1 never received
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
    if comm.rank < comm.ranks - 1:
        sends.append((comm.rank + 1, v[-plane:]))
        receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: there are ranks 0 to 2
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    sends.append((comm.rank + 1, v[-plane:]))
    receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: a communicator has no size: it has rank, ranks, start(…) and sum(…)
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    if comm.rank < comm.size - 1:
        sends.append((comm.rank + 1, v[-plane:]))
        receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% swap_faces wrong: a message is an array, and this is
def swap_faces(comm, v, plane):
    halo, sends, receives = np.zeros(2 * plane), [], []
    if comm.rank > 0:
        sends.append((comm.rank - 1, v[:plane]))
        receives.append((comm.rank - 1, halo[:plane]))
    if comm.rank < comm.ranks - 1:
        sends.append((comm.rank + 1, v[-1]))
        receives.append((comm.rank + 1, halo[plane:]))
    comm.start(sends, receives).wait()
    return halo

# %% dot_on_ranks
def dot_on_ranks(comm, a, b):
    return comm.sum([a @ b])[0]

# %% dot_on_ranks wrong: the others' are missing
def dot_on_ranks(comm, a, b):
    return a @ b

# %% dot_on_ranks wrong: add up a rank's own part before
def dot_on_ranks(comm, a, b):
    return comm.sum(a * b).sum()

# %% dot_on_ranks wrong: The ranks wait without end
def dot_on_ranks(comm, a, b):
    return comm.sum([a @ b])[0] if comm.rank == 0 else 0.0

# %% dot_on_ranks wrong: A product of sums is not the sum of products
def dot_on_ranks(comm, a, b):
    return comm.sum(a) @ comm.sum(b)

# %% dot_on_ranks wrong: but not those of one rank
def dot_on_ranks(comm, a, b):
    return comm.sum(a * b)

# %% two_in_one
def two_in_one(comm, r, u, w):
    return comm.sum([r @ u, w @ u])

# %% two_in_one wrong: it took 2 sums over all ranks
def two_in_one(comm, r, u, w):
    return np.array([comm.sum([r @ u])[0], comm.sum([w @ u])[0]])

# %% two_in_one wrong: The two products are exchanged
def two_in_one(comm, r, u, w):
    return comm.sum([w @ u, r @ u])

# %% two_in_one wrong: Each rank has the products of its own parts
def two_in_one(comm, r, u, w):
    return np.array([r @ u, w @ u])

# %% beside_the_halo
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    pending = comm.start(sends, receives)
    line.inside(v, out)
    pending.wait()
    line.outside(below, above, out)
    return out

# %% beside_the_halo wrong: so nothing was hidden
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    comm.start(sends, receives).wait()
    line.inside(v, out)
    line.outside(below, above, out)
    return out

# %% beside_the_halo wrong: start them first
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    line.inside(v, out)
    comm.start(sends, receives).wait()
    line.outside(below, above, out)
    return out

# %% beside_the_halo wrong: outside has to come after the wait
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    pending = comm.start(sends, receives)
    line.inside(v, out)
    line.outside(below, above, out)
    pending.wait()
    return out

# %% beside_the_halo wrong: did not wait. What start returns has a wait()
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    comm.start(sends, receives)
    line.inside(v, out)
    line.outside(below, above, out)
    return out

# %% beside_the_halo wrong: what start returned has no finish: it has wait()
def beside_the_halo(comm, line, v):
    out, below, above = np.empty(v.size), np.zeros(1), np.zeros(1)
    sends, receives = [], []
    for peer, mine, theirs in ((comm.rank - 1, v[:1], below), (comm.rank + 1, v[-1:], above)):
        if 0 <= peer < comm.ranks:
            sends.append((peer, mine))
            receives.append((peer, theirs))
    pending = comm.start(sends, receives)
    line.inside(v, out)
    pending.finish()
    line.outside(below, above, out)
    return out

# %% message_line
def message_line(nbytes, seconds):
    byte, latency = np.polyfit(nbytes, seconds, 1)
    return 1e6 * np.array([latency, byte])

# %% message_line wrong: the latency comes first
def message_line(nbytes, seconds):
    return 1e6 * np.polyfit(nbytes, seconds, 1)

# %% message_line wrong: asked is its inverse
def message_line(nbytes, seconds):
    byte, latency = np.polyfit(nbytes, seconds, 1)
    return 1e6 * np.array([latency, 1 / byte])

# %% message_line wrong: return microseconds
def message_line(nbytes, seconds):
    return np.polyfit(nbytes, seconds, 1)[::-1]

# %% efficiency
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * np.ceil(np.log2(ranks)) * latency_us
    return kernels_us / (ranks * many_us)

# %% efficiency wrong: This is the speed-up
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * np.ceil(np.log2(ranks)) * latency_us
    return kernels_us / many_us

# %% efficiency wrong: Each sum was given one latency
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * latency_us
    return kernels_us / (ranks * many_us)

# %% efficiency wrong: Right on the inputs drawn here, but with
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * np.log2(ranks) * latency_us
    return kernels_us / (ranks * many_us)

# %% efficiency wrong: asked is a number between 0 and 1
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * np.ceil(np.log2(ranks)) * latency_us
    return 100 * kernels_us / (ranks * many_us)

# %% efficiency wrong: the time on one rank stands above the line
def efficiency_left(kernels_us, ranks, sums, latency_us):
    many_us = kernels_us / ranks + sums * np.ceil(np.log2(ranks)) * latency_us
    return ranks * many_us / kernels_us
