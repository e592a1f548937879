"""Kernels of one block from textbooks and sample programs: sums, sorting, transforms."""

import numpy as np
from idiom import Idiom, numbers, zeros

from course_pkg import cuda


def sum_with_an_unrolled_last_warp(a, out):
    """After M. Harris, Optimizing Parallel Reduction in CUDA: two loads a thread, then barriers of one warp."""
    part = cuda.shared.array(128, np.float64)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 256 + t
    part[t] = a[first] + a[first + 128]
    cuda.syncthreads()  # filled
    if t < 64:
        part[t] += part[t + 64]
    cuda.syncthreads()  # 64 are left
    if t < 32:
        part[t] += part[t + 32]
        cuda.syncwarp()  # 32 are left
        for by in (16, 8, 4, 2, 1):
            if t < by:
                part[t] += part[t + by]
            cuda.syncwarp()  # added
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


def histogram_of_warps(keys, count):
    mine = cuda.shared.array((2, 16), np.int32)
    t = cuda.threadIdx.x
    if t % 32 < 16:
        mine[t // 32, t % 32] = 0
    cuda.syncwarp()  # the warp's own is empty
    for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, (t // 32, keys[i]), 1)
    cuda.syncthreads()  # counted
    if t < 16:
        cuda.atomic.add(count, t, mine[0, t] + mine[1, t])


def odd_even_sort(a):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t], row[t + 32] = a[t], a[t + 32]
    for phase in range(64):
        cuda.syncthreads()  # the phase before is done
        left = 2 * t + phase % 2
        if left + 1 < 64 and row[left] > row[left + 1]:
            row[left], row[left + 1] = row[left + 1], row[left]
    cuda.syncthreads()
    a[t], a[t + 32] = row[t], row[t + 32]


def sort_by_rank(a, out):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t] = a[t]
    cuda.syncthreads()
    rank = 0
    for k in range(64):
        if row[k] < row[t] or (row[k] == row[t] and k < t):
            rank += 1
    out[rank] = row[t]


def radix_sort(a, out):
    """After G. E. Blelloch, Prefix Sums and Their Applications: split by one bit after the other."""
    key = cuda.shared.array(64, np.int32)
    scan = cuda.shared.array((2, 64), np.int32)
    t = cuda.threadIdx.x
    key[t] = a[t]
    for bit in range(5):
        mine = key[t]
        zero = 1 - (mine >> bit & 1)
        now, by = 0, 1
        scan[0, t] = zero
        while by < 64:
            cuda.syncthreads()  # this level is there
            scan[1 - now, t] = scan[now, t] + (scan[now, t - by] if t >= by else 0)
            now = 1 - now
            by *= 2
        cuda.syncthreads()  # the sums are there
        before = scan[now, t] - zero
        key[before if zero else scan[now, 63] + t - before] = mine
        cuda.syncthreads()  # the sums are used
    out[t] = key[t]


def exclusive_scan_of_brent_and_kung(a, out):
    row = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    row[t], row[t + 32] = a[t], a[t + 32]
    by = 1
    while by < 64:
        cuda.syncthreads()  # up
        at = (t + 1) * 2 * by - 1
        if at < 64:
            row[at] += row[at - by]
        by *= 2
    by = 16
    while by > 0:
        cuda.syncthreads()  # down
        at = (t + 1) * 2 * by - 1
        if at + by < 64:
            row[at + by] += row[at]
        by //= 2
    cuda.syncthreads()
    out[t] = row[t - 1] if t > 0 else 0.0
    out[t + 32] = row[t + 31]


def butterflies(re, im, cos, sin):
    """Stages of a fast Fourier transform in place; the input is in the order of reversed bits."""
    x = cuda.shared.array((2, 64), np.float64)
    t = cuda.threadIdx.x
    for k in range(t, 64, 32):
        x[0, k], x[1, k] = re[k], im[k]
    half = 1
    while half < 64:
        cuda.syncthreads()  # the stage before is done
        at = t // half * 2 * half + t % half
        w = t % half * (32 // half)
        r = cos[w] * x[0, at + half] - sin[w] * x[1, at + half]
        s = cos[w] * x[1, at + half] + sin[w] * x[0, at + half]
        x[0, at + half], x[1, at + half] = x[0, at] - r, x[1, at] - s
        x[0, at], x[1, at] = x[0, at] + r, x[1, at] + s
        half *= 2
    cuda.syncthreads()
    for k in range(t, 64, 32):
        re[k], im[k] = x[0, k], x[1, k]


def _transform():
    angle = -2 * np.pi * np.arange(32) / 64
    return {"re": numbers(64), "im": np.zeros(64), "cos": np.cos(angle), "sin": np.sin(angle)}


def _transformed(a):
    """Stage by stage, as the kernel does it: its rounding is the same then."""
    re, im = a["re"].copy(), a["im"].copy()
    half = 1
    while half < 64:
        t = np.arange(32)
        at, w = t // half * 2 * half + t % half, t % half * (32 // half)
        r = a["cos"][w] * re[at + half] - a["sin"][w] * im[at + half]
        s = a["cos"][w] * im[at + half] + a["sin"][w] * re[at + half]
        re[at], re[at + half], im[at], im[at + half] = re[at] + r, re[at] - r, im[at] + s, im[at] - s
        half *= 2
    return {"re": re, "im": im}


IDIOMS = [
    Idiom(
        sum_with_an_unrolled_last_warp,
        2,
        128,
        lambda: {"a": numbers(512), "out": numbers(2)},
        lambda a: {"out": a["a"].reshape(2, 256).sum(1)},
        (
            ("    cuda.syncthreads()  # filled\n", ""),
            ("    cuda.syncthreads()  # 64 are left\n", ""),
            ("        cuda.syncwarp()  # 32 are left\n", ""),
            ("            cuda.syncwarp()  # added\n", ""),
            ("if t < 32:", "if t < 64:"),
        ),
    ),
    Idiom(
        histogram_of_warps,
        2,
        64,
        lambda: {"keys": (numbers(500) + 11).astype(np.int32) % 16, "count": zeros(16)},
        lambda a: {"count": np.bincount(a["keys"], minlength=16).astype(np.int32)},
        (
            ("    cuda.syncwarp()  # the warp's own is empty\n", ""),
            ("    cuda.syncthreads()  # counted\n", "    cuda.syncwarp()\n"),
            ("(t // 32, keys[i])", "(t % 2, keys[i])"),
        ),
    ),
    Idiom(
        odd_even_sort,
        1,
        32,
        lambda: {"a": numbers(64)},
        lambda a: {"a": np.sort(a["a"])},
        (
            ("        cuda.syncthreads()  # the phase before is done\n", ""),
            ("left = 2 * t + phase % 2", "left = t + phase % 2"),
        ),
    ),
    Idiom(
        sort_by_rank,
        1,
        64,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": np.sort(a["a"])},
        (("    cuda.syncthreads()\n", ""), (" or (row[k] == row[t] and k < t)", "")),
    ),
    Idiom(
        radix_sort,
        1,
        64,
        lambda: {"a": (np.arange(64) * 37 % 32).astype(np.int32), "out": zeros(64)},
        lambda a: {"out": np.sort(a["a"])},
        (
            ("            cuda.syncthreads()  # this level is there\n", ""),
            ("        cuda.syncthreads()  # the sums are used\n", ""),
            ("        cuda.syncthreads()  # the sums are there\n", ""),
        ),
    ),
    Idiom(
        exclusive_scan_of_brent_and_kung,
        1,
        32,
        lambda: {"a": numbers(64), "out": numbers(64)},
        lambda a: {"out": a["a"].cumsum() - a["a"]},
        (("        cuda.syncthreads()  # up\n", ""), ("        cuda.syncthreads()  # down\n", "")),
    ),
    Idiom(
        butterflies,
        1,
        32,
        _transform,
        _transformed,
        (
            ("        cuda.syncthreads()  # the stage before is done\n", ""),
            ("        cuda.syncthreads()  # the stage before is done\n", "        cuda.threadfence_block()\n"),
            ("t // half * 2 * half + t % half", "t // half * half + t % half"),
        ),
    ),
]  # fmt: skip
