"""Companion package of the course *At the Speed of Memory*.

Importing it needs no GPU, no CuPy and no MPI.
"""

__version__ = "0.1.0"
