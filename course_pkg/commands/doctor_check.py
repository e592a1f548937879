"""The result of one check of ``course doctor``."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """The result of one check of this machine.

    Attributes
    ----------
    name : str
        What was checked.
    status : {"ok", "warn", "fail"}
        ``fail`` only if the lectures cannot run like this.
    value : str
        What was found.
    fix : str
        One sentence that says how to fix it; empty if nothing is wrong.
    """

    name: str
    status: Literal["ok", "warn", "fail"]
    value: str
    fix: str = ""
