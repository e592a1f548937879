"""What conftest.py asks of BLAS's threads is heard: nothing has loaded NumPy before it."""

import os

import numpy  # noqa: F401  # its BLAS
from threadpoolctl import threadpool_info


def test_blas_has_as_many_threads_as_the_tests_ask_for():
    found = {pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"}
    assert found <= {int(os.environ["OPENBLAS_NUM_THREADS"])}
