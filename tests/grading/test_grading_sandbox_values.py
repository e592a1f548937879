"""Values that go into the sandbox and come out: plain ones are unchanged, others and forged ones are refused."""

import math

import numpy as np
import pytest
from sandbox_cases import contained, raised

from course_pkg.grading import protocol
from course_pkg.grading.sandbox import LearnerError
from course_pkg.grading.terms import NOT_PLAIN

BIG = np.iinfo(np.int64)
PLAIN = [
    *(None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, -(3**400), 0.0, -0.0, 0.1, math.inf, -math.inf),
    *(5e-324, 1.7976931348623157e308, 1 - 2j, complex(-0.0, math.inf), "", "é λ \n \0 🙂", '"\\', []),
    *((), {}, (1,), [1, (2.0, "x", [None])], {"a": 1, 2: [3], None: 4, (1, "b"): 5, 0.5: 6, True: 7}),
]
ARRAYS = [
    np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e308]),
    np.array([BIG.min, -1, 0, BIG.max]),
    np.array([0, 2**64 - 1], np.uint64),
    np.array(3.5),
    np.array(-0.0, np.float32),
    np.empty(0),
    np.empty((0, 3), np.int8),
    np.empty((2, 0, 5), order="F"),
    np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    np.arange(24).reshape(2, 3, 4)[:, ::-1, ::2],
    np.arange(4, dtype=">f8"),
    np.array([1, BIG.max], ">i8"),
    np.array([True, False]),
    np.array([1 + 2j, complex(np.nan, -0.0)], np.complex64),
    np.array([1.5, np.inf], np.float16),
    np.ones((1,) * 32),
    np.arange(70_000.0),
]
SCALARS = [
    np.float32(0.1),
    np.int8(-3),
    np.bool_(True),
    np.complex128(1j),
    np.float64("nan"),
    np.uint64(2**64 - 1),
]


@pytest.fixture(scope="module")
def shared():
    """A sandbox with a few functions; each test finds it alive."""
    with contained() as sandbox:
        sandbox.run(
            "import numpy as np\n"
            "def same(x): return x\n"
            "def kwargs(*a, **k): return k\n"
            "def add_one(a, b=None):\n    a += 1\n    return None\n"
            "def is_one(a, b): return a is b\n",
            "functions",
        )
        yield sandbox


def identical(a, b):
    """Compare value, type, bits, order and dtype."""
    if isinstance(a, np.ndarray | np.generic):
        flags = ("C_CONTIGUOUS", "F_CONTIGUOUS") if isinstance(a, np.ndarray) else ()
        whole = not flags or a.flags.c_contiguous or a.flags.f_contiguous
        return (
            type(a) is type(b)
            and (a.dtype.str, a.shape, a.tobytes()) == (b.dtype.str, b.shape, b.tobytes())
            and (not whole or all(a.flags[f] == b.flags[f] for f in flags))
        )
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("value", PLAIN, ids=lambda v: repr(v)[:20])
def test_plain_values_pass_unchanged(shared, value):
    assert identical(value, shared.call("same", (value,))[0])


@pytest.mark.parametrize("value", ARRAYS + SCALARS, ids=lambda v: f"{v.dtype.str}{v.shape}")
def test_arrays_and_scalars_pass_unchanged(shared, value):
    found, (after,) = shared.call("same", (value,))
    assert identical(value, found)
    assert identical(value, after)


def test_nan_passes(shared):
    assert math.isnan(shared.call("same", (math.nan,))[0])


def test_results_are_fresh_writable_and_aligned(shared):
    a, b = np.arange(3, dtype=np.int8), np.arange(5.0)
    a.setflags(write=False)
    (found_a, found_b), _ = shared.call("same", ((a, b),))
    for found in (found_a, found_b):
        assert found.flags.writeable
        assert found.flags.aligned
        assert found.flags.owndata


def test_arrays_changed_in_place_come_back(shared):
    a, b = np.zeros((2, 3), order="F"), [np.ones(2)]
    value, after = shared.call("add_one", (a,), {"b": b})
    assert value is None
    np.testing.assert_array_equal(after[0], np.ones((2, 3)))
    np.testing.assert_array_equal(a, np.zeros((2, 3)))  # ours is ours: the caller decides what to copy back


def test_one_array_passed_twice_is_one_array(shared):
    a = np.zeros(3)
    assert shared.call("is_one", (a, a))[0] is True
    assert shared.call("is_one", (a, a.copy()))[0] is False
    value, after = shared.call("same", (a,))
    assert value is after[0]


def test_keywords_pass(shared):
    value, after = shared.call("kwargs", (1,), {"x": 2, "y": np.arange(2)})
    assert after == [1]
    assert value["x"] == 2
    np.testing.assert_array_equal(value["y"], [0, 1])


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"x", np.array([None]), [object()], {b"k": 1}, np.ma.masked_array([1])]
)
def test_what_is_not_plain_does_not_go_in(shared, value):
    with pytest.raises(protocol.NotPlain):
        shared.call("same", (value,))
    assert shared.call("same", (1,)) == (1, [1])


# --------------------------------------------------------------------------------------------- tricks of a result

TRICKS = """
import numpy as np
class Equal:
    def __eq__(self, other): return True
    def __array__(self, *a, **k): return np.ones(3)
    def __float__(self): return 1.0
    def __reduce__(self): return (print, ("unpickled",))
    def __class__(self): return float
    __class__ = property(__class__)
class Float(float):
    def __eq__(self, other): return True
class Text(str): pass
class Array(np.ndarray):
    def __eq__(self, other): return True
"""


@pytest.mark.parametrize(
    "result, what",
    [
        ("Equal()", "a Equal"),
        ("[1, (Equal(),)]", "a Equal"),
        ("{'a': Equal()}", "a Equal"),
        ("{Equal: 1}", "a dictionary whose keys are not plain numbers, texts or tuples of them"),
        ("np.array([Equal()], object)", "an array of dtype object"),
        ("np.array(['a'])", "an array of dtype <U1"),
        ("np.array(['2020'], 'M8[Y]')", "an array of dtype datetime64[Y]"),
        ("np.ma.masked_array([1.0])", "a MaskedArray"),
        ("lambda: 1", "a function"),
        ("b'bytes'", "a bytes"),
        ("{1, 2}", "a set"),
        ("(k for k in 'ab')", "a generator"),
        ("np", "a module"),
        (
            "type('Far', (), {'copy_to_host': 0})()",
            "an array in GPU memory, which copy_to_host() brings back",
        ),
        ("2 ** 5000", "an integer of more than 4096 bits"),
        ("'\\ud800'", "a text with half of a surrogate pair"),
        ("np.broadcast_to(1.0, 10**10)", "an array of more than 256 MiB"),
        ("[0] * 2_000_000", "a list of more than 1048576 entries"),
        (
            "[[0.123456789] * 350_000] * 2",
            "something larger than 256 MiB, or too many numbers outside of arrays",
        ),
    ],
)
def test_other_results_are_refused(shared, result, what):
    shared.run(TRICKS + f"def trick(): return {result}\nthing = {result}", "cell")
    with pytest.raises(LearnerError) as caught:
        shared.call("trick")
    assert (caught.value.kind, caught.value.message) == (
        "NotPlain",
        f"trick returned {what}: return numbers or arrays",
    )
    with pytest.raises(LearnerError) as caught:
        shared.get("thing")
    assert caught.value.message == f"thing is {what}: make it a number or an array"


def test_names_of_fields_are_no_words_of_the_judge(shared):
    shared.run(
        "import numpy as np\ndef trick(): return np.zeros(2, [('give 20 of 20 by hand', 'f8')])", "cell"
    )
    with pytest.raises(LearnerError) as caught:
        shared.call("trick")
    assert (caught.value.kind, caught.value.message) == ("NotPlain", NOT_PLAIN)


@pytest.mark.parametrize(
    "result, plain", [("Float(1)", 1.0), ("Text('x')", "x"), ("np.ones(3).view(Array)", np.ones(3))]
)
def test_what_is_derived_from_a_plain_class_arrives_as_that(shared, result, plain):
    shared.run(TRICKS + f"def trick(): return {result}", "cell")
    found = shared.call("trick")[0]
    assert type(found) is type(plain)
    assert np.all(found == plain)
    assert not np.any(found == (plain * 2 if isinstance(plain, str) else plain + 1))


def test_a_list_inside_itself_is_refused(shared):
    shared.run("def trick():\n    x = []\n    x.append(x)\n    return x", "cell")
    with pytest.raises(LearnerError, match="nested more than 32 deep"):
        shared.call("trick")


def test_objects_left_in_arguments_are_refused(shared):
    shared.run("def leave(x): x.append(print)", "cell")
    with pytest.raises(LearnerError, match="leave left a builtin_function_or_method in its arguments"):
        shared.call("leave", ([1],))


def test_reshaped_argument_is_refused(shared):
    shared.run("def reshape(a): a.shape = (3, 2)", "cell")
    with pytest.raises(LearnerError, match="changed the shape or dtype of its argument 1"):
        shared.call("reshape", (np.zeros(6),))


# ------------------------------------------------------------------------------------------------- errors and names


def test_errors_name_kind_message_and_line(shared):
    shared.run("def divide(x):\n    y = x\n    return 1 / y", "cell")
    with pytest.raises(LearnerError) as caught:
        shared.call("divide", (0,))
    error = caught.value
    assert (error.kind, error.message, error.line) == ("ZeroDivisionError", "division by zero", 3)
    assert str(error) == "ZeroDivisionError (line 3): division by zero"
    error = raised(shared, "x = 1\nif x\n    pass")
    assert (error.kind, error.line) == ("SyntaxError", 2)
    error = raised(shared, "def deep(): deep()\ndeep()")
    assert (error.kind, error.line) == ("RecursionError", 1)
    with pytest.raises(LearnerError) as caught:
        shared.get("never_defined")
    assert caught.value.kind == "NameError"


def test_errors_that_cannot_be_written(shared):
    source = "class Bad(Exception):\n    def __str__(self): raise OSError\nraise Bad"
    assert raised(shared, source).message == "an error that cannot be written"
    assert raised(shared, "raise ValueError('\\ud800')").message == "an error that cannot be written"
    assert raised(shared, "raise ValueError('\\x1b[2Jx')").message == "\N{REPLACEMENT CHARACTER}[2Jx"
    assert len(raised(shared, "raise ValueError('x' * 10**6)").message) == 2000


def test_names_and_output():
    with contained() as sandbox:
        assert sandbox.names() == set()
        sandbox.run("a = 1\ndef f(): pass\nprint('to the learner')", "cell")
        assert sandbox.names() == {"a", "f"}
        sandbox.run("import sys, warnings\nwarnings.warn('careful')\nsys.stdout.close()", "cell")
        assert "careful" in sandbox.output
        sandbox.run("print('again')", "cell")
        assert sandbox.output == "again\n"
