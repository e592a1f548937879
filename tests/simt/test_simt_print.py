"""``print`` in a kernel: what Numba prints on a GPU, in the order of the threads, and not without end."""

import ast

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.grading.kernels import JudgedKernel
from course_pkg.simt import api as cuda
from course_pkg.simt.run import printing

NAMES = {"cuda": cuda, "np": np}


def text(body):
    return "def kernel(a, out):\n    " + body.replace("\n", "\n    ") + "\n"


def of(body):
    return simt.Kernel.from_source(text(body), "kernel", NAMES)


def judged(body):
    return JudgedKernel.of(ast.parse(text(body)).body[0], text(body), NAMES, device=False)


def arrays(n=64):
    return np.arange(n) / 4, np.zeros(n)


GUARDED = "i = cuda.grid(1)\nif i < a.size:\n    out[i] = a[i]"


def test_one_thread_prints_its_index_and_element(capsys):
    a, out = arrays()
    of("i = cuda.grid(1)\nif i == 3:\n    print('thread', i, a[i])\nout[i] = a[i]")[2, 32](a, out)
    assert capsys.readouterr().out == "thread 3 0.750000\n"
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize(
    ("items", "line"),
    [
        ("-7, 2.5", "-7 2.500000"),
        ("np.uint64(2**64 - 1), np.int8(-3)", "18446744073709551615 -3"),
        ("np.float32(0.1), 1e-9", "0.100000 0.000000"),
        ("a[1] / 0.0, a[0] / a[0]", "inf nan"),
        ("'50 %', '{x}'", "50 % {x}"),
        ("", ""),
        ("a.size, cuda.threadIdx.x, cuda.blockDim.x", "64 0 1"),
        ("a[0] < 1, a[0] > 1", "True False"),
        ("a.shape, (a.size, (2.5, True)), ()", "(64,) (64, (2.500000, True)) ()"),
    ],
)
def test_numbers_and_text_are_written_as_numba_does_on_a_gpu(items, line, capsys):
    of(f"print({items})")[1, 1](*arrays())
    assert capsys.readouterr().out == f"{line}\n"


def test_threads_of_several_blocks_and_dimensions_come_in_order(capsys):
    kernel = of("x, y = cuda.grid(2)\nif x != 2:\n    print(cuda.blockIdx.y, cuda.blockIdx.x, y, x)")
    kernel[(2, 2), (2, 2)](*arrays())
    found = [tuple(map(int, line.split())) for line in capsys.readouterr().out.splitlines()]
    expected = [
        (by, bx, 2 * by + ty, 2 * bx + tx)
        for by in (0, 1) for bx in (0, 1) for ty in (0, 1) for tx in (0, 1) if 2 * bx + tx != 2
    ]  # fmt: skip
    assert found == expected


def test_a_branch_that_no_thread_takes_prints_nothing(capsys):
    of("if a.size > 100:\n    print('never')\nout[0] = 1 if a[0] < 9 else print(2)")
    of("if a.size > 100:\n    print('never')")[1, 32](*arrays())
    assert capsys.readouterr().out == ""


def test_a_launch_writes_a_limited_number_of_lines(capsys, monkeypatch):
    monkeypatch.setattr("course_pkg.simt.run.launch.WAVE_THREADS", 256)
    of("print(cuda.grid(1))\nprint(0)")[10, 128](*arrays())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == printing.MOST_LINES + 1
    assert lines[255:258] == ["255", "0", "0"]
    assert lines[-1].startswith("… and 1,560 more lines were left out: let one thread print")
    of("if cuda.grid(1) == 1279:\n    print('again')")[10, 128](*arrays())
    assert capsys.readouterr().out == "again\n"


def test_what_was_printed_before_an_error_is_seen(capsys):
    with pytest.raises(simt.SimtError, match="outside the array's shape"):
        of("i = cuda.grid(1)\nprint(i)\nout[i] = 1")[1, 65](*arrays())
    assert len(capsys.readouterr().out.splitlines()) == 65


def test_only_what_is_printed_is_read():
    alone = simt.profile(of(GUARDED)[2, 32], *arrays())
    index = simt.profile(of(GUARDED + "\nprint('i', i)")[2, 32], *arrays())
    assert index.traffic() == alone.traffic() and index.flops == alone.flops
    other = simt.profile(of(GUARDED + "\nif i == 3:\n    print(out[i + 8])")[2, 32], *arrays())
    assert other.by_array["out"].global_load.thread_accesses == 1
    assert other.global_load.thread_accesses == alone.global_load.thread_accesses + 1


def test_what_is_printed_is_looked_at_for_hazards():
    profile = simt.profile(of(GUARDED + "\nprint(out[63 - i])")[2, 32], *arrays())
    assert [h.kind for h in profile.hazards] == ["race"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("print(a)", "a is an array, and print takes numbers: print one element of it."),
        ("print((a[0], a))", "(a[0], a)[1] is an array"),
        ("print(f'{a[0]}')", 'a kernel cannot put a text together: write print("i =", i)'),
        ("print('a' + 'b')", "a kernel cannot put a text together"),
        ("print('%d' % 3)", "a kernel cannot put a text together"),
        ("print(1, end='')", "print takes no end in a kernel"),
        ("print(1j * a[0])", "does not print complex numbers in a kernel: print (1j * a[0]).real and .imag."),
        ("print(None)", "None is no number and no text"),
        (f"print({', '.join('0' * 33)})", "print takes at most 32 items"),
        ("if a.size > 100:\n    print(a)", "line 3: a is an array"),
    ],
)
@pytest.mark.parametrize("make", [of, judged])
def test_what_numba_cannot_print_is_refused_before_anything_is_written(make, call, says, capsys):
    a, out = arrays()
    for _ in range(2):
        with pytest.raises(simt.SimtError) as raised:
            make(f"out[0] = 1\n{call}".replace("out[0] = 1\nif", "if"))[1, 32](a, out)
        assert says in str(raised.value)
    assert not out.any() and capsys.readouterr().out == ""


WAYS_TO_PRINT = [
    "print(i)",
    "print('x', out[63 - i])",  # a race, if it were read
    "print(a[i + 64])",  # outside of the array
    "if out[63 - i] > 0:\n    print(i)",
    "if i == 3:\n    print(i, a[63 - i])\n    print(1)\nelse:\n    print(2)",
    "for k in range(i):\n    if a[k] > 2:\n        print(k)",
]


@pytest.mark.parametrize("way", WAYS_TO_PRINT)
def test_under_judgement_print_does_nothing_and_is_not_counted(way, capsys):
    """A mark compares traffic with limits, and any hazard loses it."""
    alone = simt.profile(judged(GUARDED)[2, 32], *arrays())
    for body in (f"{GUARDED}\n{way}", GUARDED.replace("if", f"{way}\nif", 1)):
        profile = simt.profile(judged(body)[2, 32], *arrays(), steps=200 if "for" in way else 4)
        assert profile.traffic() == alone.traffic() and profile.flops == alone.flops
        assert not profile.hazards
    assert capsys.readouterr().out == ""


def test_under_judgement_a_branch_that_prints_and_writes_still_writes(capsys):
    a, out = arrays()
    judged("i = cuda.grid(1)\nif i < 9:\n    print(i)\n    out[i] = 1\nelse:\n    print(i)\nprint(i)")[2, 32](
        a, out
    )
    np.testing.assert_array_equal(out, np.arange(64) < 9)
    assert capsys.readouterr().out == ""


def test_under_judgement_what_print_does_besides_is_done():
    counts = np.zeros(1, np.int64)
    judged("print('before', cuda.atomic.add(out, 0, 1))")[2, 32](counts, counts)
    assert counts[0] == 64


def test_under_judgement_a_device_function_prints_nothing_either(capsys):
    body = "def tell(v):\n    print(v)\n    return v + 1\n"
    tell = JudgedKernel.of(ast.parse(body).body[0], body, NAMES, device=True)
    source = text("i = cuda.grid(1)\nout[i] = tell(a[i])")
    a, out = arrays()
    JudgedKernel.of(ast.parse(source).body[0], source, {**NAMES, "tell": tell}, device=False)[2, 32](a, out)
    np.testing.assert_array_equal(out, a + 1)
    assert capsys.readouterr().out == ""
