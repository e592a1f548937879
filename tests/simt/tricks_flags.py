"""Tricks with flags that prove less than they seem to, with masks, with views, and with barriers in odd places."""

import numpy as np
from trick import CLEAN, Trick

SQUARE = np.arange(64.0 * 64.0).reshape(64, 64)
LINE = np.zeros(64)

TRICKS = {
    "fence after flag": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.atomic.exch(m, t, 1)\n"
        "    cuda.threadfence()\nelse:\n    while cuda.atomic.add(m, t, 0) == 0:\n        pass\n"
        "    a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "second datum of two flags": Trick(
        "if t == 0 and cuda.blockIdx.x == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, 0, 1)\n    out[1] = 2.0\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, 0, 2)\nif t == 0 and cuda.blockIdx.x == 1:\n"
        "    while cuda.atomic.add(m, 0, 0) == 0:\n        pass\n    a[0] = out[1]",
        "race",
        blocks=2,
    ),
    "second datum of two flags right": Trick(
        "if t == 0 and cuda.blockIdx.x == 0:\n    out[0] = 1.0\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, 0, 1)\n    out[1] = 2.0\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, 0, 2)\nif t == 0 and cuda.blockIdx.x == 1:\n"
        "    while cuda.atomic.add(m, 0, 0) != 2:\n        pass\n    a[0] = out[1]",
        CLEAN,
        blocks=2,
    ),
    "flag of another": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, t, 1)\nelse:\n    while cuda.atomic.add(m, t ^ 1, 0) == 0:\n"
        "        pass\n    a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "written after flag": Trick(
        "if cuda.blockIdx.x == 0:\n    cuda.threadfence()\n    cuda.atomic.exch(m, t, 1)\n"
        "    out[t] = a[t]\nelse:\n    while cuda.atomic.add(m, t, 0) == 0:\n        pass\n"
        "    a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "block fence between blocks": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence_block()\n"
        "    cuda.atomic.exch(m, t, 1)\nelse:\n    while cuda.atomic.add(m, t, 0) == 0:\n"
        "        pass\n    a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "system fence right": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence_system()\n"
        "    cuda.atomic.exch(m, t, 1)\nelse:\n    while cuda.atomic.add(m, t, 0) == 0:\n"
        "        pass\n    a[t] = out[t]",
        CLEAN,
        blocks=2,
    ),
    "flag is the data index": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence()\n"
        "    cuda.atomic.add(m, 0, 1)\nelse:\n    c = cuda.atomic.add(m, 0, 0)\n"
        "    for z in range(c):\n        a[z] = out[z]",
        "race",
        threads=8,
        blocks=2,
    ),
    "sleeping flag by min": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, t, 1)\nelse:\n    c = min(cuda.atomic.add(m, t, 0), 0)\n"
        "    if c == 0:\n        a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "two flags one test, or": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 2:\n        out[b] = 1.0\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        if cuda.atomic.add(m, 0, 0) == 1 or cuda.atomic.add(m, 1, 0) == 1:\n"
        "            a[0] = out[0] + out[1]",
        "race",
        blocks=3,
    ),
    "two flags one test, sum >= 1": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 2:\n        out[b] = 1.0\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        if cuda.atomic.add(m, 0, 0) + cuda.atomic.add(m, 1, 0) >= 1:\n"
        "            a[0] = out[0] + out[1]",
        "race",
        blocks=3,
    ),
    "two flags one test, sum == 2": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 2:\n        out[b] = 1.0\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        if cuda.atomic.add(m, 0, 0) + cuda.atomic.add(m, 1, 0) == 2:\n"
        "            a[0] = out[0] + out[1]",
        CLEAN,
        blocks=3,
    ),
    "two flags and": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 2:\n        out[b] = 1.0\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        if cuda.atomic.add(m, 0, 0) == 1 and cuda.atomic.add(m, 1, 0) == 1:\n"
        "            a[0] = out[0] + out[1]",
        CLEAN,
        blocks=3,
    ),
    "other lane's clock via whole-warp race": Trick(
        "s = cuda.shared.array(64, np.float64)\nif t < 32:\n    s[t] = a[t]\nif t < 16:\n"
        "    cuda.syncwarp(0xffff)\n    cuda.syncwarp(0xffff)\n    cuda.syncwarp(0xffff)\n"
        "if 15 < t < 32:\n    cuda.syncwarp(0xffff0000)\nif t < 32:\n    out[t] = s[31 - t]",
        "missing_syncwarp",
    ),
    "ticks unequal then whole": Trick(
        "s = cuda.shared.array(64, np.float64)\nif t < 16:\n    cuda.syncwarp(0xffff)\n"
        "    cuda.syncwarp(0xffff)\nif t < 32:\n    s[t] = a[t]\n    cuda.syncwarp()\n"
        "    out[t] = s[31 - t]",
        CLEAN,
    ),
    "ticks unequal no whole": Trick(
        "s = cuda.shared.array(64, np.float64)\nif t < 32:\n    s[t] = a[t]\nif t < 16:\n"
        "    cuda.syncwarp(0xffff)\n    cuda.syncwarp(0xffff)\nif t < 32:\n"
        "    out[t] = s[31 - t]",
        "missing_syncwarp",
    ),
    "exited lanes named": Trick(
        "s = cuda.shared.array(64, np.float64)\nif t >= 20:\n    return\ns[t] = a[t]\n"
        "cuda.syncwarp()\nout[t] = s[19 - t]",
        CLEAN,
        threads=32,
    ),
    "mask from ballot": Trick(
        "s = cuda.shared.array(64, np.float64)\nc = t % 3 == 0\n"
        "b = cuda.ballot_sync(0xffffffff, c)\nif c:\n    s[t] = a[t]\n    cuda.syncwarp(b)\n"
        "    out[t] = s[(t + 3) % 30]",
        CLEAN,
        threads=32,
    ),
    "mask from ballot wrong": Trick(
        "s = cuda.shared.array(64, np.float64)\nc = t % 3 == 0\n"
        "b = cuda.ballot_sync(0xffffffff, c)\ns[t] = a[t]\nif c:\n    cuda.syncwarp(b)\n"
        "    out[t] = s[(t + 2) % 30]",
        "missing_syncwarp",
        threads=32,
    ),
    "mask 64 bit": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.syncwarp(-1)\nout[t] = s[t ^ 1]",
        CLEAN,
    ),
    "row alias different strides": Trick(
        "out2[t // 2][0] = 1.0",
        "race",
        more={"out2": np.zeros((64, 2))},
    ),
    "transposed alias args": Trick(
        "p[t, 0] = q[0, 63 - t]",
        "race",
        more={"p": SQUARE, "q": SQUARE.reshape(64, 64)},
    ),
    "byte view alias": Trick(
        "k8[8 * t] = k8[8 * ((t + 1) % 64)]",
        "race",
        more={"k8": np.zeros(512, np.uint8)},
    ),
    "view alias dtype": Trick(
        "w[t] = 1\nx = v[63 - t]\nout[t] = x",
        "race",
        more={"w": LINE.view(np.int64), "v": LINE},
    ),
    "complex halves": Trick(
        "z[t // 2] = 1j",
        "race",
        more={"z": np.zeros(64, complex)},
    ),
    "atomic on tuple idx": Trick(
        "cuda.atomic.add(q, (0, 0), 1.0)\nout[t] = q[0, 0]",
        "race",
        more={"q": np.zeros((2, 2))},
    ),
    "named args helper swapped": Trick(
        "wr(i=t // 2, q=out, v=2.0)",
        "race",
    ),
    "default const index": Trick(
        "for z in range(2):\n    out[t + z] = 1.0",
        "race",
    ),
    "syncthreads in condition": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "if t == 70 and cuda.syncthreads_or(1):\n    pass\nout[t] = s[63 - t]",
        "race",
    ),
    "short circuit barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "if t < 32 or cuda.syncthreads_or(1):\n    pass\nout[t] = s[63 - t]",
        "divergent_barrier",
    ),
    "ifexp barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "x = cuda.syncthreads_or(1) if t < 32 else 1\nout[t] = s[63 - t]",
        "divergent_barrier",
    ),
    "barrier twice in one lane set": Trick(
        "s = cuda.shared.array(64, np.float64)\nif t < 32:\n    cuda.syncwarp()\ns[t] = a[t]\n"
        "if t >= 32:\n    cuda.syncwarp()\nout[t] = s[t ^ 1]",
        "missing_syncwarp",
    ),
    "grid too small race": Trick(
        "out[i % 64] = a[t]",
        "race",
        blocks=2,
    ),
    "uniform branch on block": Trick(
        "if cuda.blockIdx.x == 0:\n    cuda.syncthreads()\nout[t] = a[t]",
        "race",
        blocks=2,
    ),
    "block sync as grid sync": Trick(
        "out[t] = a[t]\ncuda.syncthreads()\na[t] = out[63 - t]",
        "race",
        blocks=2,
    ),
    "flag in shared memory that nobody has set to 0": Trick(
        "f = cuda.shared.array(64, np.float64)\ns = cuda.shared.array(64, np.int32)\nf[t] = a[t]\n"
        "cuda.threadfence_block()\ncuda.atomic.exch(s, t, 1)\nif cuda.atomic.add(s, 63 - t, 0) == 1:\n"
        "    out[t] = f[63 - t]",
        "race",
    ),
    "flag in shared memory that was set to 0": Trick(
        "f = cuda.shared.array(64, np.float64)\ns = cuda.shared.array(64, np.int32)\nf[t] = a[t]\n"
        "s[t] = 0\ncuda.syncthreads()\nf[t] += 1.0\n"
        "cuda.threadfence_block()\ncuda.atomic.exch(s, t, 1)\nif cuda.atomic.add(s, 63 - t, 0) == 1:\n"
        "    out[t] = f[63 - t]",
        CLEAN,
    ),
    "second of three": Trick(
        "out[i] = a[i]\ncuda.threadfence()\nif cuda.atomic.add(m, 0, 1) == 1:\n    a[5] = out[0]",
        "race",
        threads=1,
        blocks=3,
    ),
    "third of four by inc": Trick(
        "out[i] = a[i]\ncuda.threadfence()\nif cuda.atomic.inc(u, 0, 9) == 2:\n    a[5] = out[0] + out[1]",
        "race",
        threads=1,
        blocks=4,
        more={"u": np.zeros(1, np.uint32)},
    ),
    "last of three": Trick(
        "out[i] = a[i]\ncuda.threadfence()\nif cuda.atomic.add(m, 0, 1) == 2:\n    a[5] = out[0]",
        CLEAN,
        threads=1,
        blocks=3,
    ),
    "each ticket is the thread": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.threadfence_block()\n"
        "if cuda.atomic.add(m, 0, 1) == t and t >= 32:\n    out[t] = s[63 - t]",
        "race",
    ),
    "up and down, and as many as before": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.threadfence_block()\n"
        "cuda.atomic.add(m, 0, -1 if t % 2 else 1)\nif cuda.atomic.add(m, 0, 1) == t:\n    out[t] = s[63 - t]",
        "race",
    ),
    "second of three, up and down": Trick(
        "out[i] = a[i]\ncuda.threadfence()\ncuda.atomic.sub(m, 0, 1)\n"
        "if cuda.atomic.add(m, 0, 2) == -1:\n    a[5] = out[0]",
        "race",
        threads=1,
        blocks=3,
    ),
}
