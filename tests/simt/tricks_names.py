"""Tricks that hide an array, or a store to it, by using it under another name."""

import numpy as np
from trick import CLEAN, REFUSED, Trick

SAME = np.arange(64.0)

TRICKS = {
    "items of two types": Trick("for x in (1, 2.0):\n    out[t] = x", REFUSED),
    "arrays of two types": Trick("for x in (k, out):\n    x[t // 2] = 1", REFUSED),
    "chosen of two types": Trick("out[t] = (1, 2.0)[n - 63]", REFUSED),
    "pairs of one type": Trick("for x, y in ((1.0, 2), (3.0, 4)):\n    out[t] = x + y", CLEAN),
    "recursion of two": Trick("even(out, 3)", REFUSED),
    "recursion": Trick(
        "rec(out, 3)",
        REFUSED,
    ),
    "flat": Trick(
        "out.flat[t // 2] = 1.0",
        "race",
    ),
    "ravel": Trick(
        "out.ravel()[t // 2] = 1.0",
        REFUSED,
    ),
    "reshape": Trick(
        "out.reshape(8, 8)[0, 0] = 1.0",
        "race",
    ),
    "T": Trick(
        "out.T[0] = 1.0",
        "race",
    ),
    "view": Trick(
        "out.view(np.int64)[0] = 1",
        "race",
    ),
    "fill method": Trick(
        "out.fill(1.0)",
        "race",
    ),
    "slice assign": Trick(
        "out[:] = 1.0",
        "race",
    ),
    "slice view": Trick(
        "q = out[1:]\nq[t // 2] = 1.0",
        "race",
    ),
    "slice step": Trick(
        "q = out[::2]\nq[t // 4] = 1.0",
        "race",
    ),
    "ellipsis": Trick(
        "out[...] = 1.0",
        "race",
    ),
    "walrus": Trick(
        "(q := out)[t // 2] = 1.0",
        REFUSED,
    ),
    "starred": Trick(
        "q, *r = (out, a)\nq[t//2] = 1.0",
        REFUSED,
    ),
    "dict": Trick(
        "q = {0: out}\nq[0][t//2] = 1.0",
        REFUSED,
    ),
    "list": Trick(
        "q = [out]\nq[0][t//2] = 1.0",
        REFUSED,
    ),
    "lambda": Trick(
        "f = lambda v: v\nf(out)[t//2] = 1.0",
        "race",
    ),
    "comprehension": Trick(
        "q = [out for z in range(1)][0]\nq[t//2]=1.0",
        REFUSED,
    ),
    "nested def": Trick(
        "def f(v):\n    v[t//2] = 1.0\nf(out)",
        "race",
    ),
    "del": Trick(
        "q = out\ndel out\nq[t//2] = 1.0",
        REFUSED,
    ),
    "ident": Trick(
        "ident(out)[t // 2] = 1.0",
        "race",
    ),
    "ident chain aug": Trick(
        "ident(ident(out))[t // 2] += 1.0",
        "race",
    ),
    "tuple nest": Trick(
        "tup(a, out)[1][0][t // 2] = 1.0",
        "race",
    ),
    "tuple index neg": Trick(
        "(a, out)[-1][t // 2] = 1.0",
        "race",
    ),
    "tuple index dyn": Trick(
        "(a, out)[n - 63][t // 2] = 1.0",
        "race",
    ),
    "tuple concat": Trick(
        "((a,) + (out,))[1][t // 2] = 1.0",
        "race",
    ),
    "for over arrays": Trick(
        "for q in (a, out):\n    q[t // 2] = 1.0",
        "race",
    ),
    "multi target": Trick(
        "q = r = out\nr[t // 2] = 1.0",
        "race",
    ),
    "annotated": Trick(
        "q: float = out\nq[t // 2] = 1.0",
        "race",
    ),
    "kw helper": Trick(
        "wr(v=1.0, q=out, i=t // 2)",
        "race",
    ),
    "function in variable": Trick(
        "f = wr\nf(out, t // 2, 1.0)",
        "race",
    ),
    "function in tuple": Trick(
        "f = (rd, wr)[1]\nf(out, t // 2, 1.0)",
        "race",
    ),
    "function chosen uniform": Trick(
        "f = nothing\nif n > 5:\n    f = wr\nf(out, t // 2, 1.0)",
        REFUSED,
    ),
    "function ifexp": Trick(
        "f = wr if n > 5 else nothing\nf(out, t // 2, 1.0)",
        REFUSED,
    ),
    "function in loop": Trick(
        "for f in (rd, wr2):\n    if f is rd:\n        pass\nwr2(out, t//2, 1.0)",
        REFUSED,
    ),
    "ring of functions": Trick(
        "f = nothing\ng = wr\nfor z in range(3):\n    f, g = g, f\nf(out, t // 2, 1.0)",
        REFUSED,
    ),
    "sometimes none": Trick(
        "q = None\nif n > 5:\n    q = out\nq[t // 2] = 1.0",
        "race",
    ),
    "pick": Trick(
        "pick(n > 5, out, a)[t // 2] = 1.0",
        "race",
    ),
    "pick per lane": Trick(
        "pick(t > 5, out, a)[t // 2] = 1.0",
        "race",
    ),
    "ifexp per lane": Trick(
        "q = out if t > 5 else a\nq[t // 2] = 1.0",
        "race",
    ),
    "row of dyn": Trick(
        "q = cuda.shared.array(0, np.float64)\nr = cuda.shared.array(0, np.float32)\n"
        "q[t] = a[t]\nr[2 * t + 1] = 1.0\nout[t] = q[t]",
        CLEAN,
        shared_bytes=512,
    ),
    "overlapping views of dynamic memory": Trick(
        "q = cuda.shared.array(0, np.float64)\nr = cuda.shared.array(0, np.float32)\n"
        "q[t] = a[t]\nr[2 * ((t + 1) % 64)] = 1.0\nout[t] = q[t]",
        "race",
        shared_bytes=512,
    ),
    "dyn len decides": Trick(
        "q = cuda.shared.array(0, np.float64)\nif len(q) > 3:\n    out[t // 2] = 1.0",
        "race",
        shared_bytes=512,
    ),
    "dyn of no launch": Trick(
        "s = cuda.shared.array(0, np.float64)\nx = 0.0\nif t < 70:\n    x += s[2]\nout[t] = x",
        "out_of_bounds",
    ),
    "beyond a tile": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = 1.0\ncuda.syncthreads()\nx = 0.0\nif t < 70:\n"
        "    x += s[t + 7]\nout[t] = x",
        "out_of_bounds",
    ),
    "dyn of no launch, used by some": Trick(
        "s = cuda.shared.array(0, np.float64).reshape(0, 0)\nx = 0.0\nfor j in range(n // 9):\n    x += s[0, j]\n"
        "if t < 40:\n    x += s[0, 1]\nout[i] = x",
        "out_of_bounds",
        blocks=1,
    ),
    "early exit writers": Trick(
        "s = cuda.shared.array(64, np.float64)\ns[t] = a[t]\nif t >= 32:\n    return\nout[t] = s[t + 32]",
        "race",
    ),
    "shared array from two factories same line": Trick(
        "s = cuda.shared.array(32, np.float64); r = cuda.shared.array(32, np.float64)\n"
        "s[t % 32] = 1.0\nout[t]=r[t%32]",
        "race",
    ),
    "local aliasing race free": Trick(
        "l = cuda.local.array(2, np.float64)\nl[0] = a[t]\nout[t] = l[0]",
        CLEAN,
    ),
    "local uninit": Trick(
        "l = cuda.local.array(2, np.float64)\nl[0] = a[t]\nout[t] = l[1]",
        "uninitialised",
    ),
    "neg index wraps": Trick(
        "out[t - 1] = 1.0",
        "negative_index",
    ),
    "neg literal all": Trick(
        "out[-1] = 1.0",
        "race",
    ),
    "same value write": Trick(
        "out[0] = 1.0",
        "race",
    ),
    "benign flag": Trick(
        "if a[t] > 3.0:\n    out[0] = 1.0",
        "race",
    ),
    "aug race": Trick(
        "out[0] += 1.0",
        "race",
    ),
    "swap in place": Trick(
        "out[t], out[63 - t] = a[t], a[t]",
        "race",
    ),
    "read neighbour no barrier": Trick(
        "out[t] = 1.0\na[t] = out[63 - t]",
        "race",
    ),
    "store_pair overlapped": Trick(
        "store_pair(out, 2 * (t // 4), 1.0, 2.0)",
        "race",
    ),
    "pair vs single": Trick(
        "store_pair(out, 2 * (t % 32), 1.0, 2.0) if False else None\nif t < 32:\n"
        "    store_pair(out, 2 * t, 1.0, 2.0)\na[t] = out[t]",
        "race",
    ),
    "pair in expression": Trick(
        "x = store_pair(out, 2 * (t // 4), 1.0, 2.0)",
        "race",
    ),
    "in helper chain": Trick(
        "wr(ident(pick(n > 3, out, out)), 0, 1.0)",
        "race",
    ),
    "tuple of arrays arg same array": Trick(
        "f[0][t] = f[1][63 - t]",
        "race",
        more={"f": (SAME, SAME)},
    ),
    "tuple nested arrays": Trick(
        "f[0][1][t // 2] = 1.0",
        "race",
        more={"f": ((np.zeros(64), np.zeros(64)), 3)},
    ),
    "many args": Trick(
        "out[t] = 1.0",
        REFUSED,
        more={"f": (1.0,) * 5000},
    ),
    "lock plain": Trick(
        "if m[0] == 0:\n    m[0] = 1\n    out[0] += 1.0",
        "race",
    ),
}
