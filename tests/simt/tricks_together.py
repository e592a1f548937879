"""Tricks with the trips of a loop that an atomic decides, and with conditions on several atomics."""

from trick import CLEAN, Trick

TICKET = (
    "ticket = 0\nif t == 0:\n    out[cuda.blockIdx.x] = a[cuda.blockIdx.x]\n    cuda.threadfence()\n"
    "    ticket = cuda.atomic.add(m, 0, 1)\nif t == 0:\n"
)
SUM = "total = 0.0\n{0}for b in range(cuda.gridDim.x):\n{0}    total += out[b]\n{0}a[63] = total"
TWO = (
    "b = cuda.blockIdx.x\nif t == 0 and b < 2:\n    out[b] = a[b]\n    cuda.threadfence()\n"
    "    cuda.atomic.exch(m, b, 1)\nif t == 0 and b == 2:\n"
)
READ = "a[0] = out[0] + out[1]"

MEET = """b = cuda.blockIdx.x
for r in range(3):
    if t == 0:
        if r % 2 == 0:
            a[b] = out[(b + 1) % 4] + 1.0
        else:
            out[b] = a[(b + 1) % 4] + 1.0
        cuda.threadfence()
        turn = cuda.atomic.add(m, 1, 0)
        if cuda.atomic.add(m, 0, 1) == 3:
            cuda.atomic.exch(m, 0, 0)
            cuda.threadfence()
            cuda.atomic.add(m, 1, 1)
        else:
            while cuda.atomic.add(m, 1, 0) == turn:
                pass
            cuda.threadfence()"""
AGAIN = """b = cuda.blockIdx.x
if t == 0 and b == 0:
    cuda.atomic.add(m, 1, 1)
    while cuda.atomic.add(m, 2, 0) == 0:
        pass
    out[1] = 2.0
    cuda.threadfence()
    cuda.atomic.add(m, 1, 1)
if t == 0 and b == 1:
    while cuda.atomic.add(m, 1, 0) == 0:
        pass
    turn = cuda.atomic.add(m, 1, 0)
    cuda.threadfence()
    cuda.atomic.add(m, 2, 1)
    now = cuda.atomic.add(m, 1, 0)
    while now == turn:
        now = cuda.atomic.add(m, 1, 0)
    cuda.threadfence()
    a[0] = out[1]"""


def _by_trips(trips, body=None):
    inner = " " * 8
    return f"{TICKET}    for _ in range({trips}):\n{inner}{body or SUM.format(inner)}"


TRICKS = {
    "last block by the trips of a for right": Trick(
        _by_trips("int(ticket == cuda.gridDim.x - 1)"), CLEAN, blocks=4
    ),
    "last block by the trips of a for, from an end right": Trick(
        _by_trips("ticket // (cuda.gridDim.x - 1)"), CLEAN, blocks=4
    ),
    "last block after the trips of a for right": Trick(
        f"{TICKET}    for _ in range(int(ticket != cuda.gridDim.x - 1)):\n        return\n    {SUM.format(' ' * 4)}",
        CLEAN,
        blocks=4,
    ),
    "any block by the trips of a for": Trick(_by_trips("int(ticket >= 0)"), "race", blocks=4),
    "second block by the trips of a for": Trick(_by_trips("int(ticket >= 1)"), "race", blocks=4),
    "one trip more than the ticket": Trick(_by_trips("ticket + 1"), "race", blocks=4),
    "as many trips as the ticket": Trick(_by_trips("ticket"), "race", blocks=4),
    "three trips, whatever the ticket": Trick(_by_trips("ticket * 0 + 3"), "race", blocks=4),
    "a trip that starts at the ticket": Trick(_by_trips("ticket, ticket + 1"), "race", blocks=4),
    "two flags right": Trick(
        f"{TWO}    first = cuda.atomic.add(m, 0, 0)\n    second = cuda.atomic.add(m, 1, 0)\n"
        f"    if first == 1 and second == 1:\n        {READ}",
        CLEAN,
        blocks=3,
    ),
    "two flags by their sum right": Trick(
        f"{TWO}    first = cuda.atomic.add(m, 0, 0)\n    second = cuda.atomic.add(m, 1, 0)\n"
        f"    if first + second == 2:\n        {READ}",
        CLEAN,
        blocks=3,
    ),
    "two flags that are equal": Trick(
        f"{TWO}    first = cuda.atomic.add(m, 0, 0)\n    second = cuda.atomic.add(m, 1, 0)\n"
        f"    if first ^ second == 0:\n        {READ}",
        "race",
        blocks=3,
    ),
    "two flags whose difference is none": Trick(
        f"{TWO}    if cuda.atomic.add(m, 0, 0) == cuda.atomic.add(m, 1, 0):\n        {READ}", "race", blocks=3
    ),
    "two flags that are equal, by the trips of a for": Trick(
        f"{TWO}    first = cuda.atomic.add(m, 0, 0)\n    second = cuda.atomic.add(m, 1, 0)\n"
        f"    for _ in range(1 - (first ^ second)):\n        {READ}",
        "race",
        blocks=3,
    ),
    "two flags that are equal, out of memory": Trick(
        f"{TWO}    seen = cuda.local.array(2, np.int32)\n    seen[0] = cuda.atomic.add(m, 0, 0)\n"
        f"    seen[1] = cuda.atomic.add(m, 1, 0)\n    if seen[0] == seen[1]:\n        {READ}",
        "race",
        blocks=3,
    ),
    "a barrier of the blocks that reads whose turn it is right": Trick(MEET, CLEAN, blocks=4, threads=32),
    "a barrier of the blocks that one block leaves too early": Trick(
        MEET.replace("== 3:", "== 2:"), "race", blocks=4, threads=32
    ),
    "a barrier of the blocks that does not wait for the turn": Trick(
        MEET.replace("== turn", "< turn"), "race", blocks=4, threads=32
    ),
    "a barrier of the blocks without its fence": Trick(
        MEET.replace("        cuda.threadfence()\n        turn", "        turn"), "race", blocks=4, threads=32
    ),
    "a turn that was read and has passed right": Trick(AGAIN, CLEAN, blocks=2),
    "a turn that was read and may not have passed": Trick(
        AGAIN.replace("while now == turn", "while now < turn"), "race", blocks=2
    ),
    "a turn that was read and has passed, without a fence": Trick(
        AGAIN.replace("    out[1] = 2.0\n    cuda.threadfence()", "    out[1] = 2.0"), "race", blocks=2
    ),
    "turns that are equal": Trick(
        AGAIN.replace("    while now == turn:\n        now = cuda.atomic.add(m, 1, 0)\n", "").replace(
            "    a[0] = out[1]", "    if now >= turn:\n        a[0] = out[1]"
        ),
        "race",
        blocks=2,
    ),
}
