"""``course bench TOPIC``: measure a suite, or read its record, and say how far each measurement is from the limit."""

import ast
import importlib
import re
from itertools import chain
from math import prod
from pathlib import Path

from course_pkg import bench
from course_pkg.bench import folder, limit, lookup
from course_pkg.commands import devices, limits
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir
from course_pkg.topics import PACKAGE, topics, with_module

SELECTS = ("case", "size", "dtype", "library")


SAYS = re.compile(r"^SUITE = (\(.+\))$", re.MULTILINE)


def suites() -> dict[str, str]:
    """Return the module of each suite by name, without importing it.

    ``suite.py`` of a topic has the topic's name. Every other suite says ``SUITE = (name, what it measures)``.
    """
    found = {topic: f"course_pkg.{topic}.suite" for topic in with_module("suite") if topic in topics()}
    return found | {name: module for name, (module, _) in _others().items()}


def _others() -> dict[str, tuple[str, str]]:
    """Return the module of each suite that says its name, and what it measures."""
    found = {}
    for path in sorted(PACKAGE.glob("*/suite*.py")):
        if said := SAYS.search(path.read_text(encoding="utf-8")):
            name, about = ast.literal_eval(said[1])
            found[name] = f"course_pkg.{path.parent.name}.{path.stem}", about
    return found


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument(
        "topic",
        choices=suites(),
        help="which suite to measure: a topic's, or "
        + "; ".join(f"{name}: {about}" for name, (_, about) in _others().items()),
    )
    devices.add_arguments(parser, ("cpu", "gpu"), "this machine's GPU if there is one, else its CPU")
    parser.add_argument("--list", action="store_true", help="name what the topic measures; measure nothing")
    parser.add_argument(
        "--case",
        metavar="NAME",
        help="of a record, only these: a function, a variant or an operation; measuring qp, one of its problems",
    )
    parser.add_argument("--size", metavar="N", help="of a record, only this size: 512, 16384x16384 or 2^30")
    parser.add_argument("--dtype", help="of a record, only this type of numbers: float64 or float32")
    parser.add_argument("--library", metavar="NAME", help="of a record, only this library: CUDA, CuPy, JAX …")
    parser.add_argument("--quick", action="store_true", help="few sizes and few samples, for a short trial")
    parser.add_argument(
        "--record", action="store_true", help="save the measurements in figures/data/<device>/<topic>.json"
    )
    parser.add_argument("--out", type=Path, help="record into this folder instead of figures/data")


def run(args) -> int:
    """Print what is measured, or what was recorded; return the exit status."""
    selected = [f"--{name}" for name in SELECTS if getattr(args, name)]
    if args.list:
        _list(args.topic)
        return 0
    here, there = devices.chosen(args, args.topic)
    if there is not None:
        if args.record or args.quick:
            raise CourseError("A record is only read: leave out --record and --quick, or name cpu or gpu.")
        return _read(args, there)
    parts = getattr(importlib.import_module(suites()[args.topic]), "PARTS", ())
    if selected and (selected != ["--case"] or args.case not in parts):
        alone = f", or measure one of {', '.join(parts)} by --case" if parts else ""
        raise CourseError(
            f"{selected[0]} chooses from a record, and a suite is measured as a whole: add --device recorded, or "
            f"leave out {selected[0]}{alone}."
        )
    if args.out and not args.record:
        raise CourseError("--out says where to record: add --record.")
    return _measure(args, here)


def _read(args, device: str) -> int:
    """Print those recorded measurements of a device that the options ask for."""
    recorded = bench.recorded(args.topic, device)
    wanted = {name: getattr(args, name) for name in SELECTS[1:]}
    chosen = lookup.find(recorded.measurements, args.case, whole_operation=True, **wanted)
    _print(args.topic, chosen, _bounds(args.topic, device), recorded.measurements)
    print(recorded.origin)
    return 0


def _bounds(topic: str, device: str) -> bench.Limits | None:
    """Return the limits of a recorded device; None if memory does not bound the times of this suite."""
    return limits.recorded(topic, device) if topic in topics() else None


def _measure(args, device: str | None) -> int:
    """Measure the suite, print it, and record it if asked."""
    suite = importlib.import_module(suites()[args.topic])
    device = device or getattr(suite, "DEVICE", None) or ("gpu" if bench.gpu().kind == "gpu" else "cpu")
    part = {"only": args.case} if args.case else {}
    found = iter(suite.run(device, quick=args.quick, **part))
    first = next(found)  # before the limits are measured, because it raises if there is no such device
    bounds = limits.here(device) if args.topic in topics() else None
    measurements = _print(args.topic, chain([first], found), bounds)
    print(f"Medians on {first.device.name}.")
    if args.record:
        origin = (
            f"course bench {args.topic} --device {device}" + (" --quick" if args.quick else "") + " --record"
        )
        path = bench.record(args.topic, measurements, args.out or recorded_dir(), origin=origin)
        print(f"Recorded in {path}.")
    return 0


def _print(topic: str, measurements, bounds: bench.Limits | None, among=None) -> list:
    """Print measurements as they come, then the tables that their suite makes of them, and return them.

    If only some measurements are printed, ``among`` holds all that were measured together with them.
    """
    suite, done = importlib.import_module(suites()[topic]), []
    for line, m in limit.lines(measurements, bounds, among or (), rates=getattr(suite, "RATES", True)):
        print(line, flush=True)
        done += [m] if m else []
    among = done if among is None else among
    if rows := suite.summary(done, among) if hasattr(suite, "summary") else ():
        print(bench.Table(rows))
    if len(done) == len(among) and (demanded := suite.demands(done) if hasattr(suite, "demands") else ()):
        print(bench.Table(demanded))
    return done


def _list(topic: str):
    """Print what a topic has measured on any device: names for ``--case``, libraries, sizes, and the idea."""
    recorded = [bench.recorded(topic, device) for device in folder.devices(recorded_dir(), topic)]
    ideas = _ideas(topic)
    found: dict[str, list] = {name: [] for name in ideas}
    for m in (m for one in recorded for m in one.measurements):
        found.setdefault(lookup.function_name(m), []).append(m)
    rows = [("case", "sizes", "libraries", "idea")]
    rows += [
        (
            name,
            _range(ms),
            ", ".join(dict.fromkeys(m.library for m in ms)) or "not recorded",
            ideas.get(name, ""),
        )
        for name, ms in found.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(f"Recorded on {', '.join(one.device.slug for one in recorded) or 'no device'}.")
    print(f"`course bench {topic} --device DEVICE --case CASE` reads a record.")


def _ideas(topic: str) -> dict[str, str]:
    """Return one line on each variant of a topic, or what another suite says of its measurements, if anything."""
    if topic in topics():
        return {
            v.function_name: v.idea for v in importlib.import_module(f"course_pkg.{topic}.variants").VARIANTS
        }
    suite = importlib.import_module(suites()[topic])
    return suite.ideas() if hasattr(suite, "ideas") else {}


def _range(measurements) -> str:
    """Return the smallest and the largest of the sizes, or all of them if they are few."""
    sizes = sorted({lookup.size_of(m) for m in measurements}, key=lambda size: prod(lookup.parse_size(size)))
    return ", ".join(sizes) if len(sizes) <= 2 else f"{sizes[0]} … {sizes[-1]}"
