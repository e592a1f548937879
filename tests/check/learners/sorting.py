"""Sorting, scanning and searching: bitonic, scan, radix, text, hash table, paths, alignments; three are wrong."""

import numpy as np
from numba import cuda, int32, uint32

EMPTY = np.uint32(0xFFFFFFFF)
THREADS = 128
MATCH, MISMATCH, GAP = 3, -3, 2


@cuda.jit
def bitonic(a, j, k):
    i = cuda.grid(1)
    partner = i ^ j
    if partner > i and partner < a.size:
        ascending = (i & k) == 0
        if (a[i] > a[partner]) == ascending:
            a[i], a[partner] = a[partner], a[i]


@cuda.jit
def scan_block(a, out, sums):
    """Blelloch: up, then down; the block's sum goes to ``sums``."""
    temp = cuda.shared.array(2 * 128, int32)
    t = cuda.threadIdx.x
    base = 2 * THREADS * cuda.blockIdx.x
    for half in range(2):
        i = base + t + half * THREADS
        temp[t + half * THREADS] = a[i] if i < a.size else 0
    offset, d = 1, THREADS
    while d > 0:
        cuda.syncthreads()
        if t < d:
            temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1]
        offset *= 2
        d >>= 1
    if t == 0:
        sums[cuda.blockIdx.x] = temp[2 * THREADS - 1]
        temp[2 * THREADS - 1] = 0
    d = 1
    while d < 2 * THREADS:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            temp[left], temp[right] = temp[right], temp[left] + temp[right]
        d *= 2
    cuda.syncthreads()
    for half in range(2):
        if base + t + half * THREADS < out.size:
            out[base + t + half * THREADS] = temp[t + half * THREADS]


@cuda.jit
def scan_hillis(a, out):
    """Wrong: one buffer, so that a thread may read what another has already added to."""
    temp = cuda.shared.array(THREADS, int32)
    t = cuda.threadIdx.x
    temp[t] = a[t]
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t >= step:
            temp[t] += temp[t - step]
        cuda.syncthreads()
        step *= 2
    out[t] = temp[t]


@cuda.jit
def radix_counts(keys, shift, counts):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(counts, (keys[i] >> shift) & 15, 1)


@cuda.jit
def radix_move(keys, shift, starts, out):
    """One thread for each digit keeps the order of its keys."""
    digit = cuda.threadIdx.x
    at = starts[digit]
    for key in keys:
        if (key >> shift) & 15 == digit:
            out[at] = key
            at += 1


@cuda.jit
def find_text(text, pattern, found, count):
    i = cuda.grid(1)
    if i > text.size - pattern.size:
        return
    for k in range(pattern.size):
        if text[i + k] != pattern[k]:
            break
    else:
        found[cuda.atomic.add(count, 0, 1)] = i


@cuda.jit(device=True)
def mixed(key):
    key = uint32(key)
    key ^= key >> uint32(16)
    key *= uint32(0x85EBCA6B)
    key ^= key >> uint32(13)
    return key


@cuda.jit
def insert(keys, table, counts):
    i = cuda.grid(1)
    if i < keys.size:
        slot = mixed(keys[i]) % uint32(table.size)
        while True:
            old = cuda.atomic.cas(table, slot, EMPTY, keys[i])
            if old == EMPTY or old == keys[i]:
                cuda.atomic.add(counts, slot, 1)
                return
            slot = (slot + uint32(1)) % uint32(table.size)


@cuda.jit
def lookup(keys, table, counts, out):
    i = cuda.grid(1)
    if i < keys.size:
        slot = mixed(keys[i]) % uint32(table.size)
        while table[slot] != keys[i] and table[slot] != EMPTY:
            slot = (slot + uint32(1)) % uint32(table.size)
        out[i] = counts[slot] if table[slot] == keys[i] else 0


@cuda.jit
def floyd(d, k):
    i, j = cuda.grid(2)
    if i < d.shape[0] and j < d.shape[1] and i != k and j != k:
        way = d[i, k] + d[k, j]
        if way < d[i, j]:
            d[i, j] = way


@cuda.jit
def floyd_at_once(d):
    """Wrong: no barrier holds the whole grid between two values of k."""
    i, j = cuda.grid(2)
    if i < d.shape[0] and j < d.shape[1]:
        for k in range(d.shape[0]):
            d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@cuda.jit
def smith_waterman(a, b, h, diagonal):
    """The cells of one antidiagonal."""
    i = cuda.grid(1) + 1
    j = diagonal - i
    if i <= a.size and 1 <= j <= b.size:
        same = MATCH if a[i - 1] == b[j - 1] else MISMATCH
        h[i, j] = max(0, h[i - 1, j - 1] + same, h[i - 1, j] - GAP, h[i, j - 1] - GAP)


@cuda.jit
def best_of(a, best, where):
    """Wrong: two threads that are both larger overwrite each other."""
    i = cuda.grid(1)
    if i < a.size and a[i] > best[0]:
        best[0] = a[i]
        where[0] = i


def main():
    rng = np.random.default_rng(4)
    a = rng.integers(0, 1000, 256).astype(np.int32)
    d_a = cuda.to_device(a)
    k = 2
    while k <= a.size:
        j = k >> 1
        while j:
            bitonic[2, 128](d_a, j, k)
            j >>= 1
        k <<= 1
    np.testing.assert_array_equal(d_a.copy_to_host(), np.sort(a))
    many = rng.integers(0, 9, 700).astype(np.int32)
    out, sums = np.zeros_like(many), np.zeros(3, np.int32)
    scan_block[3, THREADS](many, out, sums)
    whole = out + np.repeat(np.cumsum(sums) - sums, 256)[:700]
    np.testing.assert_array_equal(whole, np.cumsum(many) - many)
    scan_hillis[1, THREADS](a[:THREADS].copy(), np.zeros(THREADS, np.int32))
    keys = rng.integers(0, 4096, 100).astype(np.uint32)
    for shift in (0, 4, 8):
        counts = np.zeros(16, np.int32)
        radix_counts[1, 128](keys, shift, counts)
        moved = np.zeros_like(keys)
        radix_move[1, 16](keys, shift, np.cumsum(counts) - counts, moved)
        keys = moved
    assert (np.diff(keys.astype(np.int64)) >= 0).all()
    text = np.frombuffer(b"abracadabra abracadabra", np.uint8)
    found, count = np.zeros(10, np.int64), np.zeros(1, np.int64)
    find_text[1, 32](text, np.frombuffer(b"abra", np.uint8), found, count)
    assert sorted(found[: count[0]]) == [0, 7, 12, 19]
    table, counts = np.full(256, EMPTY), np.zeros(256, np.int32)
    keys = rng.integers(0, 60, 150).astype(np.uint32)
    insert[2, 96](keys, table, counts)
    out = np.zeros(80, np.int32)
    lookup[1, 96](np.arange(80, dtype=np.uint32), table, counts, out)
    np.testing.assert_array_equal(out, np.bincount(keys, minlength=80))
    d = rng.random((20, 20))
    want = d.copy()
    for k in range(20):
        floyd[(2, 2), (16, 16)](d, k)
        want = np.minimum(want, want[:, k : k + 1] + want[k : k + 1])
    np.testing.assert_allclose(d, want)
    floyd_at_once[(2, 2), (16, 16)](d)
    one, two = (np.frombuffer(t, np.uint8) for t in (b"TGTTACGG", b"GGTTGACTA"))
    h = np.zeros((9, 10), np.int32)
    for diagonal in range(2, 18):
        smith_waterman[1, 32](one, two, h, diagonal)
    assert h.max() == 13
    best_of[2, 128](a, np.zeros(1, np.int32), np.zeros(1, np.int64))


if __name__ == "__main__":
    main()
