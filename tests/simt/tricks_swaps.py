"""Tricks that move floats by comparisons and swaps of their bits alone, and loops of swaps that are right."""

from trick import CLEAN, Trick

# each thread copies the bits of its neighbour's number, and puts them in the place of its own
COPY = "q = a.view(np.int64)\nj = (t + 1) % 64\nseen = cuda.atomic.cas(q, j, -1, -1)\nkept = 0\n"
PUT = (
    "own = cuda.atomic.cas(q, t, -1, -1)\nx = cuda.atomic.cas(q, t, own, kept)\nif x == 3:\n    out[t] = 1.0"
)
WAYS = {
    "as they are": "kept = seen\n",
    "bit by bit": "for z in range(63):\n    if (seen >> z) & 1:\n        kept |= 1 << z\n",
    "bit by bit, each read anew": "for z in range(63):\n    if (cuda.atomic.cas(q, j, -1, -1) >> z) & 1:\n"
    "        kept |= 1 << z\n",
    "by conditional expressions": "for z in range(63):\n    kept |= (1 << z) if (seen >> z) & 1 else 0\n",
    "by and": "for z in range(63):\n    kept |= ((seen >> z) & 1 and 1) << z\n",
    "by loops of one trip": "for z in range(63):\n    for y in range((seen >> z) & 1):\n        kept |= 1 << z\n",
    "by trips that end early": "for z in range(63):\n    if not (seen >> z) & 1:\n        continue\n"
    "    kept |= 1 << z\n",
    "by loops that are left": "for z in range(63):\n    b = 0\n    for y in range(2):\n"
    "        if not (seen >> z) & 1:\n            break\n        b = 1\n    kept |= b << z\n",
    "by while": "for z in range(63):\n    b = (seen >> z) & 1\n    while b:\n        kept |= 1 << z\n        b = 0\n",
    "by a function": "def bit(x):\n    if x & 1:\n        return 1\n    return 0\n"
    "for z in range(63):\n    kept |= bit(seen >> z) << z\n",
    "through local memory": "l = cuda.local.array(1, np.int64)\nl[0] = 0\nfor z in range(63):\n"
    "    if (seen >> z) & 1:\n        l[0] |= 1 << z\nkept = l[0]\n",
    "by votes": "for z in range(63):\n    b = 0\n    if (seen >> z) & 1:\n        b = 1\n"
    "    kept |= ((cuda.ballot_sync(0xFFFFFFFF, b) >> (t % 32)) & 1) << z\n",
    "before many other reads": "if (seen >> 53) & 1:\n    kept = 1\n"
    + "y = cuda.atomic.cas(q, t, -1, -1)\n" * 20,
}
LOOP = "q = a.view(np.int64)\nl = cuda.local.array(1, np.float64)\nw = l.view(np.int64)\n"
TRICKS = {
    **{f"floats swapped {how}": Trick(COPY + way + PUT, "race") for how, way in WAYS.items()},
    **{
        f"floats swapped {how}, behind a barrier": Trick(f"{COPY}{way}cuda.syncthreads()\n{PUT}", CLEAN)
        for how, way in WAYS.items()
    },
    "largest of floats by swaps": Trick(
        f"{LOOP}l[0] = k[t] * 1.5\nmine = w[0]\nfor z in range(4):\n    seen = cuda.atomic.cas(q, z, 0, 0)\n"
        "    while seen < mine:\n        assumed = seen\n        seen = cuda.atomic.cas(q, z, assumed, mine)\n"
        "        if seen == assumed:\n            break\nout[t] = 1.0",
        CLEAN,
    ),
    "sums of floats by swaps in a function that is left early": Trick(
        f"{LOOP}def add(z, x):\n    seen = cuda.atomic.cas(q, z, 0, 0)\n    while True:\n        assumed = seen\n"
        "        w[0] = seen\n        l[0] += x\n        seen = cuda.atomic.cas(q, z, assumed, w[0])\n"
        "        if seen == assumed:\n            return\nadd(t % 3, 2.5)\nout[t] = 1.0",
        CLEAN,
    ),
    "swaps that find nothing they expect, beside reads": Trick(
        "out[t] = m[(t + 1) % 64]\ncuda.atomic.cas(m, t, -1, 5)", CLEAN
    ),
    "swaps of which a few find what they expect, beside reads": Trick(
        "out[t] = m[(t + 1) % 64]\ncuda.atomic.cas(m, t, t // 63, 5)", "race"
    ),
    "swaps of which one is after another's": Trick(
        "if t == 0:\n    cuda.atomic.add(m, 0, 1)\nif t == 40:\n    out[0] = m[0]\n"
        "if t == 9:\n    cuda.atomic.cas(m, 0, 1, 5)",
        "race",
    ),
    "swaps that find nothing they expect, beside stores": Trick(
        "m[(t + 1) % 64] = t\ncuda.atomic.cas(m, t, -1, 5)", "race"
    ),
    "atomic loads beside reads": Trick("out[t] = m[t] + cuda.atomic.add(m, (t + 1) % 64, 0)", CLEAN),
    "atomic loads beside stores": Trick(
        "m[t] = t\nif cuda.atomic.add(m, (t + 1) % 64, 0) == 3:\n    out[t] = 1", "race"
    ),
    "what a loop of swaps has found is stored": Trick(
        f"{LOOP}seen = cuda.atomic.cas(q, 0, 0, 0)\nassumed = ~seen\nwhile seen != assumed:\n    assumed = seen\n"
        "    w[0] = seen\n    l[0] += 1.0\n    seen = cuda.atomic.cas(q, 0, assumed, w[0])\nk[t] = seen",
        "race",
    ),
}
