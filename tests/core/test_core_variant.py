"""Variants: listed once by their topic, each with its functions, its cost and its kernels."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from course_pkg.core import Cost, CourseError, Implementation, Library, Variant, Variants, checks
from course_pkg.core.variant import unknown
from course_pkg.topics import topics, with_module

FLOATS = frozenset(checks.FLOATS)
CUDA, NUMPY, CUPY = Library.NUMBA_CUDA, Library.NUMPY, Library.CUPY
EVERY = [
    v for topic in with_module("variants") for v in import_module(f"course_pkg.{topic}.variants").VARIANTS
]
HERE = [  # CuPy's functions cannot be imported without it
    pytest.param(v, library, id=f"{v.topic}-{v.function_name}-{library.name}")
    for v in EVERY
    for library in v.libraries
    if library != CUPY
]


def sized(variant, library, **more):
    """Return a variant's cost for its example: what of it this cost takes."""
    its_cost = variant.cost_by(library)
    taken = inspect.signature(its_cost).parameters
    return its_cost(**{name: size for name, size in variant.example.items() if name in taken}, **more)


def test_every_topic_lists_its_variants():
    assert with_module("variants") == topics()
    assert {v.topic for v in EVERY} == set(topics())


@pytest.mark.parametrize(("variant", "library"), HERE)
def test_a_variant_is_a_function_with_the_oracles_arguments(variant, library):
    """So that a benchmark can put any implementation in another's place."""
    function = variant.function(library)
    assert function.__name__ == variant.function_name
    taken = list(inspect.signature(function).parameters)
    oracle = getattr(import_module(f"course_pkg.{variant.topic}.reference"), variant.operation, None)
    if oracle is None:  # a rung of another operation: its variants agree among themselves
        first = next(v for v in EVERY if (v.topic, v.operation) == (variant.topic, variant.operation))
        oracle = first.function(first.libraries[0])
    required = [
        name
        for name, p in inspect.signature(oracle).parameters.items()
        if p.default is p.empty or p.kind is p.KEYWORD_ONLY or name == "x0"
    ]
    wanted = [name for name in required if name not in variant.known]
    assert [name for name in taken if name in wanted] == taken[: len(wanted)] == wanted
    assert variant.result in taken


@pytest.mark.parametrize(("variant", "library"), HERE)
def test_a_variant_has_a_cost(variant, library):
    found = sized(variant, library)
    assert isinstance(found, Cost) and found.bytes > 0
    if "float32" in variant.dtypes:
        assert sized(variant, library, dtype="float32").bytes < found.bytes


def test_an_operation_runs_in_both_precisions_or_on_integers():
    """One of its variants may take one precision alone; if all did, nobody would test the cost in float32."""
    taken = {}
    for v in EVERY:
        taken.setdefault((v.topic, v.operation), set()).update(FLOATS.intersection(v.dtypes))
    assert all(floats in (set(), FLOATS) for floats in taken.values()), taken
    assert taken["stencil", "laplacian"] == FLOATS


@pytest.mark.parametrize("variant", [v for v in EVERY if CUDA in v.libraries], ids=lambda v: v.function_name)
def test_a_variants_kernels_are_kernels(variant):
    kernels = variant.kernel_objects()
    assert kernels and all(hasattr(kernel, "py_func") for kernel in kernels)


@pytest.mark.parametrize("topic", with_module("gpu_numba/__init__"))
def test_every_launcher_belongs_to_one_variant(topic):
    """What is public in ``gpu_numba``, and takes what an operation works on, is a variant and is listed."""
    room = import_module(f"course_pkg.{topic}.gpu_numba")
    results = {v.result for v in EVERY}
    found = []
    for name in room.__all__:
        if inspect.isfunction(getattr(room, name)):
            taken = list(inspect.signature(getattr(room, name)).parameters)
            if taken[0] != "kernel" and results & set(taken):
                found.append(name)
    listed = [v.function_name for v in EVERY if v.topic == topic and CUDA in v.libraries]
    assert sorted(found) == sorted(listed)


@pytest.mark.parametrize("topic", with_module("cpu_numba"))
def test_every_operation_of_the_cpu_is_listed(topic):
    room = import_module(f"course_pkg.{topic}.cpu_numba")
    found = [n for n, f in vars(room).items() if inspect.isfunction(f) and f.__module__ == room.__name__]
    listed = [v.function_name for v in EVERY if v.topic == topic and Library.NUMBA_CPU in v.libraries]
    assert sorted(n for n in found if n[0] != "_") == sorted(listed)


def test_the_lists_need_no_gpu_and_import_no_kernel():
    code = "import sys\n" + "".join(f"import course_pkg.{topic}.variants\n" for topic in topics())
    code += "print([m for m in sys.modules if 'gpu_' in m or m in ('course_pkg.cuda', 'cupy', 'numba.cuda')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# ---- the thing itself


def made(name="tiled", libraries=(CUDA,), **more):
    return Variant(
        "stencil", "laplacian", name, "an idea", lambda shape, dtype="float64": Cost(8), libraries, **more
    )


def test_names_follow_from_the_function():
    tiled, plain = made("marching_tiled"), made("")
    assert (tiled.function_name, plain.function_name) == ("laplacian_marching_tiled", "laplacian")
    assert (tiled.title, plain.title) == ("marching tiled", "laplacian")
    assert tiled.by(CUDA).label == "laplacian marching tiled, Numba CUDA"
    assert plain.by().label == str(plain.by()) == "laplacian, Numba CUDA"


def test_what_lectures_call_it_is_its_title_or_a_name_of_its_own_and_ends_with_settings():
    assert made().titled() == "tiled" and made(called="CG, by tiles").titled() == "CG, by tiles"
    assert made(called="CG, by tiles").titled(s=None, M="vcycle") == "CG, by tiles, M = vcycle"


def test_a_name_of_ones_own_stays_as_it_is():
    assert Implementation.of("two_lambdas, Numba CUDA").label == "two_lambdas, Numba CUDA"
    assert Implementation.of("two_lambdas, Numba CUDA").library == ""
    assert Implementation.of(made()) == Implementation("laplacian", "tiled", "Numba CUDA")


def test_a_library_that_has_none_is_refused():
    both = made(libraries=(CUDA, CUPY))
    for library in (None, NUMPY, "Fortran"):
        with pytest.raises(
            CourseError, match=r"laplacian_tiled has no implementation by .* from Numba CUDA, CuPy"
        ):
            both.by(library)
    with pytest.raises(CourseError, match="has no implementation by NumPy"):
        both.function(NUMPY)
    with pytest.raises(CourseError, match="has no implementation by Numba CUDA"):
        made(libraries=(NUMPY,)).kernel_objects()


def test_a_rival_is_made_in_its_own_room():
    slices = made("slices", (), rivals={Library.JAX: "jax_slices"})
    assert slices.by() == Implementation("laplacian", "slices", "JAX")
    assert slices.rival(Library.JAX).__module__ == "course_pkg.stencil.rivals"
    assert Library.JAX.module == "rivals"


def test_array_statements_may_cost_more_or_nobody_knows_what():
    seven = made(libraries=(CUDA, NUMPY), arrays=lambda shape, dtype="float64": Cost(56))
    assert (seven.cost_by(CUDA)(1).bytes, seven.cost_by(NUMPY)(1).bytes) == (8, 56)
    assert made(arrays=unknown).cost_by(CUPY)(1) is None
    assert made().cost_by(CUPY)(1) == Cost(8)


def test_a_variant_has_one_place():
    with pytest.raises(CourseError, match="laplacian_tiled is listed twice"):
        Variants(made(), made())
    listed = Variants(made(), made("", (NUMPY,)))
    assert listed["laplacian_tiled"] == next(iter(listed)) and len(listed) == 2
    assert listed.of("laplacian", NUMPY) == (listed["laplacian"],)
    assert listed.of("laplacian") == tuple(listed) and listed.of("copy") == ()
    with pytest.raises(
        CourseError, match="No variant is called 'laplacian_fast': choose from laplacian_tiled, lap"
    ):
        listed["laplacian_fast"]
