"""Kernels that write into the memory of other GPUs: here both GPUs' memory is that of one process."""

import importlib.util
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from course_pkg import cuda, simt
from course_pkg.cg.gpu_numba import scalars
from course_pkg.core import CourseError
from course_pkg.distributed import direct, launch, mailboxes
from course_pkg.distributed.direct import NUMBERS, Box, Direct
from course_pkg.distributed.nccl import Nccl

SIMT = getattr(cuda, "BACKEND", "") == "simt"
GPUS = 0 if SIMT else len(cuda.gpus)
RANKS = 2


def box(ranks=RANKS):
    def place(_offset, shape, dtype):
        return cuda.to_device(np.full(shape, np.nan if shape[-1] == NUMBERS else 0, dtype))

    return Box.at(ranks, place)


class Aside:
    """Work beside the work: here, at once."""

    @contextmanager
    def after(self, stream):
        yield stream

    def join(self, stream):
        pass


def links(monkeypatch, longest=64):
    """Return the links of two ranks of this process; what goes by NCCL is kept in ``long``."""
    monkeypatch.setattr(direct, "LONGEST", longest)
    monkeypatch.setattr(cuda, "external_stream", lambda pointer: pointer, raising=False)
    boxes, long, made = {rank: box() for rank in range(RANKS)}, [], []
    for rank in range(RANKS):
        nccl = SimpleNamespace(
            comm=SimpleNamespace(rank=rank, ranks=RANKS, name=f"rank {rank} of {RANKS}"),
            start=lambda sends, receives, _stream: long.append((len(sends), len(receives))),
            join=lambda _stream: None,
            add=lambda array, _stream: long.append(array.size),
            finish=lambda: None,
        )
        made.append(Direct(nccl, boxes, Aside()))
    return made, boxes, long


def put(boxes, rank, turn, numbers):
    """Let a number from the other rank lie in a rank's mailbox already."""
    host = boxes[rank].numbers.copy_to_host()
    host[turn, 1 - rank, : len(numbers)] = numbers
    boxes[rank].numbers.copy_to_device(host)


@pytest.mark.parametrize("size", [1, 5, 700])
def test_sums_arrive_in_the_order_of_ranks_and_leave_empty_places(monkeypatch, size):
    (link, _), boxes, long = links(monkeypatch)
    mine, theirs = np.random.default_rng(1).standard_normal((2, 3, size))
    for k in range(3):  # the places alternate
        put(boxes, 0, k % 2, theirs[k])
        array = cuda.to_device(mine[k].copy())
        link.add(array, 0)
        np.testing.assert_array_equal(array.copy_to_host(), mine[k] + theirs[k])
        sent = boxes[1].numbers.copy_to_host()
        np.testing.assert_array_equal(sent[k % 2, 0, :size], mine[k])
        assert np.isnan(boxes[0].numbers.copy_to_host()).all()
    assert not long


def test_nan_is_sent_as_infinity_because_nan_means_that_nothing_has_come(monkeypatch):
    (link, _), boxes, _ = links(monkeypatch)
    put(boxes, 0, 0, [1.0])
    array = cuda.to_device(np.array([np.nan]))
    link.add(array, 0)
    assert array.copy_to_host()[0] == np.inf and boxes[1].numbers.copy_to_host()[0, 0, 0] == np.inf


def test_alpha_and_beta_over_all_gpus_are_those_of_the_whole_sum(monkeypatch):
    (link, _), boxes, _ = links(monkeypatch)
    rng = np.random.default_rng(2)
    parts, others = rng.random(300), rng.random(2)
    state = np.zeros(scalars.STATE_SIZE)
    state[scalars.DELTA], state[scalars.MAXITER], state[scalars.TARGET] = 3.0, 10, 1e-9

    def both(alpha, beta, partial, blocks, more=()):
        s, history = cuda.to_device(state), cuda.to_device(np.zeros(scalars.KEPT))
        alpha[1, scalars.THREADS_FINISH](partial, np.int32(blocks), s, *more)
        beta[1, scalars.THREADS_FINISH](partial, np.int32(blocks), s, history, *more)
        return s.copy_to_host(), history.copy_to_host()

    put(boxes, 0, 0, others[:1])
    put(boxes, 0, 1, others[:1])
    found = both(
        mailboxes.alpha_of_all_kernel, mailboxes.beta_of_all_kernel, cuda.to_device(parts), 300, link.mailbox
    )
    whole = cuda.to_device(np.append(parts, others[0]))
    for one, other in zip(found, both(scalars.alpha_kernel, scalars.beta_kernel, whole, 301), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def patient(looks):
    """Return the kernels anew: their waits end after this many looks, which is compiled into them."""
    found = importlib.util.find_spec(mailboxes.__name__)
    made = importlib.util.module_from_spec(found)
    found.loader.exec_module(made)
    made.POLLS = looks
    return made


def test_a_wait_for_a_rank_that_writes_nothing_ends_and_so_does_the_solve(monkeypatch):
    """A kernel cannot be stopped from outside, so each wait in it ends by itself."""
    (link, _), boxes, _ = links(monkeypatch)
    kernels, array, state = patient(20), cuda.to_device(np.ones(3)), np.zeros(scalars.STATE_SIZE)
    kernels.add_kernel[1, 32](array, *link.mailbox)
    assert np.isnan(array.copy_to_host()).all()
    state[scalars.DELTA], state[scalars.MAXITER] = 3.0, 10
    s = cuda.to_device(state)
    kernels.alpha_of_all_kernel[1, scalars.THREADS_FINISH](array, np.int32(0), s, *link.mailbox)
    assert s.copy_to_host()[scalars.STOPPED] == scalars.BROKEN
    assert np.isnan(boxes[0].numbers.copy_to_host()).all() and boxes[1].numbers.copy_to_host()[0, 0, 0] == 1
    lost = link.mailbox[-1]
    assert lost.copy_to_host()[0] == 1 + 1, "rank 1"
    with pytest.raises(
        CourseError, match="rank 1 has not answered: a kernel on the GPU of rank 0 of 2 waited"
    ):
        link.finish()


def test_a_plane_that_does_not_come_is_not_an_old_one():
    kernels, array, lost = patient(20), cuda.to_device(np.ones(3)), cuda.to_device(np.zeros(1, np.int32))
    got, flags, answered = (cuda.to_device(np.zeros((RANKS, mailboxes.BLOCKS), np.int64)) for _ in range(3))
    window = cuda.to_device(np.zeros((2, RANKS, 4)))
    kernels.take_kernel[1, 32](array, np.int32(1), np.int32(0), got, flags, window, answered, lost)
    assert np.isnan(array.copy_to_host()).all() and lost.copy_to_host()[0] == 2


def test_once_a_rank_is_lost_no_kernel_waits_any_more(monkeypatch):
    (link, _), boxes, _ = links(monkeypatch)
    kernels, array = patient(10**9), cuda.to_device(np.ones(3))  # so many looks would never end
    link.mailbox[-1].copy_to_device(np.array([2], np.int32))
    kernels.add_kernel[1, 32](array, *link.mailbox)
    assert np.isnan(array.copy_to_host()).all()
    put(boxes, 0, 1, np.full(3, 5.0))
    array.copy_to_device(np.ones(3))
    kernels.add_kernel[1, 32](array, *link.mailbox)
    assert (array.copy_to_host() == 6).all(), "what has come is taken"


@pytest.mark.parametrize("size", [1, 50, 64])
def test_messages_travel_through_windows_again_and_again(monkeypatch, size):
    (first, second), _, long = links(monkeypatch)
    for k in range(5):
        sent = np.random.default_rng(k).standard_normal(size)
        come = cuda.to_device(np.zeros(size))
        first.start([(1, cuda.to_device(sent))], [], 0)
        second.start([], [(0, come)], 0)
        np.testing.assert_array_equal(come.copy_to_host(), sent)
    assert long == [(0, 0)] * 10, "nothing went by NCCL"


def test_what_is_too_long_or_no_double_goes_by_nccl(monkeypatch):
    (first, second), _, long = links(monkeypatch)
    first.start([(1, cuda.to_device(np.zeros(65)))], [(1, cuda.to_device(np.zeros(4, np.float32)))], 0)
    second.add(cuda.to_device(np.zeros(NUMBERS + 1)), 0)
    assert long == [(1, 1), NUMBERS + 1]


@pytest.mark.skipif(not SIMT, reason="the interpreter finds races")
def test_the_kernels_have_no_hazards(monkeypatch):
    (link, _), boxes, _ = links(monkeypatch)
    put(boxes, 0, 0, np.ones(40))
    array, z = (
        cuda.to_device(np.ones(40)),
        [cuda.to_device(np.zeros((RANKS, mailboxes.BLOCKS), np.int64)) for _ in range(4)],
    )
    found = [simt.profile(mailboxes.add_kernel[1, 64], array, *link.mailbox)]
    window, rank, peer = cuda.to_device(np.zeros((2, RANKS, 64))), np.int32(0), np.int32(1)
    lost = link.mailbox[-1]
    found += [
        simt.profile(mailboxes.send_kernel[2, 32], array, peer, rank, z[0], z[1], window, z[2], lost),
        simt.profile(mailboxes.take_kernel[2, 32], array, rank, peer, z[3], z[2], window, z[1], lost),
    ]
    assert not [p.hazards for p in found if p.hazards]


def test_boxes_lie_one_behind_the_other():
    at = []
    Box.at(3, lambda offset, shape, dtype: at.append((offset, 8 * int(np.prod(shape)))))
    assert [offset for offset, _ in at] == [sum(n for _, n in at[:k]) for k in range(4)]
    assert (
        sum(n for _, n in at) == direct.size_of(3)
        and issubclass(Direct, direct.Link)
        and Nccl.mailbox is None
    )


PROGRAM = """
import numpy as np
from course_pkg import cuda
from course_pkg.distributed.direct import LONGEST, NUMBERS, Direct, open_link
from course_pkg.distributed.mpi import ends_all
link = open_link(timeout_s=40)
with ends_all(link.comm) as comm:
    assert isinstance(link, Direct), "GPUs of this host do not reach each other's memory"
    rng, me, other = np.random.default_rng(5), comm.rank, 1 - comm.rank
    for n in (1, 2, 81, 4225, NUMBERS, NUMBERS + 1) * 5:
        both = rng.standard_normal((2, n))
        mine = cuda.to_device(both[me].copy())
        link.add(mine, 0)
        link.finish()
        assert np.array_equal(mine.copy_to_host(), both[0] + both[1]), n
    for n in (1, 7, 64000, LONGEST, LONGEST + 5) * 4:
        both = rng.standard_normal((2, n))
        out, come = cuda.to_device(both[me].copy()), cuda.to_device(np.zeros(n))
        link.start([(other, out)], [(other, come)], 0)
        link.join(0)
        link.finish()
        assert np.array_equal(come.copy_to_host(), both[other]), n
    if me == 0:
        print("all came")
"""


@pytest.mark.skipif(GPUS < 2, reason="needs two NVIDIA GPUs: run it where there are some")
def test_two_gpus_write_into_each_others_memory():
    assert "all came" in launch.launch(("-c", PROGRAM), 2, timeout_s=120)
