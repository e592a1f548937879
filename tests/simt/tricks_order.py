"""Tricks that put fences, votes, masks, locks or tickets where a barrier belongs."""

from trick import CLEAN, Trick

S = "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
CROSS = "out[t] = s[63 - t]"

TRICKS = {
    "barrier in helper one branch": Trick(
        "if t < 32:\n    sync()\nelse:\n    sync()\nout[t]=1.0",
        "divergent_barrier",
    ),
    "two sites": Trick(
        "if t < 32:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()\nout[t]=1.0",
        "divergent_barrier",
    ),
    "while diff trips": Trick(
        "z = 0\nwhile z < t % 2 + 1:\n    cuda.syncthreads()\n    z += 1\nout[t] = 1.0",
        "divergent_barrier",
    ),
    "break before barrier": Trick(
        "for z in range(4):\n    if t < z:\n        break\n    cuda.syncthreads()\nout[t] = 1.0",
        "divergent_barrier",
    ),
    "continue past barrier": Trick(
        "for z in range(4):\n    if t < z:\n        continue\n    cuda.syncthreads()\nout[t] = 1.0",
        "divergent_barrier",
    ),
    "count by pair tests": Trick(
        "part = cuda.shared.array(64, np.float64)\nif t == 0:\n    pass\nif i % 64 == 0:\n"
        "    if cuda.blockIdx.x < 4:\n        out[cuda.blockIdx.x] = a[cuda.blockIdx.x]\n"
        "        cuda.threadfence()\n        cuda.atomic.add(m, 0, 1)\n    else:\n"
        "        c = cuda.atomic.add(m, 0, 0)\n        while c == 0 or c == 3:\n"
        "            c = cuda.atomic.add(m, 0, 0)\n"
        "        out[10] = out[0] + out[1] + out[2] + out[3]",
        "race",
        blocks=5,
    ),
    "count one of four": Trick(
        "if t == 0:\n    if cuda.blockIdx.x < 4:\n"
        "        out[cuda.blockIdx.x] = a[cuda.blockIdx.x]\n        cuda.threadfence()\n"
        "        cuda.atomic.add(m, 0, 1)\n    else:\n"
        "        while cuda.atomic.add(m, 0, 0) < 1:\n            pass\n"
        "        out[10] = out[0]",
        "race",
        blocks=5,
    ),
    "parity": Trick(
        "if t == 0:\n    if cuda.blockIdx.x < 4:\n"
        "        out[cuda.blockIdx.x] = a[cuda.blockIdx.x]\n        cuda.threadfence()\n"
        "        cuda.atomic.add(m, 0, 1)\n    else:\n"
        "        while cuda.atomic.add(m, 0, 0) % 2 != 0:\n            pass\n"
        "        out[10] = out[3]",
        "race",
        blocks=5,
    ),
    "wait for all is right": Trick(
        "if t == 0:\n    if cuda.blockIdx.x < 4:\n"
        "        out[cuda.blockIdx.x] = a[cuda.blockIdx.x]\n        cuda.threadfence()\n"
        "        cuda.atomic.add(m, 0, 1)\n    else:\n"
        "        while cuda.atomic.add(m, 0, 0) < 4:\n            pass\n"
        "        out[10] = out[3] + out[0]",
        CLEAN,
        blocks=5,
    ),
    "bit mask some": Trick(
        "if t == 0:\n    b = cuda.blockIdx.x\n    if b < 4:\n        out[b] = a[b]\n"
        "        cuda.threadfence()\n        cuda.atomic.or_(m, 0, 1 << b)\n    else:\n"
        "        while cuda.atomic.or_(m, 0, 0) & 9 != 9:\n            pass\n"
        "        out[10] = out[1]",
        "race",
        blocks=5,
    ),
    "own flag untested": Trick(
        "if cuda.blockIdx.x == 0:\n    out[t] = a[t]\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, t, 1)\nelse:\n    f = cuda.atomic.add(m, t, 0)\n"
        "    while cuda.shfl_sync(0xffffffff, f, 0) == 0:\n"
        "        f = cuda.atomic.add(m, t, 0)\n    if t < 32:\n        a[t] = out[t]",
        "race",
        threads=32,
        blocks=2,
    ),
    "own flag shared": Trick(
        "s = cuda.shared.array(1, np.int32)\nif cuda.blockIdx.x == 0:\n    out[t] = a[t]\n"
        "    cuda.threadfence()\n    cuda.atomic.exch(m, t, 1)\nelse:\n"
        "    f = cuda.atomic.add(m, t, 0)\n    if t == 0:\n        s[0] = f\n"
        "    cuda.syncthreads()\n    if s[0] == 1:\n        a[t] = out[t]",
        "race",
        blocks=2,
    ),
    "two readers published, one not awaited": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 3:\n        x = out[0]\n        a[b] = x\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        for z in range(1, 3):\n            while cuda.atomic.add(m, z, 0) == 0:\n"
        "                pass\n        out[0] = 5.0",
        "race",
        blocks=4,
    ),
    "all readers awaited": Trick(
        "b = cuda.blockIdx.x\nif t == 0:\n    if b < 3:\n        x = out[0]\n        a[b] = x\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, b, 1)\n    else:\n"
        "        for z in range(3):\n            while cuda.atomic.add(m, z, 0) == 0:\n"
        "                pass\n        out[0] = 5.0",
        CLEAN,
        blocks=4,
    ),
    "fence no atomic": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.threadfence()\nout[t] = s[63 - t]",
        "race",
    ),
    "syncwarp cross warp": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.syncwarp()\nout[t] = s[63 - t]",
        "race",
    ),
    "shuffle as barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "x = cuda.shfl_sync(0xffffffff, a[t], 0)\nout[t] = s[t ^ 1] + x",
        "missing_syncwarp",
    ),
    "vote as barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "x = cuda.all_sync(0xffffffff, True)\nout[t] = s[t ^ 1] + x",
        "missing_syncwarp",
    ),
    "ballot as barrier": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "x = cuda.ballot_sync(0xffffffff, True)\nout[t] = s[t ^ 1] + x",
        "missing_syncwarp",
    ),
    "syncwarp mask only me": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\ncuda.syncwarp(1 << (t % 32))\nout[t] = s[t ^ 1]",
        "missing_syncwarp",
    ),
    "syncwarp pairs wrong": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "cuda.syncwarp(3 << (t % 32 // 2 * 2))\nout[t] = s[t ^ 2]",
        "missing_syncwarp",
    ),
    "syncwarp pairs right": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "cuda.syncwarp(3 << (t % 32 // 2 * 2))\nout[t] = s[t ^ 1]",
        CLEAN,
    ),
    "syncwarp differing masks one lane pretends": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\n"
        "cuda.syncwarp(0xffffffff if t % 2 else 0x55555555)\nout[t] = s[t ^ 1]",
        "divergent_barrier",
    ),
    "activemask sync": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\nif t % 2:\n"
        "    cuda.syncwarp(cuda.activemask())\nout[t] = s[t ^ 1]",
        "missing_syncwarp",
    ),
    "reader kept through 3 mates": Trick(
        "s = cuda.shared.array(1, np.float64)\nif t == 0:\n    s[0] = 1.0\ncuda.syncthreads()\n"
        "x = 0.0\nif t == 1:\n    x = s[0]\nif t == 2:\n    x = s[0]\n    cuda.syncwarp(0b1100)\n"
        "if t == 3:\n    cuda.syncwarp(0b1100)\n    s[0] = 5.0\nout[t] = x",
        "divergent_barrier",
    ),
    "readers hidden by partial mask": Trick(
        "s = cuda.shared.array(1, np.float64)\nif t == 0:\n    s[0] = 1.0\ncuda.syncthreads()\n"
        "x = 0.0\nif t < 3:\n    x = s[0]\nif 0 < t < 4:\n    cuda.syncwarp(0b1110)\nif t == 3:\n"
        "    s[0] = 5.0\nout[t] = x",
        "missing_syncwarp",
    ),
    "all readers in mask": Trick(
        "s = cuda.shared.array(1, np.float64)\nif t == 0:\n    s[0] = 1.0\ncuda.syncthreads()\n"
        "x = 0.0\nif t < 3:\n    x = s[0]\nif t < 4:\n    cuda.syncwarp(0b1111)\nif t == 3:\n"
        "    s[0] = 5.0\nout[t] = x",
        CLEAN,
    ),
    "lock no fence": Trick(
        "d = False\nwhile not d:\n    if cuda.atomic.cas(m, 0, 0, 1) == 0:\n"
        "        out[0] += 1.0\n        cuda.atomic.exch(m, 0, 0)\n        d = True",
        "race",
    ),
    "lock released before": Trick(
        "d = False\nwhile not d:\n    if cuda.atomic.cas(m, 0, 0, 1) == 0:\n"
        "        cuda.threadfence()\n        cuda.atomic.exch(m, 0, 0)\n        out[0] += 1.0\n"
        "        d = True",
        "race",
    ),
    "two locks": Trick(
        "d = False\nwhile not d:\n    if cuda.atomic.cas(m, t % 2, 0, 1) == 0:\n"
        "        out[0] += 1.0\n        cuda.threadfence()\n"
        "        cuda.atomic.exch(m, t % 2, 0)\n        d = True",
        "race",
    ),
    "lock ignoring failure": Trick(
        "x = cuda.atomic.cas(m, 0, 0, 1)\nif x == 0 or x == 1:\n    out[0] += 1.0\n"
        "    cuda.threadfence()\n    cuda.atomic.exch(m, 0, 0)",
        "race",
    ),
    "ticket modulo": Trick(
        "out[i] = a[i % 64]\ncuda.threadfence()\ncuda.syncthreads()\nif t == 0:\n"
        "    k2 = cuda.atomic.add(m, 0, 1)\n    if k2 % 2 == 1:\n        a[0] = out[0] + out[8]",
        "race",
        threads=8,
        blocks=4,
    ),
    "ticket >= 2": Trick(
        "out[i] = a[i % 64]\ncuda.threadfence()\ncuda.syncthreads()\nif t == 0:\n"
        "    if cuda.atomic.add(m, 0, 1) >= 2:\n        a[i] = out[0] + out[8]",
        "race",
        threads=8,
        blocks=4,
    ),
    "ticket last is right": Trick(
        "out[i] = a[i % 64]\ncuda.threadfence()\ncuda.syncthreads()\nif t == 0:\n"
        "    if cuda.atomic.add(m, 0, 1) == 3:\n        a[0] = out[0] + out[8]",
        CLEAN,
        threads=8,
        blocks=4,
    ),
    "flag any of block": Trick(
        "if cuda.blockIdx.x < 2:\n    out[i] = a[i % 64]\n    cuda.threadfence()\n"
        "    cuda.atomic.exch(m, i, 1)\nelse:\n"
        "    g = cuda.syncthreads_or(cuda.atomic.add(m, t, 0))\n    if g:\n"
        "        a[t] = out[t] + out[(t + 1) % 16]",
        "race",
        threads=8,
        blocks=3,
    ),
    "barrier in a loop of no trip": Trick(
        f"{S}for _ in range(n - 64):\n    cuda.syncthreads()\n{CROSS}", "race"
    ),
    "barrier in a loop of one trip": Trick(
        f"{S}for _ in range(n - 63):\n    cuda.syncthreads()\n{CROSS}", CLEAN
    ),
    "barrier behind a way out": Trick(
        f"{S}while True:\n    if n > 0:\n        break\n    cuda.syncthreads()\n{CROSS}", "race"
    ),
    "barrier that a default leaves out": Trick(
        f"def get(q, wait=0):\n    if wait:\n        cuda.syncthreads()\n    return q[63 - t]\n{S}out[t] = get(s)",
        "race",
    ),
    "barrier behind an and that is false": Trick(
        f"{S}x = n > 64 and cuda.syncthreads_or(1)\n{CROSS} + x", "race"
    ),
    "barrier within a comparison": Trick(
        f"{S}if 0 < cuda.syncthreads_count(1) < 10:\n    pass\n{CROSS}", CLEAN
    ),
    "barrier that only a break skips": Trick(
        f"{S}for j in range(3):\n    if j == 2:\n        break\n    if j > 2:\n        cuda.syncthreads()\n{CROSS}",
        "race",
    ),
    "last step of a tree without its barrier": Trick(
        f"{S}cuda.syncthreads()\nh = 32\nwhile h > 1:\n    "
        "if t < h:\n        s[t] += s[t + h]\n    cuda.syncthreads()\n"
        "    h //= 2\nif t < 1:\n    s[t] += s[t + 1]\nout[t] = s[0]",
        "race",
    ),
}
