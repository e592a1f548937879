"""Tricks with flags that threads keep in shared or local memory before they test them, and their honest twins."""

import numpy as np
from trick import CLEAN, Trick

SET = """if i == 20:
    out[0] = 5.0
    cuda.threadfence()
    cuda.atomic.exch(m, 0, 1)
"""
ASK = "s = cuda.shared.array(2, np.int32)\n" + SET + "if t == 0:\n    s[0] = cuda.atomic.add(m, 0, 0)\n"
BEFORE = "s = cuda.shared.array(2, np.int32)\nif t == 0:\n    s[0] = cuda.atomic.add(m, 0, 0)\ncuda.syncthreads()\n"
AFTER = "\nif i == 20:\n    cuda.atomic.exch(m, 0, 1)"
MEET = "cuda.syncthreads()\n"
TWO = (
    "s = cuda.shared.array(3, np.int32)\n"
    + SET
    + SET.replace("20", "21").replace("out[0] = 5.0", "out[1] = 6.0").replace("m, 0", "m, 1")
    + "if t < 2:\n    s[t] = cuda.atomic.add(m, t, 0)\n"
    + MEET
)  # one statement finds both flags, in two threads
SUM = TWO + "if t == 3:\n    s[2] = s[0] + s[1]\n" + MEET
READ = "    cuda.threadfence()\n    a[i] = out[0] + out[1]"
MORE = {"blocks": 2, "more": {"a": np.zeros(128), "out": np.zeros(128)}}
OTHER = "i >= 64 and "  # the other block


def of_many(
    owners,
    test,
    use="    cuda.threadfence()\n    a[i] = out[0] + out[4] + out[owners - 1]",
    fence="cuda.threadfence()",
):
    """Return a body in which one statement finds a flag for each of many owners, and all threads add these up."""
    body = (
        f"s, owners, c = cuda.shared.array({owners}, np.int32), {owners}, 0\nif i < owners:\n    out[i] = 5.0\n"
        f"    {fence}\n    cuda.atomic.exch(m, i, 1)\nif t < owners:\n    s[t] = cuda.atomic.add(m, t, 0)\n"
    )
    return body + MEET + f"for j in range(owners):\n    c += s[j]\nif {OTHER}{test}:\n{use}"


TRICKS = {
    "a flag in shared memory, tested by one thread": Trick(
        ASK + MEET + f"if {OTHER}t == 0 and s[0] == 1:\n    cuda.threadfence()\n    a[0] = out[0]",
        CLEAN,
        **MORE,
    ),
    "a flag in shared memory, tested by all": Trick(
        ASK + MEET + "if s[0] == 1:\n    cuda.threadfence()\n    a[i] = out[0]", CLEAN, **MORE
    ),
    "a flag in shared memory, without a barrier": Trick(
        ASK + "if s[0] == 1:\n    cuda.threadfence()\n    a[i] = out[0]", "race", **MORE
    ),
    "a flag in shared memory that is not tested": Trick(
        ASK + MEET + f"if {OTHER}t < 5:\n    a[i] = out[0]", "race", **MORE
    ),
    "a flag in shared memory, tested by all but one": Trick(
        ASK + MEET + "x = s[0]\nif t == 9:\n    a[i] = x\nelif x == 1:\n    a[i] = out[0]", "race", **MORE
    ),
    "a flag in shared memory, tested first by another thread": Trick(
        ASK
        + MEET
        + "if t == 1 and s[0] == 1:\n    a[i] = 1.0\ncuda.syncthreads()\nif t == 2:\n    a[i] = s[0]",
        "race",
        **MORE,
    ),
    "a flag in shared memory, stored after the test": Trick(
        ASK + MEET + "if s[0] == 1:\n    cuda.threadfence()\n    a[i] = out[0] + s[0]", CLEAN, **MORE
    ),
    "a flag in shared memory, stored before the test": Trick(
        ASK + MEET + "x = s[0]\na[i] = x\nif x == 1:\n    out[64 + t] = 1.0", "race", **MORE
    ),
    "a flag in shared memory as an index": Trick(ASK + MEET + "a[i] = k[s[0]]", "race", **MORE),
    "a flag in shared memory, of which one bit is tested": Trick(
        BEFORE + "if s[0] & 1 == 0:\n    a[i] = s[0]" + AFTER, "race", **MORE
    ),
    "a flag in shared memory, whose sign is tested": Trick(
        ASK + MEET + "if s[0] >= 0:\n    a[i] = s[0]", "race", **MORE
    ),
    "a flag in shared memory, copied there, not tested": Trick(
        ASK + MEET + "if t == 3:\n    s[1] = s[0]\ncuda.syncthreads()\na[i] = s[1]", "race", **MORE
    ),
    "a flag in shared memory, read as its bytes": Trick(
        ASK + MEET + "a[i] = s.view(np.int8)[0]", "race", **MORE
    ),
    "a flag in shared memory, read as a longer number": Trick(
        ASK + MEET + "a[i] = s.view(np.int64)[0] & 3", "race", **MORE
    ),
    "a flag in shared memory, read by an atomic": Trick(
        ASK + MEET + "a[i] = cuda.atomic.add(s, 0, 0)", "race", **MORE
    ),
    "a flag in shared memory, handed on by a shuffle": Trick(
        ASK
        + MEET
        + "x = s[0]\ny = cuda.shfl_sync(0xFFFFFFFF, x, 0)\nif x == 1:\n    out[64 + t] = 1.0\na[i] = y",
        "race",
        **MORE,
    ),
    "a flag in shared memory, kept in a local array": Trick(
        ASK + MEET + "l = cuda.local.array(2, np.int32)\nl[1] = s[0]\na[i] = l[1]", "race", **MORE
    ),
    "a flag in shared memory, kept in a local array and tested": Trick(
        ASK + MEET + "l = cuda.local.array(2, np.int32)\nl[1] = s[0]\nif l[1] == 1:\n    a[i] = l[1]",
        CLEAN,
        **MORE,
    ),
    "two flags in shared memory, added": Trick(
        "s = cuda.shared.array(2, np.int32)\n"
        + SET
        + "if t < 2:\n    s[t] = cuda.atomic.add(m, t, 0)\n"
        + MEET
        + "if t == 7:\n    a[i] = s[0] + s[1]",
        "race",
        **MORE,
    ),
    "two flags of two threads, both set": Trick(TWO + "if s[0] == 1 and s[1] == 1:\n" + READ, CLEAN, **MORE),
    "two flags of two threads, one of them set": Trick(
        TWO + "if s[0] == 1 or s[1] == 1:\n" + READ, "race", **MORE
    ),
    "two flags of two threads, without a fence": Trick(
        TWO.replace("    cuda.threadfence()\n", "") + "if s[0] == 1 and s[1] == 1:\n" + READ, "race", **MORE
    ),
    "two flags of two threads, for one number each": Trick(
        TWO + "if s[0] == 1 or s[1] == 1:\n    a[i] = 1.0", CLEAN, **MORE
    ),
    "two flags of two threads, one of them stored": Trick(
        TWO + "if s[0] == 1 and s[1] == 1:\n    a[i] = s[1]", CLEAN, **MORE
    ),
    "two flags of two threads, the other one stored": Trick(
        TWO + "if s[0] == 1 or s[1] == 2:\n    a[i] = s[1]", "race", **MORE
    ),
    "the sum of two lent flags": Trick(TWO + "if s[0] + s[1] == 2:\n" + READ, CLEAN, **MORE),
    "the sum of two flags, one of which is enough": Trick(
        TWO + "if s[0] + s[1] >= 1:\n" + READ, "race", **MORE
    ),
    "the sum of two flags in a loop": Trick(
        TWO + "c = 0\nfor j in range(2):\n    c += s[j]\nif c == 2:\n" + READ, CLEAN, **MORE
    ),
    "the sum of two flags in a loop, not 0": Trick(
        TWO + "c = 0\nfor j in range(2):\n    c += s[j]\nif c != 0:\n" + READ, "race", **MORE
    ),
    "the sum of two flags, stored after the test": Trick(
        TWO + "c = s[0] + s[1]\nif c == 2:\n    a[i] = c", CLEAN, **MORE
    ),
    "the sum of two flags, stored by another thread": Trick(
        TWO + "c = s[0] + s[1]\nif t == 7 and c == 2:\n    a[i] = c\nelif t == 8:\n    a[i] = c",
        "race",
        **MORE,
    ),
    "two lent flags that are equal": Trick(TWO + "if s[0] == s[1]:\n    a[i] = s[0]", "race", **MORE),
    "two flags that are equal, and data": Trick(TWO + "if s[0] ^ s[1] == 0:\n" + READ, "race", **MORE),
    "the lesser of two flags": Trick(TWO + "if min(s[0], s[1]) == 1:\n" + READ, CLEAN, **MORE),
    "the larger of two flags": Trick(TWO + "if max(s[0], s[1]) == 1:\n" + READ, "race", **MORE),
    "the flag of each thread and another one": Trick(
        TWO + "if s[t % 2] + s[(t + 1) % 2] == 2:\n" + READ, CLEAN, **MORE
    ),
    "the sum of two flags, kept by one thread": Trick(SUM + "if s[2] == 2:\n" + READ, CLEAN, **MORE),
    "the sum of two flags, kept by one thread, one is enough": Trick(
        SUM + "if s[2] > 0:\n" + READ, "race", **MORE
    ),
    "the sum of two flags, kept by one thread and not tested": Trick(SUM + "a[i] = s[2]", "race", **MORE),
    "the sum of two flags, kept by one thread, tested by itself": Trick(
        SUM + "if t == 3 and s[2] == 2:\n    a[i] = 1.0\nelif t == 4:\n    a[i] = s[0]", "race", **MORE
    ),
    "five flags, one of them set, added by two loops": Trick(
        "s = cuda.shared.array(5, np.int32)\nif i == 20:\n    out[0] = 5.0\n    cuda.threadfence()\n"
        "    for j in range(5):\n        cuda.atomic.exch(m, j, 1)\nif t < 5:\n    s[t] = cuda.atomic.add(m, t, 0)\n"
        + MEET
        + "c = 0\nfor j in range(5):\n    c += s[j]\nif c != 0:\n    cuda.threadfence()\n    a[i] = out[0]",
        "race",
        **MORE,
    ),
    **{
        f"{owners} flags, {what}": Trick(of_many(owners, *rest), verdict, **MORE)
        for owners in (5, 20)
        for what, verdict, rest in (
            ("all set", CLEAN, ("c == owners",)),
            ("the sum stored after its test", CLEAN, ("c == owners", "    a[i] = c")),
            ("all but one set", "race", ("c >= owners - 1",)),
            ("one set", "race", ("c >= 1",)),
            ("the sum stored", "race", ("c >= 0", "    a[i] = c")),
            ("the last one not tested", "race", ("c - s[owners - 1] == owners - 1",)),
            ("all set, without a fence", "race", ("c == owners", "    a[i] = out[4]", "pass")),
        )
    },
    "two flags in shared memory, tested one by one": Trick(
        "s = cuda.shared.array(2, np.int32)\n"
        + SET
        + "if t < 2:\n    s[t] = cuda.atomic.add(m, t, 0)\n"
        + MEET
        + "if t == 7 and s[0] == 1:\n    if s[1] == 0:\n        a[i] = s[0]",
        CLEAN,
        **MORE,
    ),
    "a flag in shared memory, voted on": Trick(
        ASK + MEET + "a[i] = cuda.syncthreads_or(s[0])", "race", **MORE
    ),
    "a flag in shared memory, voted on to decide": Trick(
        ASK + MEET + "if cuda.syncthreads_or(s[0]):\n    cuda.threadfence()\n    a[i] = 1.0", CLEAN, **MORE
    ),
    "data in shared memory": Trick(
        "s = cuda.shared.array(2, np.int32)\nif i == 20:\n    cuda.atomic.exch(m, 0, 77)\nif t == 0:\n"
        "    s[0] = cuda.atomic.add(m, 0, 0)\ncuda.syncthreads()\na[i] = s[0]",
        "race",
        **MORE,
    ),
    "data in shared memory, asked before": Trick(BEFORE + "a[i] = s[0]" + AFTER, "race", **MORE),
    "a flag in shared memory, asked before": Trick(
        BEFORE + "if s[0] == 1:\n    a[i] = 1.0" + AFTER, CLEAN, **MORE
    ),
    "a flag in shared memory, asked before, not tested": Trick(
        BEFORE + "if s[0] == 1:\n    a[i] = 1.0\nelse:\n    a[i] = s[0]" + AFTER, "race", **MORE
    ),
    "a flag in shared memory, asked again and again": Trick(
        "s = cuda.shared.array(2, np.int32)\nif i == 64:\n    out[0] = 5.0\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, 0, 1)\nif i < 64:\n    while True:\n        if t == 0:\n"
        "            s[0] = cuda.atomic.add(m, 0, 0)\n            cuda.threadfence()\n        cuda.syncthreads()\n"
        "        if s[0] == 1:\n            break\n        cuda.syncthreads()\n    a[i] = out[0]",
        CLEAN,
        **MORE,
    ),
    "a flag in global memory": Trick(
        SET + "if i == 64:\n    a[5] = cuda.atomic.add(m, 0, 0)\n    if a[5] == 1:\n        a[6] = 2.0",
        "race",
        **MORE,
    ),
    "a flag in shared memory and in global memory": Trick(
        ASK.replace("s[0] =", "s[0] = m[70] =")
        + MEET
        + "if s[0] == 1:\n    cuda.threadfence()\n    a[i] = out[0]",
        "race",
        blocks=2,
        more={"a": np.zeros(128), "out": np.zeros(128), "m": np.zeros(99, np.int32)},
    ),
    "two flags in one local array": Trick(
        SET + "if i == 64:\n    l = cuda.local.array(2, np.int32)\n    l[0] = cuda.atomic.add(m, 0, 0)\n"
        "    for j in range(30):\n        l[1] = cuda.atomic.add(m, 1, 0)\n    cuda.threadfence()\n"
        "    if l[0] == 1 and l[1] == 0:\n        a[0] = out[0]",
        CLEAN,
        **MORE,
    ),
    "two flags in one local array, the other one tested": Trick(
        SET + "if i == 64:\n    l = cuda.local.array(2, np.int32)\n    l[0] = cuda.atomic.add(m, 0, 0)\n"
        "    for j in range(30):\n        l[1] = cuda.atomic.add(m, 1, 0)\n    cuda.threadfence()\n"
        "    if l[1] == 0:\n        a[0] = out[0]",
        "race",
        **MORE,
    ),
    "two flags in one local array, one of them overwritten": Trick(
        SET + "if i == 64:\n    l = cuda.local.array(2, np.int32)\n    l[0] = cuda.atomic.add(m, 0, 0)\n"
        "    for j in range(30):\n        l[j % 2] = cuda.atomic.add(m, 1, 0)\n    cuda.threadfence()\n"
        "    if l[0] == 0 and l[1] == 0:\n        a[0] = out[0]",
        "race",
        **MORE,
    ),
    "two flags in one local array, one of them stored": Trick(
        SET + "if i == 64:\n    l = cuda.local.array(2, np.int32)\n    l[0] = cuda.atomic.add(m, 0, 0)\n"
        "    for j in range(30):\n        l[1] = cuda.atomic.add(m, 1, 0)\n    a[0] = l[0]",
        "race",
        **MORE,
    ),
}
