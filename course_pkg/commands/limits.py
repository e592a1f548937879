"""The limits of a device: T_peak and the bandwidth that gives the bound; both are recorded, or measured here."""

from course_pkg.bench import Limits
from course_pkg.witness.limits import recorded

__all__ = ["here", "recorded"]


def here(device: str) -> Limits:
    """Measure the limits of this machine's ``"cpu"`` or ``"gpu"``, in a few seconds."""
    from course_pkg.vector.peak import limits_of, streams_here

    return limits_of(streams_here(device))
