"""Tricks with Peterson's lock of two threads, which give way to each other; and honest ones."""

import textwrap

from trick import CLEAN, Trick

FLAG = "cuda.atomic.exch(m, me, 1)\n"
FENCE = "cuda.threadfence()\n"
TURN = "cuda.atomic.exch(m, 2, 1 - me)\n"
TEST = "cuda.atomic.add(m, 1 - me, 0) == 1 and cuda.atomic.add(m, 2, 0) == 1 - me"
WORK = "out[0] += 1.0\n"
LEAVE = "cuda.atomic.exch(m, me, 0)\n"
STEPS = """while True:
    if cuda.atomic.add(m, 1 - me, 0) == 0:
        break
    if cuda.atomic.add(m, 2, 0) == me:
        break
"""
WHO = {
    "of two blocks": ("b < 2", "b", {"blocks": 2, "threads": 1}),
    "of two lanes": ("t < 2", "t", {}),
    "of two warps": ("t % 32 == 0", "t // 32", {}),
}


def wait(test=TEST):
    return f"while {test}:\n    pass\n"


def lock(flag=FLAG + FENCE, turn=TURN + FENCE, waits=None, work=WORK, leave=FENCE + LEAVE):
    """Return what each of the two threads does; ``me`` is its number, 0 or 1."""
    return flag + turn + (wait() if waits is None else waits) + FENCE + work + leave


HONEST = {
    "": lock(),
    "the turn is looked at first": lock(waits=wait(" and ".join(TEST.split(" and ")[::-1]))),
    "for other numbers": lock(waits=wait(TEST.replace("== 1 and", "!= 0 and").replace("== 1 - me", "!= me"))),
    "step by step": lock(waits=STEPS),
    "three times": "for r in range(3):\n" + textwrap.indent(lock(), "    "),
}
RACY = {
    "nobody waits": lock(waits=""),
    "who looks does not wait": lock(waits=f"if {TEST}:\n    pass\n"),
    "the turn is looked at in the end": lock(
        waits="", leave=FENCE + LEAVE + f"if {TEST}:\n    a[me] = 2.0\n"
    ),
    "the first one does not wait": lock(waits=wait(TEST + " and me == 1")),
    "the second one does not wait": lock(waits=wait(TEST + " and me == 0")),
    "no fence behind the flag": lock(flag=FLAG),
    "no fence behind the turn": lock(turn=TURN),
    "no fence behind the work": lock(leave=LEAVE),
    "no fence behind the turn, three times": "for r in range(3):\n"
    + textwrap.indent(lock(turn=TURN), "    "),
    "the own flag": lock(waits=wait(TEST.replace("1 - me, 0) == 1", "me, 0) == 0"))),
    "the own turn": lock(turn=TURN.replace("1 - me", "me") + FENCE),
    "the turn of the other": lock(waits=wait(TEST.replace("== 1 - me", "== me"))),
    "the same turn for both": lock(turn=TURN.replace("1 - me", "1") + FENCE),
    "no turn": lock(turn=""),
    "no flag": lock(flag=""),
    "one flag": lock(flag=FLAG.replace("me, 1", "me, me") + FENCE),
    "the flag behind the turn": lock(flag=TURN + FENCE, turn=FLAG + FENCE),
    "the flag goes down too early": lock(work=LEAVE + WORK),
    "work behind the lock": lock(leave=FENCE + LEAVE + WORK),
    "other work behind the lock": lock(leave=FENCE + LEAVE + "a[5] = 1.0 + me\n"),
}


def of_each(first, second):
    """Return a body in which each of two blocks has a text of its own."""
    ways = zip(("if", "elif"), (first, second), (0, 1), strict=True)
    texts = (
        f"{word} cuda.blockIdx.x == {me}:\n    me = {me}\n" + textwrap.indent(text, "    ")
        for word, text, me in ways
    )
    return "".join(texts)


WRONG = (
    "nobody waits",
    "no fence behind the flag",
    "no fence behind the turn",
    "no fence behind the work",
    "the own turn",
)
WRONG += ("no flag", "the flag goes down too early", "work behind the lock")
TRICKS = {
    f"Peterson's lock {who}, {name}": Trick(
        f"b = cuda.blockIdx.x\nif {condition}:\n    me = {me}\n" + textwrap.indent(body, "    "), verdict, **launch
    )
    for who, (condition, me, launch) in WHO.items()
    for bodies, verdict in ((HONEST, CLEAN), (RACY, "race"))
    for name, body in bodies.items()
} | {
    f"Peterson's lock in two texts, {name}": Trick(of_each(*texts), verdict, blocks=2, threads=1)
    for name, texts, verdict in (
        ("", (lock(), lock()), CLEAN),
        *((f"the first: {wrong}", (RACY[wrong], lock()), "race") for wrong in WRONG),
        *((f"the second: {wrong}", (lock(), RACY[wrong]), "race") for wrong in WRONG),
    )
} | {
    "numbers that are exchanged and looked at": Trick(
        "cuda.atomic.exch(m, i // 2, 1 + i)\ncuda.threadfence()\n"
        "if cuda.atomic.add(m, i // 2, 0) == 1 + i:\n    a[i] = 1.0",
        "race",
    ),
    "work handed on by exchanges that are looked at": Trick(
        "if i == 1:\n    out[0] = 1.0\ncuda.threadfence()\nif i < 2:\n    cuda.atomic.exch(m, 2, 1 + i)\n"
        "    cuda.threadfence()\nif i == 0:\n    a[0] = out[0]\n"
        "if i < 2 and cuda.atomic.add(m, 2, 0) == 1 + i:\n    a[1 + i] = 1.0",
        "race",
    ),
}  # fmt: skip
