"""Kernels of the kinds that learners bring: scenes that are drawn, by transparent splats and by rays and triangles."""

import math

import numpy as np
from numba import float32

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
BATCH = 64


@cuda.jit
def brought_splats(means, conics, colours, opacities, picture):
    """Blend sorted Gaussian splats from front to back; a block fetches 64 of them, until all its pixels are opaque."""
    near = cuda.shared.array((BATCH, 6), float32)
    x, y = cuda.grid(2)
    tid = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    height, width = picture.shape[0], picture.shape[1]
    inside = x < width and y < height
    done = 0 if inside else 1
    n = means.shape[0]
    red, green, blue, through = float32(0), float32(0), float32(0), float32(1)
    for start in range(0, n, BATCH):
        if cuda.syncthreads_count(done) == BATCH:
            break
        if start + tid < n:
            near[tid, 0] = means[start + tid, 0]
            near[tid, 1] = means[start + tid, 1]
            near[tid, 2] = conics[start + tid, 0]
            near[tid, 3] = conics[start + tid, 1]
            near[tid, 4] = conics[start + tid, 2]
            near[tid, 5] = opacities[start + tid]
        cuda.syncthreads()
        for k in range(min(BATCH, n - start)):
            if done:
                break
            dx, dy = near[k, 0] - x, near[k, 1] - y
            power = -0.5 * (near[k, 2] * dx * dx + near[k, 4] * dy * dy) - near[k, 3] * dx * dy
            if power > 0:
                continue
            alpha = min(0.99, near[k, 5] * math.exp(power))
            if alpha < 1 / 255:
                continue
            if through * (1 - alpha) < 1e-4:
                done = 1
                break
            red += colours[start + k, 0] * alpha * through
            green += colours[start + k, 1] * alpha * through
            blue += colours[start + k, 2] * alpha * through
            through *= 1 - alpha
    if inside:
        picture[y, x, 0] = red
        picture[y, x, 1] = green
        picture[y, x, 2] = blue


def splats(n=150):
    """Return centres, inverse covariances, colours and opacities of splats on a picture of 20 by 30 pixels."""
    rng = np.random.default_rng(8)
    conics = np.stack(
        [rng.uniform(0.01, 0.05, n), rng.uniform(-0.005, 0.005, n), rng.uniform(0.01, 0.05, n)], 1
    )
    return tuple(
        a.astype(np.float32)
        for a in (rng.uniform(0, (30, 20), (n, 2)), conics, rng.random((n, 3)), rng.uniform(0.3, 1, n))
    )


cases.add(
    brought_splats,
    (4, 3),
    (8, 8),
    lambda: (*splats(), zeros((20, 30, 3), "float32")),
    "splats from front to back: batches in shared memory, a count of finished pixels",
    data_dependent=True,
)


@cuda.jit(device=True)
def brought_minus(a, b):
    """The difference of two vectors, given as tuples."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@cuda.jit(device=True)
def brought_times(a, b):
    """The dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@cuda.jit(device=True)
def brought_normal_of(a, b):
    """The cross product of two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@cuda.jit
def brought_triangles(vertices, faces, depth, hit):
    """The nearest triangle on the ray through each pixel, by Möller and Trumbore."""
    px, py = cuda.grid(2)
    if px >= depth.shape[1] or py >= depth.shape[0]:
        return
    origin = (0.0, 0.0, -2.0)
    direction = (2.0 * px / depth.shape[1] - 1.0, 2.0 * py / depth.shape[0] - 1.0, 2.0)
    closest, best = math.inf, -1
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        a = (vertices[i, 0], vertices[i, 1], vertices[i, 2])
        edge1 = brought_minus((vertices[j, 0], vertices[j, 1], vertices[j, 2]), a)
        edge2 = brought_minus((vertices[k, 0], vertices[k, 1], vertices[k, 2]), a)
        across = brought_normal_of(direction, edge2)
        det = brought_times(edge1, across)
        if abs(det) < 1e-9:
            continue
        s = brought_minus(origin, a)
        u = brought_times(s, across) / det
        if u < 0.0 or u > 1.0:
            continue
        q = brought_normal_of(s, edge1)
        v = brought_times(direction, q) / det
        if v < 0.0 or u + v > 1.0:
            continue
        t = brought_times(edge2, q) / det
        if 1e-4 < t < closest:
            closest = t
            best = f
    depth[py, px] = closest
    hit[py, px] = best


def mesh():
    """Return places of 30 vertices in a cube around 0, and 20 triangles."""
    faces = np.random.default_rng(6).permuted(np.tile(np.arange(30), (20, 1)), axis=1)[:, :3]
    return 2 * numbers((30, 3), "float32") - 3, faces.astype(np.int32)


cases.add(
    brought_triangles,
    (4, 3),
    (8, 8),
    lambda: (*mesh(), zeros((20, 30), "float32"), zeros((20, 30), "int32")),
    "rays and triangles: tuples as vectors, three early ends of a trip",
    data_dependent=True,
)
