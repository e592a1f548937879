"""From source to program: syntax trees, the names in them, Numba's types."""
