"""Kernels of the kinds that learners bring: bytes that are checked, encoded, compared, and looked for."""

import numpy as np
from numba import int32, uint8, uint32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
WORD, LONGEST, WINDOW = 12, 13, 48
SMALL, FLAT = 5, 64


@cuda.jit
def brought_checksums(packets, lengths, table, sums):
    """The cyclic redundancy check of packets of different lengths, with a table of 256 entries."""
    i = cuda.grid(1)
    if i < packets.shape[0]:
        crc = uint32(0xFFFFFFFF)
        for k in range(lengths[i]):
            crc = table[(crc ^ packets[i, k]) & 0xFF] ^ (crc >> uint32(8))
        sums[i] = crc ^ uint32(0xFFFFFFFF)


def crc_table():
    """Return the table of CRC-32."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1).astype(np.uint32)
    return table


def some_bytes(shape, seed, most=256):
    """Return random bytes."""
    return np.random.default_rng(seed).integers(0, most, shape).astype(np.uint8)


cases.add(
    brought_checksums,
    3,
    64,
    lambda: (
        some_bytes((150, 40), 1),
        np.random.default_rng(2).integers(0, 41, 150).astype(np.int32),
        crc_table(),
        zeros(150, "uint32"),
    ),
    "checksums by a table: lengths differ, bytes and words of 32 bits meet integers of the program",
    data_dependent=True,
)


@cuda.jit
def brought_encoding(data, alphabet, text):
    """Base 64: three bytes become four letters; missing bytes become '='."""
    i = cuda.grid(1)
    n = data.shape[0]
    if 3 * i >= n:
        return
    word = data[3 * i] << 16
    if 3 * i + 1 < n:
        word |= data[3 * i + 1] << 8
    if 3 * i + 2 < n:
        word |= data[3 * i + 2]
    text[4 * i] = alphabet[(word >> 18) & 63]
    text[4 * i + 1] = alphabet[(word >> 12) & 63]
    text[4 * i + 2] = alphabet[(word >> 6) & 63] if 3 * i + 1 < n else 61
    text[4 * i + 3] = alphabet[word & 63] if 3 * i + 2 < n else 61


LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)

cases.add(
    brought_encoding,
    3,
    64,
    lambda: (some_bytes(500, 3), LETTERS.copy(), zeros(668, "uint8")),
    "base 64: bytes with a stride of three and of four, shifts, choices at the end",
)


@cuda.jit
def brought_edits(words, query, distances):
    """Levenshtein's distance of each word from a query, with one row of the table per thread."""
    i = cuda.grid(1)
    if i >= words.shape[0]:
        return
    row = cuda.local.array(LONGEST, int32)
    for j in range(LONGEST):
        row[j] = j
    for a in range(query.shape[0]):
        diagonal = row[0]
        row[0] = a + 1
        for j in range(1, LONGEST):
            above = row[j]
            cost = 0 if words[i, j - 1] == query[a] else 1
            row[j] = min(diagonal + cost, min(above + 1, row[j - 1] + 1))
            diagonal = above
    distances[i] = row[WORD]


cases.add(
    brought_edits,
    2,
    64,
    lambda: (some_bytes((110, WORD), 4, 4), some_bytes(9, 5, 4), zeros(110, "int32")),
    "the distance of words: one row of a table in a local array, three values kept from before",
)


@cuda.jit
def brought_repeats(data, lengths, distances, most):
    """The longest earlier occurrence of what follows each byte, within a window, as LZ77 looks for it."""
    i = cuda.grid(1)
    if i >= data.size:
        return
    best = 0
    where = 0
    start = i - WINDOW
    if start < 0:
        start = 0
    for j in range(start, i):
        k = 0
        while k < most and i + k < data.size and data[j + k] == data[i + k]:
            k += 1
        if k > best:
            best = k
            where = i - j
            if best == most:
                break
    lengths[i] = best
    distances[i] = where


cases.add(
    brought_repeats,
    5,
    64,
    lambda: (some_bytes(300, 6, 3), zeros(300, "int32"), zeros(300, "int32"), 8),
    "repeated bytes: a loop whose length depends on data, within one that may end early",
    data_dependent=True,
)


@cuda.jit
def brought_most_likely(observed, start, transition, emission, path):
    """Viterbi's most likely states behind observations, with the states before in a local array of bytes."""
    s = cuda.grid(1)
    if s >= observed.shape[0]:
        return
    score = cuda.local.array(SMALL, np.float64)
    new = cuda.local.array(SMALL, np.float64)
    back = cuda.local.array((FLAT, SMALL), uint8)
    length = observed.shape[1]
    for k in range(SMALL):
        score[k] = start[k] + emission[k][observed[s][0]]
    for t in range(1, length):
        for k in range(SMALL):
            best = -1e300
            from_state = 0
            for j in range(SMALL):
                value = score[j] + transition[j][k]
                if value > best:
                    best = value
                    from_state = j
            new[k] = best + emission[k][observed[s][t]]
            back[t, k] = from_state
        for k in range(SMALL):
            score[k] = new[k]
    state = 0
    for k in range(1, SMALL):
        if score[k] > score[state]:
            state = k
    path[s][length - 1] = state
    for t in range(length - 1, 0, -1):
        state = back[t, state]
        path[s][t - 1] = state


cases.add(
    brought_most_likely,
    2,
    32,
    lambda: (
        some_bytes((40, 15), 7, 6),
        -numbers(SMALL, "float64", 1),
        -numbers((SMALL, SMALL), "float64", 2),
        -numbers((SMALL, 6), "float64", 3),
        zeros((40, 15), "int32"),
    ),
    "Viterbi's path: a choice among states, then a walk backwards through a local array of bytes",
)
