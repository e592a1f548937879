"""A sentence that says where recorded numbers come from: for one record, or for several at once."""

from collections.abc import Iterable


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
        source = super().__new__(cls, _sentence([device], (driver, when, tool), [command]))
        source.parts = device, (driver, when, tool), command
        return source


def origins(sources: Iterable[Source]) -> str:
    """Return the origin of the numbers of several records, without repetitions.

    Records that differ only in the device share a sentence, and so do records that differ only in the command.

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
    devices: dict[tuple, dict[str, None]] = {}
    for device, how, command in (source.parts for source in sources):
        devices.setdefault((how, command), {})[device] = None
    commands: dict[tuple, list[str]] = {}
    for (how, command), names in devices.items():
        commands.setdefault((tuple(names), how), []).append(command)
    return " ".join(_sentence(names, how, by) for (names, how), by in commands.items())


def _sentence(devices, how, commands) -> str:
    driver, when, tool = how
    where = " and ".join(devices) + (f", driver {driver}" if driver else "")
    by = " and ".join(f"`{command}`" for command in commands)
    return f"Recorded on {where}, {when}, {f'with {tool} ' if tool else ''}by {by}."
