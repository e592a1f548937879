"""The steps of the laboratories: one module or folder per lecture, with the lecture's name."""
