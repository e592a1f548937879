"""The options ``--device`` and ``--against``: measure here, or read the record of a device."""

from course_pkg.bench import folder
from course_pkg.core import CourseError
from course_pkg.paths import recorded_dir

RECORDED = "recorded"


def add_arguments(parser, here: tuple[str, ...], default: str):
    """Declare both options; ``here`` names the devices of this machine that the subcommand can use."""
    there = ", ".join(folder.devices(recorded_dir()))
    parser.add_argument(
        "--device",
        metavar="DEVICE",
        help=f"{' or '.join(here)} of this machine, or a recorded device, which needs no GPU: {there}, or a part of "
        f"such a name (h100); `recorded` is the one of --against; default: {default}",
    )
    parser.add_argument(
        "--against",
        metavar="DEVICE",
        help=f"the recorded device that is read: {there}, or a part of such a name; default: {folder.DEFAULT_DEVICE}",
    )
    parser.set_defaults(here=here)


def chosen(args, stem: str) -> tuple[str | None, str | None]:
    """Return the requested device of this machine and the folder of the requested record; at least one is None.

    Parameters
    ----------
    stem : str
        The record that is read, such as ``"stencil"`` or ``"traffic"``.

    Raises
    ------
    CourseError
        If the device has no such record, or if both a device of this machine and a record were asked for.
    """
    if args.device in args.here:
        if args.against:
            raise CourseError(
                f"--against names a record, but --device {args.device} measures here: leave out one of the two."
            )
        return args.device, None
    if args.device is None and args.against is None:
        return None, None
    if args.device not in (None, RECORDED) and args.against:
        raise CourseError("--device and --against both name a recorded device: leave out one of the two.")
    named = args.against or (folder.DEFAULT_DEVICE if args.device == RECORDED else args.device)
    known = folder.devices(recorded_dir())
    if not any(named.lower() in name for name in known):
        option = "--against" if args.against else "--device"
        mine = "" if args.against else f"{' or '.join(args.here)} of this machine, or "
        raise CourseError(
            f"{option}: there is no device {named!r}: choose {mine}a recorded one, {', '.join(known)}."
        )
    return None, folder.path_of(recorded_dir(), named, stem).parent.name
