"""Counts what the hardware would count, after a model of what the compiler does to the source."""
