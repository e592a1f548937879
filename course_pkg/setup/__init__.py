"""Setting up: the environment `.venv`, what the driver can do, and sentences for what goes wrong on the way.

Standard library only: this room works before anything is installed.
"""
