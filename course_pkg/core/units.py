"""Quantities for people: three digits and a unit that fits."""


def format_time(time_s: float) -> str:
    """Return a time given in seconds, such as ``1.62 ms``."""
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if time_s >= scale:
            return f"{time_s / scale:.3g} {unit}"
    return f"{time_s * 1e9:.3g} ns"


def format_bytes(n: float) -> str:
    """Return a number of bytes in binary units, such as ``60 MiB``."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n >= scale:
            return f"{n / scale:,.3g} {unit}"
    return f"{n:.0f} B"
