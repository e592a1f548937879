"""Runs a program for all threads at once: lanes, values, expressions, statements, launches."""
