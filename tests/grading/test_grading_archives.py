"""Submissions in archives: the notebook is taken out, or the archive refused with its reason."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile

import pytest
from test_grading_intake import GOOD, sources_of

from course_pkg.grading import intake


def zipped(**members) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def tarred(*members) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, data, options in members:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for option, value in options.items():
                setattr(member, option, value)
            file.addfile(member, io.BytesIO(data))
    return out.getvalue()


TAR = tarred(("home/work.ipynb", GOOD, {}))


ARCHIVES = {
    "zip": zipped(**{"work.ipynb": GOOD}),
    "zip with litter": zipped(
        **{
            "a/work.ipynb": GOOD,
            "__MACOSX/a/._work.ipynb": b"x",
            "a/.ipynb_checkpoints/work-checkpoint.ipynb": b"x",
        }
    ),
    # nothing but the notebook is taken: what came along is never seen again
    "zip with code": zipped(
        **{"work.ipynb": GOOD, "conftest.py": b"raise SystemExit", "numpy.py": b"raise SystemExit"}
    ),
    "tar": TAR,
    "tar.gz": gzip.compress(TAR),
    "tar.bz2": bz2.compress(TAR),
    "tar.xz": lzma.compress(TAR),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_notebook_is_taken_from_an_archive(name, tmp_path):
    path = tmp_path / "submission"
    path.write_bytes(ARCHIVES[name])
    assert [cell.source for cell in intake.read(path).cells] == sources_of(GOOD)
    assert [p.name for p in tmp_path.iterdir()] == ["submission"], "nothing is unpacked to disk"


def linked_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        member = zipfile.ZipInfo("work.ipynb")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(member, "/etc/passwd")
    return out.getvalue()


def encrypted_zip() -> bytes:
    data = bytearray(zipped(**{"work.ipynb": GOOD}))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    return bytes(data)


BAD_ARCHIVES = {
    "zip slip": (zipped(**{"work.ipynb": GOOD, "../../evil.py": b""}), "names files outside itself"),
    "zip slip of Windows": (zipped(**{"work.ipynb": GOOD, "..\\evil.py": b""}), "names files outside itself"),
    "zip drive": (zipped(**{"C:/work.ipynb": GOOD}), "names files outside itself"),
    "zip root": (zipped(**{"/etc/work.ipynb": GOOD}), "names files outside itself"),
    "zip link": (linked_zip(), "holds a link"),
    "zip encrypted": (encrypted_zip(), "is encrypted"),
    "zip bomb": (zipped(**{"work.ipynb": GOOD, "zeros": bytes(65 << 20)}), "unpacks to more than 64 MiB"),
    "zip notebook bomb": (zipped(**{"work.ipynb": bytes(21 << 20)}), "more than 20 MiB: clear its outputs"),
    "zip of many": (zipped(**{f"{i}.txt": b"" for i in range(501)}), "more than 500 files"),
    "zip of two": (zipped(**{"a.ipynb": GOOD, "b.ipynb": GOOD}), "holds 2 notebooks: hand in exactly one"),
    "zip of none": (zipped(**{"a.py": b""}), "holds no notebooks: hand in exactly one"),
    "zip truncated": (zipped(**{"work.ipynb": GOOD})[:-30], "is damaged"),
    "zip in a zip": (zipped(**{"work.zip": zipped(**{"work.ipynb": GOOD})}), "holds no notebooks"),
    "tar slip": (tarred(("work.ipynb", GOOD, {}), ("../evil", b"", {})), "names files outside itself"),
    "tar link": (
        tarred(("work.ipynb", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})),
        "holds a link",
    ),
    "tar hard link": (
        tarred(
            ("work.ipynb", GOOD, {}), ("other", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})
        ),
        "holds a link or a device",
    ),
    "tar device": (
        tarred(("work.ipynb", GOOD, {}), ("null", b"", {"type": tarfile.CHRTYPE})),
        "holds a link or a device",
    ),
    "tar bomb": (gzip.compress(tarred(("zeros", bytes(65 << 20), {}))), "unpacks to more than 64 MiB"),
    "tar truncated": (gzip.compress(TAR)[:-500], "is damaged"),
    "gzip of something": (gzip.compress(b"hello"), "is damaged"),
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_a_bad_archive_is_refused_with_its_reason(name):
    data, reason = BAD_ARCHIVES[name]
    with pytest.raises(intake.Refused, match=reason):
        intake.read(data)
