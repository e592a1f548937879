"""Kernels of the kinds that people publish: complex numbers, records, random numbers, types and infinities."""

import cmath
import math

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda
from course_pkg.simt import random
from course_pkg.simt.random import (
    create_xoroshiro128p_states,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)

PARTICLE = np.dtype([("x", np.float64), ("v", np.float64), ("hits", np.int64)], align=True)
BODY = np.dtype([("place", np.float32, (3,)), ("mass", np.float32)], align=True)


def mandelbrot(counts, most):
    j, i = cuda.grid(2)
    if i < counts.shape[0] and j < counts.shape[1]:
        c = complex(-2.0 + 0.25 * j, -1.0 + 0.25 * i)
        z = 0.0j
        for k in range(most):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                counts[i, j] = k
                break


def spectrum(x, out):
    k = cuda.grid(1)
    if k < out.size:
        total = 0j
        for n, v in enumerate(x):
            total += v * cmath.exp(-2j * math.pi * k * n / x.size)
        out[k] = total


def intensities(z, out):
    i = cuda.grid(1)
    if i < z.size:
        out[i] = (z[i] * z[i].conjugate()).real + abs(z[i])


def parts(z, re, im):
    i = cuda.grid(1)
    if i < z.size:
        re[i] = z.real[i]
        im[i] = z.imag[i]


def turned(z):
    i = cuda.grid(1)
    if i < z.size:
        z.real[i], z.imag[i] = -z[i].imag, z[i].real


def moved_particles(particles, dt):
    i = cuda.grid(1)
    if i < particles.size:
        p = particles[i]
        p.x += dt * p.v
        if p.x > 5:
            p.x = 10 - p.x
            p.v = -p.v
            p.hits += 1


def field_by_name(particles, out):
    i = cuda.grid(1)
    if i < particles.shape[0]:
        out[i] = particles[i]["x"] + particles["v"][i]


def copied_records(old, new):
    i = cuda.grid(1)
    if i < old.size:
        new[i] = old[old.size - 1 - i]


def bodies_fall(bodies, out):
    i = cuda.grid(1)
    if i < bodies.size:
        for k in range(3):
            out[i] += bodies[i].mass * bodies[i].place[k]


def records_of_a_block(particles, out):
    tile = cuda.shared.array(32, PARTICLE)
    t = cuda.threadIdx.x
    tile[t].x = particles[t].x
    cuda.syncthreads()
    out[t] = tile[31 - t].x


def pi_by_darts(states, out, darts):
    i = cuda.grid(1)
    inside = 0
    for _ in range(darts):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x**2 + y**2 <= 1:
            inside += 1
    out[i] = inside


def random_walks(states, out, steps):
    i = cuda.grid(1)
    place = 0.0
    for k in range(steps):
        place += xoroshiro128p_normal_float64(states, i)
        out[i, k] = place


def noise_on_a_signal(states, x, amplitude):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += amplitude * (xoroshiro128p_uniform_float64(states, i) - 0.5)


def dice(states, counts):
    i = cuda.grid(1)
    face = int(6 * random.xoroshiro128p_uniform_float32(states, i))
    cuda.atomic.add(counts, face, 1)


def smallest_of_rows(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        low = float("inf")
        for v in a[i]:
            low = min(low, v)
        out[i] = low


def without_nan(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = -np.inf if math.isnan(x[i]) else x[i]


def shared_by_the_name_of_a_type(x, out):
    tile = cuda.shared.array(shape=32, dtype="float32")
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[(t + 1) % 32]


def shared_by_the_code_of_a_type(x, out):
    tile = cuda.shared.array(32, "f4")
    ours = cuda.local.array(1, dtype="f8")
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    ours[0] = tile[(t + 1) % 32]
    out[t] = ours[0]


def bits_of_floats(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x.view(np.int32)[i]


def folded(x, out):
    i = cuda.grid(1)
    table = x.reshape(4, 6)
    if i < 6:
        for row in range(4):
            out[i] += table[row, i]


def tuples_of_tuples(x, out, box):
    i = cuda.grid(1)
    (low, high), (first, second) = box
    if i < x.size:
        out[i] = first if low <= x[i] < high else second


def escape(counts, most):
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            z, c = 0j, complex(-2.0 + 0.25 * j, -1.0 + 0.25 * i)
            for k in range(most):
                z = z * z + c
                if abs(z) >= 2:
                    counts[i, j] = k
                    break
    return counts


def particles(n=24):
    found = np.zeros(n, PARTICLE)
    found["x"], found["v"] = numbers(n), 1 + np.arange(n) % 3
    return found


def after_a_step(p):
    x = p["x"] + p["v"]
    hit = x > 5
    p["x"], p["v"], p["hits"] = np.where(hit, 10 - x, x), np.where(hit, -p["v"], p["v"]), hit
    return p


def bodies():
    found = np.zeros(5, BODY)
    found["place"], found["mass"] = numbers(5, 3), np.arange(5)
    return found


def states(n):
    return create_xoroshiro128p_states(n, seed=3)


def drawn(n, count):
    """The numbers that ``n`` threads draw, one row each, by the definition of xoroshiro128+."""
    rows = []
    for s0, s1 in states(n).copy_to_host().tolist():
        row, ones = [], (1 << 64) - 1
        for _ in range(count):
            row.append(((s0 + s1 & ones) >> 11) * 2.0**-53)
            s1 ^= s0
            s0 = ((s0 << 55 | s0 >> 9) ^ s1 ^ (s1 << 14)) & ones
            s1 = (s1 << 36 | s1 >> 28) & ones
        rows.append(row)
    return np.array(rows)


def in_the_circle(n, darts):
    points = drawn(n, 2 * darts).astype(np.float32).reshape(n, darts, 2)
    return (points[..., 0] ** 2 + points[..., 1] ** 2 <= 1).sum(axis=1)


X, Z = numbers(24), numbers(24) + 1j * np.arange(24)
PUBLISHED = [
    Idiom(mandelbrot, (2, 2), (8, 8), lambda: {"counts": zeros(9, 13), "most": 20},
          lambda a: {"counts": escape(zeros(9, 13), 20)}),
    Idiom(intensities, 1, 32, lambda: {"z": Z, "out": np.zeros(24)}, lambda a: {"out": abs(Z * Z.conj()) + abs(Z)}),
    Idiom(parts, 1, 32, lambda: {"z": Z, "re": np.zeros(24), "im": np.zeros(24)},
          lambda a: {"re": Z.real, "im": Z.imag}),
    Idiom(turned, 1, 32, lambda: {"z": Z.copy()}, lambda a: {"z": 1j * Z},
          (("z.real[i],", "z.real[i // 2],"),)),
    Idiom(moved_particles, 1, 32, lambda: {"particles": particles(), "dt": 1.0},
          lambda a: {"particles": after_a_step(particles())},
          (("particles[i]\n", "particles[i // 2]\n"),)),
    Idiom(field_by_name, 1, 32, lambda: {"particles": particles(), "out": np.zeros(24)},
          lambda a: {"out": particles()["x"] + particles()["v"]}),
    Idiom(copied_records, 1, 32, lambda: {"old": particles(), "new": np.zeros(24, PARTICLE)},
          lambda a: {"new": particles()[::-1]}, (("new[i] =", "new[i // 2] ="),)),
    Idiom(bodies_fall, 1, 32, lambda: {"bodies": bodies(), "out": np.zeros(5)},
          lambda a: {"out": bodies()["mass"] * bodies()["place"].sum(axis=1)}),
    Idiom(records_of_a_block, 1, 32, lambda: {"particles": particles(32), "out": np.zeros(32)},
          lambda a: {"out": particles(32)["x"][::-1]},
          (("out[t] = tile[31 - t].x", "tile[31 - t].x += 1\n    out[t] = tile[t].x"),)),
    Idiom(pi_by_darts, 2, 8, lambda: {"states": states(16), "out": zeros(16), "darts": 6},
          lambda a: {"out": in_the_circle(16, 6)}, (("y = xoroshiro128p_uniform_float32(states, i)",
          "y = xoroshiro128p_uniform_float32(states, i // 2)"),)),
    Idiom(noise_on_a_signal, 1, 32, lambda: {"states": states(24), "x": X.copy(), "amplitude": 2.0},
          lambda a: {"x": X + 2 * (drawn(24, 1)[:, 0] - 0.5)}),
    Idiom(dice, 1, 32, lambda: {"states": states(32), "counts": zeros(6)},
          lambda a: {"counts": np.bincount((6 * drawn(32, 1).astype(np.float32)[:, 0]).astype(int), minlength=6)}),
    Idiom(smallest_of_rows, 1, 32, lambda: {"a": numbers(6, 7), "out": np.zeros(6)},
          lambda a: {"out": numbers(6, 7).min(axis=1)}),
    Idiom(without_nan, 1, 32, lambda: {"x": np.r_[X[:23], np.nan], "out": np.zeros(24)},
          lambda a: {"out": np.r_[X[:23], -np.inf]}),
    Idiom(shared_by_the_name_of_a_type, 1, 32, lambda: {"x": numbers(32), "out": np.zeros(32)},
          lambda a: {"out": np.roll(numbers(32), -1)}, (("    cuda.syncthreads()\n", ""),)),
    Idiom(shared_by_the_code_of_a_type, 1, 32, lambda: {"x": numbers(32), "out": np.zeros(32)},
          lambda a: {"out": np.roll(numbers(32), -1)}, (("    cuda.syncthreads()\n", ""),)),
    Idiom(bits_of_floats, 1, 32, lambda: {"x": X.astype(np.float32), "out": zeros(24)},
          lambda a: {"out": X.astype(np.float32).view(np.int32)}),
    Idiom(folded, 1, 32, lambda: {"x": X, "out": np.zeros(6)}, lambda a: {"out": X.reshape(4, 6).sum(axis=0)}),
    Idiom(tuples_of_tuples, 1, 32, lambda: {"x": X, "out": np.zeros(24), "box": ((-2, 3), (1.0, 2.0))},
          lambda a: {"out": np.where((X >= -2) & (X < 3), 1.0, 2.0)}),
]  # fmt: skip
NEARLY = [  # sums of rounded numbers, which NumPy adds in another order
    Idiom(spectrum, 1, 32, lambda: {"x": X, "out": np.zeros(24, complex)}, lambda a: {"out": np.fft.fft(X)}),
    Idiom(random_walks, 1, 8, lambda: {"states": states(8), "out": np.zeros((8, 3)), "steps": 3},
          lambda a: {"out": walks(8, 3)}),
]  # fmt: skip


def walks(n, steps):
    u = drawn(n, 2 * steps).astype(np.float32).astype(float).reshape(n, steps, 2)
    return (np.sqrt(-2 * np.log(u[..., 0])) * np.cos(2 * np.pi * u[..., 1])).cumsum(axis=1)
