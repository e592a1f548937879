"""How far two orders of the same sum may be apart."""

import numpy as np


def tolerance(dtype):
    """Return 32 units of rounding, of numbers near 1."""
    return 32 * np.finfo(dtype).eps
