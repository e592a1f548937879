"""Tricks and honest kernels in which warps hand over to warps, or blocks wait for blocks."""

import numpy as np
from trick import CLEAN, Trick

LAST_WARP = (
    "c = cuda.shared.array(1, np.int32)\ns = cuda.shared.array(64, np.float64)\nif t == 0:\n    c[0] = 0\n"
    "cuda.syncthreads()\ns[t] = a[t]\n{}if t % 32 == 0:\n    if cuda.atomic.add(c, 0, 1) == 1:\n        x = 0.0\n"
    "        for z in range(64):\n            x += s[z]\n        out[0] = x"
)
LOOK_BACK = (
    "b = cuda.blockIdx.x\nif t == 0:\n    x = 0\n    if b > 0:\n        y = 0\n        {}:\n"
    "            y = cuda.atomic.add(m, b - 1, 0)\n        x = y\n    cuda.atomic.exch(m, b, x + b + 1)\n"
    "    out[b] = x + b + 1"
)
EXTREMES = "q = k.view({})\ncuda.atomic.max(q, 0, 5)\ncuda.atomic.max(k, 0, -1)"
TRICKS = {
    "last warp": Trick(LAST_WARP.format("cuda.threadfence_block()\ncuda.syncwarp()\n"), CLEAN),
    "last warp whose lanes do not meet": Trick(LAST_WARP.format("cuda.threadfence_block()\n"), "race"),
    "last warp without a fence": Trick(LAST_WARP.format("cuda.syncwarp()\n"), "race"),
    "last warp, its first lane's fence too early": Trick(
        LAST_WARP.format("if t % 32 == 0:\n    cuda.threadfence_block()\n    s[t] = 3.0\ncuda.syncwarp()\n"),
        "race",
    ),
    "warps of two blocks by a fence of the block": Trick(
        "out[i] = a[t]\ncuda.threadfence_block()\ncuda.syncwarp()\nif t == 0:\n    if cuda.atomic.add(m, 0, 1) == 1:\n"
        "        a[0] = out[5] + out[40]",
        "race",
        threads=32,
        blocks=2,
    ),
    "blocks that look back": Trick(LOOK_BACK.format("while y == 0"), CLEAN, blocks=4, threads=32),
    "blocks that look back once": Trick(LOOK_BACK.format("for z in range(1)"), "race", blocks=4, threads=32),
    "extremes of signed and of unsigned numbers": Trick(EXTREMES.format("np.uint64"), "race"),
    "extremes of signed numbers": Trick(EXTREMES.format("np.int64"), CLEAN),
    "a barrier of a warp that one lane skips": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\nif t > 0:\n    cuda.syncwarp()\nout[t] = s[t ^ 1]",
        "divergent_barrier",
    ),
    "a barrier of a warp that one lane skips, and a race": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\nif t > 0:\n    cuda.syncwarp()\nout[t] = s[t ^ 1]",
        "missing_syncwarp",
    ),
    "steps in place without the last barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.syncthreads()\nw = 2\nwhile w <= 64:\n"
        "    j = w // 2\n    while j > 0:\n        p = t ^ j\n        if p > t and s[t] > s[p]:\n"
        "            x = s[t]\n            s[t] = s[p]\n            s[p] = x\n        if j > 1:\n"
        "            cuda.syncthreads()\n        j //= 2\n    w *= 2\nout[t] = s[t]",
        "race",
        more={"a": np.arange(64.0)[::-1].copy()},
    ),
}  # fmt: skip
