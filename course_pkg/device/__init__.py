"""CUDA code that several topics use: pairs of numbers, sums of a warp and of a block, launch sizes, graphs, cases."""
