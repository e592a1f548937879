"""Setting up: the environment `.venv`, what the driver supports, and an explanation for each failure.

This folder uses the standard library only, because it runs before anything is installed.
"""
