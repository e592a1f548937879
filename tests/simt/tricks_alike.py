"""Tricks with integers that only atomics touch, without a barrier, and tickets and locks that are right."""

from trick import CLEAN, Trick

ZEROS = "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
FIRST = "s = cuda.shared.array(1, np.int64)\nif t == 40:\n    cuda.atomic.exch(s, 0, 1000)\n"

TRICKS = {
    "int tile filled and read by additions": Trick(
        ZEROS + "x = cuda.atomic.add(s, t, k[t])\nout[t] = cuda.atomic.add(s, 63 - t, 0) + x", "race"
    ),
    "int tile filled and read by one addition": Trick(
        ZEROS
        + "x = 0\nfor z in range(2):\n    x = cuda.atomic.add(s, 63 * z + (1 - 2 * z) * t, (1 - z) * k[t])\nout[t] = x",
        "race",
    ),
    "int tile filled and read by maxima": Trick(
        ZEROS + "x = cuda.atomic.max(s, t, k[t])\nout[t] = cuda.atomic.max(s, 63 - t, 0) + x", "race"
    ),
    "int tile filled and read by bits": Trick(
        ZEROS + "x = cuda.atomic.or_(s, t, k[t])\nout[t] = cuda.atomic.or_(s, 63 - t, 0) + x", "race"
    ),
    "read by an addition, then added to": Trick(
        "v = cuda.atomic.add(k, (t + 1) % 64, 0)\nw = cuda.atomic.add(k, t, 5)\nout[t] = v + w", "race"
    ),
    "int tile filled and read by additions, with a barrier": Trick(
        ZEROS
        + "x = cuda.atomic.add(s, t, k[t])\ncuda.syncthreads()\nout[t] = cuda.atomic.add(s, 63 - t, 0) + x",
        CLEAN,
    ),
    "tickets of those that want one": Trick(
        "x = cuda.atomic.add(m, 0, k[t] % 2)\nif k[t] % 2:\n    out[x] = 1.0", CLEAN
    ),
    "first visitors by bits": Trick(
        "x = cuda.atomic.or_(m, k[t] // 32, 1 << k[t] % 32)\nout[t] = float(x >> k[t] % 32 & 1)", CLEAN
    ),
    "first number by an exchange, and then looked at in vain": Trick(
        FIRST + "x = cuda.atomic.min(s, 0, 64 - t)\nif x < -5:\n    out[1] = 1.0", "race"
    ),
    "first number by an exchange, and then never looked at": Trick(
        FIRST + "x = cuda.atomic.add(s, 0, 1)", "race"
    ),
    "first number by an exchange, with a barrier": Trick(
        FIRST + "cuda.syncthreads()\nx = cuda.atomic.add(s, 0, 1)", CLEAN
    ),
    "a lock that is taken by a bit": Trick(
        "while cuda.atomic.or_(m, 0, 1) != 0:\n    pass\nout[0] += a[t]\n"
        "cuda.threadfence()\ncuda.atomic.exch(m, 0, 0)",
        CLEAN,
        threads=16,
    ),
    "a counter that the last one sets back": Trick(
        "cuda.threadfence()\nif cuda.atomic.add(m, 0, 1) == 63:\n    cuda.atomic.exch(m, 0, 0)", CLEAN
    ),
}
