"""Questions to guess, and what a learner does with them."""

import json

from course_pkg.viz import Estimate, Prediction

CHOICES = ("the same", "8 times", "16 times")


def ask(store, key="02-flops", choices=CHOICES):
    return Prediction(key, "How much longer?", choices, store=store)


def estimate(store, low=1, high=10_000, unit="GB/s"):
    return Estimate("02-stream", "How fast?", low, high, unit, store=store)


def choose(prediction, choice):
    """Do what a click does: the browser sends the index."""
    prediction.widget.children[1].index = prediction.choices.index(choice)


def move(asked, value):
    asked.widget.children[1].index = asked.values.index(value) + 1


def text(widget):
    """What stands below and above the control."""
    return " ".join(
        child.value for child in widget.children if isinstance(getattr(child, "value", None), str)
    )


def with_seed(store, seed):
    store.parent.mkdir(exist_ok=True)
    store.write_text(json.dumps({"seed": seed, "guesses": {}}))
    return store
