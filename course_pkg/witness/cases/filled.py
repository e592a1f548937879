"""Memory that a compiler fills, joins or keeps: zeros of local arrays, complex numbers and records."""

import numpy as np
from numba import complex64, complex128, int8, int32, types

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
N, BLOCK = 128, 64
STATE = np.dtype([("low", np.uint64), ("high", np.uint64)], align=True)
PACKED = np.dtype([("low", np.uint64), ("high", np.uint64)])
PARTICLE = np.dtype([("x", np.float32), ("y", np.float32), ("charge", np.int16), ("kind", np.int16)])


@cuda.jit
def zeros_behind_a_guard(index, out):
    i = cuda.grid(1)
    if i >= 100:
        return
    found = cuda.local.array(12, np.float64)
    found[index[i]] = 1.5
    out[i] = found[index[i] ^ 1]


@cuda.jit
def zeros_of_bytes(index, out):
    i = cuda.grid(1)
    seen = cuda.local.array(40, int8)
    for k in range(5):
        seen[index[(i + k) % 128]] = 1
    out[i] = seen[index[i]]


@cuda.jit
def zeros_half_replaced(index, a, out):
    i = cuda.grid(1)
    window = cuda.local.array(16, np.float64)
    for k in range(8):
        window[k] = a[k]
    out[i] = window[index[i]]


@cuda.jit
def zeros_all_replaced(index, a, out):
    i = cuda.grid(1)
    window = cuda.local.array(12, np.float64)
    for k in range(12):
        window[k] = a[k]
    out[i] = window[index[i]]


@cuda.jit
def zeros_of_some(index, out):
    i = cuda.grid(1)
    if index[i] > 5:
        few = cuda.local.array(12, int32)
        few[index[i]] = i
        out[i] = few[index[i ^ 1]]


@cuda.jit(device=True)
def chosen_of_twelve(index, x):
    held = cuda.local.array(12, np.float64)
    held[index] = x
    return held[index ^ 1]


@cuda.jit
def zeros_in_a_function(index, out):
    i = cuda.grid(1)
    if i < 40:
        out[i] = chosen_of_twelve(index[i], 2.0) + chosen_of_twelve(index[i ^ 1], 3.0)


@cuda.jit
def pushed_on_a_stack(index, out):
    i = cuda.grid(1)
    first, second = cuda.local.array(16, int32), cuda.local.array(16, int32)
    depth = 1
    while depth < 9:
        first[depth + 1] = i
        second[depth + 1] = depth
        depth += 1 + index[i] % 2
    out[i] = first[depth - 1] + second[depth - 1]


def reversed_in_shared_memory(dtype):
    """Return a kernel that reverses the complex numbers of each block."""

    @cuda.jit
    def reversed_complex(a, out):
        tile = cuda.shared.array(64, dtype)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = a[i]
        cuda.syncthreads()
        out[i] = tile[63 - t]

    return reversed_complex


@cuda.jit
def fields_in_a_loop(states, more, steps):
    i = cuda.grid(1)
    for k in range(steps):
        low, high = states[i]["low"], states[i]["high"]
        states[i]["low"] = low ^ more[k]
        states[i]["high"] = low + high


@cuda.jit
def fields_of_packed_records(particles, out):
    i = cuda.grid(1)
    out[i] = particles[i].charge * (particles[i].x - particles[i ^ 1].x)
    particles[i].y = 0.5


@cuda.jit
def added_up_in_memory(a, out, steps):
    i = cuda.grid(1)
    for k in range(steps):
        out[i] += a[k]


@cuda.jit(device=True)
def next_state(states, i):
    low, high = states[i]["low"], states[i]["high"]
    states[i]["low"] = low ^ high
    states[i]["high"] = low + high
    return low + high


@cuda.jit
def fields_overwritten(states, more, out, steps):
    i = cuda.grid(1)
    total = types.uint64(0)
    for k in range(steps):
        total += more[k] ^ next_state(states, i)
        total += next_state(states, i)
    out[i] = total


@cuda.jit
def mapped_in_memory(x, growth, steps):
    i = cuda.grid(1)
    for _ in range(steps):
        x[i] = growth * x[i] * (1.0 - x[i])


@cuda.jit
def stored_twice_with_another_between(a, out, more):
    i = cuda.grid(1)
    x = a[i]
    out[i] = x
    more[i] = 2.0 * x
    out[i] = x * x


def indices():
    """Return numbers from 0 to 11."""
    return numbers(N, "int32") % 12


def states(dtype=STATE):
    """Return states of a generator of random numbers."""
    made = np.zeros(N, dtype)
    made["low"], made["high"] = np.arange(N), 3
    return made


def add(kernel, make_args, idea, name=""):
    """Add a case of the size that all cases of this file have."""
    cases.add(kernel, N // BLOCK, BLOCK, make_args, idea, name=name)


add(zeros_behind_a_guard, lambda: (indices(), zeros(N)), "zeros come before an early return")
add(zeros_of_bytes, lambda: (indices(), zeros(N, "int8")), "zeros of bytes are stored four together")
add(
    zeros_half_replaced, lambda: (indices(), numbers(8), zeros(N)), "half of the zeros are certainly replaced"
)
add(zeros_all_replaced, lambda: (indices(), numbers(12), zeros(N)), "all zeros are certainly replaced")
add(zeros_of_some, lambda: (indices(), zeros(N, "int32")), "an array that a branch makes")
add(zeros_in_a_function, lambda: (indices(), zeros(N)), "an array of a device function that is called twice")
add(
    pushed_on_a_stack,
    lambda: (indices(), zeros(N, "int32")),
    "stacks in local memory, written before they are read",
)
for dtype in (complex64, complex128):
    add(
        reversed_in_shared_memory(dtype),
        lambda dtype=dtype: (numbers(N, str(dtype)), zeros(N, str(dtype))),
        f"a {dtype} in shared memory is one access",
        f"reversed_{dtype}",
    )
add(
    fields_in_a_loop,
    lambda: (states(), numbers(6, "uint64"), 6),
    "fields of a record stay in registers from trip to trip, but not behind the last group of trips",
)
add(
    fields_in_a_loop,
    lambda: (states(PACKED), numbers(6, "uint64"), 6),
    "records without align=True are accessed byte by byte",
    "packed_fields_in_a_loop",
)
add(
    fields_of_packed_records,
    lambda: (np.zeros(N, PARTICLE), zeros(N)),
    "fields of 2 and 4 bytes of records without align=True",
)
for steps in (3, 7, 8):
    add(
        added_up_in_memory,
        lambda steps=steps: (numbers(8), zeros(N), steps),
        f"a sum in memory, over {steps} trips of which four are written out together",
        f"added_up_in_memory_{steps}",
    )
add(
    fields_overwritten,
    lambda: (states(), numbers(6, "uint64"), zeros(N, "uint64"), 6),
    "stores that the same trip overwrites are none",
)
add(
    mapped_in_memory,
    lambda: (numbers(N) - 1.0, 3.5, 7),
    "a loop that touches one element alone: it is loaded before and stored behind the loop",
)
add(
    stored_twice_with_another_between,
    lambda: (numbers(N), zeros(N), zeros(N)),
    "a store that another one overwrites, with one to another array between them",
)
