"""Measurements that are made up, and what `course verify` reads of its command line."""

import argparse
from dataclasses import replace

from course_pkg.bench import measure
from course_pkg.cli import build_parser


def timed(what, time_s, cost=None, **parameters):
    """Return a measurement of two samples, each of ``time_s`` seconds."""
    m = measure(sum, (1,), name=what, parameters=parameters, cost=cost, samples=2)
    return replace(m, samples_s=(time_s, time_s))


def arguments(*words) -> argparse.Namespace:
    """Return the arguments of `course verify` after these words."""
    return build_parser("verify").parse_args(["verify", *words])
