"""The recorded limits of a device: T_peak, and the bandwidth that gives the bound of a topic's measurements."""

import importlib

from course_pkg import bench
from course_pkg.bench import Limits, folder
from course_pkg.paths import recorded_dir
from course_pkg.topics import topics, with_module


def recorded(topic: str, device: str) -> Limits | None:
    """Return the limits of a recorded device for a topic's measurements; None if its streams are not recorded.

    The bound comes from a stream that the topic measured together with its own variants, if there is one.
    """
    from course_pkg.vector.peak import limits_of

    if device not in folder.devices(recorded_dir(), "vector"):
        return None
    own = None
    if (
        topic in topics()
        and topic in with_module("suite")
        and device in folder.devices(recorded_dir(), topic)
    ):
        suite = importlib.import_module(f"course_pkg.{topic}.suite")
        bounding = getattr(suite, "bounding_stream", lambda measurements: None)
        own = bounding(bench.recorded(topic, device).measurements)
    return limits_of(bench.recorded("vector", device).measurements, own)
