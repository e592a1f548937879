"""Where numbers come from: sentences for one record and for several at once, notes of figures, names of devices."""

from collections.abc import Iterable

THIS_MACHINE = "this machine"  # stands for the name of the device on which this process measures


class Source(str):
    """The sentence that says where the rows of a record come from; :func:`origins` combines several of them.

    Parameters
    ----------
    device, driver, when, tool, command : str
        ``driver`` and ``tool`` may be empty.

    Examples
    --------
    >>> Source("NVIDIA H200", "580.1", "2026-11-22", "", "course bench cg")
    'Recorded on NVIDIA H200, driver 580.1, 2026-11-22, by `course bench cg`.'
    """

    def __new__(cls, device: str, driver: str, when: str, tool: str, command: str):
        """Make the sentence from its parts."""
        source = super().__new__(cls, _sentence([([device], driver, when)], tool, [command]))
        source.device, source.driver, source.when = device, driver, when
        source.tool, source.command = tool, command
        return source


class Note(str):
    """The note of a figure, which keeps its parts: :func:`together` writes what several notes share only once.

    Parameters
    ----------
    *parts : str
        Whole sentences, the origin of a record, or other notes.

    Examples
    --------
    >>> Note("512³ points.", Source("NVIDIA H200", "580.1", "2026-11-22", "", "course bench cg"))
    '512³ points. Recorded on NVIDIA H200, driver 580.1, 2026-11-22, by `course bench cg`.'
    """

    def __new__(cls, *parts: str):
        """Join the parts."""
        flat = [one for part in parts for one in (part.parts if isinstance(part, Note) else [part]) if one]
        note = super().__new__(cls, " ".join(flat))
        note.parts = tuple(flat)
        return note


class OfDevice(str):
    """The name of a figure's series that knows its device: a device has the same colour in every figure.

    Parameters
    ----------
    name : str
        What the figure writes.
    device : str
        The short name of a recorded device, or ``THIS_MACHINE``.

    Examples
    --------
    >>> OfDevice("time, H200", "H200"), OfDevice("time, H200", "H200").device
    ('time, H200', 'H200')
    """

    def __new__(cls, name: str, device: str):
        """Make the name."""
        found = super().__new__(cls, name)
        found.device = device
        return found


def together(notes: Iterable[str]) -> str:
    """Return several notes as one: each part is said once, and origins of records are combined.

    Examples
    --------
    >>> there = [Source(gpu, "580.1", "2026-11-22", "", "course bench cg") for gpu in ("NVIDIA H100", "NVIDIA H200")]
    >>> together(Note("512³ points.", one) for one in there)
    '512³ points. Recorded on NVIDIA H100 and NVIDIA H200, driver 580.1, 2026-11-22, by `course bench cg`.'
    """
    parts = list(dict.fromkeys(Note(*notes).parts))
    sources = [part for part in parts if isinstance(part, Source)]
    told = [origins(sources) if part in sources[:1] else part for part in parts if part not in sources[1:]]
    return " ".join(told)


def origins(sources: Iterable[Source]) -> str:
    """Return the origin of the numbers of several records, without repetitions.

    Records share a sentence if they differ only in device, driver and day, or only in the command.

    Parameters
    ----------
    sources : iterable of Source
        The ``origin`` of each record.

    Examples
    --------
    >>> there = [Source(gpu, "580.1", "2026-11-22", "", "course bench cg") for gpu in ("NVIDIA H100", "NVIDIA H200")]
    >>> origins(there)
    'Recorded on NVIDIA H100 and NVIDIA H200, driver 580.1, 2026-11-22, by `course bench cg`.'
    """
    by_command: dict[tuple, dict[tuple, dict[str, None]]] = {}
    for one in sources:
        drivers = by_command.setdefault((one.tool, one.command), {})
        drivers.setdefault((one.driver, one.when), {})[one.device] = None
    commands: dict[tuple, list[str]] = {}
    for (tool, command), drivers in by_command.items():
        where = tuple((tuple(devices), *how) for how, devices in drivers.items())
        commands.setdefault((where, tool), []).append(command)
    return " ".join(_sentence(where, tool, by) for (where, tool), by in commands.items())


def _sentence(where, tool, commands) -> str:
    """Return the sentence on some devices, with the driver and the day of each, and some commands."""
    places = " and ".join(
        f"{' and '.join(devices)}{f', driver {driver}' if driver else ''}, {when}"
        for devices, driver, when in where
    )
    by = " and ".join(f"`{command}`" for command in commands)
    return f"Recorded on {places}, {f'with {tool} ' if tool else ''}by {by}."
