"""What a notebook would show."""


class Handle:
    """Stands for an output of a notebook: keeps in a list what it is updated to."""

    def __init__(self, shown):
        self.shown = shown

    def update(self, what):
        self.shown.append(what.data)
