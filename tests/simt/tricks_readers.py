"""Tricks with a lock of readers, who count themselves by swaps, and of writers, who put -1 there; and honest ones."""

from trick import CLEAN, Trick

ENTER = """while True:
        v = cuda.atomic.add(m, 0, 0)
        if v >= 0 and cuda.atomic.cas(m, 0, v, v + 1) == v:
            break
    cuda.threadfence()
"""
RETRY = """found = cuda.atomic.add(m, 0, 0)
    while True:
        want = max(found, 0)
        found = cuda.atomic.cas(m, 0, want, want + 1)
        if found == want:
            break
    cuda.threadfence()
"""
GUESS = """found = 0
    while True:
        old = cuda.atomic.cas(m, 0, max(found, 0), max(found, 0) + 1)
        if old == max(found, 0):
            break
        found = old
    cuda.threadfence()
"""  # the first swap tries without a look
READ = "    a[i] = out[0]\n    cuda.threadfence()  # of a reader\n"
LEAVE = "    cuda.atomic.add(m, 0, -1)\n"
READER = ENTER + READ + LEAVE
TAKE = "while cuda.atomic.cas(m, 0, 0, -1) != 0:\n        pass\n"
WRITE = "    cuda.threadfence()\n    out[0] += 1.0\n    cuda.threadfence()  # of a writer\n"
GIVE = "    cuda.atomic.exch(m, 0, 0)\n"
WRITER = TAKE + WRITE + GIVE
SWAPS_AWAY = """    while True:
        v = cuda.atomic.add(m, 0, 0)
        if cuda.atomic.cas(m, 0, v, v - 1) == v:
            break
"""
BECOMES_A_WRITER = """    if cuda.atomic.cas(m, 0, 1, -1) == 1:
        cuda.threadfence()
        out[0] += 1.0
        cuda.threadfence()
        cuda.atomic.exch(m, 0, 0)
    else:
        cuda.atomic.add(m, 0, -1)
"""
ANY = "v >= 0 and "


def lock(reader=READER, writer=WRITER, who="t % 8 == 3", part="t % 4 == 3"):
    """Return the body of a kernel; ``who`` writes, and the other threads of ``part`` read."""
    return f"if {part} and {who}:\n    {writer}elif {part}:\n    {reader}"


def _twice(text):
    return "for j in range(2):\n        " + text.replace("\n    ", "\n        ")


HONEST = {
    "several writers": lock(),
    "the first thread writes": lock(who="t == 3"),
    "the last thread writes": lock(who="t == 63"),
    "the writer adds when it leaves": lock(writer=TAKE + WRITE + "    cuda.atomic.add(m, 0, 1)\n"),
    "readers swap when they leave": lock(reader=ENTER + READ + SWAPS_AWAY),
    "all twice": lock(reader=_twice(READER), writer=_twice(WRITER)),
    "a reader becomes a writer": lock(reader=ENTER + READ + BECOMES_A_WRITER),
    "neighbours": lock(part="t < 12"),
}
RACY = {
    "the writer does not wait": lock(writer="cuda.atomic.exch(m, 0, -1)\n" + WRITE + GIVE),
    "the writer does not ask": lock(writer="cuda.atomic.cas(m, 0, 0, -1)\n" + WRITE + GIVE),
    "the writer waits for some readers": lock(writer=TAKE.replace("!= 0", "> 1") + WRITE + GIVE),
    "the writer gives up waiting": lock(
        writer="for j in range(3):\n        if cuda.atomic.cas(m, 0, 0, -1) == 0:\n            break\n"
        + WRITE
        + GIVE
    ),
    "a reader leaves before it reads": lock(reader=ENTER + "    cuda.threadfence()\n" + LEAVE + READ),
    "a reader leaves for a while": lock(
        reader=ENTER + LEAVE + READ + LEAVE.replace("-1", "1") + "    cuda.threadfence()\n" + LEAVE
    ),
    "no fence of the readers": lock(reader=READER.replace("    cuda.threadfence()  # of a reader\n", "")),
    "no fence of the readers, the last thread writes": lock(
        reader=READER.replace("    cuda.threadfence()  # of a reader\n", ""), who="t == 63"
    ),
    "no fence of the writer": lock(writer=WRITER.replace("    cuda.threadfence()  # of a writer\n", "")),
    "no fence of the writer, the first thread": lock(
        writer=WRITER.replace("    cuda.threadfence()  # of a writer\n", ""), who="t == 3"
    ),
    "a reader enters while somebody writes": lock(reader=READER.replace(ANY, "")),
    "a reader enters while the first thread writes": lock(reader=READER.replace(ANY, ""), who="t == 3"),
    "a reader enters while the last thread writes": lock(reader=READER.replace(ANY, ""), who="t == 63"),
    "a reader enters at -1": lock(reader=READER.replace(">= 0", ">= -1")),
    "a reader does not ask": lock(reader=READER.replace("v + 1) == v", "v + 1) >= 0")),
    "a reader only looks": lock(
        reader=READER.replace(" and cuda.atomic.cas(m, 0, v, v + 1) == v", "").replace(LEAVE, "    pass\n")
    ),
    "a reader takes another lock": lock(reader=READER.replace("m, 0", "m, 1")),
    "a reader writes": lock(reader=READER.replace("a[i] = out[0]", "out[0] = 3.0 + t")),
    "the writer leaves before it writes": lock(writer=TAKE + "    cuda.threadfence()\n" + GIVE + WRITE),
    "a reader among others becomes a writer": lock(
        reader=ENTER + READ + BECOMES_A_WRITER.replace("-1) == 1", "-1) >= 1")
    ),
    "a stranger opens the lock": "if t == 50:\n    cuda.atomic.exch(m, 0, 0)\n" + lock(),
    "a stranger opens the lock in the end": lock() + "if t == 50:\n    cuda.atomic.exch(m, 0, 0)\n",
    "a stranger lowers the lock": "if t == 50:\n    cuda.atomic.add(m, 0, -1)\n    cuda.atomic.add(m, 0, 1)\n"
    + lock(),
    "a stranger lowers the lock in the end": lock()
    + "if t == 50:\n    cuda.atomic.add(m, 0, -1)\n    cuda.atomic.add(m, 0, 1)\n",
}
for _name, _writer in {  # a writer swaps any number of readers away
    "waits for writers only": ENTER.replace("v + 1", "-1"),
    "retries for writers only": RETRY.replace("want + 1", "-1"),
    "guesses for writers only": GUESS.replace("max(found, 0) + 1", "-1"),
    "asks by branches": """while True:
        v = cuda.atomic.add(m, 0, 0)
        e = 0
        if v > 0:
            e = v
        if cuda.atomic.cas(m, 0, e, -1) == e:
            break
""",
}.items():
    RACY |= {
        f"the writer {_name}": lock(writer=_writer + WRITE + GIVE),
        f"the first thread {_name}": lock(writer=_writer + WRITE + GIVE, who="t == 3"),
        f"the last thread {_name}": lock(writer=_writer + WRITE + GIVE, who="t == 63"),
        f"among neighbours, the writer {_name}": lock(writer=_writer + WRITE + GIVE, part="t < 12"),
        f"the upper half {_name}": lock(writer=_writer + WRITE + GIVE, who="t >= 32"),
    }
for _name, _enter in (("who retry", RETRY), ("who guess", GUESS)):
    _known = "found == want" if _enter is RETRY else "old == max(found, 0)"
    HONEST |= {
        _name: lock(reader=_enter + READ + LEAVE),
        f"{_name}, the last thread writes": lock(reader=_enter + READ + LEAVE, who="t == 63"),
        f"{_name}, all twice": lock(reader=_twice(_enter + READ + LEAVE), writer=_twice(WRITER)),
    }
    RACY |= {
        f"{_name}, at -1": lock(reader=_enter.replace("(found, 0)", "(found, -1)") + READ + LEAVE),
        f"{_name}, and do not ask": lock(reader=_enter.replace(_known, "found >= -1") + READ + LEAVE),
        f"{_name}, without a fence": lock(reader=_enter + READ.split("    cuda")[0] + LEAVE),
        f"{_name}, and leave early": lock(reader=_enter + LEAVE + READ),
        f"{_name}, and no fence of the writer": lock(
            _enter + READ + LEAVE, TAKE + WRITE[:-1].rpartition("\n")[0] + "\n" + GIVE
        ),
        f"{_name}, and a writer who does not wait": lock(
            _enter + READ + LEAVE, "cuda.atomic.exch(m, 0, -1)\n" + WRITE + GIVE
        ),
        f"{_name}, and store what the lock held": lock(
            _enter.replace("want + 1", "found + 1").replace("max(found, 0) + 1", "found + 1") + READ + LEAVE
        ),
    }
RACY["who guess, and store an older guess"] = lock(
    reader=GUESS + READ.replace("out[0]", "out[0] + found") + LEAVE
)
TRICKS = {f"readers and writers, {name}": Trick(body, CLEAN) for name, body in HONEST.items()} | {
    f"readers and writers, {name}": Trick(body, "race") for name, body in RACY.items()
}
