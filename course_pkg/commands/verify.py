"""``course verify counters|races|traffic``: compare the course's counts with what NVIDIA's tools find on a GPU.

``counters`` compares the interpreter with Nsight Compute, and ``races`` with Compute Sanitizer. ``traffic`` compares
the bytes of ``cost.py`` with those that the GPU moves to and from its memory, on grids that are larger than any cache,
and says which of the three clocks binds each kernel: memory, L1 and L2, or issue.
"""

from pathlib import Path

from course_pkg import bench
from course_pkg.bench.document import KINDS
from course_pkg.commands import devices, limits, traffic
from course_pkg.core import CourseError
from course_pkg.device.case import Case
from course_pkg.paths import recorded_dir
from course_pkg.witness import compare, counting, ncu, record, sanitizer
from course_pkg.witness.cases import all_cases, choose, fixed_cases, large_cases, racy_cases, topic_of


def add_arguments(parser):
    """Declare the subcommand's options."""
    parser.add_argument("what", choices=("counters", "races", "traffic"), help="what to compare")
    devices.add_arguments(parser, ("gpu",), "the GPU if there is one, else the record")
    parser.add_argument("--list", action="store_true", help="name the cases; count nothing")
    parser.add_argument(
        "--case", action="append", default=[], metavar="NAME", help="only this case; may be repeated"
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="on a GPU, leave out the cases that its record holds already",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="add the counts to counters.json or traffic.json in figures/data/<device>, topic by topic",
    )
    parser.add_argument("--out", type=Path, help="record into this folder instead of figures/data")


def run(args) -> int:
    """Compare and print; return the exit status."""
    if args.list:
        print(*(case.name for case in _offered(args.what)), sep="\n")
        return 0
    here, there = devices.chosen(args, args.what if args.what in KINDS else record.COUNTERS)
    on_gpu = here == "gpu" or (there is None and bench.gpu().kind == "gpu")
    args.against = there or record.DEVICE
    if args.record and (args.what == "races" or not on_gpu):
        raise CourseError(
            "Only counters and traffic of a GPU can be recorded: use `course verify counters --device gpu --record`, "
            "or traffic instead of counters; --case NAME adds one case to the record."
        )
    if args.missing and (args.what == "races" or not on_gpu):
        raise CourseError(
            "--missing chooses what a GPU has to count: use it with counters or traffic on a GPU."
        )
    if args.out and not args.record:
        raise CourseError("--out says where to record: add --record.")
    return {"counters": _counters, "races": _races, "traffic": _traffic}[args.what](args, on_gpu)


def _counted(args, on_gpu, cases, metrics):
    """Count the cases on the GPU, and record them if asked; without a GPU, read the record.

    Returns
    -------
    counters : dict
        Counters of each case, by its name.
    absent : tuple of str
        Names of the metrics that the device does not count.
    where : list of str
        A line that says where the cases were counted, and a line for each part that could not be counted.
    """
    if not on_gpu:
        recorded = record.recorded(args.what, args.against)
        return recorded.counters, recorded.absent, [recorded.origin]

    def keep(part):
        if args.record:
            path = record.record(
                part, bench.gpu(), _folder(args), origin=KINDS[args.what].command, kind=args.what
            )
            print(f"Recorded {len(part.counters)} cases in {path}.", flush=True)

    collected, troubles = counting.count(cases, metrics, keep, collector=ncu.collect)
    return collected.counters, collected.absent, [f"Counted on {bench.gpu().name}.", *troubles]


def _folder(args) -> Path:
    return args.out or recorded_dir()


def _to_count(args, cases: list[Case]) -> list[Case]:
    """Return the cases to count or to read; with --missing, only those that the record of this GPU lacks."""
    if not args.missing:
        return cases
    path = _folder(args) / bench.gpu().slug / f"{args.what}.json"
    there = record.load(path, args.what).counters if path.exists() else {}
    return [case for case in cases if case.name not in there]


def _not_there(case: Case, kind: str, on_gpu: bool) -> str:
    """Say that a case has no counters, and how to get them."""
    if on_gpu:
        return f"{case.name}: Nsight Compute returned no complete counters; try this case alone, with --case."
    return f"{case.name}: not recorded yet; to record it, run `{record.how_to_record(case.name, kind)}`."


def _offered(what: str) -> list[Case]:
    """Return all cases that a comparison offers."""
    if what == "races":
        return [*racy_cases().values(), *fixed_cases().values()]
    return list((large_cases() if what == record.TRAFFIC else all_cases()).values())


def _traffic(args, on_gpu: bool) -> int:
    cases = choose(args.case or large_cases(), large_cases())
    if small := [case.name for case in cases if case.name not in large_cases()]:
        raise CourseError(
            f"{small[0]} fits in a cache: `course verify traffic` needs one of {', '.join(large_cases())}."
        )
    if not (cases := _to_count(args, cases)):
        print("The record lacks no case.")
        return 0
    counters, _, where = _counted(args, on_gpu, cases, ncu.TRAFFIC)
    bounds = _limits({topic_of(case) for case in cases}, None if on_gpu else args.against)
    print(traffic.header())
    troubles, missing = [], []
    for case in cases:
        if not set(ncu.TRAFFIC[:2]) <= set(counters.get(case.name, ())):
            missing.append(_not_there(case, record.TRAFFIC, on_gpu))
            continue
        print(traffic.row(case, counters[case.name], bounds[topic_of(case)]))
        troubles += compare.too_little(case, counters[case.name])
    print(*traffic.notes(bounds), sep="\n")
    return _end(where, troubles, missing, on_gpu or len(missing) == len(cases))


def _limits(of_topics: set[str], device: str | None) -> dict[str, bench.Limits | None]:
    """Return topics' limits on a recorded device, or on this machine's GPU; measure them if a topic has no record."""
    folder_name = device or bench.gpu().slug
    found = {topic: limits.recorded(topic, folder_name) for topic in sorted(of_topics)}
    if device is None and None in found.values():
        return dict.fromkeys(found, limits.here("gpu"))
    return found


def _end(where: list[str], troubles: list[str], missing: list[str], must: bool) -> int:
    """Print what is wrong and what is missing; return 1 if anything is wrong, or if anything required is missing."""
    print(*where, *troubles, *missing, sep="\n")
    return 1 if troubles or (missing and must) else 0


def _counters(args, on_gpu: bool) -> int:
    cases = choose(args.case)
    if large := [case.name for case in cases if case.name in large_cases()]:
        raise CourseError(f"{large[0]} is too large for the interpreter: use `course verify traffic`.")
    if not (cases := _to_count(args, cases)):
        print("The record lacks no case.")
        return 0
    counters, absent, where = _counted(args, on_gpu, cases, ncu.METRICS)
    there = [case for case in cases if case.name in counters]
    missing = [_not_there(case, record.COUNTERS, on_gpu) for case in cases if case.name not in counters]
    troubles = _print_counters(there, counters, every_quantity=bool(args.case))
    if absent:
        print(f"The device did not count {', '.join(absent)}.")
    return _end(where, troubles, missing, on_gpu or not there)


def _print_counters(cases: list[Case], counters: dict, *, every_quantity: bool) -> list[str]:
    """Print each quantity that differs, or every quantity that is not zero; return sentences on what is wrong."""
    listed, troubles = compare.exceptions(), []
    print(f"{'interpreter':>12}  {'hardware':>12}  {'':9}  quantity, case")
    for case in cases:
        rows = compare.compare(case, counters[case.name])
        for row in rows:
            if not row.equal or (every_quantity and (row.counted or row.measured)):
                _print_row(row)
        if not every_quantity and all(row.equal for row in rows):
            print(f"{'':12}  {'':12}  {'exact':9}  {case.name}")
        troubles += compare.verdict(rows, listed.get(case.name))
    _print_summary(cases, listed)
    return troubles


def _print_row(row: compare.Row):
    measured = "not counted" if row.measured is None else f"{row.measured:,}"
    word = "" if row.measured is None else "equal" if row.equal else "differs"
    print(f"{row.counted:>12,}  {measured:>12}  {word:9}  {row.quantity}, {row.case}", flush=True)


def _print_summary(cases: list[Case], listed: dict):
    for data_dependent in (False, True):
        chosen = [case for case in cases if case.data_dependent == data_dependent]
        if chosen:
            s = compare.summary(chosen, listed)
            what = "with" if data_dependent else "without"
            print(
                f"Kernels {what} data-dependent trip counts: {s.exact_kernels} of {s.kernels} kernels and "
                f"{s.exact_launches} of {s.launches} launches are not listed as exceptions."
            )


def _races(args, on_gpu: bool) -> int:
    if on_gpu:
        sanitizer.find()
    cases = (
        choose(args.case, {case.name: case for case in _offered("races")}) if args.case else _offered("races")
    )
    print(f"{'interpreter':>18}  {'sanitizer':>18}  case")
    wrong = [case.name for case in cases if not _print_races(case, on_gpu)]
    if not on_gpu:
        print("The sanitizer was not asked: it needs a GPU.")
    if wrong:
        print(f"Not as expected: {', '.join(wrong)}.")
    return 1 if wrong else 0


def _print_races(case: Case, on_gpu: bool) -> bool:
    """Print what interpreter and sanitizer find in a case; return whether it is what the case expects."""
    kinds = sorted({hazard.kind for hazard in compare.profile(case).hazards})
    right = case.hazard in kinds if case.hazard else not kinds
    said = "not asked"
    if on_gpu:
        tools = (
            (sanitizer.TOOLS[case.hazard],) if case.hazard else tuple(dict.fromkeys(sanitizer.TOOLS.values()))
        )
        errors = sum(sanitizer.findings(case, tool) for tool in tools)
        said = f"{errors} errors" if errors else "clean"
        right = right and bool(errors) == bool(case.hazard)
    print(f"{', '.join(kinds) or 'clean':>18}  {said:>18}  {case.name}: {case.idea}", flush=True)
    return right
