"""Kernels of the kinds that learners bring: pixels of one byte, bits, colours and layers of a network."""

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BLOCK, GRID, IMAGE = (16, 8), (3, 3), (21, 40)
N = 100


@cuda.jit
def brought_threshold(image, level, out):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        if image[y, x] > level:
            out[y, x] = 255
        else:
            out[y, x] = 0


@cuda.jit
def brought_mirror(image, out):
    x, y = cuda.grid(2)
    height, width = image.shape
    if y < height and x < width:
        out[y, x] = image[y, width - 1 - x]


@cuda.jit
def brought_blur(image, out):
    """The mean of nine bytes, in integers."""
    x, y = cuda.grid(2)
    if 0 < y < image.shape[0] - 1 and 0 < x < image.shape[1] - 1:
        total = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                total += image[y + dy, x + dx]
        out[y, x] = total // 9


@cuda.jit
def brought_blend(first, second, share, out):
    """Two colour images, mixed in single precision."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        for colour in range(3):
            one = np.float32(first[y, x, colour])
            other = np.float32(second[y, x, colour])
            out[y, x, colour] = np.uint8(one + share * (other - one))


@cuda.jit
def brought_saturation(image, out):
    """The saturation of each pixel: the spread of its three colours."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        red, green, blue = image[y, x, 0], image[y, x, 1], image[y, x, 2]
        most = max(red, max(green, blue))
        least = min(red, min(green, blue))
        if most > 0:
            out[y, x] = (most - least) / most
        else:
            out[y, x] = 0.0


@cuda.jit
def brought_pool(image, out):
    """The largest of each two by two numbers."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        best = image[2 * y, 2 * x]
        best = max(best, image[2 * y, 2 * x + 1])
        best = max(best, image[2 * y + 1, 2 * x])
        best = max(best, image[2 * y + 1, 2 * x + 1])
        out[y, x] = best


@cuda.jit
def brought_backwards(inputs, gradient, slope, out):
    """The gradient behind a leaky rectifier."""
    i = cuda.grid(1)
    if i < inputs.size:
        g = gradient[i]
        if inputs[i] < 0:
            g *= slope
        out[i] = g


@cuda.jit
def brought_momentum(weights, gradient, memory, rate, keep):
    i = cuda.grid(1)
    if i < weights.size:
        step = keep * memory[i] + rate * gradient[i]
        memory[i] = step
        weights[i] -= step


@cuda.jit
def brought_hamming(codes, out):
    """The number of bits in which each code differs from the first one."""
    i = cuda.grid(1)
    if i < codes.shape[0]:
        total = 0
        for k in range(codes.shape[1]):
            total += cuda.popc(codes[i, k] ^ codes[0, k])
        out[i] = total


@cuda.jit
def brought_shifts(seeds, rounds, out):
    """Marsaglia's generator: shifts of 32 bits."""
    i = cuda.grid(1)
    if i < seeds.size:
        x = seeds[i]
        for _ in range(rounds):
            x ^= np.uint32(x << np.uint32(13))
            x ^= np.uint32(x >> np.uint32(17))
            x ^= np.uint32(x << np.uint32(5))
            x = np.uint32(x)
        out[i] = x


def colours(seed=0):
    """Return an image of three bytes a pixel."""
    return numbers((*IMAGE, 3), "uint8", seed)


for kernel, arguments, title in (
    (brought_threshold, lambda: (numbers(IMAGE, "uint8"), 50, zeros(IMAGE, "uint8")), "white or black"),
    (brought_mirror, lambda: (numbers(IMAGE, "uint8"), zeros(IMAGE, "uint8")), "bytes in reverse order"),
    (
        brought_blur,
        lambda: (numbers(IMAGE, "uint8"), zeros(IMAGE, "uint8")),
        "nine bytes, two written-out loops",
    ),
    (
        brought_blend,
        lambda: (colours(), colours(1), np.float32(0.25), zeros((*IMAGE, 3), "uint8")),
        "bytes that become floats and bytes again",
    ),
    (
        brought_saturation,
        lambda: (numbers((*IMAGE, 3), "float32"), zeros(IMAGE, "float32")),
        "minima, maxima and a quotient",
    ),
    (
        brought_pool,
        lambda: (numbers((20, 40), "float32"), zeros((10, 20), "float32")),
        "the largest of four neighbours",
    ),
):
    cases.add(kernel, GRID, BLOCK, arguments, title, data_dependent=True)
for kernel, arguments, title in (
    (
        brought_backwards,
        lambda: (
            numbers(N, "float32") - np.float32(1.5),
            numbers(N, "float32", 1),
            np.float32(0.1),
            zeros(N, "float32"),
        ),
        "a short branch of one product",
    ),
    (
        brought_momentum,
        lambda: (*(numbers(N, "float32", seed) for seed in range(3)), np.float32(0.1), np.float32(0.9)),
        "a number that is stored and then used",
    ),
    (brought_hamming, lambda: (numbers((N, 6), "uint32"), zeros(N, "int32")), "bits that differ"),
    (brought_shifts, lambda: (numbers(N, "uint32"), 4, zeros(N, "uint32")), "a loop of shifts"),
):
    cases.add(kernel, 2, 64, arguments, title, data_dependent=kernel is brought_backwards)
