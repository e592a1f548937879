"""Kernels of the kinds that learners bring: computed pictures, from the escape times of points or from rays."""

import math

import numpy as np

from course_pkg import cuda
from course_pkg.device.case import Cases, zeros

cases = Cases()
BLOCK, GRID = (16, 8), (3, 3)
HEIGHT, WIDTH = 21, 40


@cuda.jit(device=True)
def brought_escape(x, y, most):
    """Return the number of steps after which z² + c leaves the disc of radius 2."""
    real, imaginary = x, y
    for step in range(most):
        squares = real * real + imaginary * imaginary
        if squares > 4.0:
            return step
        imaginary, real = 2.0 * real * imaginary + y, real * real - imaginary * imaginary + x
    return most


@cuda.jit
def brought_mandelbrot(left, right, bottom, top, picture, most):
    x, y = cuda.grid(2)
    if y < picture.shape[0] and x < picture.shape[1]:
        real = left + x * ((right - left) / picture.shape[1])
        imaginary = bottom + y * ((top - bottom) / picture.shape[0])
        picture[y, x] = brought_escape(real, imaginary, most)


cases.add(
    brought_mandelbrot,
    GRID,
    BLOCK,
    lambda: (-2.0, 1.0, -1.0, 1.0, zeros((HEIGHT, WIDTH), "uint8"), 20),
    "a loop that each pixel leaves at another step",
    data_dependent=True,
)


@cuda.jit
def brought_julia(picture, c, most):
    x, y = cuda.grid(2)
    if y < picture.shape[0] and x < picture.shape[1]:
        z = complex(3.0 * x / picture.shape[1] - 1.5, 2.0 * y / picture.shape[0] - 1.0)
        steps = 0
        while steps < most and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            steps += 1
        picture[y, x] = steps


cases.add(
    brought_julia,
    GRID,
    BLOCK,
    lambda: (zeros((HEIGHT, WIDTH), "int32"), -0.4 + 0.6j, 30),
    "complex numbers in a while loop with two conditions",
    data_dependent=True,
)


@cuda.jit
def brought_sphere(picture, spheres):
    """March along a ray until it comes close to a sphere, or goes far away."""
    x, y = cuda.grid(2)
    if x < picture.shape[1] and y < picture.shape[0]:
        u, v = 2.0 * x / picture.shape[1] - 1.0, 2.0 * y / picture.shape[0] - 1.0
        length = math.sqrt(u * u + v * v + 1.0)
        along = 0.0
        for _ in range(12):
            nearest = 1e9
            for k in range(spheres.shape[0]):
                a = along * u / length - spheres[k, 0]
                b = along * v / length - spheres[k, 1]
                c = along / length - spheres[k, 2]
                nearest = min(nearest, math.sqrt(a * a + b * b + c * c) - spheres[k, 3])
            if nearest < 1e-3 or along > 20.0:
                break
            along += nearest
        picture[y, x] = along


cases.add(
    brought_sphere,
    GRID,
    BLOCK,
    lambda: (zeros((HEIGHT, WIDTH)), np.array([[0.0, 0, 4, 1], [1.0, 1, 6, 2], [-2.0, 0, 5, 0.5]])),
    "ray marching: lanes end their march apart",
    data_dependent=True,
)
