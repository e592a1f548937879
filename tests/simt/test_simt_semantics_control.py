"""Masks: with random control flow, each thread gets the same result as if it ran alone."""

import numpy as np
import pytest
from compiled_oracle import assert_as_compiled, examples, interpret, run_in_python
from hypothesis import given
from programs import control_flow

THREADS = 37


def arguments():
    x = (np.arange(THREADS) * 29 % 61 - 20).astype(np.int64)
    return {"x": x, "out": np.zeros((THREADS, 3), np.int64)}


@given(body=control_flow())
@examples(300)
def test_random_control_flow_equals_python_thread_by_thread(body):
    ours, expected = arguments(), arguments()
    run_in_python(body, expected | {"x": expected["x"].tolist()})
    interpret(body, ours, threads=16)
    np.testing.assert_array_equal(ours["out"], expected["out"], err_msg=body)


@given(body=control_flow(most=8))
@examples(20, shrink=False)
def test_random_control_flow_equals_compiled_code(body):
    assert_as_compiled(body, arguments())


BODIES = {
    "break and continue in nested loops": """
        p = 0
        for k in range(10):
            if k == i % 7:
                continue
            for m in range(k, -1, -2):
                if m * k == i:
                    break
                if (m + i) % 3 == 0:
                    continue
                p += m
            else:
                p += 100
            if p > 300 + i:
                break
        out[i, 0] = p
    """,
    "return from three levels": """
        for k in range(5):
            m = 0
            while True:
                m += 1
                if m * k > i:
                    out[i, 1] = m
                    return
                if m > 3:
                    break
            out[i, 0] += k
        out[i, 2] = -1
    """,
    "a loop that some threads never enter": """
        p = x[i]
        while p > 0:
            p //= 2
            out[i, 0] += 1
        else:
            out[i, 1] = 5
        out[i, 2] = p
    """,
    "the loop variable keeps its last value": """
        k = -5
        for k in range(i % 4):
            out[i, 1] += k
        out[i, 0] = k
    """,
    "the loop variable may be assigned": """
        for k in range(6):
            out[i, 0] += k
            k = k * 10
            out[i, 1] += k
    """,
    "the bounds of a range are taken once": """
        n = i % 5
        for k in range(n):
            n += 1
            out[i, 0] += n
    """,
    "and and or do not look further than they must": """
        if i < 36 and x[i + 1] > x[i]:
            out[i, 0] = 1
        if i == 0 or x[i - 1] > x[i]:
            out[i, 1] = 1
        out[i, 2] = x[i + 1] if i < 36 else -1
    """,
    "a variable that is int in one branch and float in the other": """
        if i % 2 == 0:
            p = 3
        else:
            p = 2.5
        out[i, 0] = int(p * 4)
        out[i, 1] = int(p / 2 * 100)
    """,
    "a sum that begins as an integer": """
        p = 0
        for k in range(i % 5):
            p = p + 0.25 * k
        out[i, 0] = int(p * 100)
    """,
    "a chain of comparisons takes its middle once": """
        out[i, 0] = 0 < x[i] < i <= 30
        out[i, 1] = 5 > x[i] != i
    """,
    "match with numbers, a guard and a name": """
        match x[i] % 5 + i % 2:
            case 0 | -1:
                out[i, 0] = 1
            case 2 if i > 9:
                out[i, 0] = 2
                return
            case 3:
                pass
            case m:
                out[i, 0] = m * 10
        match i:
            case 7:
                out[i, 1] = 5
            case _ if x[i] > 4:
                out[i, 1] = 6
        out[i, 2] = 9
    """,
    "match with truth values and None": """
        match x[i] > 4:
            case True if i < 20:
                out[i, 0] = 1
            case False:
                out[i, 0] = 2
            case _:
                out[i, 0] = 3
        match i:
            case None | True:
                out[i, 1] = 4
            case 1:
                out[i, 1] = 5
        out[i, 2] = 6 if (x[i] < 3) is not True else 7
    """,
    "pass and a bare expression": """
        pass
        x[i]
        out[i, 0] = 1
    """,
}


@pytest.mark.parametrize("name", BODIES)
def test_control_flow_equals_compiled_code(name):
    assert_as_compiled(BODIES[name], arguments())
