"""Setting up: the environment `.venv`, the abilities of the driver, and an explanation for each failure.

This folder uses the standard library only, because it runs before anything is installed.
"""
