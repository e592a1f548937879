"""The third witness: what Nsight Compute counts for each kernel, beside what :mod:`course_pkg.simt` counts.

Rooms: ``case`` (a kernel and its launch), ``kernels_*`` (the cases), ``cases`` (all of them by name), ``launch`` (what
runs under the profiler), ``ncu`` and ``sanitizer`` (the tools), ``record`` (their answers, kept), ``compare`` (both
witnesses side by side).
"""
