"""The results of a profiled launch, and how people read them."""
