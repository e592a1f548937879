"""Test launches of the kernels for several GPUs: what the others sent into this GPU's memory has come already."""

from dataclasses import dataclass

import numpy as np

from course_pkg.cg.cases import state
from course_pkg.cg.gpu_numba import scalars
from course_pkg.device.case import Cases, numbers, zeros
from course_pkg.distributed import gpu_rows, mailboxes
from course_pkg.sstep.tuning import THREADS

cases = Cases()
RANKS, PLACES, WINDOW = 2, 64, 5000
MINE, OTHER = np.int32(0), np.int32(1)


@dataclass(frozen=True)
class Boxes:
    """The mailboxes of the other GPUs, as a kernel takes them."""

    def on_device(self):
        """Return a tuple with one new mailbox, all of whose places are empty."""
        from course_pkg import cuda

        return (cuda.to_device(np.full((2, RANKS, PLACES), mailboxes.EMPTY)),)


def _mailbox():
    """Return the last arguments of a kernel that adds up over all GPUs; the other's numbers lie there already."""
    here = np.full((2, RANKS, PLACES), mailboxes.EMPTY)
    here[0, OTHER] = numbers(PLACES)
    return np.zeros(1, np.int32), MINE, here, Boxes(), _lost()


def _flags(value=0):
    return np.full((RANKS, mailboxes.BLOCKS), value, np.int64)


def _lost():
    return np.zeros(1, np.int32)


SUM = "parts of one GPU, and the number that another one has sent"
cases.add(
    mailboxes.add_kernel,
    1,
    64,
    lambda: (numbers(40), *_mailbox()),
    "sums over two GPUs",
    name="over_gpus_add",
)
cases.add(
    mailboxes.alpha_of_all_kernel,
    1,
    scalars.THREADS_FINISH,
    lambda: (numbers(300), np.int32(300), state(), *_mailbox()),
    SUM,
    name="over_gpus_alpha",
)
cases.add(
    mailboxes.beta_of_all_kernel,
    1,
    scalars.THREADS_FINISH,
    lambda: (numbers(300), np.int32(300), state(), zeros(scalars.KEPT), *_mailbox()),
    SUM,
    name="over_gpus_beta",
)
cases.add(
    mailboxes.send_kernel,
    3,
    64,
    lambda: (numbers(4001), OTHER, MINE, _flags(), _flags(), zeros((2, RANKS, WINDOW)), _flags(), _lost()),
    "a copy into a window, and a flag for each block",
    name="over_gpus_send",
)
cases.add(
    mailboxes.take_kernel,
    3,
    64,
    lambda: (zeros(4001), OTHER, MINE, _flags(), _flags(1), numbers((2, RANKS, WINDOW)), _flags(), _lost()),
    "a copy out of a window, once the flag of the block is there",
    name="over_gpus_take",
)
cases.add(
    gpu_rows.add_rows_kernel,
    2,
    THREADS,
    lambda: (
        numbers(301),
        np.random.default_rng(1).permutation(400)[:301].astype(np.int32),
        numbers(400, seed=2),
    ),
    "what needs the halo is added to the rows that have one",
    name="over_gpus_add_rows",
)
