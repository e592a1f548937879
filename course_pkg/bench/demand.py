"""A row of the table in which ``course bench`` compares measurements with their limits."""


def demand(what: str, wanted: str, measured: str, met: bool) -> dict[str, str]:
    """Return a row: what is limited, the limit, what was measured, and whether the limit was met.

    Examples
    --------
    >>> demand("triad: share of the copy", "≥ 0.90", "0.850", 0.85 >= 0.90)["met"]
    'NO'
    """
    return {"what": what, "demand": wanted, "measured": measured, "met": "yes" if met else "NO"}
