"""The third witness: what Nsight Compute counts for each kernel, compared with what :mod:`course_pkg.simt` counts.

``cases`` contains kernels that test one counting rule each, and collects the kernels of the topics. ``launch`` is the
program that runs under the profiler. ``ncu`` and ``sanitizer`` call NVIDIA's tools, ``record`` stores their results,
and ``compare`` compares these with the interpreter's counts.
"""
