"""``course bench TOPIC``: measure a suite, compare it with its limits, and record it if ``--record`` is given."""

import importlib
from pathlib import Path

from course_pkg import bench
from course_pkg.core.units import or_unknown
from course_pkg.paths import recorded_dir
from course_pkg.topics import topics, with_room


def suites() -> dict[str, str]:
    """Return the suites by name: those of the topics, that of wrong clocks, and that of the interpreter."""
    found = {topic: f"course_pkg.{topic}.suite" for topic in with_room("suite") if topic in topics()}
    return {**found, "honest": "course_pkg.vector.suite_honest", "simt": "course_pkg.witness.suite"}


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument(
        "topic",
        choices=suites(),
        help="which suite to measure; honest measures with wrong and right clocks, simt the interpreter",
    )
    parser.add_argument("--device", choices=("cpu", "gpu"), help="default: the GPU if there is one")
    parser.add_argument("--quick", action="store_true", help="few sizes and few samples, for a short trial")
    parser.add_argument(
        "--record", action="store_true", help="save the measurements in figures/data/<device>/<topic>.json"
    )
    parser.add_argument("--out", type=Path, help="record into this folder instead of figures/data")


def run(args) -> int:
    """Measure the suite, print it, and record it if asked; return the exit status."""
    suite = importlib.import_module(suites()[args.topic])
    device = args.device or getattr(suite, "DEVICE", None) or ("gpu" if bench.gpu().kind == "gpu" else "cpu")
    measurements = []
    for m in suite.run(device, quick=args.quick):
        if not measurements:
            print(
                f"{'median':>10}  {'spread':>7}  {'throughput':>12}  {'T_eff':>12}  {'GFLOP/s':>9}  variant"
            )
        measurements.append(m)
        what = ", ".join(f"{k}={v}" for k, v in m.parameters.items() if k != "dtype")
        print(
            f"{bench.format_time(m.median_s):>10}  {m.spread:>7.1%}  {or_unknown(m.throughput_gb_s):>7} GB/s  "
            f"{or_unknown(m.t_eff_gb_s):>7} GB/s  {or_unknown(m.gflop_s):>9}  {m.label} ({what})",
            flush=True,
        )
    print(f"Medians on {measurements[0].device.name}.")
    demanded = suite.demands(measurements) if hasattr(suite, "demands") else []
    if demanded:
        print(bench.Table(demanded))
    if args.record:
        origin = (
            f"course bench {args.topic} --device {device}" + (" --quick" if args.quick else "") + " --record"
        )
        path = bench.record(args.topic, measurements, args.out or recorded_dir(), origin=origin)
        print(f"Recorded in {path}.")
    return 0
