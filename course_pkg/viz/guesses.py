"""A file with a learner's guesses, the right answers, and the seed that determines the order of the options.

``lectures/.predictions.json`` holds ``{"seed": 17, "guesses": {"02-flops": {"guess": "degree 2", "right": …}}}``.
"""

import copy
import hashlib
import json
import os
import secrets
from pathlib import Path

from course_pkg.core import CourseError
from course_pkg.core.files import backup, write
from course_pkg.paths import repo_root

NOWHERE = "none"  # value of COURSE_GUESSES with which no file is read or written
FIXED = 0  # the seed if none can be kept: the order then depends on the question alone
_TYPES = {
    "guess": (str, int, float, type(None)),
    "question": str,
    "measured": str,
    "how": str,
    "right": (str, int, float, type(None)),
    "unit": str,
    "choices": int,
}
_UNSAVED: dict[Path | None, dict] = {}  # guesses that are in no file; they last until the kernel ends
_TROUBLE: dict[Path | None, str] = {}  # why they are in no file


class Guesses:
    """Guesses by the key of their question.

    A damaged file is copied before it is replaced. Where no file can be written, guesses last until the kernel ends.
    If the environment variable ``COURSE_GUESSES`` is ``none``, as while slides are built, files are neither read nor
    written, so that slides show nobody's guesses and their options stand in the same order in each build.

    Parameters
    ----------
    path : Path, optional
        ``lectures/.predictions.json`` of the course by default.

    Attributes
    ----------
    trouble : str
        A sentence about what went wrong with the file; empty if nothing did.
    """

    def __init__(self, path: Path | None = None):
        hidden = os.environ.get("COURSE_GUESSES") == NOWHERE
        self.path = None if hidden else Path(path or repo_root() / "lectures" / ".predictions.json")
        self.trouble = ""

    def order(self, key: str, options) -> list[str]:
        """Return the options of a question in the order that was drawn for it and for this learner.

        The order depends on the seed and on the texts, not on the order in which they are given: the place of an
        option says nothing about whether it is right.
        """
        seed = self._read()["seed"]
        return sorted(options, key=lambda text: hashlib.sha256(f"{seed}\0{key}\0{text}".encode()).digest())

    def about(self, key: str) -> dict:
        """Return a dictionary of what is known of a question; any field may be missing."""
        return self._read()["guesses"].get(key, {})

    def of_lecture(self, number: str) -> list[dict]:
        """Return what is known of a lecture's questions, in the order in which they were last answered.

        Parameters
        ----------
        number : str
            The number with which the keys of its questions begin, such as ``"02"``.
        """
        return [entry for key, entry in self._read()["guesses"].items() if key.startswith(f"{number}-")]

    def guess(self, key: str, guess) -> None:
        """Keep a guess."""
        self._change(key, {"guess": guess}, last=False)

    def reveal(self, key: str, **facts) -> None:
        """Keep the right answer, and move the question to the end, so that questions are in the lecture's order."""
        self._change(key, facts, last=True)

    def _change(self, key, facts, *, last):
        kept = self._read()
        entry = kept["guesses"].pop(key, {}) if last else kept["guesses"].get(key, {})
        kept["guesses"][key] = entry | facts
        self._write(kept)

    def _read(self) -> dict:
        if self.path in _UNSAVED:
            self.trouble = _TROUBLE.get(self.path, "")
            return copy.deepcopy(_UNSAVED[self.path])
        if self.path is None:
            return {"seed": FIXED, "guesses": {}}
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return self._begin({})
        except OSError as error:
            return self._without_file({}, f"could not be read ({error.strerror})")
        try:
            kept = _checked(json.loads(text))
        except (ValueError, RecursionError):
            return self._replace_damaged()
        return kept if "seed" in kept else self._begin(kept["guesses"])

    def _begin(self, guesses: dict) -> dict:
        """Draw the seed and store it at once, so that the order never changes after it was first shown."""
        kept = {"seed": secrets.randbits(32), "guesses": guesses}
        self._write(kept)
        return self._read() if self.path in _UNSAVED else kept

    def _replace_damaged(self) -> dict:
        try:
            orig = backup(self.path)
        except CourseError:
            return self._without_file({}, "is damaged, and could not be copied")
        kept = self._begin({})
        self.trouble = self.trouble or (
            f"The file of your guesses was damaged: it is kept as {orig.name}, and your guesses begin anew."
        )
        return kept

    def _write(self, kept: dict) -> None:
        if self.path is None or self.path in _UNSAVED:
            _UNSAVED[self.path] = kept
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write(self.path, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        except (CourseError, OSError):
            self._without_file(kept["guesses"], "could not be written", seed=_seed_in(self.path))

    def _without_file(self, guesses: dict, why: str, *, seed: int = FIXED) -> dict:
        _UNSAVED[self.path] = {"seed": seed, "guesses": guesses}
        _TROUBLE[self.path] = (
            f"{self.path.name} {why}: your guesses last until this notebook's kernel ends. To keep them, make the "
            f"file and the folder {self.path.parent.name} readable and writable, then restart the kernel."
        )
        return self._read()


def _seed_in(path: Path) -> int:
    try:
        return _checked(json.loads(path.read_bytes())).get("seed", FIXED)
    except (OSError, ValueError, RecursionError):
        return FIXED


def _checked(kept) -> dict:
    """Return the content of a file, or raise ValueError if it is not one of ours.

    Files of older versions, which had no seed, hold only the guesses, as texts by key.
    """
    if isinstance(kept, dict) and "guesses" not in kept and all(isinstance(g, str) for g in kept.values()):
        kept = {"guesses": {key: {"guess": guess} for key, guess in kept.items()}}
    if not isinstance(kept, dict) or not isinstance(kept.get("guesses"), dict):
        raise ValueError("no guesses")
    if not isinstance(kept.get("seed", 0), int):
        raise ValueError("no seed")
    for entry in kept["guesses"].values():
        if not isinstance(entry, dict) or not all(
            isinstance(value, _TYPES.get(field, object)) for field, value in entry.items()
        ):
            raise ValueError("no guess")
    return kept
