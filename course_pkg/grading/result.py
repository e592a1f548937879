"""The result of a grading: points and one line of feedback for each graded cell."""

import secrets
from dataclasses import asdict, dataclass, field


@dataclass
class CellGrade:
    """The mark of a graded cell.

    Attributes
    ----------
    grade_id : str
    points, max_points : float
    feedback : str
        One line that the learner understands; empty if there is nothing to say.
    hidden : bool
        Whether the cell holds hidden tests: its feedback shows no values.
    manual : bool
        Whether a person grades it.
    verdict : str
        The kind of mistake, in a sentence without values; empty if no error stopped the test.
    """

    grade_id: str
    points: float
    max_points: float
    feedback: str = ""
    hidden: bool = False
    manual: bool = False
    verdict: str = ""


@dataclass
class Report:
    """The marks of a submission.

    Attributes
    ----------
    exercise, student : str
    points, max_points : float
    cells : list of CellGrade
    notes : list of str
        Sentences for the teacher, such as that there was no sandbox, or that the notebook could not be read.
    contained : bool
        Whether the learner's code ran in isolation.
    seed : int
        The seed with which the same inputs can be drawn again.
    ungraded : str
        The reason why there are no marks, if the submission is not at fault; otherwise empty.
    """

    exercise: str
    student: str = ""
    points: float = 0.0
    max_points: float = 0.0
    cells: list[CellGrade] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    contained: bool = False
    seed: int = 0
    ungraded: str = ""

    def add(self, cell: CellGrade) -> None:
        """Add the mark of a cell."""
        self.cells.append(cell)
        self.points += cell.points
        self.max_points += cell.max_points

    def to_dict(self) -> dict:
        """Return the report as values that JSON can represent."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict) -> "Report":
        """Make a report from what :meth:`to_dict` returned."""
        return cls(**{**given, "cells": [CellGrade(**cell) for cell in given["cells"]]})


def new_seed() -> int:
    """Return a seed too large to be guessed, and small enough for a spreadsheet to store exactly."""
    return secrets.randbits(48)
