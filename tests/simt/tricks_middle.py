"""Tricks with a number that goes up in steps, of which a thread waits for one in the middle; and honest ones."""

from trick import CLEAN, Trick

WAIT = "while cuda.atomic.add(m, 0, 0) < {step}:\n    pass\ncuda.threadfence()\na[b] = out[{read}]\n"
ONE = "for q in range(40):\n    out[q] = 1.0 + q\n    cuda.threadfence()\n    cuda.atomic.{step}\n"  # in one block
CHAIN = "{wait}out[b] = 1.0 + b\ncuda.threadfence()\n{step}\n"  # of each of twelve blocks
AWAITS = "while cuda.atomic.add(m, 0, 0) < b:\n    pass\n"
SWAPS = "while cuda.atomic.cas(m, 0, b, b + 1) != b:\n    pass"
BY_DATA = """while True:
    v = cuda.atomic.add(m, 0, 0)
    if cuda.atomic.cas(m, 0, v, v + 1) == v:
        break"""


def body(producer, step, read, first=1):
    """Return a body in which the blocks before ``first`` run the producer, and the others wait for a step."""

    def indented(text):
        return "    " + text.replace("\n", "\n    ").rstrip() + "\n"

    waits = indented(WAIT.format(step=step, read=read))
    return f"b = cuda.blockIdx.x\nif b < {first}:\n{indented(producer)}else:\n{waits}"


def one(step, read, how="add(m, 0, 1)"):
    return body(ONE.format(step=how), step, read)


def chain(step, read, how="cuda.atomic.add(m, 0, 1)", wait=AWAITS):
    return body(CHAIN.format(step=how, wait=wait), step, read, 12)


HONEST = {
    **{f"step {n} of one thread": one(n, n - 1) for n in (1, 5, 20, 36, 40)},
    "steps of one thread by exchanges": one(17, 16, "exch(m, 0, q + 1)"),
    "steps of one thread by swaps": one(17, 16, "cas(m, 0, q, q + 1)"),
    **{f"step {n} of a chain": chain(n, n - 1) for n in (1, 6, 12)},
    **{f"step {n} of a chain of swaps": chain(n, n - 1, SWAPS, "") for n in (1, 2, 6, 12)},
}
RACY = {
    "the step before": one(20, 20),
    "a step of one thread without a fence": one(20, 19).replace(
        "    cuda.threadfence()\n        cuda", "    cuda"
    ),
    "a step of one thread, told too early": one(20, 19).replace("add(m, 0, 1)", "max(m, 0, q + 3)"),
    "an even step": one(20, 19).replace("< 20", "% 2 == 1"),
    "the step before, of a chain": chain(6, 6),
    "nobody waits in the chain": chain(6, 5, wait=""),
    "the step before, of a chain of swaps": chain(6, 6, SWAPS, ""),
    "a chain of swaps without a fence": chain(6, 5, SWAPS, "").replace(
        "cuda.threadfence()\n    while", "while"
    ),
    "a chain in which anybody may be the next": chain(6, 5, BY_DATA, ""),
    "swaps that are written behind": chain(6, 5, SWAPS + "\nout[b] = 2.0 + b", ""),
    "a stranger takes a step": chain(6, 3, SWAPS, "if b == 11:\n    cuda.atomic.max(m, 0, 5)\n"),
}
TRICKS = {
    f"steps, {name}": Trick(text, verdict, blocks=14, threads=1)
    for texts, verdict in ((HONEST, CLEAN), (RACY, "race"))
    for name, text in texts.items()
}
