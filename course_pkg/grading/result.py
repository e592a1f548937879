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
        One line in the learner's terms; empty where nothing is to be said.
    hidden : bool
        Whether the cell holds hidden tests: its feedback shows no values.
    manual : bool
        Whether a person grades it.
    """

    grade_id: str
    points: float
    max_points: float
    feedback: str = ""
    hidden: bool = False
    manual: bool = False


@dataclass
class Report:
    """The marks of a submission.

    Attributes
    ----------
    exercise, student : str
    points, max_points : float
    cells : list of CellGrade
    notes : list of str
        What a teacher should know: no sandbox, a notebook that could not be read.
    contained : bool
        Whether the learner's code ran in isolation.
    seed : int
        Draws the same inputs again.
    ungraded : str
        Why there are no marks, though nothing is wrong with the submission; empty where there are.
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
