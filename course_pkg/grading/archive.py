"""Read the only notebook of an archive, in memory: nothing is ever unpacked to disk."""

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
from pathlib import PurePosixPath

from course_pkg.core import CourseError

FILE_BYTES = 20 << 20  # most bytes of a notebook or an archive
UNPACKED_BYTES = 64 << 20  # most bytes of an archive's content
MEMBERS = 500
SUFFIXES = (".ipynb", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
COMPRESSED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


class Refused(CourseError):
    """A submission cannot be graded; `reason` says why, in a sentence for learners."""

    @property
    def reason(self) -> str:
        """The message."""
        return str(self)


def looks_like_submission(name: str) -> bool:
    """Tell whether a file's name is that of a notebook or of an archive."""
    return name.lower().endswith(SUFFIXES)


def unpacked(data: bytes) -> bytes:
    """Return the notebook in an archive; data that are not an archive are returned unchanged.

    Raises
    ------
    Refused
        If a member is a link or has a path outside the archive, if the content is too large, or if there is not exactly
        one notebook.
    """
    opener = next((opener for magic, opener in COMPRESSED.items() if data.startswith(magic)), None)
    if not (opener or data.startswith(b"PK") or data[257:262] == b"ustar"):
        return data
    try:
        if data.startswith(b"PK"):
            return _from_zip(data)
        return _from_tar(_bounded(opener(io.BytesIO(data))) if opener else data)
    except Refused:
        raise
    except Exception:  # a damaged or hostile archive may make its reader raise anything
        raise Refused("The archive is damaged: hand in the notebook itself.") from None


def _bounded(stream) -> bytes:
    """Read a compressed stream up to the limit, so that a decompression bomb does no harm."""
    data = stream.read(UNPACKED_BYTES + 1)
    _check_size(len(data))
    return data


def _check_size(total: int) -> None:
    if total > UNPACKED_BYTES:
        raise Refused(
            f"The archive unpacks to more than {UNPACKED_BYTES >> 20} MiB: hand in the notebook itself."
        )


def _from_zip(data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = file.infolist()
        _check_number(len(members))
        _check_size(sum(member.file_size for member in members))
        for member in members:
            kind = stat.S_IFMT(member.external_attr >> 16)
            _check_member(member.orig_filename, kind not in (0, stat.S_IFREG, stat.S_IFDIR))
            if member.flag_bits & 1:
                raise Refused("The archive is encrypted: hand in the notebook itself.")
        chosen = _the_notebook([member for member in members if not member.is_dir()], lambda m: m.filename)
        with file.open(chosen) as stream:
            return _notebook_bytes(stream)


def _from_tar(data: bytes) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as file:
        members = []
        for member in file:
            _check_number(len(members) + 1)
            _check_member(member.name, not (member.isreg() or member.isdir()))
            members.append(member)
        _check_size(sum(member.size for member in members))
        chosen = _the_notebook([member for member in members if member.isreg()], lambda m: m.name)
        with file.extractfile(chosen) as stream:
            return _notebook_bytes(stream)


def _notebook_bytes(stream) -> bytes:
    data = stream.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise Refused(f"The notebook in the archive has more than {FILE_BYTES >> 20} MiB: clear its outputs.")
    return data


def _check_number(members: int) -> None:
    if members > MEMBERS:
        raise Refused(f"The archive holds more than {MEMBERS} files: hand in the notebook itself.")


def _check_member(name: str, special: bool) -> None:
    parts = re.split(r"[/\\]", name)
    if ".." in parts or parts[0] == "" or ":" in parts[0] or "\0" in name:
        raise Refused("The archive names files outside itself: hand in the notebook itself.")
    if special:
        raise Refused("The archive holds a link or a device: hand in the notebook itself.")


def _the_notebook(members: list, name_of):
    found = [
        m for m in members if PurePosixPath(name_of(m)).suffix.lower() == ".ipynb" and not _litter(name_of(m))
    ]
    if len(found) != 1:
        raise Refused(f"The archive holds {len(found) or 'no'} notebooks: hand in exactly one.")
    return found[0]


def _litter(name: str) -> bool:
    """Tell whether the operating system or Jupyter, and not a person, put a file into an archive."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)
