"""Quantities as text: three digits and a suitable unit."""


def format_time(time_s: float) -> str:
    """Return a time given in seconds, such as ``1.62 ms``.

    Examples
    --------
    >>> format_time(0.00162), format_time(3e-7)
    ('1.62 ms', '300 ns')
    """
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if time_s >= 0.9995 * scale:  # 999.6 µs would round to 1000 µs, so it is written as 1.00 ms
            return f"{three_digits(time_s / scale)} {unit}"
    return f"{three_digits(time_s * 1e9)} ns"


def format_bytes(n: float) -> str:
    """Return a number of bytes in binary units, such as ``60 MiB``."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n >= scale:
            value = n / scale
            return f"{value:,.0f} {unit}" if value >= 999.5 else f"{value:.3g} {unit}"
    return f"{n:.0f} B"


def three_digits(value: float) -> str:
    """Return a positive number with three significant digits; from 1000 on, rounded to a whole number.

    Examples
    --------
    >>> three_digits(4272.3), three_digits(0.05)
    ('4,272', '0.0500')
    """
    return f"{value:,.0f}" if value >= 999.5 else f"{value:#.3g}".rstrip(".")


def how_many(n: int, thing: str) -> str:
    """Return a count followed by the name of what is counted, in the singular or plural.

    Examples
    --------
    >>> how_many(1, "number"), how_many(1200, "number")
    ('1 number', '1,200 numbers')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"


def or_unknown(value: float | None, form: str = ".1f") -> str:
    """Return a number as text, or "unknown" for None.

    Examples
    --------
    >>> or_unknown(1.25, ".2f"), or_unknown(None)
    ('1.25', 'unknown')
    """
    return "unknown" if value is None else format(value, form)


def format_size(size: int | list[int]) -> str:
    """Return the size of a vector or of a grid: powers of two and cubes are written as powers.

    Examples
    --------
    >>> format_size(2**30), format_size([512, 512, 512]), format_size([16384, 16384]), format_size(1000)
    ('2^30', '512³', '16384²', '1000')
    """
    if isinstance(size, int):
        return f"2^{size.bit_length() - 1}" if size >= 1024 and size & (size - 1) == 0 else str(size)
    sides = set(size)
    if len(sides) == 1 and len(size) in (2, 3):
        return f"{size[0]}{'²³'[len(size) - 2]}"
    return " × ".join(map(str, size))
