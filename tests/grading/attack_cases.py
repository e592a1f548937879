"""What attacks on the judge share: answers to exercise 2, and the points that they can lose."""

WRONG_GAIN = "def remaining_gain(t_eff_gb_s, t_peak_gb_s, share):\n    return 0.5"
GAIN = {"test_gain": 1, "test_gain_hidden": 1}
TRIAD = {"test_triad": 1, "test_triad_traffic": 1, "test_triad_hidden": 1}
PASSES = {"test_count": 1, "test_passes_hidden": 1, "test_bytes_hidden": 1}
KERNEL = "@cuda.jit\ndef triad_kernel(a, b, s, out):\n"
RIGHT = KERNEL + "    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = a[a.size - 1 - i] + s * b[i]\n"
