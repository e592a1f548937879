"""``check.at_most`` tells learners why their kernel moves too much."""

from pathlib import Path

import numpy as np
import pytest

from course_pkg import simt
from course_pkg.grading import check
from course_pkg.simt import api as cuda


def failure(profile, name, compulsory, limit=1.15):
    """The failed check of one counter."""
    with pytest.raises(check.Failed) as caught:
        check.at_most(profile, {name: limit}, compulsory={name: compulsory})
    return caught.value


@cuda.jit
def column_kernel(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x, y]


@cuda.jit
def single_column_kernel(a, out):
    tile = cuda.shared.array((32, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[x // 8 * 8, y]


@cuda.jit
def row_kernel(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = a[y, x]
    cuda.syncthreads()
    out[y, x] = tile[31 - y, x] + a[y, x]


@cuda.jit
def column_beside_row_kernel(a, out):
    tile = cuda.shared.array((32, 32), np.float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = 1.0
    cuda.syncthreads()
    out[y, x] = tile[x, y] + a[y, x]


def square(kernel):
    """A profile of one block of 32 × 32 threads."""
    return simt.profile(kernel[1, (32, 32)], np.ones((32, 32)), np.empty((32, 32)))


def test_lanes_that_meet_in_one_bank_are_counted():
    error = failure(square(column_kernel), "shared_load.wavefronts", 64)
    line = Path(__file__).read_text(encoding="utf-8").splitlines().index("    out[y, x] = tile[x, y]") + 1
    why = (
        f"on line {line}, `out[y, x] = tile[x, y]`, a warp takes 32 passes over the banks where 2 would do, "
        "because 16 lanes of a half-warp meet in one bank"
    )
    assert str(error) == (
        f"column_kernel needs 64 shared load wavefronts and makes 1,024, 16.0×: {why}; 1.15× is allowed."
    )
    assert error.verdict == "The kernel makes more shared load wavefronts than its limit allows."


def test_lanes_that_read_one_word_do_not_meet():
    error = failure(square(single_column_kernel), "shared_load.wavefronts", 32)
    assert "a warp takes 4 passes over the banks where 1 would do, because 4 lanes meet" in str(error)


def test_where_no_lanes_meet_no_bank_is_blamed():
    error = failure(square(row_kernel), "shared_load.wavefronts", 32)
    assert str(error) == "row_kernel needs 32 shared load wavefronts and makes 64, 2.0×; 1.15× is allowed."


def test_what_stays_within_its_limit_passes():
    check.at_most(
        square(row_kernel), {"shared_load.wavefronts": 1.0}, compulsory={"shared_load.wavefronts": 64}
    )


def test_elements_that_are_read_again_are_named():
    error = failure(square(row_kernel), "global_load.sectors", 256)
    assert "512, 2.0×: each element is read 2.0 times on average; 1.15× is allowed." in str(error)
    assert error.verdict == "The kernel makes more global load sectors than its limit allows."


def test_addresses_of_another_memory_are_no_reason():
    error = failure(square(column_beside_row_kernel), "global_load.sectors", 128)
    assert "needs 128 global load sectors and makes 256, 2.0×; 1.15×" in str(error)


def test_just_above_a_limit_is_told_from_the_limit():
    error = failure(square(row_kernel), "global_store.sectors", 256 / 1.03, limit=1.02)
    assert "1.03×; 1.02× is allowed." in str(error)


def test_what_is_not_needed_at_all_is_not_allowed_whatever_the_limit():
    profile = square(column_kernel)
    check.at_most(profile, {"local_load.sectors": 1.15}, compulsory={"local_load.sectors": 0})
    error = failure(profile, "shared_load.requests", 0, limit=100)
    assert str(error) == "column_kernel needs no shared load requests and makes 32; none is allowed."
    assert error.verdict == "The kernel makes shared load requests and needs none."
    assert "16 lanes of a half-warp meet in one bank" in str(failure(profile, "shared_load.wavefronts", 0))


def test_atomics_of_global_memory_have_a_limit_of_their_own():
    @cuda.jit
    def count_kernel(out):
        tile = cuda.shared.array(1, np.float64)
        if cuda.threadIdx.x == 0:
            tile[0] = 0.0
        cuda.syncthreads()
        cuda.atomic.add(tile, 0, 1.0)
        cuda.atomic.add(out, cuda.threadIdx.x // 32, 1.0)

    profile = simt.profile(count_kernel[1, 64], np.zeros(2))
    error = failure(profile, "global_atomics.sectors", 1)
    assert "global atomic sectors" in str(error)
    assert "each element is updated 32.0 times" in str(error)


HABITS = {
    "print(a[0, 0])": "Line 3, `print(a[0, 0])`: print shows a number and leaves nothing in an array",
    "out[:] = a": "Line 3, `out[:] = a`: `out[:]` means the whole array",
    "out[0, 0] = len(a[0]) + 2.0": "No line asks which thread it is: every thread runs the whole kernel",
    "i = cuda.grid(1)\n    if i < len(a):\n        out[i, 0] = a[i, 0] + 2.0": "`len(a)` is the number of rows",
}


def tried(body, explain=True):
    """Launch a kernel on 2 × 3 elements; return what the test says."""
    kernel = simt.Kernel.from_source(
        f"@cuda.jit\ndef kernel(a, out):\n    {body}\n", "kernel", {"cuda": cuda}
    )
    a, out = np.ones((2, 3)), np.zeros((2, 3))
    with (
        pytest.raises((check.Failed, simt.SimtError)) as caught,
        check.explained(kernel, *["a", "out"] * explain),
    ):
        kernel[1, 1](a, out)
        check.close(out, a, "out")
    return str(caught.value)


@pytest.mark.parametrize("body", HABITS)
def test_a_kernel_that_fails_is_explained_by_the_habit_in_its_text(body):
    assert HABITS[body] in tried(body)


NOT_HABITS = (  # what Numba compiles for a GPU, on the way to a result that is wrong
    "for row in a:\n        out[0, 0] = row[cuda.laneid]",
    "out[0, 0] = a.sum() + a.mean() + cuda.laneid",
    "out.reshape(6)[cuda.grid(1)] = 7",
    "def f(x):\n        return x\n    out[0, 0] = f(cuda.laneid)",
)


@pytest.mark.parametrize("body", NOT_HABITS)
def test_what_a_kernel_may_do_is_not_called_a_mistake(body):
    said = tried(body)
    assert said.startswith("out: ")
    assert said.endswith(("expected 1.", "written it)."))


def test_the_list_of_a_decorator_is_no_list_of_the_kernel():
    text = "@cuda.jit(['void(int64[:])'])\ndef kernel(a: [1]):\n    a[cuda.grid(1)] = a.nothing\n"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    with pytest.raises(check.Failed, match="nothing"), check.explained(kernel, "a"):
        kernel[1, 1](np.ones(1, np.int64))


def test_an_error_that_no_habit_explains_stays():
    assert tried("raise NotImplementedError()").endswith(
        "raises NotImplementedError: the kernel is not written yet."
    )


def test_what_the_interpreter_says_is_a_failed_check_without_its_frames():
    kernel = simt.Kernel.from_source(
        "def kernel(a):\n    a[cuda.grid(1)] = a.nothing\n", "kernel", {"cuda": cuda}
    )
    with pytest.raises(check.Failed, match="nothing") as caught, check.explained(kernel, "a"):
        kernel[1, 1](np.ones(1))
    assert caught.value.__suppress_context__


UPDATES = {
    "box[0] += 1": "add",
    "box[0] = 1 + box[0]": "add",
    "box[0] = min(box[0], a[i])": "min",
    "box[0], box[1] = max(a[i], box[0]), 0": "max",
    "if a[i] < box[0]:\n        box[0] = a[i]": "min",
    "if box[0] <= a[i]:\n        box[0] = a[i]": "max",
}


@pytest.mark.parametrize(("body", "atomic"), UPDATES.items())
def test_a_race_of_updates_is_told_which_atomic_lets_threads_take_turns(body, atomic):
    text = f"def kernel(a, box):\n    i = cuda.grid(1)\n    {body}"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    with (
        pytest.raises(check.Failed, match="and the other may come between") as caught,
        check.explained(kernel, "a"),
    ):
        check.no_hazards(simt.profile(kernel[2, 32], np.arange(64.0), np.full(2, 9.0)))
    assert "both change box[0]: " in str(caught.value)
    assert f"; update it with cuda.atomic.{atomic}, so that they take turns" in str(caught.value)


@pytest.mark.parametrize("body", UPDATES)
def test_where_atomics_are_forbidden_a_race_of_updates_is_told_another_way(body):
    text = f"def kernel(a, box):\n    i = cuda.grid(1)\n    {body}"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    with (
        pytest.raises(check.Failed, match="and one thread store it") as caught,
        check.explained(kernel, "a", atomics=False),
    ):
        check.no_hazards(simt.profile(kernel[2, 32], np.arange(64.0), np.full(2, 9.0)))
    assert "both change box[0]: " in str(caught.value)
    assert "atomic" not in str(caught.value)


def test_a_race_of_one_block_is_not_told_to_wait_where_waiting_does_not_help():
    text = "def kernel(a, box):\n    if a[0] > 0:\n        box[0] = cuda.threadIdx.x"
    kernel = simt.Kernel.from_source(text, "kernel", {"cuda": cuda})
    with pytest.raises(
        check.Failed, match="let one thread alone write it, or each an element of its own"
    ) as caught:
        check.no_hazards(simt.profile(kernel[1, 64], np.ones(2), np.zeros(2)))
    assert "is missing" not in str(caught.value)


def test_an_array_that_was_left_on_the_gpu_is_named():
    with pytest.raises(check.Failed, match=r"the sum: got an array in GPU memory.*copy_to_host\(\)"):
        check.close(cuda.to_device(np.ones(3)), np.ones(3), "the sum")


def test_a_kernel_that_is_right_may_look_like_a_habit():
    kernel = simt.Kernel.from_source("def kernel(a, out):\n    a = a[0]\n    out[0] = a\n", "kernel", {})
    out = np.zeros(1)
    with check.explained(kernel, "a", "out"):
        kernel[1, 1](np.ones(1), out)
    assert out[0] == 1


def test_a_function_without_its_decorator_is_named():
    def plain(a, out):
        out[0] = a[0]

    said = r"plain is no kernel: write @cuda\.jit on the line above its def"
    with pytest.raises(check.Failed, match=said), check.explained(plain, "a", "out"):
        plain[1, 1](np.ones(1), np.zeros(1))


@pytest.mark.parametrize(
    "asks",
    ["mirror_kernel.__name__ != own", "mirror_kernel is negative_kernel", "repr(mirror_kernel) != text"],
)
def test_an_answer_that_asks_which_kernel_it_launches_learns_nothing(asks):
    """Only a launch tells the kernel that a test has put in place: so the answer has to launch it."""

    @cuda.jit
    def mirror_kernel(a):
        a[0] = 1

    @cuda.jit
    def negative_kernel(a):
        a[0] = -1

    names = {"mirror_kernel": mirror_kernel, "negative_kernel": negative_kernel, "np": np}
    names |= {"own": mirror_kernel.__name__, "text": repr(mirror_kernel)}
    exec(
        f"def launched():\n a = np.zeros(1)\n mirror_kernel[1, 1](a)\n return a[0]\ndef asked():\n return {asks}",
        names,
    )
    for function, result in ((names["launched"], -1), (names["asked"], False)):
        assert check.using(function, mirror_kernel=negative_kernel)() == result
    assert names["launched"]() == 1
    assert names["mirror_kernel"] is mirror_kernel
