"""Powers of integers, as compiled code computes them."""

import numpy as np


def integer_power(a, b, dtype):
    """Return ``a ** b`` by repeated squaring, in the integers of a dtype, which wrap; a negative power is 1 / power."""
    base, signed = np.broadcast_arrays(a, b)
    result, base, exponent = np.ones(base.shape, dtype), base.copy(), np.abs(signed)
    while exponent.any():
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    if not (signed < 0).any():
        return result
    with np.errstate(divide="ignore", invalid="ignore"):  # 1 / power, as an integer
        return np.where(signed < 0, (1.0 / result).astype(dtype), result)
