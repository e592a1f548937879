"""The results of a profiled launch, and how they are shown to people."""
