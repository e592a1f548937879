"""``numba.cuda.random`` without a GPU: the generator xoroshiro128+, which yields the same numbers as in Numba.

A kernel passes an array of states and its own index: ``xoroshiro128p_uniform_float32(states, i)`` returns a number and
advances state ``i``. Two threads that share a state race.

Source: Blackman, Vigna: Scrambled linear pseudorandom number generators, ACM Transactions on Mathematical Software
47(4), 2021. States, constants and the order of operations are those of ``numba/cuda/random.py`` in numba-cuda 0.30.
"""

import math

import numpy as np

from course_pkg.core.errors import CourseError
from course_pkg.simt.memory.device_array import DeviceArray
from course_pkg.simt.run.kernel import jit

__all__ = [
    "create_xoroshiro128p_states",
    "init_xoroshiro128p_states",
    "xoroshiro128p_dtype",
    "xoroshiro128p_jump",
    "xoroshiro128p_next",
    "xoroshiro128p_normal_float32",
    "xoroshiro128p_normal_float64",
    "xoroshiro128p_uniform_float32",
    "xoroshiro128p_uniform_float64",
]

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
JUMP = (np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922))
TWO_PI_FLOAT32, TWO_PI_FLOAT64 = np.float32(2 * math.pi), np.float64(2 * math.pi)


@jit(device=True)
def rotl(x, k):
    """Return the 64-bit number ``x``, rotated to the left by ``k`` bits."""
    return (np.uint64(x) << np.uint32(k)) | (np.uint64(x) >> np.uint32(64 - np.uint32(k)))


@jit(device=True)
def xoroshiro128p_next(states, index):
    """Return the next 64 random bits of ``states[index]``, and advance this state."""
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = rotl(s0, 55) ^ s1 ^ (s1 << np.uint32(14))
    states[index]["s1"] = rotl(s1, 36)
    return result


@jit(device=True)
def xoroshiro128p_jump(states, index):
    """Advance ``states[index]`` by 2^64 steps."""
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for i in range(2):
        for b in range(64):
            if JUMP[i] & (np.uint64(1) << np.uint32(b)):
                s0 ^= states[index]["s0"]
                s1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


@jit(device=True)
def uint64_to_unit_float64(x):
    """Return a float64 in [0, 1) made of the upper 53 bits of ``x``."""
    return (np.uint64(x) >> np.uint32(11)) * (np.float64(1) / (np.uint64(1) << np.uint32(53)))


@jit(device=True)
def xoroshiro128p_uniform_float32(states, index):
    """Return a float32 in [0, 1], and advance ``states[index]``."""
    return np.float32(uint64_to_unit_float64(xoroshiro128p_next(states, index)))


@jit(device=True)
def xoroshiro128p_uniform_float64(states, index):
    """Return a float64 in [0, 1), and advance ``states[index]``."""
    return uint64_to_unit_float64(xoroshiro128p_next(states, index))


@jit(device=True)
def xoroshiro128p_normal_float32(states, index):
    """Return a float32 of mean 0 and standard deviation 1 (Box and Muller), and advance ``states[index]`` twice."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-np.float32(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT32 * u2)


@jit(device=True)
def xoroshiro128p_normal_float64(states, index):
    """Return a normal float64 (mean 0, deviation 1) made of two float32, as in Numba; the state advances twice."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(-np.float64(2.0) * math.log(u1)) * math.cos(TWO_PI_FLOAT64 * u2)


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream=0) -> DeviceArray:
    """Return a device array of states; each state is advanced by 2^64 steps more than the previous one.

    Parameters
    ----------
    n : int
        Number of states, one for each thread.
    seed : int
    subsequence_start : int
        The first state is advanced by ``subsequence_start`` times 2^64 steps.

    Examples
    --------
    >>> states = create_xoroshiro128p_states(2, seed=1)
    >>> [hex(s) for s in states.copy_to_host()["s0"]]
    ['0x910a2dec89025cc1', '0x73c19a5348fc9098']
    """
    return DeviceArray(_states(n, seed, subsequence_start), stream=stream)


def init_xoroshiro128p_states(states: DeviceArray, seed: int, subsequence_start: int = 0, stream=0) -> None:
    """Write the states of :func:`create_xoroshiro128p_states` into an array.

    Raises
    ------
    CourseError
        If the array is not a vector of states in device memory.
    """
    if not isinstance(states, DeviceArray) or states.dtype != xoroshiro128p_dtype or states.ndim != 1:
        raise CourseError(
            "states is no vector of random states: make it by create_xoroshiro128p_states(n, seed)."
        )
    states.copy_to_device(_states(states.size, seed, subsequence_start))


def _states(n: int, seed: int, subsequence_start: int) -> np.ndarray:
    """Compute the states. A jump is linear in the bits of a state, so each pass doubles the number of states."""
    if n < 0 or subsequence_start < 0:
        raise CourseError(f"n is {n} and subsequence_start {subsequence_start}: neither may be negative.")
    first = np.array([_scrambled(seed)] * 2, np.uint64)[:, None]
    jump = _matrix_of_jump()
    for bit in range(subsequence_start.bit_length()):
        if subsequence_start >> bit & 1:
            first = _applied(_power_of_two(jump, bit), first)
    states, step = first, jump
    while states.shape[1] < n:
        states, step = np.concatenate([states, _applied(step, states)], axis=1), _applied(step, step)
    found = np.empty(n, xoroshiro128p_dtype)
    found["s0"], found["s1"] = states[:, :n]
    return found


def _scrambled(seed: int) -> int:
    """Return the 64-bit word with which a seed initializes both halves of a state (SplitMix64)."""
    word, ones = seed & (1 << 64) - 1, (1 << 64) - 1
    z = (word + 0x9E3779B97F4A7C15) & ones
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & ones
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & ones
    return z ^ (z >> 31)


def _matrix_of_jump() -> np.ndarray:
    """Return the matrix of a jump: shape (2, 128), uint64.

    Column ``b`` is the state after a jump from a state in which only bit ``b`` is set.
    """
    bits = np.uint64(1) << np.arange(64, dtype=np.uint64)
    state = np.zeros((2, 128), np.uint64)
    state[0, :64], state[1, 64:] = bits, bits
    total = np.zeros_like(state)
    for word in JUMP:
        for b in range(64):
            if int(word) >> b & 1:
                total ^= state
            s0, s1 = state[0], state[0] ^ state[1]
            state = np.stack([rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), rotated(s1, 36)])
    return total


def rotated(x: np.ndarray, k: int) -> np.ndarray:
    """Return 64-bit numbers whose bits are moved k places to the left; what falls out comes in on the right."""
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


def _power_of_two(matrix: np.ndarray, times: int) -> np.ndarray:
    for _ in range(times):
        matrix = _applied(matrix, matrix)
    return matrix


def _applied(matrix: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the product of the matrix and the states over the field GF(2); both have shape (2, …)."""
    result = np.zeros_like(states)
    for b in range(128):
        chosen = (states[b // 64] >> np.uint64(b % 64)) & np.uint64(1)
        result ^= np.where(chosen.astype(bool), matrix[:, b : b + 1], np.uint64(0))
    return result
