"""Counting what the hardware counts, after what a compiler makes of the source."""
