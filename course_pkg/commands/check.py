"""What a doctor's finding is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """One finding about this machine.

    Attributes
    ----------
    name : str
        What was looked at.
    status : {"ok", "warn", "fail"}
        ``fail`` only for what the lectures cannot do without.
    value : str
        What was found.
    mend : str
        What to do about it, in one sentence; empty when all is well.
    """

    name: str
    status: Literal["ok", "warn", "fail"]
    value: str
    mend: str = ""
