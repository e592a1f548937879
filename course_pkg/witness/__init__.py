"""The third witness: what Nsight Compute counts for each kernel, beside what :mod:`course_pkg.simt` counts.

``cases`` has the kernels that each test one rule, and finds those of the topics. ``launch`` runs under the profiler.
``ncu`` and ``sanitizer`` call NVIDIA's tools, ``record`` keeps their answers, and ``compare`` sets them beside the
interpreter's.
"""
