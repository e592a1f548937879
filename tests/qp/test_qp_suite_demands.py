"""What `course bench qp` demands of one run, judged on measurements made up here."""

from dataclasses import replace

from variant_cases import of

from course_pkg.bench import Device, Measurement, cpu
from course_pkg.core import Cost, Library
from course_pkg.qp import suite, traffic
from course_pkg.vector.bound import COPY

CPU, CUDA, CUPY = Library.NUMBA_CPU, Library.NUMBA_CUDA, Library.CUPY

H200 = Device("gpu", "NVIDIA H200", 132, 1, 1, driver="580.1")


def made(what, seconds, *, cost=None, observed=None, device=H200, **parameters):
    return Measurement(
        what=what,
        samples_s=(seconds,) * 3,
        warmup_s=(),
        calls_per_sample=1,
        cache_state="exceeds",
        cost=cost or Cost(8, 8),
        device=device,
        parameters={"dtype": "float64", **parameters},
        date="2026-01-01",
        observed=observed or {},
    )


def test_demands_are_judged_by_one_run():
    n = suite.SIZES["gpu"]
    copy = made(COPY, 1e-3, cost=Cost(2 * 10**9, 2 * 10**9), n=2**27)  # 4,000 GB/s
    problems, small, iterations = suite.BATCHED
    found = [
        copy,
        made(of("update_rows"), 0.1e-3, n=n, rows=2, unroll=1),
        made(of("update_rows"), 0.6e-3, n=n),
        made(of("update_rows"), 0.6e-3, n=n, inactive=0.9),
        made(of("update_compacted"), 0.1e-3, n=n, inactive=0.9),
        made(of("update_packed"), 0.2e-3, n=n, inactive=0.9),
        made(of("update_packed"), 2e-3, n=n, inactive=0.9, iterations=10),
        made(
            of("update_batch"),
            1.0,
            n=small,
            problems=problems,
            iterations=iterations,
            observed={"cpu_s": 19.0},
        ),
        *(
            made(
                of("apg_batch"),
                1.0,
                n=small,
                problems=problems,
                cores=cores,
                observed={"solved": solved, "converged": solved == 1},
            )
            for cores, solved in ((1, 1.0), (2, 0.9998))
        ),
        made(of("pqp"), 1.0, problem="a", n=9, accelerate=True, observed={"converged": True}),
        made(of("pqp"), 3.0, problem="a", n=9, accelerate=False, observed={"converged": False}),
        made(of("pqp"), 1.0, problem="b", n=9, accelerate=True, observed={"converged": True}),
        made(of("pqp"), 0.5, problem="b", n=9, accelerate=False, observed={"converged": True}),
        made(of("pqp"), 0.1, problem="c", n=9, accelerate=True, observed={"converged": False}),
        made(of("pqp"), 0.5, problem="c", n=9, accelerate=False, observed={"converged": True}),
    ]
    rows = suite.demands(found)
    assert [(r["demand"], r["measured"], r["met"]) for r in rows] == [
        ("≥ 0.90", "0.895", "NO"),
        ("≥ 5×", "6.0×", "yes"),
        ("≥ 5×", "3.0×", "NO"),
        ("≥ 20×", "19.0×", "NO"),
        ("all", "100.00%", "yes"),
        ("all", "99.98%", "NO"),
        ("≥ 1×", "more than 3.0×", "yes"),
        ("≥ 1×", "0.5×", "NO"),
        ("≥ 1×", "5.0×", "NO"),
    ]
    better = [replace(m, samples_s=(0.59e-3,)) if m is found[2] else m for m in found]
    assert suite.demands(better)[0]["met"] == "yes"
    assert suite.bounding_stream(found) is copy and suite.bounding_stream(found[1:]) is None
    assert suite.demands([]) == []


def test_demands_on_a_cpu():
    found = [
        made(
            of("pqp", CPU),
            seconds,
            device=cpu(),
            problem="a",
            n=9,
            accelerate=quick,
            observed={"converged": True},
        )
        for seconds, quick in ((1.0, True), (2.0, False))
    ]
    assert [(r["measured"], r["met"]) for r in suite.demands(found)] == [("2.0×", "yes")]


def test_the_sizes_are_those_of_the_demands():
    assert suite.SIZES["gpu"] == 16384 == traffic.N and suite.BATCHED[:2] == (4096, 128)
    assert set(suite.SOLVED) == {"nnls_diabetes", "nnls_digits", "svm_breast_cancer", "portfolio", "obstacle_1d",
                                 "obstacle_2d", "deblurring", "dense"}  # fmt: skip
