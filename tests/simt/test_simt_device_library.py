"""``cuda.libdevice``, half precision and CUDA's short vectors, as Numba compiles them."""

import math

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.simt import libdevice
from course_pkg.simt.errors import SimtError
from course_pkg.simt.run.kernel import Kernel

X = np.array([0.25, 0.5, 1.0, 2.5])


def computed(expression, dtype="float64", x=X):
    """Return what four threads compute of their numbers."""
    source = f"def k(x, out):\n    i = cuda.threadIdx.x\n    out[i] = {expression}\n"
    out = np.zeros(4, dtype)
    Kernel.from_source(source, "k", {"cuda": cuda, "np": np, "math": math})[1, 4](x, out)
    return out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sinf", np.sin), ("fast_expf", np.exp), ("log1p", np.log1p), ("rsqrt", lambda x: 1 / np.sqrt(x)),
        ("exp10f", lambda x: 10**x), ("round", lambda x: np.floor(x + 0.5)), ("saturatef", lambda x: np.clip(x, 0, 1)),
        ("dsqrt_rn", np.sqrt), ("frcp_rn", lambda x: 1 / x), ("float2int_rz", np.trunc),
        ("tgamma", np.vectorize(math.gamma)),
    ],
)  # fmt: skip
def test_functions_of_the_device_library(name, expected):
    np.testing.assert_allclose(computed(f"cuda.libdevice.{name}(x[i])"), expected(X), rtol=1e-6)


def test_types_are_those_of_the_name():
    assert [
        libdevice.meaning(name) and libdevice.meaning(name)[:2] for name in ("expf", "exp", "popcll", "sinff")
    ] == [
        ("float32", "float32"),
        ("float64", "float64"),
        ("int64", "int32"),
        None,
    ]
    np.testing.assert_array_equal(computed("cuda.libdevice.fmax(math.nan, x[i])"), X)
    np.testing.assert_array_equal(computed("cuda.libdevice.fma_rn(x[i], 2.0, 1.0)"), 2 * X + 1)
    np.testing.assert_array_equal(
        computed("cuda.libdevice.popc(7) + cuda.libdevice.fadd_rn(x[i], x[i])"), 3 + 2 * X
    )


@pytest.mark.parametrize("name", ["fadd_rz", "sincosf", "float_as_int"])
def test_what_only_a_gpu_has_is_refused_in_a_sentence(name):
    with pytest.raises(
        SimtError, match=rf"cuda\.libdevice\.{name} is an instruction of its own, which only a GPU has"
    ):
        computed(f"cuda.libdevice.{name}(x[i], x[i])")


def test_numbers_of_16_bits_are_rounded_after_each_operation():
    h = np.array([0.1, 0.3, 7.7, 100.3], np.float16)
    np.testing.assert_array_equal(computed("x[i] * x[i] + x[i]", "float32", h), h * h + h)
    np.testing.assert_array_equal(computed("math.sqrt(x[i])", "float32", h), np.sqrt(h))
    both = computed("x[i] * np.float32(3)", "float32", h)  # in float32, as Numba types it
    np.testing.assert_array_equal(both, h.astype("float32") * np.float32(3))


def test_short_vectors_have_parts_and_are_made_of_shorter_ones():
    np.testing.assert_array_equal(computed("cuda.float32x4(1, x[i], 3, 4).y"), X)
    np.testing.assert_array_equal(
        computed("cuda.int2(2.75, 1).x + cuda.double3(cuda.double2(1, 2), x[i]).z"), 2 + X
    )
    with pytest.raises(SimtError, match=r"cuda\.float4 takes 4 number"):
        computed("cuda.float4(1, 2).x")


def test_instructions_inside_of_functions_are_counted_and_said_to_be_exact():
    """The sine of 1 lies in the first quadrant after 0: the polynomial of the cosine, and no change of the sign."""
    k = Kernel.from_source(
        "def k(x, out):\n    out[cuda.threadIdx.x] = math.sin(x[0])\n", "k", {"cuda": cuda, "math": math}
    )
    found = simt.profile(k[1, 32], np.ones(1), np.zeros(32))
    assert [found.flops.instructions("float64", kind) for kind in ("add", "mul", "fma")] == [0, 64, 32 * 11]
    assert found.flops.total == found.flops["float64"].special == 32
    assert found.global_load.requests == 1 + 3 and found.certainty("flops.float64.fma") == "exact"
    large = simt.profile(k[1, 32], np.full(1, 1e300), np.zeros(32))
    assert large.certainty("flops.float64.fma") == "at least"
