"""Kernels of the kinds that learners bring: series of numbers, filtered, predicted and measured."""

import math

import numpy as np
from numba import float32, float64

from course_pkg import cuda
from course_pkg.device.case import Cases, numbers, zeros

cases = Cases()
STATES, ORDER, LAGS = 4, 8, 9


@cuda.jit
def brought_kalman(measured, q, r, dt, places, speeds):
    """Kalman's filter of a place and a speed, of which only the place is measured."""
    i = cuda.grid(1)
    if i >= measured.shape[0]:
        return
    x = cuda.local.array(2, float64)
    p = cuda.local.array((2, 2), float64)
    x[0] = measured[i, 0]
    x[1] = 0.0
    p[0, 0] = p[1, 1] = 1.0
    p[0, 1] = p[1, 0] = 0.0
    for t in range(measured.shape[1]):
        x[0] += dt * x[1]
        p00 = p[0, 0] + dt * (p[1, 0] + p[0, 1]) + dt * dt * p[1, 1] + q
        p01 = p[0, 1] + dt * p[1, 1]
        p10 = p[1, 0] + dt * p[1, 1]
        p11 = p[1, 1] + q
        s = p00 + r
        k0 = p00 / s
        k1 = p10 / s
        residual = measured[i, t] - x[0]
        x[0] += k0 * residual
        x[1] += k1 * residual
        p[0, 0] = (1 - k0) * p00
        p[0, 1] = (1 - k0) * p01
        p[1, 0] = p10 - k1 * p00
        p[1, 1] = p11 - k1 * p01
        places[i, t] = x[0]
        speeds[i, t] = x[1]


cases.add(
    brought_kalman,
    3,
    64,
    lambda: (numbers((150, 12)), 0.01, 0.5, 0.1, zeros((150, 12)), zeros((150, 12))),
    "Kalman's filter: a state and its covariance in local arrays",
)


@cuda.jit
def brought_hidden_states(observed, start, transition, emission, likelihood):
    """The forward algorithm of a hidden Markov model, rescaled at each observation."""
    s = cuda.grid(1)
    if s < observed.shape[0]:
        alpha = cuda.local.array(STATES, float32)
        new = cuda.local.array(STATES, float32)
        total = 0.0
        for k in range(STATES):
            alpha[k] = start[k] * emission[k, observed[s, 0]]
        for t in range(1, observed.shape[1]):
            scale = float32(0.0)
            for k in range(STATES):
                acc = float32(0.0)
                for j in range(STATES):
                    acc += alpha[j] * transition[j, k]
                new[k] = acc * emission[k, observed[s, t]]
                scale += new[k]
            for k in range(STATES):
                alpha[k] = new[k] / scale
            total += math.log(scale)
        likelihood[s] = total


def shares(rows, cols, seed):
    """Return rows of probabilities."""
    p = numbers((rows, cols), "float64", seed)
    return (p / p.sum(1, keepdims=True)).astype(np.float32)


cases.add(
    brought_hidden_states,
    2,
    64,
    lambda: (
        np.random.default_rng(5).integers(0, 6, (100, 9)),
        shares(1, STATES, 1)[0],
        shares(STATES, STATES, 2),
        shares(STATES, 6, 3),
        zeros(100, "float32"),
    ),
    "a hidden Markov model: two local arrays in turn, observations of 64 bits as indices",
)


@cuda.jit
def brought_biquads(signals, sections, out):
    """A chain of filters of second order for each channel, with two memories per filter."""
    channel = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if channel >= signals.shape[1]:
        return
    for s in range(sections.shape[0]):
        b0, b1, b2 = sections[s, 0], sections[s, 1], sections[s, 2]
        a1, a2 = sections[s, 3], sections[s, 4]
        z1 = 0.0
        z2 = 0.0
        for n in range(signals.shape[0]):
            x = signals[n, channel] if s == 0 else out[n, channel]
            y = b0 * x + z1
            z1 = b1 * x - a1 * y + z2
            z2 = b2 * x - a2 * y
            out[n, channel] = y


cases.add(
    brought_biquads,
    3,
    32,
    lambda: (numbers((20, 80), "float32"), 0.2 * numbers((3, 5)), zeros((20, 80), "float32")),
    "filters in a row: a channel per thread, the first one reads elsewhere",
)


@cuda.jit
def brought_tones(signals, frequencies, rate, power):
    """The power of some frequencies in each signal, by Goertzel's recurrence."""
    tone, signal = cuda.grid(2)
    if tone < frequencies.shape[0] and signal < signals.shape[0]:
        n = signals.shape[1]
        k = int(0.5 + n * frequencies[tone] / rate)
        w = 2.0 * math.pi * k / n
        c = 2.0 * math.cos(w)
        q1, q2 = 0.0, 0.0
        for i in range(n):
            q0 = c * q1 - q2 + signals[signal, i]
            q2 = q1
            q1 = q0
        power[signal, tone] = q1 * q1 + q2 * q2 - q1 * q2 * c


cases.add(
    brought_tones,
    (1, 5),
    (8, 8),
    lambda: (
        numbers((37, 50), "float32"),
        np.array([697, 770, 852, 941, 1209, 1336, 1477], np.int64),
        8000,
        zeros((37, 7)),
    ),
    "Goertzel's recurrence: frequencies and their rate are integers",
)


@cuda.jit
def brought_prediction(signals, coefficients, error):
    """Coefficients that predict a signal from its last samples, by Levinson's recursion."""
    i = cuda.grid(1)
    if i >= signals.shape[0]:
        return
    r = cuda.local.array(LAGS, float64)
    a = cuda.local.array(LAGS, float64)
    before = cuda.local.array(LAGS, float64)
    for lag in range(LAGS):
        r[lag] = 0.0
        for t in range(lag, signals.shape[1]):
            r[lag] += signals[i, t] * signals[i, t - lag]
        a[lag] = 0.0
    e = r[0]
    for m in range(1, LAGS):
        if e <= 1e-12:
            break
        k = r[m]
        for j in range(1, m):
            k -= a[j] * r[m - j]
        k /= e
        for j in range(1, m):
            before[j] = a[j]
        a[m] = k
        for j in range(1, m):
            a[j] = before[j] - k * before[m - j]
        e *= 1 - k * k
    for j in range(ORDER):
        coefficients[i, j] = a[j + 1]
    error[i] = e


cases.add(
    brought_prediction,
    2,
    32,
    lambda: (numbers((50, 40)), zeros((50, ORDER)), zeros(50)),
    "Levinson's recursion: loops whose length depends on an outer loop, over local arrays",
)
