"""The GPU variants that take a block: results over shapes, precisions, blocks and chunks, and what they refuse."""

import inspect

import numpy as np
import pytest

from course_pkg import cuda
from course_pkg.core import CourseError, Library
from course_pkg.stencil import checks, gpu_numba, reference
from course_pkg.stencil import variants as listed
from course_pkg.stencil.problem import HeatProblem

PAD = 8  # even, so that pairs behind it are aligned
GUARD = -77.0


def options_of(variant):
    return inspect.signature(variant.function(Library.NUMBA_CUDA)).parameters


# those that take a block and cover the grid
TAKING_A_BLOCK = [
    v
    for v in listed.VARIANTS
    if Library.NUMBA_CUDA in v.libraries and v.operation != "cross_mean"
    if "threads_per_block" in options_of(v) and "blocks" not in options_of(v)
]
CENTRES, LAPLACIANS = (
    tuple(v.function_name for v in TAKING_A_BLOCK if v.operation == operation)
    for operation in ("centre", "laplacian")
)
STEPS = tuple(
    v.function_name for v in TAKING_A_BLOCK if v.operation in ("diffusion_step_2d", "diffusion_step_3d")
)
VARIANTS = (*CENTRES, *LAPLACIANS, *STEPS)
# the option that says through how many rows or planes a thread marches, of those that march
LENGTHS = {
    v.function_name: name for v in TAKING_A_BLOCK for name in ("rows", "planes") if name in options_of(v)
}
MARCHING = tuple(LENGTHS)
PAIRS = tuple(v.function_name for v in TAKING_A_BLOCK if v.width == 2)
WITH_A_LARGE_TILE = ("centre_tiled_halo", "laplacian_tiled", "diffusion_step_3d_tiled")

SHAPES = {  # the smallest grid, one that the blocks divide, and one that nothing divides
    2: ((3, 3), (16, 64), (11, 75)),
    3: ((3, 3, 3), (8, 8, 64), (7, 11, 37)),
}
BLOCKS = {2: ((32, 8), (64, 1), (5, 3)), 3: ((32, 4, 2), (64, 2, 1), (5, 3, 2))}
MARCHES = {  # a block, and the rows or planes of a thread: several chunks, one, and one chunk a row or plane
    2: (((32, 1), 4), ((64, 1), 100), ((5, 1), 1)),
    3: (((32, 4, 1), 4), ((64, 2, 1), 100), ((5, 3, 1), 1)),
}


def dimensions(variant):
    return 2 if listed.VARIANTS[variant].operation == "diffusion_step_2d" else 3


def launches():
    """Yield each variant with the shapes and launch options that it is tried with."""
    for variant in VARIANTS:
        d = dimensions(variant)
        for shape in SHAPES[d]:
            even = (*shape[:-1], shape[-1] + shape[-1] % 2)
            for tried in MARCHES[d] if variant in MARCHING else BLOCKS[d]:
                block, length = tried if variant in MARCHING else (tried, None)
                options = {"threads_per_block": block}
                if length is not None:
                    options[LENGTHS[variant]] = length
                yield variant, even if variant in PAIRS else shape, options


LAUNCHES = [
    pytest.param(*launch, id=f"{launch[0]}-{launch[1]}-{'-'.join(map(str, launch[2].values()))}")
    for launch in launches()
]


def inputs(variant, shape, dtype="float64", seed=0):
    """Return what a variant takes besides its output, on the host: arrays first, then numbers."""
    p = HeatProblem.random(shape, dtype, seed)
    if variant not in STEPS:
        return (p.T - p.T.dtype.type(0.5),)
    # a conductivity and a spacing that cannot be taken for 1, at the same stable step
    return p.T, p.Cp, 2.5, p.dt * (0.3 / p.h) ** 2 / 2.5, 0.3


def expected(variant, arguments):
    """Return the result by the reference; the kernels called centre compute 6 u."""
    out = np.empty_like(arguments[0])
    if variant in CENTRES:
        return np.multiply(arguments[0], 6, out=out)
    name = "laplacian" if variant in LAPLACIANS else f"diffusion_step_{dimensions(variant)}d"
    getattr(reference, name)(*arguments, out)
    return out


def on_device(arguments):
    return [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]


def test_every_variant_that_takes_a_block_is_tried():
    assert len(VARIANTS) == len(TAKING_A_BLOCK) >= 18
    assert len(MARCHING) >= 9 and len(PAIRS) >= 4


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("variant", "shape", "options"), LAUNCHES)
def test_a_variant_computes_what_the_reference_does(variant, shape, options, dtype, seed):
    arguments = inputs(variant, shape, dtype, seed)
    on_gpu, n = on_device(arguments), int(np.prod(shape))
    buffer = np.full(n + 2 * PAD, GUARD, dtype)
    buffer[PAD : PAD + n] = np.nan
    buffer = cuda.to_device(buffer)
    getattr(gpu_numba, variant)(*on_gpu, buffer[PAD : PAD + n].reshape(shape), **options)
    found = buffer.copy_to_host()
    tolerance = 32 * np.finfo(dtype).eps
    np.testing.assert_allclose(
        found[PAD : PAD + n].reshape(shape), expected(variant, arguments), rtol=0, atol=tolerance
    )
    assert np.all(found[:PAD] == GUARD) and np.all(found[PAD + n :] == GUARD), "written beside the grid"
    for given, after in zip(arguments, on_gpu, strict=True):
        if isinstance(given, np.ndarray):
            np.testing.assert_array_equal(after.copy_to_host(), given, err_msg="an input was changed")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_default_block_computes_the_same(variant, seed):
    shape = (9, 66) if dimensions(variant) == 2 else (5, 9, 66)
    arguments = inputs(variant, shape, seed=seed)
    out = cuda.to_device(np.full(shape, np.nan))
    getattr(gpu_numba, variant)(*on_device(arguments), out)
    np.testing.assert_allclose(out.copy_to_host(), expected(variant, arguments), rtol=0, atol=1e-14)


@pytest.mark.parametrize("variant", STEPS)
def test_a_heat_capacity_of_zero_on_the_boundary_does_no_harm(variant):
    """The boundary keeps its temperature; nothing is divided there."""
    shape = (5, 8) if dimensions(variant) == 2 else (4, 5, 8)
    T, Cp, *numbers = inputs(variant, shape)
    inner = (slice(1, -1),) * len(shape)
    hollow = np.zeros_like(Cp)
    hollow[inner] = Cp[inner]
    out = cuda.to_device(np.full(shape, np.nan))
    getattr(gpu_numba, variant)(*on_device((T, hollow, *numbers)), out)
    np.testing.assert_allclose(out.copy_to_host(), expected(variant, (T, Cp, *numbers)), rtol=0, atol=1e-14)


# ---- wrong arguments


class Call:
    """A variant with arguments that fit; ``call(name=value)`` calls it with some of them replaced."""

    def __init__(self, variant):
        self.function = getattr(gpu_numba, variant)
        self.shape = (4, 6) if dimensions(variant) == 2 else (4, 5, 6)
        names = ("T", "Cp", "lam", "dt", "h") if variant in STEPS else ("u",)
        given = on_device(inputs(variant, self.shape))
        self.arrays = [n for n in names if n in ("T", "Cp", "u")]
        self.out = cuda.to_device(np.full(self.shape, GUARD))
        self.arguments = {**dict(zip(names, given, strict=True)), "out": self.out}

    def __call__(self, **changes):
        self.function(**{**self.arguments, **changes})

    def with_grids(self, make, **changes):
        """Call it with all its grids made anew, by ``make(shape)``."""
        self(**{name: make(self.shape) for name in (*self.arrays, "out")}, **changes)

    def refuses(self, message, **changes):
        with pytest.raises(CourseError, match=message):
            self(**changes)
        assert np.all(self.out.copy_to_host() == GUARD), "nothing is written before the checks"


@pytest.mark.parametrize("variant", VARIANTS)
def test_grids_that_do_not_fit_are_refused(variant):
    call, ones = Call(variant), lambda *shape, dtype="float64": cuda.to_device(np.ones(shape, dtype))
    first, shape = call.arrays[0], call.shape
    every_second = (slice(None),) * (len(shape) - 1) + (slice(None, None, 2),)
    wide = ones(*shape[:-1], 2 * shape[-1])[every_second]
    for name in (*call.arrays, "out"):
        call.refuses(f"{name} is a float", **{name: 1.0})
        call.refuses(f"{name} has dtype int32", **{name: ones(*shape, dtype="int32")})
        call.refuses(f"{name} is not C-contiguous", **{name: wide})
        call.refuses(f"{name} lives in host memory", **{name: np.ones(shape)})
        if name != first:
            call.refuses(f"{name} has dtype float32 but {first}", **{name: ones(*shape, dtype="float32")})
            call.refuses(rf"{name} has shape \(.*\) but {first} has", **{name: ones(5, *shape[1:])})
        if name != "out":
            call.refuses(f"{name} and out share memory", **{name: call.out})
    for size in range(len(shape)):
        small = tuple(2 if d == size else n for d, n in enumerate(shape))
        grids = {name: ones(*small) for name in (*call.arrays, "out")}
        call.refuses(f"{first} has shape .* at least 3 elements in each direction", **grids)
    grids = {name: ones(*shape, 4) for name in (*call.arrays, "out")}
    call.refuses(rf"{first} has {len(shape) + 1} dimension\(s\), expected {len(shape)}", **grids)


@pytest.mark.parametrize("variant", STEPS)
def test_numbers_that_do_not_fit_are_refused(variant):
    call = Call(variant)
    for name in ("lam", "dt", "h"):
        for value in (0.0, -1.0, float("nan"), float("inf")):
            call.refuses(f"{name} is {value!r}: it must be a positive, finite number", **{name: value})


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocks_that_do_not_fit_are_refused(variant):
    call, d = Call(variant), dimensions(variant)
    many = (1024, 1, 1)[:d]
    say = "three numbers, such as" if d == 3 else "two numbers, such as"
    for block, message in (
        (32, f"threads_per_block is 32: pass {say}"),
        ((32,) * (d - 1), f"pass {say}"),
        ((2,) * (d + 1), f"pass {say}"),
        ((32.0, 4, 1)[:d], r"threads_per_block\[0\] is 32.0: it must be an integer"),
        ((-1, 4, 1)[:d], r"threads_per_block\[0\] is -1: it must be an integer of at least 0"),
        ((0, 4, 1)[:d], "a block has 1 to 1024 threads"),
        ((2048, *many[1:]), "a block has 1 to 1024 threads"),
        ((1024, *many[1:-1], 2), "a block has 1 to 1024 threads"),
        *([((1, 1, 65), "at most 64 of them along z")] if d == 3 else []),
    ):
        call.refuses(message, threads_per_block=block)


@pytest.mark.parametrize("variant", MARCHING)
def test_marches_that_do_not_fit_are_refused(variant):
    call, name = Call(variant), LENGTHS[variant]
    along, unit, block = ("y", "row", (8, 2)) if name == "rows" else ("z", "plane", (8, 4, 2))
    call.refuses(f"march along {along} stand in one {unit}, so the last number is 1", threads_per_block=block)
    call.refuses(f"{name} is 0: a thread takes at least one {unit}", **{name: 0})
    call.refuses(f"{name} is -1: it must be an integer", **{name: -1})
    call.refuses(f"{name} is 2.5: it must be an integer", **{name: 2.5})
    call(**{name: 2**40})  # more than there are is one chunk


@pytest.mark.parametrize("variant", WITH_A_LARGE_TILE)
def test_a_tile_that_is_too_large_is_refused(variant):
    """1,026 × 3 × 3 numbers are 73,872 bytes in fp64, beyond the 49,152 of a block, and 36,936 in fp32."""
    call, block = Call(variant), (1024, 1, 1)
    sentence = (
        "1024 × 1 × 1 threads needs 73872 bytes of shared memory, but a block has 49152: choose a smaller"
    )
    call.refuses(sentence, threads_per_block=block)
    call.with_grids(lambda shape: cuda.to_device(np.ones(shape, "float32")), threads_per_block=block)


@pytest.mark.parametrize("variant", PAIRS)
def test_points_that_make_no_pairs_are_refused(variant):
    call = Call(variant)
    odd, n = (*call.shape[:-1], 7), int(np.prod(call.shape))
    grids = {name: cuda.to_device(np.ones(odd)) for name in (*call.arrays, "out")}
    call.refuses("nx is 7: pairs of points need rows of even length", **grids)
    for name in (*call.arrays, "out"):
        shifted = cuda.to_device(np.ones(n + 1))[1:].reshape(call.shape)
        call.refuses("pairs of points must begin at multiples of 16", **{name: shifted})


def test_offsets_have_32_or_64_bits():
    assert {v.offset_bits for v in TAKING_A_BLOCK} == {32, 64}


@pytest.mark.parametrize("variant", [v.function_name for v in TAKING_A_BLOCK if v.offset_bits == 64])
def test_more_than_32_bits_can_count_is_taken(variant, monkeypatch):
    call = Call(variant)
    monkeypatch.setattr(checks, "MOST_POINTS", int(np.prod(call.shape)))
    call()


@pytest.mark.parametrize("variant", [v.function_name for v in TAKING_A_BLOCK if v.offset_bits == 32])
def test_what_32_bits_cannot_count_is_refused(variant, monkeypatch):
    assert checks.MOST_POINTS == 2**32
    call = Call(variant)
    points = int(np.prod(call.shape))
    monkeypatch.setattr(checks, "MOST_POINTS", points)
    plain = f"diffusion_step_{dimensions(variant)}d" if variant in STEPS else "laplacian_naive"
    call.refuses(
        rf"{call.arrays[0]} has {points} points, too many for this variant's 32-bit offsets: use {plain}\."
    )
    monkeypatch.setattr(checks, "MOST_POINTS", points + 1)
    call()
