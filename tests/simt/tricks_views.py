"""Tricks that hide an array, or what is done to it, in a view, a loop, a record or a function."""

import numpy as np
from trick import CLEAN, REFUSED, Trick

from course_pkg.simt.random import create_xoroshiro128p_states

PAIR = np.dtype([("u", np.float64), ("v", np.float64)], align=True)
ROWS = np.zeros((64, 4))


def more(**arrays):
    return {"more": arrays}


HALVES = """q = cuda.shared.array(64, np.float64)
q[t] = a[t]
cuda.syncthreads()
whole = q[:]
while whole.size > 1:
    low, high = whole[:whole.size // 2], whole[whole.size // 2:]
    if t < low.size:
        low[t] += high[t]
    #
    whole = low
if t == 0:
    out[0] = q[0]"""

TRICKS = {
    "a slice, read": Trick("out[t] = 1.0\na[t] = out[1:][t % 63]", "race"),
    "a slice, read after a barrier": Trick("out[t] = 1.0\ncuda.syncthreads()\na[t] = out[1:][t % 63]", CLEAN),
    "a slice of a slice": Trick("q = out[2:][::2][1:]\nq[t // 4] = 1.0", "race"),
    "two slices that overlap": Trick("out[:32][t % 32] = 1.0", "race"),
    "two slices that do not": Trick("q = out[:32] if t < 32 else out[32:]\nq[t % 32] = 1.0", CLEAN),
    "one of two slices that overlap": Trick("q = out[:32] if t < 32 else out[31:]\nq[t % 32] = 1.0", "race"),
    "a slice by halves": Trick("if t < 32:\n    out[:32][t] = 1.0\nelse:\n    out[32:][t - 32] = 1.0", CLEAN),
    "a slice that differs": Trick("out[t // 2:][0] = 1.0", "race"),
    "a slice of each thread's own": Trick("out[t:t + 1][0] = 1.0", CLEAN),
    "a slice filled": Trick("out[t // 2:t // 2 + 1] = 1.0", "race"),
    "a slice filled by its owner": Trick("out[t:t + 1] = 1.0", CLEAN),
    "a slice filled with a tuple": Trick("r[t // 2, 1:3] = (1.0, 2.0)", "race", **more(r=ROWS)),
    "backwards": Trick("out[::-1][t // 2] = 1.0", "race"),
    "a new axis": Trick("out[None, :, None][0, t // 2, 0] = 1.0", "race"),
    "a column": Trick("r[:, 1][t // 2] = 1.0", "race", **more(r=ROWS)),
    "a row and its column": Trick("r[t, 1] = 1.0\na[t] = r.T[1][63 - t]", "race", **more(r=ROWS)),
    "rows that change": Trick(
        "q = r[t]\nfor k0 in range(2):\n    q = r[(t + k0) % 64]\nq[0] = 1.0\na[t] = r[t, 0]",
        "race",
        **more(r=ROWS),
    ),
    "one of two views": Trick("q = out[0:]\nif t % 2:\n    q = out[1:]\nq[2 * (t // 4)] = 1.0", "race"),
    "enumerate, read": Trick("out[t] = 1.0\nfor j, v in enumerate(out):\n    a[t] += v", "race"),
    "zip, read": Trick("out[t] = 1.0\nfor u, v in zip(a, out):\n    m[t] += int(v)", "race"),
    "a loop over an array, read": Trick("out[t] = 1.0\nfor v in out:\n    m[t] += int(v)", "race"),
    "a loop after a barrier": Trick(
        "out[t] = 1.0\ncuda.syncthreads()\nfor v in out:\n    m[t] += int(v)", CLEAN
    ),
    "rows of a loop, written": Trick("for row in r:\n    row[0] = t", "race", **more(r=ROWS)),
    "sum": Trick("out[t] = 1.0\na[t] = out.sum()", "race"),
    "mean": Trick("out[t] = 1.0\na[t] = np.mean(out[1:])", "race"),
    "largest": Trick("out[t] = 1.0\nm[t] = out.argmax()", "race"),
    "every index": Trick("for j, in np.ndindex(out.shape):\n    out[j] = t", "race"),
    "names for a row": Trick("r[t, 0] = 1.0\nu, v, w, x = r[63 - t]\na[t] = u", "race", **more(r=ROWS)),
    "a field": Trick("p[t // 2].u = 1.0", "race", **more(p=np.zeros(64, PAIR))),
    "a field by its name": Trick("p['u'][t // 2] = 1.0", "race", **more(p=np.zeros(64, PAIR))),
    "a record under a name": Trick("q = p[t // 2]\nq.u += 1.0", "race", **more(p=np.zeros(64, PAIR))),
    "two fields of one record": Trick(
        "if t % 2:\n    p[t // 2].u = 1.0\nelse:\n    p[t // 2].v = 1.0", CLEAN, **more(p=np.zeros(64, PAIR))
    ),
    "a record copied": Trick("p[t] = p[63 - t]", "race", **more(p=np.zeros(64, PAIR))),
    "the halves of complex numbers": Trick(
        "z.real[t] = 1.0\na[t] = z.real[63 - t]", "race", **more(z=np.zeros(64, complex))
    ),
    "other halves": Trick("z.real[t] = 1.0\na[t] = z.imag[63 - t]", CLEAN, **more(z=np.zeros(64, complex))),
    "a half and a whole": Trick(
        "z.real[t] = 1.0\na[t] = abs(z[63 - t])", "race", **more(z=np.zeros(64, complex))
    ),
    "states that two threads draw from": Trick(
        "a[t] = cuda.random.xoroshiro128p_uniform_float32(s, t // 2)",
        "race",
        **more(s=create_xoroshiro128p_states(64, 1)),
    ),
    "a state of each thread's own": Trick(
        "a[t] = cuda.random.xoroshiro128p_uniform_float32(s, t)",
        CLEAN,
        **more(s=create_xoroshiro128p_states(64, 1)),
    ),
    "a star": Trick("def f(q, at):\n    q[at // 2] = 1.0\npair = (out, t)\nf(*pair)", "race"),
    "a function inside, read": Trick(
        "def f(at):\n    return out[at]\nout[t] = 1.0\na[t] = f(63 - t)", "race"
    ),
    "a default": Trick("def f(at, q=out):\n    q[at // 2] = 1.0\nf(t)", REFUSED),
    "halves of halves": Trick(HALVES, "missing_syncwarp"),
    "halves of halves, with barriers": Trick(HALVES.replace("#", "cuda.syncthreads()"), CLEAN),
    "a tuple that counts down": Trick(
        "s = ((8, 1), 0.0)\nwhile s[0][0] > 0:\n    s = ((s[0][0] - 1, 1), s[1] + 1.0)\nout[t // 2] = s[1]",
        "race",
    ),
    "a tuple that counts down, in its own element": Trick(
        "s = (8, 0.0)\nwhile s[0] > 0:\n    s = (s[0] // 2, s[1] + 1.0)\nout[t] = s[1]", CLEAN
    ),
    "names for a slice that is shorter where no thread looks": Trick(
        "if t < 62:\n    u, v, w = out[t:t + 3]\n    a[t] = u + v + w", CLEAN
    ),
    "an array copied into a slice": Trick("out[:32] = out[32:]", REFUSED),
    "backwards by name": Trick("out[t] = 1.0\nfor v in reversed(out):\n    m[t] += int(v)", REFUSED),
    "a shared row": Trick(
        "s = cuda.shared.array((8, 8), np.float64)\nrow = s[t // 8]\nrow[t % 8] = 1.0\nout[t] = s[:, t // 8][t % 8]",
        "race",
    ),
    "a shared row after a barrier": Trick(
        "s = cuda.shared.array((8, 8), np.float64)\nrow = s[t // 8]\nrow[t % 8] = 1.0\ncuda.syncthreads()\n"
        "out[t] = s[:, t // 8][t % 8]",
        CLEAN,
    ),
    "an atomic and a view": Trick("cuda.atomic.add(out[1:], 0, 1.0)\na[t] = out[1]", "race"),
    "a grid's barrier": Trick(
        "g = cuda.cg.this_grid()\nout[i % 64] = 1.0\ng.sync()\na[i % 64] = out[(i + 1) % 64]",
        CLEAN,
        blocks=2,
        threads=32,
    ),
    "a grid's barrier for the wrong side": Trick(
        "g = cuda.cg.this_grid()\ng.sync()\nout[i % 64] = 1.0\na[i % 64] = out[(i + 1) % 64]",
        "race",
        blocks=2,
        threads=32,
    ),
    "a match is no barrier": Trick(
        "out[t] = 1.0\ncuda.match_any_sync(-1, t)\na[t] = out[(t + 1) % 64]", "race"
    ),
}
