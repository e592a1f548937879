"""Tricks that hide an array, or a store to it, behind a name that stands for another array in other threads."""

import numpy as np
from trick import CLEAN, REFUSED, Trick

TILES = "s = cuda.shared.array(64, np.float64)\nr = cuda.shared.array(64, np.float64)\n"
FLOAT = """x = cuda.atomic.add(out, 0, 0.0)
q = a
if x > 100.0:
    q = b
#
cuda.atomic.add(out, 0, 1.0)"""
LOCK = """u, v = f
lock = u if i % 2 else v
q = out if i % 2 else a
if t % 16 < 2:
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    q[0] += 1.0
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)"""
LOCKS = {"blocks": 2, "more": {"f": (np.zeros(1, np.int32), np.zeros(1, np.int32))}}
PAIR = np.dtype([("u", np.float64), ("v", np.float64)], align=True)
RECORDS = {"more": {"p": np.zeros(64, PAIR), "r": np.zeros(64, PAIR)}}
B = {"more": {"b": np.zeros(64)}}

TRICKS = {
    "half of the threads": Trick("q = out if t < 32 else a\nq[t // 2] = t", "race"),
    "half of the threads, each its own element": Trick("q = out if t < 32 else a\nq[t] = t", CLEAN),
    "both sides of a branch": Trick("if t % 2:\n    q = out\nelse:\n    q = a\nq[t // 4] = t", "race"),
    "both sides of a branch, own": Trick("if t % 2:\n    q = out\nelse:\n    q = a\nq[t // 2] = t", CLEAN),
    "one side of a branch": Trick("q = a\nif t % 2:\n    q = out\nq[t // 4] = t", "race"),
    "an item of a tuple": Trick("(a, out)[t % 2][t // 4] = t", "race"),
    "an item of a tuple, own": Trick("(a, out)[t % 2][t // 2] = t", CLEAN),
    "an item chosen by what was read": Trick("(a, out)[k[t] % 2][t // 4] += 1.0", "race"),
    "an item chosen by what was read, own": Trick("(a, out)[k[t] % 2][t // 2] += 1.0", CLEAN),
    "an item of an item": Trick("((a, out), (out, a))[t % 2][t // 32][t // 4] = t", "race"),
    "an item of an item, own": Trick("((a, out), (out, a))[t % 2][t // 32][t // 2] = t", CLEAN),
    "read under one name, written under another": Trick(
        "q, p = (out, a) if t < 32 else (a, out)\nq[t] = 1.0 + t\np[0] = 2.0 * q[(t + 1) % 64]", "race"
    ),
    "read through a choice": Trick(
        "out[t] = 1.0 + t\nq = out if t % 2 else b\na[t] = q[63 - t]", "race", **B
    ),
    "read through a choice after a barrier": Trick(
        "out[t] = 1.0 + t\ncuda.syncthreads()\nq = out if t % 2 else b\na[t] = q[63 - t]", CLEAN, **B
    ),
    "written through a choice, read plainly": Trick(
        "q = out if t % 2 else a\nq[t] = 1.0 + t\nm[t] = int(out[(t + 2) % 64])", "race"
    ),
    "written through a choice, read plainly after a barrier": Trick(
        "q = out if t % 2 else a\nq[t] = 1.0 + t\ncuda.syncthreads()\nm[t] = int(out[(t + 2) % 64])", CLEAN
    ),
    "the other threads' array": Trick(
        "q = out if t % 2 else a\nq[t] = 1.0 + t\nq = a if t % 2 else out\nm[t] = int(q[t ^ 1])", "race"
    ),
    "tiles that change places": Trick(
        TILES + "p = s if t % 2 else r\np[t] = t\nout[t] = (r, s)[t % 2][t ^ 32]", "race"
    ),
    "tiles that change places behind a barrier": Trick(
        TILES + "p = s if t % 2 else r\np[t] = t\ncuda.syncthreads()\nout[t] = (r, s)[t % 2][t ^ 32]", CLEAN
    ),
    "a tile that nobody has written": Trick(
        TILES + "s[t] = t\ncuda.syncthreads()\nq = s if t < 60 else r\nout[t] = q[t]", "uninitialised"
    ),
    "tiles that change places in a loop": Trick(
        TILES
        + "p, q = s, r\np[t] = a[t]\nfor j in range(k[t] % 2 + 3):\n    cuda.syncwarp()\n    q[t] = p[t] + 1.0\n"
        "    p, q = q, p\nout[t] = p[t]",
        "divergent_barrier",
    ),
    "arrays that change places in a loop of different length": Trick(
        "p, q = a, out\nfor j in range(k[t] % 3):\n    q[t] = p[t] + 1.0\n    p, q = q, p\nm[t] = int(p[t])",
        CLEAN,
    ),
    "arrays that change places, and the neighbour's": Trick(
        "p, q = a, out\nfor j in range(k[t] % 3):\n    q[t] = p[t] + 1.0\n    p, q = q, p\n"
        "m[t] = int(p[(t + 1) % 64])",
        "race",
    ),
    "a tile or an array": Trick(
        TILES + "q = s if t % 2 else out\nq[t // 4] = t\ncuda.syncthreads()\na[t] = q[t // 4]", "race"
    ),
    "a tile or an array, own": Trick(TILES + "q = s if t % 2 else out\nq[t] = t\na[t] = q[t]", CLEAN),
    "local arrays": Trick(
        "l = cuda.local.array(2, np.float64)\nv = cuda.local.array(2, np.float64)\nl[0], v[0] = a[t], 1.0\n"
        "q = l if t % 2 else v\nout[t] = q[0]",
        CLEAN,
    ),
    "local arrays, one of them unwritten": Trick(
        "l = cuda.local.array(2, np.float64)\nv = cuda.local.array(2, np.float64)\nl[0] = a[t]\n"
        "q = l if t % 2 else v\nout[t] = q[0]",
        "uninitialised",
    ),
    "a slice of a choice": Trick("q = (out if t < 32 else a)[1:]\nq[t // 2] = t", "race"),
    "a slice of a choice, own": Trick("q = (out if t < 32 else a)[1:]\nq[t % 32] = t", CLEAN),
    "a choice of slices": Trick("q = out[1:] if t < 32 else a[:32]\nq[t // 2] = t", "race"),
    "a row of a choice": Trick(
        "u, v = r, w\nq = u if t % 2 else v\nq[t // 4][1] = t",
        "race",
        more={"r": np.zeros((64, 4)), "w": np.zeros((64, 4))},
    ),
    "a row of a choice, own": Trick(
        "u, v = r, w\nq = u if t % 2 else v\nq[t // 2][1] = t",
        CLEAN,
        more={"r": np.zeros((64, 4)), "w": np.zeros((64, 4))},
    ),
    "a transpose or the array": Trick(
        "q = r if t % 2 else r.T\nq[t // 4, 0] = t", "race", more={"r": np.zeros((64, 64))}
    ),
    "filled": Trick("q = out if t % 2 else a\nq[:2] = t", "race"),
    "atomics on a choice": Trick("q = out if t % 2 else a\ncuda.atomic.add(q, 0, 1.0)", CLEAN),
    "atomics on a choice, and a plain store": Trick(
        "q = out if t % 2 else a\ncuda.atomic.add(q, 0, 1.0)\nif t == 5:\n    out[0] = 3.0", "race"
    ),
    "an atomic on a choice, read": Trick(
        "q = out if t % 2 else a\ncuda.atomic.add(q, 0, 1.0)\nm[t] = int(q[0])", "race"
    ),
    "a function of a choice": Trick("wr(out if t % 2 else a, t // 4, 1.0 + t)", "race"),
    "a function of a choice, own": Trick("wr(out if t % 2 else a, t // 2, 1.0 + t)", CLEAN),
    "a function that chooses": Trick("pick(t % 2, out, a)[t // 2] = t", CLEAN),
    "a choice of choices": Trick(
        "q = out if t % 2 else a\np = q if t % 4 < 2 else b\np[t // 8] = t", "race", **B
    ),
    "a choice of choices, own": Trick(
        "q = out if t % 2 else a\np = q if t % 4 < 2 else b\np[t] = t", CLEAN, **B
    ),
    "out of the bounds of one": Trick(
        "q = out if t < 60 else b\nq[t + 1] = t", "out_of_bounds", more={"b": np.zeros(8)}
    ),
    "chosen by a float in doubt": Trick(FLOAT.replace("#", "m[t] = int(q[0])"), "race", **B),
    "chosen by a float in doubt, stored": Trick(FLOAT.replace("#", "q[t] = 5.0"), "race", **B),
    "chosen by a float in doubt, by an index": Trick(
        "x = cuda.atomic.add(out, 0, 0.0)\nm[t] = int((a, b)[int(x) % 2][0])\ncuda.atomic.add(out, 0, 1.0)",
        "race",
        **B,
    ),
    "chosen by an integer in doubt": Trick(
        "if t == 0:\n    cuda.atomic.exch(m, 0, 1)\nx = cuda.atomic.add(m, 0, 0)\nout[t] = (a, b)[x % 2][t]",
        "race",
        **B,
    ),
    "chosen by a flag, without a fence": Trick(
        "q = b\nif t == 0:\n    out[5] = 1.0\n    cuda.atomic.exch(m, 0, 1)\n"
        "elif t == 40 and cuda.atomic.add(m, 0, 0) == 1:\n    q = out\na[t] = q[5]",
        "race",
        **B,
    ),
    "chosen by a flag": Trick(
        "q = b\nif t == 0:\n    out[5] = 1.0\n    cuda.threadfence()\n    cuda.atomic.exch(m, 0, 1)\n"
        "elif t == 40 and cuda.atomic.add(m, 0, 0) == 1:\n    cuda.threadfence()\n    q = out\na[t] = q[5]",
        CLEAN,
        **B,
    ),
    "records copied through a choice": Trick("q = p if t % 2 else r\nq[t // 4] = q[t]", "race", **RECORDS),
    "records copied through a choice, own": Trick("q = p if t % 2 else r\nq[t] = q[t]", CLEAN, **RECORDS),
    "halves of the elements of a choice": Trick(
        TILES
        + "q = (s if t < 32 else r).view(np.int32)\nq[t % 32] = t\ncuda.syncthreads()\nm[t] = q[t % 32]",
        CLEAN,
    ),
    "halves of the elements of a choice, the other's": Trick(
        TILES + "q = (s if t % 2 else r).view(np.int32)\nq[t // 4] = t", "race"
    ),
    "halves of the elements of one tile": Trick(
        TILES + "q = s if t < 32 else r\ns.view(np.int32)[1] = 5\nq[t % 32] = t", "race"
    ),
    "a lock for each array": Trick(LOCK, CLEAN, **LOCKS),
    "the other array's lock": Trick(LOCK.replace("if i % 2 else v", "if t < 32 else v"), "race", **LOCKS),
    "a lock for each array, without a fence": Trick(
        LOCK.replace("+= 1.0\n    cuda.threadfence()", "+= 1.0"), "race", **LOCKS
    ),
    "arrays of different types": Trick("q = out if t % 2 else m\nq[t] = 1", REFUSED),
    "functions": Trick("f = wr if t % 2 else wr2\nf(out, t // 2, 1.0)", REFUSED),
}
