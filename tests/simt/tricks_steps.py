"""Tricks with an integer that a thread changes step by step: another one waits for a step, and finds a later one.

Block 0 fills a queue and counts its items, or says how far it has come. Block 1 waits for some of them, and block 2
disturbs.
"""

from trick import CLEAN, Trick

STEPS = """b = cuda.blockIdx.x
if b == 0:
    for q in range(5):
        out[q] = a[q]
        {fence}
        {step}
elif b == 1:
    while {wait}:
        pass
    cuda.threadfence()
    a[20] = out[{item}]
else:
    {other}"""
ADD, LOOK = "cuda.atomic.add(m, 0, 1)", "cuda.atomic.add(m, 0, 0)"
TICKETS = f"""b = cuda.blockIdx.x
if b == 0:
    for q in range(5):
        out[q] = a[q]
        cuda.threadfence()
        {ADD}
else:
    q = cuda.atomic.add(m, 1, 1)
    while {LOOK} {{until}} q:
        pass
    cuda.threadfence()
    a[20 + q] = out[q]"""
WARPS = """f = cuda.shared.array(64, np.float64)
c = cuda.shared.array(1, np.int32)
if t == 0:
    c[0] = 0
cuda.syncthreads()
for r in range(3):
    f[t] = a[t] + r
    MEET
    out[t] = f[(t + 32) % 64]
    MEET
"""
MEET = """cuda.threadfence_block()
    cuda.syncwarp()
    if t % 32 == 0:
        cuda.atomic.add(c, 0, 1)
        while cuda.atomic.add(c, 0, 0) < {}:
            pass
        cuda.threadfence_block()
    cuda.syncwarp()"""


def _warps(first, second, verdict):
    body = WARPS.replace("MEET", MEET.format(first), 1).replace("MEET", MEET.format(second))
    return Trick(body, verdict)


def _blocks(less, verdict):
    meet = f"""cuda.threadfence()
    {ADD}
    while {LOOK} < 5 * (2 * r + {{}}) - {less}:
        pass
    cuda.threadfence()"""
    body = f"b = cuda.blockIdx.x\nfor r in range(3):\n    out[b] = r\n    {meet.format(1)}\n"
    body += f"    a[10 + b] = out[(b + 1) % 5]\n    {meet.format(2)}"
    return Trick(body, verdict, blocks=5, threads=1)


def _steps(verdict, step=ADD, wait=f"{LOOK} < 4", item=3, fence="cuda.threadfence()", other="pass"):
    body = STEPS.format(step=step, wait=wait, item=item, fence=fence, other=other)
    return Trick(body, verdict, blocks=3, threads=1)


TRICKS = {
    "the fourth of five": _steps(CLEAN),
    "the fourth behind the third": _steps("race", wait=f"{LOOK} < 3"),
    "the fourth, exchanged": _steps(CLEAN, step="cuda.atomic.exch(m, 0, q + 1)"),
    "the fourth, by a maximum": _steps(CLEAN, step="cuda.atomic.max(m, 0, q + 1)"),
    "the fourth in steps of two": _steps(CLEAN, step="cuda.atomic.add(m, 0, 2)", wait=f"{LOOK} < 7"),
    "the fourth behind the third in steps of two": _steps(
        "race", step="cuda.atomic.add(m, 0, 2)", wait=f"{LOOK} < 6"
    ),
    "the fourth, and another thread counts later": _steps("race", other=ADD),
    "the fourth, and another thread exchanges later": _steps("race", other="cuda.atomic.exch(m, 0, 4)"),
    "the fourth, and another thread adds more later": _steps("race", other="cuda.atomic.add(m, 0, 4)"),
    "the fourth without its fence": _steps("race", fence="if q < 3:\n            cuda.threadfence()"),
    "the fourth by the last bit": _steps("race", wait=f"{LOOK} % 2 == 0"),
    "the fourth by two looks that differ": _steps("race", wait=f"({LOOK} < 4) ^ ({LOOK} < 4)"),
    "blocks meet by counting on": _blocks(0, CLEAN),
    "blocks meet by counting on, but for the last one": _blocks(1, "race"),
    "warps meet by counting on": _warps("4 * r + 2", "4 * r + 4", CLEAN),
    "warps meet by counting on, but for one of them": _warps("4 * r + 2", "4 * r + 3", "race"),
    "warps meet by counting on once in each trip": _warps("4 * r + 2", "4 * r + 2", "race"),
    "each takes the item of its ticket": Trick(TICKETS.format(until="<="), CLEAN, blocks=4, threads=1),
    "each takes the item behind that of its ticket": Trick(
        TICKETS.format(until="<"), "race", blocks=4, threads=1
    ),
}
