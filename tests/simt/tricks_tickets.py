"""Tricks in which what an atomic found decides which element or which branch a thread takes, and their honest twins."""

import numpy as np
from trick import CLEAN, Trick

TRICKS = {
    "an element of bools at an index in doubt": Trick(
        "v = cuda.atomic.exch(m, cuda.blockIdx.x, 1)\nif z[v, t]:\n    out[i] = 1.0",
        CLEAN,
        threads=2,
        more={"z": np.ones((2, 2), bool)},
    ),
    "an element of bools at an index in doubt is stored": Trick(
        "if i == 0:\n    cuda.atomic.exch(m, 0, 1)\nif i == 2:\n    z[1, cuda.atomic.add(m, 0, 0)] = True\n"
        "    w[0] = z[0, cuda.atomic.add(m, 0, 0)]",
        "race",
        threads=1,
        blocks=3,
        more={"z": np.ones((2, 2), bool), "w": np.zeros(1, bool)},
    ),
}
