"""Makes the trees that the search benchmark runs on, out of pinned packages from public registries; kept in a cache.

The whole tree holds over 60,000 files (Python, JavaScript, C, C++, Java, YAML, JSON, Markdown), the quick one 5,000,
the project 300; each is a git repository with ignore files, and the first two hold files that these leave out.
"""

import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

WHEELS = (
    "Django==5.0.6",
    "sympy==1.12",
    "botocore==1.34.100",
    "kubernetes==29.0.0",
    "plotly==5.22.0",
    "oci==2.126.4",
    "ansible==9.5.1",
)
PACKS = (
    "lodash@4.17.21",
    "react-native@0.74.1",
    "grpc@1.24.11",
    "core-js@3.37.0",
    "date-fns@3.6.0",
    "rxjs@7.8.1",
    "three@0.164.1",
    "typescript@5.4.5",
    "aws-sdk@2.1614.0",
)
QUICK = ("Django==5.0.6", "sympy==1.12", "lodash@4.17.21")
IGNORED = "lodash@4.17.21"
IGNORE_FILES = {
    ".gitignore": "node_modules/\n__pycache__/\n*.pyc\n*.log\n/build/\n.venv/\n",
    "python/.gitignore": "*.egg-info/\n.mypy_cache/\n",
    "web/.gitignore": "coverage/\n*.tsbuildinfo\n!keep.log\n",
}
PROJECT_FILES = 300


@dataclass(frozen=True)
class Size:
    """How much a tree holds, `.git` not counted."""

    files: int
    directories: int
    bytes: int


def cache() -> Path:
    """Where everything that was fetched or made stays; HANDRAIL_BENCH_CACHE names another place."""
    named = os.environ.get("HANDRAIL_BENCH_CACHE")
    place = Path(named) if named else Path.home() / ".cache" / "handrail-bench"
    place.mkdir(parents=True, exist_ok=True)
    return place


def tree(*, quick: bool) -> Path:
    """The tree, made once; raises CalledProcessError where a package can't be had."""
    names = QUICK if quick else WHEELS + PACKS
    return made(cache() / ("tree-quick" if quick else "tree"), lambda place: fill(place, names))


def project() -> Path:
    """300 files cut out of a package's sources, directories and all."""
    return made(cache() / "project", cut)


def made(place: Path, fill_it: Callable[[Path], None]) -> Path:
    """`place`, filled once: a half-made one is never taken for a whole one."""
    if not place.is_dir():
        half = place.with_name(f"{place.name}.half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        fill_it(half)
        git_init(half)
        half.rename(place)
    return place


def fill(place: Path, names: tuple[str, ...]) -> None:
    for number, name in enumerate(names):
        print(f"  unpacking {name} ({number + 1} of {len(names)})", file=sys.stderr, flush=True)
        archive = fetched(name)
        if "==" in name:
            unpack_wheel(archive, place / "python" / name.partition("==")[0].lower())
        else:
            below = "web/node_modules" if name == IGNORED else "web"
            unpack_pack(archive, place / below / name.partition("@")[0])
    for name, text in IGNORE_FILES.items():
        (place / name).write_text(text)


def cut(place: Path) -> None:
    home = tree(quick=True) / "python" / "django"
    names = [
        n
        for n in sorted(files_below(home))
        if n.endswith(".py") and "/locale/" not in n and not n.endswith("/__init__.py")
    ]
    chosen = random.Random(300).sample(names, PROJECT_FILES - 2)  # the same ones each time
    for name in chosen:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(home / name, place / name)
    (place / ".gitignore").write_text(IGNORE_FILES[".gitignore"])
    (place / "README.md").write_text("# A project\n\nCut out of a larger one.\n")


def git_init(place: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(place)], check=True)


def measured(place: Path) -> Size:
    files = directories = size = 0
    for directory, names, leaves in os.walk(place):
        if ".git" in names:
            names.remove(".git")
        directories += len(names)
        files += len(leaves)
        size += sum(os.lstat(os.path.join(directory, leaf)).st_size for leaf in leaves)
    return Size(files, directories, size)


def files_below(place: Path) -> Iterator[str]:
    for directory, _, leaves in os.walk(place):
        for leaf in leaves:
            yield os.path.relpath(os.path.join(directory, leaf), place)


# packages


def fetched(name: str) -> Path:
    """The archive of one pinned package, downloaded once."""
    place = cache() / "archives" / name
    if not any(place.glob("*.*")):
        half = place.with_name(f"{name}.half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        pip = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps"]
        wheel = [*pip, "--only-binary", ":all:", "--dest", str(half), name]
        pack = ["npm", "pack", "--silent", "--pack-destination", str(half), name]
        subprocess.run(wheel if "==" in name else pack, check=True, stdout=sys.stderr)
        half.rename(place)
    return next(place.glob("*.*"))


def unpack_wheel(archive: Path, place: Path) -> None:
    with zipfile.ZipFile(archive) as wheel:
        for entry in wheel.infolist():
            if not entry.is_dir():
                made_at = time.mktime((*entry.date_time, 0, 0, -1))
                target = Path(wheel.extract(entry, place))
                os.utime(target, (made_at, made_at))


def unpack_pack(archive: Path, place: Path) -> None:
    with tarfile.open(archive) as pack:
        for member in pack:
            member.name = member.name.partition("/")[2]
            if member.isfile() and member.name:
                pack.extract(member, place, filter="data")


if __name__ == "__main__":
    for one in (tree(quick="--quick" in sys.argv), project()):
        print(one, measured(one))
