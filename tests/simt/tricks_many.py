"""Tricks that put many atomic reads between a number that an atomic found and the store of it."""

from trick import CLEAN, Trick

ONE = "v = cuda.atomic.add(k, (t + 1) % 64, 0)\n"
PUT = "cuda.atomic.exch(k, t, 7)\nout[t] = v"
LOCAL = "l = cuda.local.array(70, np.int64)\nfor z in range(70):\n    l[z] = cuda.atomic.add(k, (t + 1 + z) % 64, 0)\n"
SUM = ONE + "for z in range(70):\n    v {} cuda.atomic.add(m, z % 64, 0)\n"
MOVED = SUM.format("+=") + "v = cuda.shfl_xor_sync(0xFFFFFFFF, v, 1)\n"

TRICKS = {
    "read before many reads": Trick(
        f"{ONE}for z in range(70):\n    a[t] = cuda.atomic.add(m, z % 64, 0)\n{PUT}", "race"
    ),
    "read and stored before many reads": Trick(
        f"{ONE}out[t] = v\nfor z in range(70):\n    a[t] = cuda.atomic.add(m, z % 64, 0)\n{PUT[:26]}", "race"
    ),
    "read before many exchanges": Trick(
        f"{ONE}for z in range(70):\n    a[t] = cuda.atomic.exch(m, t, 0)\n{PUT}", "race"
    ),
    "the oldest of many numbers in local memory": Trick(f"{LOCAL}cuda.atomic.exch(k, t, 7)\nout[t] = l[0]", "race"),
    "many numbers in local memory, and a barrier": Trick(
        f"{LOCAL}cuda.syncthreads()\ncuda.atomic.exch(k, t, 7)\nout[t] = l[0]", CLEAN
    ),
    "the oldest of many terms": Trick(SUM.format("+=") + PUT, "race"),
    "the oldest of many terms, through a shuffle": Trick(MOVED + PUT, "race"),
    "the oldest of many terms, and a barrier": Trick(f"{MOVED}cuda.syncthreads()\n{PUT}", CLEAN),
    "a float before many reads": Trick(
        "q = a.view(np.int64)\nv = cuda.atomic.cas(q, (t + 1) % 64, -1, -1)\nfor z in range(70):\n"
        "    v ^= cuda.atomic.cas(q, t, -1, -1)\nown = cuda.atomic.cas(q, t, -1, -1)\n"
        "if cuda.atomic.cas(q, t, own, v) == 3:\n    out[t] = 1.0",
        "race",
    ),
    "the bits of a float before many reads": Trick(
        "q = a.view(np.int64)\nv = cuda.atomic.cas(q, (t + 1) % 64, -1, -1)\nw = 0\nfor z in range(70):\n"
        "    v ^= cuda.atomic.cas(q, t, -1, -1)\nif v & (1 << 60):\n    w = 1\n"
        "own = cuda.atomic.cas(q, t, -1, -1)\nif cuda.atomic.cas(q, t, own, w) == 3:\n    out[t] = 1.0",
        "race",
    ),
}  # fmt: skip
