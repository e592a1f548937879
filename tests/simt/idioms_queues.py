"""Idioms that use atomics: queues, lists, sets."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def list_of_each_key(key, head, following):
    """Elements of one key in a linked list: each puts itself in front."""
    i = cuda.grid(1)
    following[i] = cuda.atomic.exch(head, key[i], i)


def next_frontier(first, neighbour, distance, frontier, found, count):
    """Breadth-first search: each thread finds the new nodes around its own one, whose distance is known."""
    i = cuda.grid(1)
    u = frontier[i]
    for edge in range(first[u], first[u + 1]):
        if cuda.atomic.cas(distance, neighbour[edge], -1, distance[u] + 1) == -1:
            found[cuda.atomic.add(count, 0, 1)] = neighbour[edge]


def _ring():
    """A ring of 64 nodes, of which every other one is in the frontier; each has three neighbours and itself."""
    around = (np.arange(64)[:, None] + (-2, -1, 0, 1)) % 64
    graph = {"first": np.arange(65) * 4, "neighbour": around.reshape(-1)}
    distance = np.where(np.arange(64) % 2, -1, 3)
    return graph | {
        "distance": distance,
        "frontier": np.arange(0, 64, 2),
        "found": zeros(64),
        "count": zeros(1),
    }


def length_of_lists(key, head, following, length):
    i, t = cuda.grid(1), cuda.threadIdx.x
    following[i] = cuda.atomic.exch(head, key[i], i)
    cuda.syncthreads()  # the lists are there
    if t < head.size:
        at, n = head[t], 0
        while at >= 0:
            at = following[at]
            n += 1
        length[t] = n


def largest_by_compare_and_swap(a, largest):
    i = cuda.grid(1)
    seen = cuda.atomic.cas(largest, 0, -1, a[i])
    while seen < a[i]:
        assumed = seen
        seen = cuda.atomic.cas(largest, 0, assumed, a[i])
        if seen == assumed:
            break


def next_level_of_a_search(indptr, indices, level, depth, frontier, following, count):
    """Breadth-first search: who sees a vertex first puts it into the next frontier."""
    i = cuda.grid(1)
    if i < frontier.size:
        for k in range(indptr[frontier[i]], indptr[frontier[i] + 1]):
            if cuda.atomic.cas(level, indices[k], -1, depth) == -1:
                following[cuda.atomic.add(count, 0, 1)] = indices[k]


def work_from_a_counter(a, out, counter):
    chunk = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    while True:
        cuda.syncthreads()  # the number before is used
        if t == 0:
            chunk[0] = cuda.atomic.add(counter, 0, 1)
        cuda.syncthreads()  # the number is there
        if chunk[0] * 32 >= a.size:
            break
        out[chunk[0] * 32 + t] = 2.0 * a[chunk[0] * 32 + t]


def first_of_each_key(key, first, out):
    i = cuda.grid(1)
    cuda.atomic.min(first, key[i], i)
    cuda.syncthreads()
    out[i] = first[key[i]]


def compaction_by_scan(a, kept, count):
    row = cuda.shared.array((2, 64), np.int32)
    t = cuda.threadIdx.x
    keep = 1 if a[t] > 0 else 0
    now, by = 0, 1
    row[0, t] = keep
    while by < 64:
        cuda.syncthreads()  # this level
        row[1 - now, t] = row[now, t] + (row[now, t - by] if t >= by else 0)
        now, by = 1 - now, 2 * by
    if keep:
        kept[row[now, t] - 1] = a[t]
    if t == 63:
        count[0] = row[now, t]


def scatter_by_colours(element, colour, colours, value, node):
    """Elements of one colour share no node: a barrier between the colours puts all updates in order."""
    t = cuda.threadIdx.x
    for c in range(colours):
        if colour[t] == c:
            for k in range(2):
                node[element[t, k]] += value[t]
        cuda.syncthreads()


def bits_of_a_set(key, words, fresh):
    i = cuda.grid(1)
    bit = 1 << (key[i] % 32)
    fresh[i] = 1 if cuda.atomic.or_(words, key[i] // 32, bit) & bit == 0 else 0


def _graph():
    """A ring of 64 vertices; vertices 0, 2, 4, … 30 are the frontier."""
    near = np.stack([(np.arange(64) + 1) % 64, (np.arange(64) - 1) % 64], 1).astype(np.int32)
    frontier = np.arange(0, 32, 2, dtype=np.int32)
    level = np.full(64, -1, np.int32)
    level[frontier] = 0
    return {
        "indptr": np.arange(0, 130, 2, dtype=np.int32), "indices": near.ravel(), "level": level, "depth": 1,
        "frontier": frontier, "following": zeros(64), "count": zeros(1),
    }  # fmt: skip


def _levels(a):
    level = a["level"].copy()
    for v in a["frontier"]:
        for w in ((v + 1) % 64, (v - 1) % 64):
            level[w] = 1 if level[w] == -1 else level[w]
    return {"level": level, "count": np.array([(level == 1).sum()], np.int32)}


def _mesh():
    """A chain of 32 elements between 33 nodes, in two colours."""
    t = np.arange(32)
    return {
        "element": np.stack([t, t + 1], 1).astype(np.int32), "colour": (t % 2).astype(np.int32), "colours": 2,
        "value": numbers(32), "node": np.zeros(33),
    }  # fmt: skip


def _firsts(a):
    return {"out": np.array([np.flatnonzero(a["key"] == k)[0] for k in a["key"]], np.int32)}


IDIOMS = [
    Idiom(
        list_of_each_key,
        2,
        32,
        lambda: {"key": (np.arange(64) % 5).astype(np.int32), "head": np.full(5, -1, np.int32), "following": zeros(64)},
        lambda a: {"head": np.array([60, 61, 62, 63, 59], np.int32)},
        (("following[i] = cuda.atomic.exch(head, key[i], i)",
          "following[i] = head[key[i]]\n    head[key[i]] = i"),),
    ),
    Idiom(
        length_of_lists,
        1,
        64,
        lambda: {"key": (np.arange(64) % 5).astype(np.int32), "head": np.full(5, -1, np.int32), "following": zeros(64),
                 "length": zeros(5)},
        lambda a: {"length": np.bincount(a["key"]).astype(np.int32)},
        (("    cuda.syncthreads()  # the lists are there\n", ""),),
    ),
    Idiom(
        largest_by_compare_and_swap,
        2,
        32,
        lambda: {"a": (numbers(64) + 11).astype(np.int32), "largest": np.array([-1], np.int32)},
        lambda a: {"largest": a["a"].max(keepdims=True)},
        (("seen = cuda.atomic.cas(largest, 0, -1, a[i])", "seen = largest[0]"),),
    ),
    Idiom(
        next_level_of_a_search,
        1,
        32,
        _graph,
        _levels,
        (("cuda.atomic.cas(level, indices[k], -1, depth) == -1:",
          "level[indices[k]] == -1:\n                level[indices[k]] = depth"),),
    ),
    Idiom(
        work_from_a_counter,
        3,
        32,
        lambda: {"a": numbers(224), "out": numbers(224), "counter": zeros(1)},
        lambda a: {"out": 2.0 * a["a"]},
        (
            ("        cuda.syncthreads()  # the number is there\n", ""),
            ("        cuda.syncthreads()  # the number before is used\n", ""),
        ),
    ),
    Idiom(
        first_of_each_key,
        1,
        64,
        lambda: {"key": (np.arange(64) * 7 % 11).astype(np.int32), "first": zeros(11) + 99, "out": zeros(64)},
        _firsts,
        (
            ("    cuda.syncthreads()\n", ""),
            ("    cuda.syncthreads()\n    out[i] = first[key[i]]", "    out[i] = cuda.atomic.min(first, key[i], 999)"),
        ),
    ),
    Idiom(
        compaction_by_scan,
        1,
        64,
        lambda: {"a": numbers(64), "kept": np.zeros(64), "count": zeros(1)},
        lambda a: {"kept": np.r_[a["a"][a["a"] > 0], np.zeros((a["a"] <= 0).sum())]},
        (("        cuda.syncthreads()  # this level\n", ""), ("row[now, t] - 1] = a[t]", "row[now, t] // 2] = a[t]")),
    ),
    Idiom(
        scatter_by_colours,
        1,
        32,
        _mesh,
        lambda a: {"node": np.r_[a["value"], 0.0] + np.r_[0.0, a["value"]]},
        (("        cuda.syncthreads()\n", ""), ("if colour[t] == c:", "if colour[t] >= c:")),
    ),
    Idiom(
        next_frontier,
        1,
        32,
        _ring,
        lambda a: {"distance": np.where(np.arange(64) % 2, 4, 3), "count": np.array([32])},
        (("distance[u] + 1)", "distance[u + 1] + 1)"),),
    ),
    Idiom(
        bits_of_a_set,
        2,
        32,
        lambda: {"key": (np.arange(64) * 3 % 40).astype(np.int32), "words": zeros(2), "fresh": zeros(64)},
        lambda a: {"fresh": np.r_[np.ones(40, np.int32), np.zeros(24, np.int32)]},
        (("cuda.atomic.or_(words, key[i] // 32, bit)", "words[key[i] // 32]"
          " & bit == 0 else 0\n    words[key[i] // 32] |= bit\n    fresh[i] = 1 if words[0]"),),
    ),
]  # fmt: skip
