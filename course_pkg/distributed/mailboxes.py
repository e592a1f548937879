"""Kernels by which a GPU writes into the memory of others: numbers to all of them for a sum, planes to a neighbour.

A message of NCCL is a kernel of its own on both sides, of about 10 µs. Where a GPU can write to another one's memory,
the kernel that adds up this GPU's parts also sends the sum, and waits for the others' in its own memory.

*A number needs no flag.* A place for a number holds NaN while it is empty. The sender writes one number; the receiver
reads its own place until it is a number, and empties it. Numbers alternate between two places. A place is written again
only after its last number has been taken, because the number between them was sent after that.

*Planes need flags*, one for each block of threads. A block of the sender writes its part, lets that become visible
(``threadfence_system``), and then writes the number of the message into its flag. The same block of the receiver waits
for it, copies the part, and answers. There are two windows; a block writes into a window once the message before the
last has been answered.

Every wait ends after ``POLLS`` looks. Then the sum or the plane is NaN, and ``lost`` says which rank has not answered:
its number plus 1. From then on no kernel waits any more, so all that is queued ends soon, and the host names that rank.

- ``add_kernel`` sums over all GPUs, in place
- ``alpha_of_all_kernel`` is ``alpha_kernel`` of ``cg``, whose sum is one over all GPUs
- ``beta_of_all_kernel`` is ``beta_kernel`` of ``cg``, likewise
- ``send_kernel`` writes an array into the window of another GPU
- ``take_kernel`` takes the array that has come into this GPU's window
"""

import numpy as np

from course_pkg import cuda
from course_pkg.cg.gpu_numba.scalars import set_alpha, set_beta, sum_of

EMPTY = np.nan
POLLS = 2**25  # a look takes about a microsecond
THREADS_ADD = 512
BLOCKS, THREADS = 64, 512  # of a message


@cuda.jit(device=True)
def looks_left(lost):
    """Return how often a kernel may look for what has not come yet: never again, once a rank is lost."""
    return 0 if cuda.atomic.max(lost, 0, 0) else POLLS


@cuda.jit(device=True)
def taken(here, turn, source, k, lost):
    """Wait for number ``k`` of another GPU, empty its place, and return it; NaN if it has not come."""
    found = cuda.atomic.add(here, (turn, source, k), 0.0)  # an atomic reads memory, not a cache or a register
    if found != found:
        looks = looks_left(lost)
        while found != found and looks > 0:
            found = cuda.atomic.add(here, (turn, source, k), 0.0)
            looks -= 1
        if found != found:
            cuda.atomic.max(lost, 0, source + 1)
    here[turn, source, k] = EMPTY
    return found


@cuda.jit(device=True)
def sum_over_gpus(value, k, turn, rank, here, theirs, lost):
    """Return the sum of number ``k`` over all GPUs, in the order of their ranks: all get the same bits."""
    if value != value:
        value = np.inf  # NaN would mean that nothing has come
    for there in theirs:
        there[turn, rank, k] = value
    total = 0.0
    for source in range(here.shape[1]):
        total += value if source == rank else taken(here, turn, source, k, lost)
    return total


@cuda.jit
def add_kernel(array, turn, rank, here, theirs, lost):
    """Replace an array by its sum over all GPUs; one block."""
    t, now = cuda.threadIdx.x, turn[0]
    for k in range(t, array.size, cuda.blockDim.x):
        array[k] = sum_over_gpus(array[k], k, now, rank, here, theirs, lost)
    cuda.syncthreads()  # all have read the turn
    if t == 0:
        turn[0] = 1 - now


@cuda.jit
def alpha_of_all_kernel(partial, blocks, state, turn, rank, here, theirs, lost):
    """Add up the parts of p·Ap on this GPU, then over all GPUs, and compute alpha; one block."""
    mine = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0:
        set_alpha(sum_over_gpus(mine, 0, turn[0], rank, here, theirs, lost), state)
        turn[0] = 1 - turn[0]


@cuda.jit
def beta_of_all_kernel(partial, blocks, state, history, turn, rank, here, theirs, lost):
    """Add up the parts of r·r on this GPU, then over all GPUs, compute beta, and end the iteration; one block."""
    mine = sum_of(partial, blocks)
    if cuda.threadIdx.x == 0:
        set_beta(sum_over_gpus(mine, 0, turn[0], rank, here, theirs, lost), state, history)
        turn[0] = 1 - turn[0]


@cuda.jit(device=True)
def wait_for(flags, source, block, message, lost):
    """Wait until the flag of a block is at least ``message``, and return whether it is."""
    came = cuda.atomic.add(flags, (source, block), 0) >= message
    if not came:
        looks = looks_left(lost)
        while not came and looks > 0:
            came = cuda.atomic.add(flags, (source, block), 0) >= message
            looks -= 1
        if not came:
            cuda.atomic.max(lost, 0, source + 1)
    return came


@cuda.jit
def send_kernel(array, peer, rank, sent, answered, window, arrived, lost):
    """Write an array into the window of rank ``peer``; ``window`` and ``arrived`` lie in that rank's memory."""
    t, block = cuda.threadIdx.x, cuda.blockIdx.x
    message = sent[peer, block] + 1
    if t == 0:
        wait_for(answered, peer, block, message - 2, lost)
    cuda.syncthreads()
    for i in range(cuda.grid(1), array.size, cuda.gridsize(1)):
        window[message % 2, rank, i] = array[i]
    cuda.threadfence_system()
    cuda.syncthreads()
    if t == 0:
        arrived[rank, block] = message
        sent[peer, block] = message


@cuda.jit
def take_kernel(array, peer, rank, got, arrived, window, answered, lost):
    """As send, but from this GPU's window, which rank ``peer`` may fill again only after an answer."""
    t, block = cuda.threadIdx.x, cuda.blockIdx.x
    message, came = got[peer, block] + 1, cuda.shared.array(1, np.int32)
    if t == 0:
        came[0] = wait_for(arrived, peer, block, message, lost)
    cuda.syncthreads()
    is_here = came[0]
    for i in range(cuda.grid(1), array.size, cuda.gridsize(1)):
        array[i] = window[message % 2, peer, i] if is_here else EMPTY
    cuda.syncthreads()
    if t == 0:
        answered[rank, block] = message
        got[peer, block] = message
