"""A variable has one type, found before the run as in Numba: it does not depend on the branches that threads take."""

import numpy as np
import pytest
from compiled_oracle import assert_as_compiled

BODIES = {
    "a branch that no thread takes": """
        if f[i] > 5:
            p = 0.5
        else:
            p = np.float32(0.1)
        out[i] = f[i] + p
    """,
    "a branch that an argument closes": """
        if n > 5:
            p = 0.5
        else:
            p = np.float32(0.1)
        out[i] = f[i] + p
    """,
    "a conditional expression that an argument decides": """
        out[i] = f[i] + (0.5 if n > 5 else np.float32(0.1))
    """,
    "a conditional expression that constants decide": """
        out[i] = f[i] + (0.5 if np.float32(0.1) > 0.5 else np.float32(0.1))
    """,
    "a conditional expression that two numbers in the source decide": """
        out[i] = f[i] - (f[i] * f[i] if 0.5 <= 0.5 else 0.5)
    """,
    "a loop that no thread enters": """
        p = np.float32(0.1)
        for k in range(n - 3):
            p = p + 0.5
        out[i] = f[i] + p
    """,
    "the first pass of a loop that widens": """
        p = np.float32(0.1)
        for k in range(3):
            q = p + f[i]
            p = p * 0.3
            out[i] += q
    """,
    "a while loop that widens": """
        p = np.float32(0.1)
        k = 0
        while k < 3:
            out[i] += p * f[i]
            p = p + 0.1
            k += 1
    """,
    "an integer that becomes real": """
        p = 1
        for k in range(4):
            out[i] += p // 2 + p / 3
            p = p * 1.5
    """,
    "a name used again for another type": """
        p = f[i]
        out[i] = p * p
        p = 0.1
        out[i] += p * f[i]
    """,
}


@pytest.mark.parametrize("name", BODIES)
def test_the_type_of_a_variable(name):
    f = np.linspace(0, 1, 37, dtype=np.float32)
    assert_as_compiled(BODIES[name], {"n": 3, "f": f, "out": np.zeros(37)})
