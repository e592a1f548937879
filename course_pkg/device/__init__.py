"""CUDA that topics share: pairs of numbers, sums of a warp and of a block, sizes of launches, graphs, cases."""
