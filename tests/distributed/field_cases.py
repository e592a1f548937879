"""A field to solve for on several ranks."""

import numpy as np

GRID = (7, 5, 6)


def field(grid=GRID, dtype="float64"):
    """Return random numbers, the same each time."""
    return np.random.default_rng(3).standard_normal(grid).astype(dtype)
