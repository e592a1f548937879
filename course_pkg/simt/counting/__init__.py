"""Counts what the hardware would count; a model of the compiler says which of the source's operations remain."""
