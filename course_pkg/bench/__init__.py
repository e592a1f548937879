"""Measure callables, compare their times with a Cost, and record them. This package does not depend on any topic."""

from course_pkg.bench.compare import Comparison, compare, progress
from course_pkg.bench.compiled import compiled
from course_pkg.bench.defence import Defence, defend
from course_pkg.bench.device import Device, cpu, gpu
from course_pkg.bench.limit import Limits
from course_pkg.bench.live import live
from course_pkg.bench.measure import measure
from course_pkg.bench.measurement import Measurement, matching
from course_pkg.bench.record import Recorded, load, origin, record, recorded, records
from course_pkg.core.sources import origins
from course_pkg.core.table import Table
from course_pkg.core.units import format_time

__all__ = [
    "Comparison",
    "Defence",
    "Device",
    "Limits",
    "Measurement",
    "Recorded",
    "Table",
    "compare",
    "compiled",
    "cpu",
    "defend",
    "format_time",
    "gpu",
    "live",
    "load",
    "matching",
    "measure",
    "origin",
    "origins",
    "progress",
    "record",
    "recorded",
    "records",
]
