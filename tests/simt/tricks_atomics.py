"""Tricks that pass numbers from thread to thread by atomics, without a barrier between them."""

import numpy as np
from trick import CLEAN, REFUSED, Trick

READ = "v = cuda.atomic.{}(k, (t + 1) % 64, {})\n{}cuda.atomic.exch(k, t, v)"

TRICKS = {
    "read by an addition, then exchanged": Trick(READ.format("add", 0, ""), "race"),
    "read by a maximum, then exchanged": Trick(READ.format("max", -9, ""), "race"),
    "read by a comparison, then exchanged": Trick(READ.format("cas", "-9, -9", ""), "race"),
    "read by an exchange, then exchanged": Trick(READ.format("exch", 0, ""), "race"),
    "read, then compared and swapped": Trick(
        "v = cuda.atomic.add(k, (t + 1) % 64, 0)\ncuda.atomic.cas(k, t, t, v)", "race"
    ),
    "read, exchanged, and only then used": Trick(
        "v = cuda.atomic.add(k, (t + 1) % 64, 0)\ncuda.atomic.exch(k, t, 7)\nout[t] = v", "race"
    ),
    "read as an index, then exchanged": Trick(
        "v = cuda.atomic.add(k, 63 - t, 0)\nout[t] = a[v]\ncuda.atomic.exch(k, t, 7)", "race"
    ),
    "read, tested in vain, then exchanged": Trick(
        READ.format("add", 0, "if v > -99:\n    m[t] = 1\n"), "race"
    ),
    "read, tested for a bit, then exchanged": Trick(
        READ.format("add", 0, "if v & 1:\n    m[t] = 1\n"), "race"
    ),
    "read, tested for a bit by a loop, then exchanged": Trick(
        READ.format("max", -9, "for z in range(v & 1):\n    m[t] = 1\n"), "race"
    ),
    "read, compared with 0, then exchanged": Trick(
        READ.format("add", 0, "if v != 0:\n    m[t] = 1\n"), "race"
    ),
    "read, compared with what is there, then exchanged": Trick(
        READ.format("add", 0, "if v == (t + 1) % 64:\n    m[t] = 1\n"), CLEAN
    ),
    "floats read as integers, then exchanged": Trick(
        "q = a.view(np.int64)\nv = cuda.atomic.add(q, (t + 1) % 64, 0)\ncuda.atomic.exch(q, t, v)", "race"
    ),
    "floats read as integers, bit by bit": Trick(
        "q = a.view(np.int64)\nv = cuda.atomic.add(q, (t + 1) % 64, 0)\nw = 0\nfor z in range(64):\n"
        "    if (v >> z) & 1:\n        w |= 1 << z\ncuda.atomic.exch(q, t, w)",
        "race",
    ),
    "floats exchanged as integers by one statement": Trick(
        "q = a.view(np.int64)\nv = 0\nfor z in range(2):\n    v = cuda.atomic.exch(q, (t + 1 - z) % 64, v)",
        "race",
    ),
    "a tile of floats, exchanged as integers": Trick(
        "s = cuda.shared.array(64, np.float64)\nq = s.view(np.int64)\ncuda.atomic.exch(q, t, k[t])\n"
        "v = cuda.atomic.add(q, 63 - t, 0)\nif v & 1:\n    out[t] = 1.0",
        "race",
    ),
    "floats multiplied by comparisons and swaps of integers": Trick(
        "q = a.view(np.int64)\nl = cuda.local.array(1, np.float64)\nw = l.view(np.int64)\n"
        "seen = cuda.atomic.cas(q, 1, 0, 0)\nassumed = ~seen\nwhile seen != assumed:\n    assumed = seen\n"
        "    w[0] = seen\n    l[0] *= 2.0\n    seen = cuda.atomic.cas(q, 1, assumed, w[0])",
        CLEAN,
    ),
    "largest of floats by their bits": Trick("cuda.atomic.max(a.view(np.int64), 1, k[t])", CLEAN),
    "read, and by all exchanged": Trick(
        "out[t] = cuda.atomic.add(k, 0, 0)\ncuda.atomic.exch(k, 0, 7)", "race"
    ),
    "read, a barrier, then exchanged": Trick(READ.format("add", 0, "cuda.syncthreads()\n"), CLEAN),
    "read by its owner, then exchanged": Trick(
        "v = cuda.atomic.add(k, t, 0)\nout[t] = v\ncuda.atomic.exch(k, t, 7)", CLEAN
    ),
    "a flag that is read before it is set": Trick(
        "if cuda.atomic.add(m, 0, 0) == 0:\n    out[t] = 1.0\nif t == 63:\n    cuda.atomic.exch(m, 0, 1)",
        CLEAN,
    ),
    "a list to which all threads exchange their heads": Trick("k[t] = cuda.atomic.exch(m, 0, t)", CLEAN),
    "max vs add": Trick(
        "if t == 0:\n    cuda.atomic.max(out, 0, 5.0)\n    cuda.atomic.add(out, 0, 1.0)\nelse:\n"
        "    cuda.atomic.add(out, 0, 1.0)",
        "race",
    ),
    "int tile by exch/add0": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "out[t] = cuda.atomic.add(s, 63 - t, 0)",
        "race",
    ),
    "int tile by exch/exch": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.exch(s, 63 - t, 0)\nout[t] = x",
        "race",
    ),
    "int tile cas": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.cas(s, 63 - t, 0, 0)\nout[t] = x * 1.0",
        "race",
    ),
    "int tile cas idx": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.cas(s, 63 - t, 0, 0)\nout[t] = a[x]",
        "race",
    ),
    "int tile trivial test": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.cas(s, 63 - t, 0, 0)\nif x >= -5:\n    out[t] = x",
        "race",
    ),
    "int tile shuffled": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = cuda.shfl_xor_sync(0xffffffff, x, 1)",
        "race",
    ),
    "int tile max": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "x = cuda.atomic.max(s, 63 - t, -1)\nout[t] = float(x)",
        "race",
    ),
    "int tile fence": Trick(
        "s = cuda.shared.array(64, np.int64)\ncuda.atomic.exch(s, t, k[t])\n"
        "cuda.threadfence_block()\nx = cuda.atomic.max(s, 63 - t, -1)\nout[t] = float(x)",
        "race",
    ),
    "int tile swap helper": Trick(
        "s = cuda.shared.array(64, np.int64)\nx = swap(s, t, k[t])\nout[t] = swap(s, 63 - t, 0)",
        "uninitialised",
    ),
    "histogram read early": Trick(
        "s = cuda.shared.array(8, np.int32)\nif t < 8:\n    s[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.add(s, t % 8, 1)\nif t < 8:\n    m[t] = cuda.atomic.add(s, t, 0)",
        "race",
    ),
    "atomic vs plain read": Trick(
        "cuda.atomic.add(out, 0, 1.0)\na[t] = out[0]",
        "race",
    ),
    "atomic vs plain write": Trick(
        "cuda.atomic.add(out, 0, 1.0)\nout[0] = 2.0",
        "race",
    ),
    "atomic compare_and_swap plain": Trick(
        "cuda.atomic.compare_and_swap(m, 0, 1)\nm[0] = 2",
        "race",
    ),
    "int view of tile": Trick(
        "out[t] = k[t]\nk[63 - t] = 5",
        "race",
    ),
    "exch by all, different": Trick(
        "cuda.atomic.exch(m, 0, t)",
        "race",
    ),
    "exch by all, same": Trick(
        "cuda.atomic.exch(m, 0, 1)",
        CLEAN,
    ),
    "exch two branches diff": Trick(
        "if t < 5:\n    cuda.atomic.exch(m, 0, 1)\nelse:\n    cuda.atomic.exch(m, 0, 2)",
        "race",
    ),
    "exch separated by barrier": Trick(
        "if t == 0:\n    cuda.atomic.exch(m, 0, 1)\ncuda.syncthreads()\nif t == 1:\n"
        "    cuda.atomic.exch(m, 0, 2)",
        CLEAN,
    ),
    "exchange of floating-point numbers": Trick(
        "cuda.atomic.exch(out, t, 1.0)",
        REFUSED,
    ),
    "inc of signed integers": Trick(
        "cuda.atomic.inc(m, t, 1)",
        REFUSED,
    ),
    "add of short integers": Trick(
        "cuda.atomic.add(b, t, 1)",
        REFUSED,
        more={"b": np.zeros(64, np.int8)},
    ),
    "doubt trip count": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\ny = 0\n"
        "for z in range(x):\n    y += 1\nout[t] = y",
        "race",
    ),
    "doubt loop var": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "for z in range(x, x + 1):\n    out[t] = z",
        "race",
    ),
    "doubt atomic store": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "cuda.atomic.add(m, t, x)",
        "race",
    ),
    "doubt complex": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "out[t] = complex(x).real",
        "race",
    ),
    "doubt fma": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "out[t] = cuda.fma(x, 1.0, 0.0)",
        "race",
    ),
    "doubt pow": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = x ** 17",
        "race",
    ),
    "doubt math": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = math.fabs(x)",
        "race",
    ),
    "doubt min": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = min(x, 1000)",
        "race",
    ),
    "doubt tuple": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nw = (x, 1)\n"
        "out[t] = w[0]",
        "race",
    ),
    "doubt helper": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = ident(x)",
        "race",
    ),
    "doubt local": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "l = cuda.local.array(1, np.int64)\nl[0] = x\nout[t] = l[0]",
        "race",
    ),
    "doubt store_pair": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "store_pair(out, 2 * (t % 32), x * 1.0, 1.0)",
        "race",
    ),
    "doubt selp": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "out[t] = cuda.selp(True, x, 0)",
        "race",
    ),
    "doubt bits": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nout[t] = cuda.brev(x)",
        "race",
    ),
    "doubt if trivially": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nif x >= 0:\n"
        "    out[t] = x",
        "race",
    ),
    "doubt ifexp": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "out[t] = x if x >= 0 else 0",
        "race",
    ),
    "doubt as mask": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\n"
        "out[t] = cuda.ballot_sync(0xffffffff, x > 3)",
        "race",
    ),
    "doubt partial var": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, k[t])\nx = cuda.atomic.or_(s, 63 - t, 0)\nif t < 40:\n    y = x\n"
        "if t < 40:\n    out[t] = y",
        "race",
    ),
    "doubt flag legit": Trick(
        "s = cuda.shared.array(64, np.int32)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, 1 + t)\nx = 0\nwhile x == 0:\n"
        "    x = cuda.atomic.add(s, 63 - t, 0)\nout[t] = x",
        CLEAN,
    ),
    "doubt decoupled word": Trick(
        "s = cuda.shared.array(64, np.int64)\ns[t] = 0\ncuda.syncthreads()\n"
        "cuda.atomic.exch(s, t, (k[t] << 1) | 1)\nx = cuda.atomic.add(s, 63 - t, 0)\n"
        "while x & 1 == 0:\n    x = cuda.atomic.add(s, 63 - t, 0)\nout[t] = x >> 1",
        CLEAN,
    ),
}
