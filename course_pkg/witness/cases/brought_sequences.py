"""Kernels of the kinds that learners bring: aligned sequences, hashes, digits, and searches with integers."""

import numpy as np
from numba import float32, int32, uint32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
ROWS, WITH_EDGE = 64, 65


@cuda.jit
def brought_alignment(query, target, scores, match, mismatch, gap):
    """The best local alignment by Smith and Waterman: a block walks along the diagonals of its table."""
    before = cuda.shared.array(WITH_EDGE, int32)
    last = cuda.shared.array(WITH_EDGE, int32)
    best = cuda.shared.array(1, int32)
    t, pair = cuda.threadIdx.x, cuda.blockIdx.x
    m, n = query.shape[1], target.shape[1]
    before[t + 1] = 0
    last[t + 1] = 0
    if t == 0:
        before[0] = 0
        last[0] = 0
        best[0] = 0
    cuda.syncthreads()
    highest = 0
    for diagonal in range(m + n - 1):
        j = diagonal - t
        active = t < m and 0 <= j < n
        value = 0
        if active:
            score = match if query[pair, t] == target[pair, j] else mismatch
            value = max(0, before[t] + score, last[t] + gap, last[t + 1] + gap)
            highest = max(highest, value)
        cuda.syncthreads()
        if active:
            before[t + 1] = last[t + 1]
            last[t + 1] = value
        cuda.syncthreads()
    cuda.atomic.max(best, 0, highest)
    cuda.syncthreads()
    if t == 0:
        scores[pair] = best[0]


def letters(shape, seed):
    """Return sequences of four letters, a byte each."""
    return np.random.default_rng(seed).integers(0, 4, shape).astype(np.uint8)


cases.add(
    brought_alignment,
    5,
    ROWS,
    lambda: (letters((5, 50), 1), letters((5, 70), 2), zeros(5, "int32"), 3, -2, -4),
    "diagonals of a table: values of neighbours in shared memory, the largest by an atomic",
)


@cuda.jit
def brought_warping(query, candidates, distances, window):
    """The distance by dynamic time warping; a thread keeps two rows of its table."""
    previous = cuda.local.array(33, float32)
    current = cuda.local.array(33, float32)
    c = cuda.grid(1)
    if c >= candidates.shape[0]:
        return
    n = query.size
    for j in range(n + 1):
        previous[j] = 1e30
    previous[0] = 0.0
    for i in range(1, n + 1):
        for j in range(n + 1):
            current[j] = 1e30
        for j in range(max(1, i - window), min(n, i + window) + 1):
            cost = abs(query[i - 1] - candidates[c, j - 1])
            current[j] = cost + min(previous[j], current[j - 1], previous[j - 1])
        for j in range(n + 1):
            previous[j] = current[j]
    distances[c] = previous[n]


cases.add(
    brought_warping,
    2,
    32,
    lambda: (numbers(20, "float32"), numbers((45, 20), "float32", 1), zeros(45, "float32"), 5),
    "time warping: two rows in local memory, a band of each",
)


def constants_of_sha():
    """Return the 64 constants of SHA-256: bits of the cube roots of the first primes."""
    primes = [p for p in range(2, 312) if all(p % q for q in range(2, p))]
    found = []
    for p in primes:
        low, high = 0, 1 << 40
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if middle**3 <= p << 96 else (low, middle)
        found.append(low & 0xFFFFFFFF)
    return np.array(found, np.uint32)


SHA = constants_of_sha()


@cuda.jit(device=True)
def brought_rotated(x, n):
    """The 32 bits of x, rotated to the right."""
    return uint32((x >> n) | (x << (32 - n)))


@cuda.jit
def brought_sha(blocks, hashes):
    """SHA-256 of one padded block of 16 words for each thread; hashes hold the initial state."""
    i = cuda.grid(1)
    if i >= blocks.shape[0]:
        return
    table = cuda.const.array_like(SHA)
    w = cuda.local.array(64, uint32)
    for k in range(16):
        w[k] = blocks[i, k]
    for k in range(16, 64):
        s0 = brought_rotated(w[k - 15], 7) ^ brought_rotated(w[k - 15], 18) ^ (w[k - 15] >> 3)
        s1 = brought_rotated(w[k - 2], 17) ^ brought_rotated(w[k - 2], 19) ^ (w[k - 2] >> 10)
        w[k] = uint32(w[k - 16] + s0 + w[k - 7] + s1)
    a, b, c, d = hashes[i, 0], hashes[i, 1], hashes[i, 2], hashes[i, 3]
    e, f, g, h = hashes[i, 4], hashes[i, 5], hashes[i, 6], hashes[i, 7]
    for k in range(64):
        s1 = brought_rotated(e, 6) ^ brought_rotated(e, 11) ^ brought_rotated(e, 25)
        t1 = uint32(h + s1 + ((e & f) ^ (~e & g)) + table[k] + w[k])
        s0 = brought_rotated(a, 2) ^ brought_rotated(a, 13) ^ brought_rotated(a, 22)
        t2 = uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e = g, f, e, uint32(d + t1)
        d, c, b, a = c, b, a, uint32(t1 + t2)
    hashes[i, 0] += a
    hashes[i, 1] += b
    hashes[i, 2] += c
    hashes[i, 3] += d
    hashes[i, 4] += e
    hashes[i, 5] += f
    hashes[i, 6] += g
    hashes[i, 7] += h


def padded_words(n):
    """Return n short messages, each padded to 16 words, and the initial state of SHA-256 for each."""
    words = np.zeros((n, 16), np.uint32)
    words[:, :5] = np.random.default_rng(9).integers(0, 2**32, (n, 5), dtype=np.uint32)
    words[:, 5], words[:, 15] = 1 << 31, 160
    state = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
    return words, np.tile(np.array(state, np.uint32), (n, 1))


cases.add(
    brought_sha,
    2,
    64,
    lambda: padded_words(100),
    "SHA-256: rotations, 64 words in local memory, a table of constants",
)


@cuda.jit
def brought_digits(keys, shift, counts, ranks):
    """A pass of radix sort: how often each digit occurs in a block, and a key's place among equals of its warp."""
    tally = cuda.shared.array(16, int32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    if tid < 16:
        tally[tid] = 0
    cuda.syncthreads()
    digit = 16
    if i < keys.size:
        digit = (keys[i] >> shift) & 15
        cuda.atomic.add(tally, digit, 1)
    same = 0xFFFFFFFF
    for bit in range(5):
        vote = cuda.ballot_sync(0xFFFFFFFF, (digit >> bit) & 1)
        if (digit >> bit) & 1:
            same &= vote
        else:
            same &= ~vote
    if i < keys.size:
        lower = (1 << (tid & 31)) - 1
        ranks[i] = cuda.popc(same & lower)
    cuda.syncthreads()
    if tid < 16:
        counts[tid, cuda.blockIdx.x] = tally[tid]


cases.add(
    brought_digits,
    4,
    128,
    lambda: (
        np.random.default_rng(4).integers(0, 1 << 16, 500).astype(np.int32),
        4,
        zeros((16, 4), "int32"),
        zeros(500, "int32"),
    ),
    "digits of a radix sort: atomics in shared memory, five votes of a warp",
)


@cuda.jit
def brought_queens(n, counts):
    """Count placements of n queens whose first two are given by the thread, with a stack of free squares."""
    start = cuda.grid(1)
    if start >= n * n:
        return
    free = cuda.local.array(16, int32)
    cols = cuda.local.array(16, int32)
    left = cuda.local.array(16, int32)
    right = cuda.local.array(16, int32)
    full = (1 << n) - 1
    first, second = 1 << (start // n), 1 << (start % n)
    if second & (first | (first << 1) | (first >> 1)):
        counts[start] = 0
        return
    depth, found = 2, 0
    cols[2] = first | second
    left[2] = ((first << 2) | (second << 1)) & full
    right[2] = (first >> 2) | (second >> 1)
    free[2] = full & ~(cols[2] | left[2] | right[2])
    while depth >= 2:
        if free[depth] == 0:
            depth -= 1
            continue
        bit = free[depth] & -free[depth]
        free[depth] ^= bit
        if depth == n - 1:
            found += 1
            continue
        cols[depth + 1] = cols[depth] | bit
        left[depth + 1] = ((left[depth] | bit) << 1) & full
        right[depth + 1] = (right[depth] | bit) >> 1
        depth += 1
        free[depth] = full & ~(cols[depth] | left[depth] | right[depth])
    counts[start] = found


cases.add(
    brought_queens,
    2,
    32,
    lambda: (6, zeros(36, "int32")),
    "queens on a board: a search with stacks in local memory",
    data_dependent=True,
)


@cuda.jit
def brought_collatz(first, lengths, longest):
    """How many steps each number takes to 1; the greatest length is kept for the grid."""
    stride = cuda.gridsize(1)
    most = 0
    for i in range(cuda.grid(1), lengths.size, stride):
        value = first + i
        steps = 0
        while value != 1:
            if value % 2 == 0:
                value //= 2
            else:
                value = 3 * value + 1
            steps += 1
        lengths[i] = steps
        if steps > most:
            most = steps
    cuda.atomic.max(longest, 0, most)


cases.add(
    brought_collatz,
    2,
    64,
    lambda: (1, zeros(200, "int32"), zeros(1, "int32")),
    "Collatz: loops of unknown length around divisions by two",
    data_dependent=True,
)
