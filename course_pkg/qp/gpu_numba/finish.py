"""What a kernel does with the two sums of a row: the update of x_i, and F_i. Device functions."""

from course_pkg import cuda


@cuda.jit(device=True)
def finish_row(i, plus, minus, h_i, shift, x, out, parts):
    """Write the updated x_i and F_i, from the sums (Q⁺x)_i and (Q⁻x)_i."""
    x_i, zero = x[i], x.dtype.type(0)
    shifted = shift[i] * x_i
    above = max(-h_i, zero) + minus + shifted
    below = max(h_i, zero) + plus + shifted
    parts[i] = x_i * (x.dtype.type(0.5) * (plus - minus) + h_i)
    out[i] = x_i * (above / below) if x_i > zero else zero  # if x_i is 0, ``below`` may be 0, too
