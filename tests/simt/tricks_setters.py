"""Tricks with flags that several threads raise to one number: who waits for it does not know which of them came first.

The blocks are numbered ``b``. In the first two letters of each launch, block 0 and block 1 publish, and block 2 waits.
"""

import numpy as np
from trick import CLEAN, Trick

BLOCKS = "b = cuda.blockIdx.x\n"
SET = "cuda.atomic.exch(m, 0, 1)"
WAIT = "    while cuda.atomic.add(m, 0, 0) == 0:\n        pass\n"
TILE = (
    "f = cuda.shared.array(256, np.float64)\ng = cuda.shared.array(4, np.int32)\n"
    "if t < 4:\n    g[t] = 0\ncuda.syncthreads()\n"
)


def _two(publish, use, wait=WAIT, others="b < 2"):
    """Return a kernel in which blocks write and publish, and the last one waits and then uses what they wrote."""
    return (
        f"{BLOCKS}if {others}:\n    out[b] = 1.0\n    cuda.threadfence()\n    {publish}\n"
        f"else:\n{wait}    a[0] = {use}"
    )


def _late(publish, use, wait=WAIT):
    """Return a kernel in which block 1 publishes behind the statement in which the last block waits."""
    return (
        f"{BLOCKS}if b == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n    {publish}\nif b == 2:\n{wait}"
        f"    a[0] = {use}\nif b == 1:\n    out[1] = 1.0\n    cuda.threadfence()\n    {publish}"
    )


def _grid(body, verdict, blocks=3, **more):
    return Trick(body, verdict, blocks=blocks, threads=1, more=more)


AFTER = "while cuda.atomic.add(m, 1, 0) == 0:\n        pass\n    "
TWO_FLAGS = (  # block 1 sets the flag only behind block 0, or so it seems
    f"{BLOCKS}if b == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n    {SET}\n    cuda.threadfence()\n"
    "    cuda.atomic.exch(m, 1, 1)\nif b == 1:\n    WAITS\n    cuda.threadfence()\n"
    f"    {SET}\nif b == 2:\n{WAIT}    a[0] = out[0]"
)
PHASES = (  # all raise the flag, which is then lowered and raised again by one of them
    TILE + "f[t] = a[t]\ncuda.threadfence_block()\nif t < 2:\n    cuda.atomic.exch(g, 0, 1)\nBARRIER"
    "if t == 0:\n    cuda.atomic.exch(g, 0, 0)\ncuda.syncthreads()\nif t == 1:\n    f[1] += 1.0\n"
    "    cuda.threadfence_block()\n    cuda.atomic.exch(g, 0, 1)\nif t == 40:\n"
    "    while cuda.atomic.add(g, 0, 0) == 0:\n        pass\n    out[t] = f[1]"
)
ALL_RAISE = (
    TILE + "f[t] = a[t]\nBARRIERcuda.threadfence_block()\nif t < {raising}:\n    cuda.atomic.exch(g, 0, 1)\n"
    "if t == {reader}:\n    while cuda.atomic.add(g, 0, 0) == 0:\n        pass\n    out[t] = f[{read}]"
)


def _all_raise(barrier, raising, reader, read):
    body = ALL_RAISE.replace("BARRIER", barrier)
    return body.format(raising=raising, reader=reader, read=read)


RELEASED = (
    f"{BLOCKS}if b < 2:\n    while cuda.atomic.cas(m, 0, 0, 1) != 0:\n        pass\n    out[0] += 1.0\n"
    "    cuda.threadfence()\n    cuda.atomic.exch(m, 0, 0)\nelse:\n"
)

# twenty honest hand-overs between warps, and then a flag
NOISE = """w = i // 32
if t % 32 == 0:
    if w < 20:
        out[10 + w] = a[w]
        cuda.threadfence()
        cuda.atomic.exch(m, 10 + w, 1)
    elif w < 40:
        while cuda.atomic.add(m, w - 10, 0) == 0:
            pass
        cuda.threadfence()
        a[w] = out[w - 10]
b = cuda.blockIdx.x
if t == 33 and 2 <= b < 5:
    if b < 4:
        out[b] = 1.0
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 1)
    else:
        while cuda.atomic.add(m, 0, 0) == 0:
            pass
        cuda.threadfence()
        a[62] = out[2]"""

LONG = "    s = 0.0\n    for q in range(5000):\n        s += q\n    a[b + 2] = s\n"
TOLD = (  # the reader takes the way of lock step alone, in which both blocks have written before it looks
    f"{BLOCKS}if b < 2:\n    out[b] = 1.0\n    cuda.atomic.add(m, 5, 1)\n    cuda.threadfence()\n    {SET}\n"
    "elif cuda.atomic.add(m, 5, 0) == 2 and cuda.atomic.add(m, 0, 0) == 1:\n    a[0] = out[0]"
)
TICKETS = (
    f"{BLOCKS}if b < 2:\n    out[b] = 1.0\nx = cuda.atomic.add(m, 5, 1)\nif b < 2:\n    cuda.threadfence()\n    {SET}\n"
    f"else:\n{WAIT}    cuda.threadfence()\n    if x == 2:\n        a[0] = out[0]"
)
GRID_MEETS = (
    f"{BLOCKS}g = cuda.cg.this_grid()\nif b < 2:\n    out[b] = 1.0\ng.sync()\nif b < 2:\n    out[b] += 1.0\n"
    "    cuda.threadfence()\n    {publish}\nelse:\n    while cuda.atomic.add(m, 0, 0) < {least}:\n        pass\n"
    "    cuda.threadfence()\n    a[0] = out[0]"
)
TOLD_BY_SHUFFLE = f"""{BLOCKS}if b < {{setters}}:
    if t == 0:
        out[b] = 1.0
        cuda.threadfence()
        {SET}
else:
    up = 0
    while up == 0:
        if t == 0:
            up = cuda.atomic.add(m, 0, 0)
        up = cuda.shfl_sync(0xffffffff, up, 0)
    cuda.threadfence()
    a[32 * b % 64 + t] = out[0]"""
DECOYS = (  # all of blocks 0 to 2 hand over honestly, but block 2 may raise block 1's flag, too
    f"{BLOCKS}if b < 3:\n    out[b] = 1.0\nx = cuda.atomic.add(m, 50, 1)\nif b < 3:\n    cuda.threadfence()\n"
    "    cuda.atomic.exch(m, b, 1)\n    if b == {other}:\n        cuda.atomic.exch(m, 1, 1)\nelse:\n"
    "    while cuda.atomic.add(m, b - 3, 0) == 0:\n        pass\n    cuda.threadfence()\n"
    "    if x == b:\n        a[b] = out[b - 3]"
)


def _pairs(also):
    """Return a kernel of blocks that hand over in pairs; writer ``also`` raises the flag of the one before, too."""
    return (
        f"{BLOCKS}if b % 2 == 0:\n    out[b] = 1.0\n    cuda.threadfence()\n    cuda.atomic.exch(m, b, 1)\n"
        f"    if b == {2 * also}:\n        cuda.atomic.exch(m, {2 * also - 2}, 1)\n"
        f"else:\n{WAIT.replace('m, 0', 'm, b - 1')}    cuda.threadfence()\n    a[b] = out[b - 1]"
    )


TRICKS = {
    "a long way behind the race": _grid(_two(SET, "out[0]") + f"\n{LONG}", "race"),
    "a long way behind the right one": _grid(
        _two("cuda.atomic.add(m, 0, 1)", "out[0]", WAIT.replace("== 0", "< 2")) + f"\n{LONG}", CLEAN
    ),
    "a long way before the race": _grid(
        f"b = cuda.blockIdx.x\nif b < 3:\n{LONG}" + _two(SET, "out[0]"), "race"
    ),
    "a long way before the right one": _grid(
        f"b = cuda.blockIdx.x\nif b < 3:\n{LONG}"
        + _two("cuda.atomic.add(m, 0, 1)", "out[0]", WAIT.replace("== 0", "< 2")),
        CLEAN,
    ),
    "a count behind the write tells that nobody is late": _grid(TOLD, "race"),
    "a count behind the fence tells that nobody is late": _grid(
        TOLD.replace("    cuda.threadfence()\n", "").replace(
            "out[b] = 1.0\n", "out[b] = 1.0\n    cuda.threadfence()\n"
        ),
        CLEAN,
    ),
    "a ticket behind the write tells that nobody is late": _grid(TICKETS, "race"),
    "a ticket behind the fence tells that nobody is late": _grid(
        TICKETS.replace("    cuda.threadfence()\n    cuda.atomic", "    cuda.atomic").replace(
            "out[b] = 1.0\n", "out[b] = 1.0\n    cuda.threadfence()\n"
        ),
        CLEAN,
    ),
    "a ticket, and honest pairs around the wrong one": _grid(DECOYS.format(other=2), "race", blocks=6),
    "a ticket, and honest pairs alone": _grid(DECOYS.format(other=9), CLEAN, blocks=6),
    "a ticket before the barrier of the block that publishes": Trick(
        f"{BLOCKS}if b < 2:\n    out[b * 32 + t] = 1.0\nx = cuda.atomic.add(m, 5, 1)\ncuda.syncthreads()\n"
        f"if b < 2:\n    if t == 0:\n        cuda.threadfence()\n        {SET}\nelif t == 0:\n"
        f"{WAIT}    cuda.threadfence()\n    if x == 64:\n        a[b] = out[5]",
        "race",
        blocks=3,
        threads=32,
    ),
    "two blocks raise one flag behind a barrier of the grid": _grid(
        GRID_MEETS.format(publish=SET, least=1), "race"
    ),
    "two blocks count behind a barrier of the grid": _grid(
        GRID_MEETS.format(publish="cuda.atomic.add(m, 0, 1)", least=2), CLEAN
    ),
    "one lane waits and tells the others by a shuffle, two raise the flag": Trick(
        TOLD_BY_SHUFFLE.format(setters=2), "race", blocks=3, threads=32
    ),
    "one lane waits and tells the others by a shuffle": Trick(
        TOLD_BY_SHUFFLE.format(setters=1), CLEAN, blocks=3, threads=32
    ),
    "one of many flags is raised by two": _grid(_pairs(12), "race", blocks=48),
    "many flags are raised by one each": _grid(_pairs(30), CLEAN, blocks=48),
    "one flag of two blocks, second datum": _grid(_two(SET, "out[1]"), "race"),
    "one flag of two blocks, first datum": _grid(_two(SET, "out[0]"), "race"),
    "one flag of one block": _grid(
        _two(SET, "out[0]", others="b == 0").replace("else:", "if b == 2:"), CLEAN
    ),
    "one flag of two blocks, one datum each": _grid(
        _two("cuda.atomic.exch(m, b, 1)", "out[0]", others="b < 2"), CLEAN
    ),
    "two blocks set one flag to two numbers": _grid(
        _two("cuda.atomic.exch(m, 0, b + 1)", "out[0]", WAIT.replace("== 0", "!= 2")), "race"
    ),
    "two blocks set one flag to two numbers, and one of them is awaited": _grid(
        _two("cuda.atomic.exch(m, 0, b + 1)", "out[1]", WAIT.replace("== 0", "!= 2")), "race"
    ),
    "two blocks raise one flag by max": _grid(
        _two("cuda.atomic.max(m, 0, b + 1)", "out[0]", WAIT.replace("== 0", "!= 2")), "race"
    ),
    "two blocks raise one flag by max, and the largest counts": _grid(
        _two("cuda.atomic.max(m, 0, b + 1)", "out[1]", WAIT.replace("== 0", "!= 2")), CLEAN
    ),
    "two blocks raise one flag by min, larger first": _grid(
        _two("cuda.atomic.min(m, 0, -1 - b)", "out[0]", WAIT.replace("== 0", "> -2")), "race"
    ),
    "two blocks set one flag by cas": _grid(_two("cuda.atomic.cas(m, 0, 0, 1)", "out[0]"), "race"),
    "two blocks set one flag by cas, which look at it": _grid(
        _two("if cuda.atomic.cas(m, 0, 0, 1) == 0:\n        a[b + 1] = 0.0", "out[0]"), "race"
    ),
    "one block behind the other by cas": _grid(
        _two(
            "while cuda.atomic.cas(m, 0, b, b + 1) != b:\n        pass",
            "out[0] + out[1]",
            WAIT.replace("== 0", "!= 2"),
        ),
        CLEAN,
    ),
    "two blocks set one bit": _grid(_two("cuda.atomic.or_(m, 0, 1)", "out[0]"), "race"),
    "two blocks set a bit each": _grid(
        _two("cuda.atomic.or_(m, 0, b + 1)", "out[0] + out[1]", WAIT.replace("== 0", "!= 3")), CLEAN
    ),
    "two blocks clear one bit": _grid(
        _two("cuda.atomic.and_(q, 0, ~1)", "out[0]", WAIT.replace("(m, 0, 0) == 0", "(q, 0, 0) == 1")),
        "race",
        q=np.ones(1, np.int32),
    ),
    "one block clears a bit": _grid(
        _two(
            "cuda.atomic.and_(q, 0, ~1)",
            "out[1]",
            WAIT.replace("(m, 0, 0) == 0", "(q, 0, 0) == 1"),
            others="b == 1",
        ).replace("else:", "if b == 2:"),
        CLEAN,
        q=np.ones(1, np.int32),
    ),
    "two blocks set one bit, which is looked at alone": _grid(
        _two(
            "cuda.atomic.or_(m, 0, 4)", "out[0]", WAIT.replace("add(m, 0, 0) == 0", "or_(m, 0, 0) & 4 == 0")
        ),
        "race",
    ),
    "one exchanges what the other adds": _grid(
        _two(
            "if b == 0:\n        cuda.atomic.add(m, 0, 1)\n    else:\n        cuda.atomic.exch(m, 0, 1)",
            "out[0]",
        ),
        "race",
    ),
    "the one that reads has set the flag itself": _grid(
        _two(SET, "out[0]", f"    {SET}\n{WAIT}", others="b == 0"), "race", blocks=2
    ),
    "the one that reads sets the flag behind": _grid(
        _two(SET, "out[0]", f"{WAIT}    {SET}\n", others="b == 0"), CLEAN, blocks=2
    ),
    "the other one sets the flag later": _grid(_late(SET, "out[0]"), "race"),
    "the other one sets the bit later": _grid(_late("cuda.atomic.or_(m, 0, 1)", "out[0]"), "race"),
    "the other one wins the swap later": _grid(_late("cuda.atomic.cas(m, 0, 0, 1)", "out[0]"), "race"),
    "the other one adds later": _grid(_late("cuda.atomic.add(m, 0, 1)", "out[0]"), "race"),
    "the other one sets a larger number later": _grid(
        _late("cuda.atomic.exch(m, 0, b + 1)", "out[0]"), "race"
    ),
    "the other one sets another number later": _grid(
        _late("cuda.atomic.exch(m, 0, b + 1)", "out[0]", WAIT.replace("== 0", "!= 1")), "race"
    ),
    "the other one sets another flag later": _grid(_late("cuda.atomic.exch(m, b, 1)", "out[0]"), CLEAN),
    "the other one sets the flag behind the reader": _grid(
        f"{BLOCKS}if b == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n    {SET}\nif b == 2:\n{WAIT}"
        "    a[0] = out[0]\n    cuda.threadfence()\n    cuda.atomic.exch(m, 1, 1)\nif b == 1:\n    "
        f"{AFTER}{SET}",
        CLEAN,
    ),
    "a later one sets the flag again, and the first reader hands on": _grid(
        f"{BLOCKS}if b == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n    {SET}\nif b == 2:\n{WAIT}"
        "    cuda.threadfence()\n    cuda.atomic.exch(m, 1, 1)\nif b == 3:\n    "
        f"{AFTER}a[0] = out[0]\nif b == 1:\n    {SET}",
        "race",
        blocks=4,
    ),
    "nobody else sets the flag, and the first reader hands on": _grid(
        f"{BLOCKS}if b == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n    {SET}\nif b == 2:\n{WAIT}"
        "    cuda.threadfence()\n    cuda.atomic.exch(m, 1, 1)\nif b == 3:\n    "
        f"{AFTER}a[0] = out[0]",
        CLEAN,
        blocks=4,
    ),
    "the second setter has seen the first": _grid(TWO_FLAGS.replace("WAITS\n", AFTER.rstrip(" ")), CLEAN),
    "the second setter has not seen the first": _grid(TWO_FLAGS.replace("WAITS\n", "pass\n"), "race"),
    "the second setter has seen the first in vain": _grid(
        TWO_FLAGS.replace("WAITS\n", AFTER.rstrip(" ").replace("== 0", "< 0")), "race"
    ),
    "raised in two phases": Trick(PHASES.replace("BARRIER", "cuda.syncthreads()\n"), CLEAN),
    "raised in two phases without a barrier between": Trick(
        PHASES.replace("BARRIER", ""), "missing_syncwarp"
    ),
    "a block raises one flag behind a barrier": Trick(_all_raise("cuda.syncthreads()\n", 32, 32, 63), CLEAN),
    "a block raises one flag without a barrier": Trick(_all_raise("", 32, 32, 7), "race"),
    "a block of 256 raises one flag behind a barrier": Trick(
        _all_raise("cuda.syncthreads()\n", 256, 255, 3)
        .replace("t < 4", "t < 4")
        .replace("a[t]", "a[t % 64]")
        .replace("out[t]", "out[0]"),
        CLEAN,
        threads=256,
    ),
    "a warp raises one flag behind its barrier": Trick(_all_raise("cuda.syncwarp()\n", 32, 40, 3), CLEAN),
    "a warp raises one flag without its barrier": Trick(_all_raise("", 32, 40, 3), "race"),
    "half a warp raises one flag behind its barrier": Trick(
        _all_raise("if t < 16:\n    cuda.syncwarp(0xffff)\n", 16, 40, 3), CLEAN
    ),
    "half a warp raises one flag behind the barrier of a quarter": Trick(
        _all_raise("if t < 8:\n    cuda.syncwarp(0xff)\n", 16, 40, 3), "race"
    ),
    "two warps raise one flag behind their barriers": Trick(
        _all_raise("cuda.syncwarp()\n", 64, 70, 3)
        .replace("f[t] = a[t]", "f[t] = a[t % 64]")
        .replace("out[t]", "out[0]"),
        "race",
        threads=96,
    ),
    "a lock that a stranger opens": _grid(RELEASED + "    cuda.atomic.exch(m, 0, 0)", "race"),
    "a lock that only its owners open": _grid(RELEASED + "    a[0] = 0.0", CLEAN),
    "a lock that a stranger opens by a swap": _grid(RELEASED + "    cuda.atomic.cas(m, 0, 1, 0)", "race"),
    "a flag that two threads raise, behind honest hand-overs": Trick(NOISE, "race", blocks=20),
    "a flag that one thread raises, behind honest hand-overs": Trick(
        NOISE.replace("    if b < 4:", "    if b == 2:").replace(
            "    else:\n        while", "    elif b == 4:\n        while"
        ),
        CLEAN,
        blocks=20,
    ),
}
