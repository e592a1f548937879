"""Tricks with numbers that an element holds more than once, and with compare-and-swaps that prove nothing."""

from trick import CLEAN, Trick

TILE = "f = cuda.shared.array(64, np.float64)\ns = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
UP, DOWN = "cuda.atomic.exch(s, t, 1)\n", "cuda.atomic.exch(s, t, 0)\n"
FULL = "f[t] = a[t]\ncuda.threadfence_block()\n"
USE = "out[t] = f[63 - t]"
TAKE = "while cuda.atomic.cas(s, t, 0, 1) != 0:\n    pass\n"


def _waits(read, number=0):
    return f"while cuda.atomic.{read} != {number}:\n    pass\n{USE}"


ZEROS = "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
FILL = ZEROS + "if cuda.atomic.cas(s, t, 0, k[t] + 1) != 0:\n    out[t] = 5.0\n"
MANY = (  # more reads than a thread needs before it stores what the first one found
    "d = cuda.shared.array(64, np.int64)\nd[t] = 0\ncuda.syncthreads()\nx = cuda.atomic.add(s, 63 - t, 0)\ny = 0\n"
    "for z in range(40):\n    y += cuda.atomic.add(d, t, 0)\n"
)
LOADS = (
    "add(s, 63 - t, 0)",
    "sub(s, 63 - t, 0)",
    "xor(s, 63 - t, 0)",
    "and_(s, 63 - t, -1)",
    "cas(s, 63 - t, 7, 7)",
)

OTHERS_TAKE = (
    f"{TAKE}{FULL}{DOWN}{_waits('cas(s, 63 - t, 0, 1)')}\n"
    "cuda.threadfence_block()\ncuda.atomic.exch(s, 63 - t, 0)"
)

TRICKS = {
    "up and down, awaited by a load": Trick(TILE + UP + FULL + DOWN + _waits("add(s, 63 - t, 0)"), "race"),
    "up and down, awaited by a swap of like for like": Trick(
        TILE + UP + FULL + DOWN + _waits("cas(s, 63 - t, 0, 0)"), "race"
    ),
    "up and down, awaited by a swap": Trick(TILE + UP + FULL + DOWN + _waits("cas(s, 63 - t, 0, 5)"), "race"),
    "up by a swap that nobody looks at": Trick(
        f"{TILE}cuda.atomic.cas(s, t, 0, 1)\n{FULL}{DOWN}{_waits('cas(s, 63 - t, 0, 5)')}", "race"
    ),
    "up by a swap that is looked at in vain": Trick(
        f"{TILE}if cuda.atomic.cas(s, t, 0, 1) == 7:\n    out[t] = 1.0\n{FULL}{DOWN}{_waits('cas(s, 63 - t, 0, 5)')}",
        "race",
    ),
    "up by an exchange that is looked at in vain": Trick(
        f"{TILE}if cuda.atomic.exch(s, t, 1) > 77:\n    out[t] = 1.0\n{FULL}{DOWN}{_waits('cas(s, 63 - t, 0, 5)')}",
        "race",
    ),
    "one more and one less": Trick(
        f"{TILE}cuda.atomic.add(s, t, 1)\n{FULL}cuda.atomic.sub(s, t, 1)\n{_waits('add(s, 63 - t, 0)')}",
        "race",
    ),
    "a bit that is set and cleared": Trick(
        f"{TILE}cuda.atomic.or_(s, t, 4)\n{FULL}cuda.atomic.and_(s, t, ~4)\n{_waits('or_(s, 63 - t, 0)')}",
        "race",
    ),
    "up, down and up again": Trick(
        TILE
        + UP
        + FULL
        + DOWN
        + "f[t] += 1.0\ncuda.threadfence_block()\n"
        + UP
        + _waits("add(s, 63 - t, 0)", 1),
        "race",
    ),
    "up and further up": Trick(
        f"{TILE}{UP}{FULL}cuda.atomic.exch(s, t, 2)\n{_waits('add(s, 63 - t, 0)', 2)}", CLEAN
    ),
    "a lock that others only look at": Trick(TILE + TAKE + FULL + DOWN + _waits("add(s, 63 - t, 0)"), "race"),
    "a lock that others take, too": Trick(
        TILE.replace("s[t] = 0", "s[t] = 0\nf[t] = 0.0") + OTHERS_TAKE, CLEAN
    ),
    "a lock that others may take first": Trick(TILE + OTHERS_TAKE, "uninitialised"),
    "a swap that wins has seen nobody": Trick(
        f"{TILE}{FULL}cuda.atomic.cas(s, t, 1, 1)\nif cuda.atomic.cas(s, 63 - t, 0, 1) == 0:\n    {USE}",
        "race",
    ),
    "a swap that fails has seen its number": Trick(
        f"{TILE}{FULL}cuda.atomic.cas(s, t, 0, 1)\nwhile cuda.atomic.cas(s, 63 - t, 0, 0) == 0:\n    pass\n{USE}",
        CLEAN,
    ),
    "a swap that fails, and nobody looks": Trick(
        f"{TILE}{FULL}cuda.atomic.cas(s, t, 0, 1)\ncuda.atomic.cas(s, 63 - t, 0, 0)\n{USE}", "race"
    ),
    **{
        f"filled by swaps, read by {load}": Trick(f"{FILL}out[t] = cuda.atomic.{load}", "race")
        for load in LOADS
    },
    **{
        f"filled by swaps, a barrier, read by {load}": Trick(
            f"{FILL}cuda.syncthreads()\nout[t] = cuda.atomic.{load}", CLEAN
        )
        for load in LOADS
    },
    "filled by swaps, read as an index": Trick(
        f"{FILL}out[t] = a[cuda.atomic.cas(s, 63 - t, 7, 7) % 64]", "race"
    ),
    "filled by swaps, read through local memory": Trick(
        f"{FILL}l = cuda.local.array(1, np.int64)\nl[0] = cuda.atomic.cas(s, 63 - t, 7, 7)\nout[t] = l[0]",
        "race",
    ),
    "proved by a swap of another element": Trick(
        f"{FILL}x = cuda.atomic.cas(s, 63 - t, 7, 7)\nout[t] = x\nm[t] = 0\n"
        "if cuda.atomic.cas(k, t, x, -5) == 99:\n    a[t] = 1.0",
        "race",
    ),
    "proved by a swap that does not win": Trick(
        f"{FILL}x = cuda.atomic.cas(s, 63 - t, 7, 7)\nout[t] = x\n"
        "if cuda.atomic.cas(s, 63 - t, x + 1, -5) == 99:\n    a[t] = 1.0",
        "race",
    ),
    "proved by a swap that changes nothing": Trick(
        f"{FILL}x = cuda.atomic.cas(s, 63 - t, 7, 7)\nout[t] = x\n"
        "if cuda.atomic.cas(s, 63 - t, x, x) == 99:\n    a[t] = 1.0",
        "race",
    ),
    "stored, then stored again": Trick(
        f"{FILL}x = cuda.atomic.cas(s, 63 - t, 7, 7)\nout[t] = x\nout[t] = 1.0", CLEAN
    ),
    "stored by another atomic": Trick(
        f"{FILL}x = cuda.atomic.cas(s, 63 - t, 7, 7)\ncuda.atomic.exch(m, t, x)", "race"
    ),
    "read before forty other reads": Trick(
        f"{ZEROS}{MANY}cuda.atomic.exch(s, t, 7 * t)\nout[t] = x + y", "race"
    ),
    "forty other reads and a barrier": Trick(
        f"{ZEROS}{MANY}cuda.syncthreads()\ncuda.atomic.exch(s, t, 7 * t)\nout[t] = x + y", CLEAN
    ),
    "literal zeros are no sums": Trick("cuda.atomic.add(out, 0, 0.0)\ncuda.atomic.add(out, 0, 1.0)", CLEAN),
    "tickets beside a load": Trick(
        "x = cuda.atomic.add(m, 0, 1)\nout[x] = 1.0\nif cuda.atomic.cas(m, 0, -1, -1) == 64:\n    a[t] = 1.0",
        CLEAN,
    ),
}
