"""Tricks in which what an atomic found decides which element or which branch a thread takes, and their honest twins."""

import numpy as np
from trick import CLEAN, Trick

DRAW = "w = cuda.atomic.add(m, 0, 1)\n"
TILE = (
    "s = cuda.shared.array(64, np.float64)\nc = cuda.shared.array(1, np.int32)\nif t == 0:\n    c[0] = 0\n"
    "cuda.syncthreads()\nw = cuda.atomic.add(c, 0, 1)\ns[w] = a[t]\nBARRIERout[t] = s[t]"
)
BLOCK = "if t == 0:\n    w = cuda.atomic.add(m, 0, 1)\n    out[w] = b\n    a[b] = out[{}]"
BUCKET = (
    "j = k[t] % 4\nw = cuda.atomic.add(m, j, 1)\nout[16 * j + w] = a[t]\n{}a[t] = out[(t % 4) * 16 + t // 4]"
)
ITEMS = (
    "s = cuda.shared.array(1, np.int32)\nwhile True:\n    if t == 0:\n        s[0] = cuda.atomic.add(m, 0, 1)\n"
    "    cuda.syncthreads()\n    w = s[0]\n    if w >= 8:\n        break\n    out[w * 8 + t] = {}a[t] + 1.0\n"
    "    cuda.syncthreads()"
)
UNSIGNED = {"q": np.zeros(1, np.uint32)}
TRICKS = {
    "a ticket for an element": Trick(f"{DRAW}out[w] = a[t]\na[t] = out[t]", "race"),
    "a ticket for an element, the thread's own": Trick(f"{DRAW}out[w] = a[t]\na[t] = out[w]", CLEAN),
    "a ticket for an element, a barrier": Trick(f"{DRAW}out[w] = a[t]\ncuda.syncthreads()\na[t] = out[t]", CLEAN),
    "a ticket for an element of a tile": Trick(TILE.replace("BARRIER", ""), "race"),
    "a ticket for an element of a tile, a barrier of the warp": Trick(
        TILE.replace("BARRIER", "cuda.syncwarp()\n"), "race"
    ),
    "a ticket for an element of a tile, a barrier": Trick(TILE.replace("BARRIER", "cuda.syncthreads()\n"), CLEAN),
    "a block's ticket": Trick("b = cuda.blockIdx.x\n" + BLOCK.format("b"), "race", blocks=4, threads=32),
    "a block's ticket, its own": Trick("b = cuda.blockIdx.x\n" + BLOCK.format("w"), CLEAN, blocks=4, threads=32),
    "a ticket that is stored": Trick(f"{DRAW}k[t] = w\nout[k[t]] = t\na[t] = out[t]", "race"),
    "a slice by a ticket": Trick(f"{DRAW}q = out[w:]\nq[0] = t\na[t] = out[t]", "race"),
    "a slice by a ticket, the thread's own": Trick(f"{DRAW}q = out[w:]\nq[0] = t\na[t] = out[w]", CLEAN),
    "two tickets are not alike": Trick(
        f"{DRAW}v = cuda.atomic.add(m, 1, 1)\nout[w] = a[t]\na[t] = out[v]", "race", threads=96
    ),
    "elements in buckets": Trick(BUCKET.format(""), "race"),
    "elements in buckets, a barrier": Trick(BUCKET.format("cuda.syncthreads()\n"), CLEAN),
    "items by a counter": Trick(ITEMS.format(""), CLEAN, blocks=3, threads=8),
    "items by a counter, and those before": Trick(
        ITEMS.format("(out[w * 8 - 8 + t] if w > 0 else 0.0) + "), "race", blocks=3, threads=8
    ),
    "the first one writes": Trick(
        "if cuda.atomic.add(m, 0, 1) == 0 and t == 5:\n    out[1] = 3.0\nif t == 40:\n    a[0] = out[1]", "race"
    ),
    "the first one writes, another element": Trick(
        "if cuda.atomic.add(m, 0, 1) == 0 and t == 5:\n    out[1] = 3.0\nif t == 40:\n    a[0] = out[2]", CLEAN
    ),
    "the first one writes, then a barrier": Trick(
        "if cuda.atomic.add(m, 0, 1) == 0 and t == 5:\n    out[1] = 3.0\ncuda.syncthreads()\n"
        "if t == 40:\n    a[0] = out[1]",
        CLEAN,
    ),
    "the first one by a swap writes": Trick(
        "if cuda.atomic.cas(m, 0, 0, 1) == 0:\n    out[t // 2] = 3.0\nif t == 40:\n    a[0] = out[20]", "race"
    ),
    "the first one by a swap writes alone": Trick(
        "if cuda.atomic.cas(m, 0, 0, 1) == 0:\n    out[0] = t", CLEAN, blocks=2
    ),
    "every second one writes": Trick("if cuda.atomic.add(m, 0, 1) % 2 == 0:\n    out[t // 2] = t", "race"),
    "every second one writes its own": Trick("if cuda.atomic.add(m, 0, 1) % 2 == 0:\n    out[t] = t", CLEAN),
    "who follows its neighbour writes": Trick(
        "w = cuda.atomic.exch(m, 0, t + 1)\nif w == t:\n    out[t] = 1.0\nelse:\n    out[0] = 1.0 * t", "race"
    ),
    "a bit that all flip": Trick(
        "w = cuda.atomic.xor(m, 0, 1)\nif w == t % 2:\n    out[t] = 2.0\nelse:\n    out[t ^ 1] = 1.0 * t", "race"
    ),
    "a count that wraps": Trick(
        "w = cuda.atomic.inc(q, 0, 63)\nif w != t:\n    out[0] = 1.0 * t\nelse:\n    out[t] = 2.0",
        "race",
        more=UNSIGNED,
    ),
    "a count that wraps, elements of the thread's own": Trick(
        "w = cuda.atomic.inc(q, 0, 63)\nif w != t:\n    out[w] = 1.0 * t\nelse:\n    out[t] = 2.0",
        CLEAN,
        more=UNSIGNED,
    ),
    "who comes before all have counted": Trick(
        "cuda.atomic.add(m, 0, 1)\nif cuda.atomic.add(m, 0, 0) < 64:\n    out[0] = 1.0 * t", "race"
    ),
    "a ticket, and threads that leave": Trick(f"{DRAW}if w == t:\n    return\nout[0] = t", "race"),
    "a ticket, and trips": Trick(f"{DRAW}for j in range(abs(w - t)):\n    out[0] = t", "race"),
    "a ticket, and a count at a barrier": Trick(
        f"{DRAW}if cuda.syncthreads_count(1 if w == t else 0) < 64:\n    out[0] = t", "race"
    ),
    "an element of bools at an index in doubt": Trick(
        "v = cuda.atomic.exch(m, cuda.blockIdx.x, 1)\nif z[v, t]:\n    out[i] = 1.0",
        CLEAN,
        threads=2,
        more={"z": np.ones((2, 2), bool)},
    ),
    "an element of bools at an index in doubt is stored": Trick(
        "if i == 0:\n    cuda.atomic.exch(m, 0, 1)\nif i == 2:\n    z[1, cuda.atomic.add(m, 0, 0)] = True\n"
        "    w[0] = z[0, cuda.atomic.add(m, 0, 0)]",
        "race",
        threads=1,
        blocks=3,
        more={"z": np.ones((2, 2), bool), "w": np.zeros(1, bool)},
    ),
}  # fmt: skip
