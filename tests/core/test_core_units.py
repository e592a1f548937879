"""Numbers with units, formatted for people."""

import pytest

from course_pkg.core.units import format_bytes, format_time


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.5, "2.50 s"),
        (1, "1.00 s"),
        (0.0016234, "1.62 ms"),
        (1e-3, "1.00 ms"),
        (42e-6, "42.0 µs"),
        (3.21e-8, "32.1 ns"),
        (0.123, "123 ms"),
        (0.9997, "1.00 s"),
        (1500, "1,500 s"),
    ],
)
def test_format_time(seconds, text):
    assert format_time(seconds) == text


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1000 * 1024, "1,000 KiB"),
        (60 * 2**20, "60 MiB"),
        (2**30 * 16, "16 GiB"),
    ],
)
def test_format_bytes(n, text):
    assert format_bytes(n) == text
