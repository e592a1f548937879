"""Powers of integers and remainders of floats, as compiled code computes them."""

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
    return np.where(signed < 0, inverse(result), result)


def inverse(power):
    """Return ``1 / power`` as an integer: 0 but for 1 and -1, and the least integer for 0.

    Examples
    --------
    >>> inverse(np.array([1, -1, 2, 0], np.int8)).tolist()
    [1, -1, 0, -128]
    """
    least = np.iinfo(power.dtype).min
    return np.where(power == 0, least, np.where(np.abs(power) == 1, power, 0)).astype(power.dtype)


def remainder(a, b):
    """Return ``a % b`` of floats. A GPU subtracts the rounded quotient times ``b`` in one rounding.

    This is exact unless the quotient has more digits than the type. Then the result may be larger than ``b``.

    Examples
    --------
    >>> remainder(np.array([5.5, -5.5, 2.0**62]), np.array(3.0)).tolist()
    [2.5, 0.5, 256.0]
    """
    exact = np.remainder(a, b)
    digits = np.finfo(exact.dtype).nmant + 1
    quotient = np.floor(np.abs(a) / np.abs(b)).astype(exact.dtype, copy=False)
    huge = (quotient > 2.0**digits) & np.isfinite(quotient)
    if not huge.any():
        return exact
    high, low = _product(np.where(huge, quotient, 1), np.where(huge, np.abs(b), 1))
    rest = (np.abs(a) - high) - low
    rest = np.where(np.signbit(a), -rest, rest)
    rest = np.where((rest != 0) & (np.signbit(rest) != np.signbit(b)), rest + b, rest)
    return np.where(huge, rest, exact).astype(exact.dtype, copy=False)


def _product(a, b):
    """Return a product of floats and its rounding error, by Dekker's method."""
    factor = a.dtype.type(2 ** ((np.finfo(a.dtype).nmant + 2) // 2) + 1)

    def halves(number):
        upper = factor * number
        upper = upper - (upper - number)
        return upper, number - upper

    (a1, a2), (b1, b2), high = halves(a), halves(b), a * b
    return high, ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2
