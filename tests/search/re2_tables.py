"""RE2's own tables of what its expressions find, out of Debian's package of Go's sources; run it to fetch them.

Nothing of them is kept in this repository: the tests and the bench that use them fetch the package by name.
"""

import bz2
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

WHOLE = "re2-search.txt"
EXHAUSTIVE = "re2-exhaustive.txt.bz2"
SLICE = "re2-exhaustive-slice.txt"
EVERY = 400
"""Each so many of the exhaustive table's expressions are in the slice."""
INSTALLED = "/usr/share/go-1.*/src/regexp/testdata"
FETCHED = Path(sys.prefix) / "share" / "re2-tables"
"""Beside the packages that the tests need anyway: nothing else on the machine is touched."""

Span = tuple[int, int]


class Missing(Exception):
    """The package can't be had here; says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One expression, and for each text the bytes that its first match takes, `None` where there is none."""

    expression: str
    texts: tuple[str, ...]
    spans: tuple[Span | None, ...]


def directory() -> Path:
    """Where the tables lie, fetched if need be; raises `Missing`."""
    if not (FETCHED / SLICE).is_file():
        try:
            FETCHED.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=FETCHED.parent) as scratch:
                _fill(Path(scratch))
        except (OSError, subprocess.SubprocessError, tarfile.TarError, StopIteration) as error:
            raise Missing(f"Debian's package of Go's sources can't be had here: {error}") from error
    return FETCHED


def cases(path: Path) -> Iterator[Case]:
    """The expressions of a table."""
    texts: tuple[str, ...] = ()
    with _opened(path) as table:
        for block, expressions in _blocks(table):
            texts = tuple(json.loads(line, strict=False) for line in block)
            for expression, results in expressions:
                spans = tuple(_span(line.split(";")[1]) for line in results)
                yield Case(json.loads(expression, strict=False), texts, spans)


def _blocks(table: Iterable[str]) -> Iterator[tuple[list[str], list[tuple[str, list[str]]]]]:
    """Lines of texts, and the expressions that are asked of them, each with its lines of results."""
    texts: list[str] = []
    expressions: list[tuple[str, list[str]]] = []
    inside = False
    for line in table:
        if line == "strings\n":
            if expressions:
                yield texts, expressions
            texts, expressions, inside = [], [], True
        elif line == "regexps\n":
            inside = False
        elif line.startswith('"'):
            if inside:
                texts.append(line)
            else:
                expressions.append((line, []))
        elif line[0] in "-0123456789":
            expressions[-1][1].append(line)
    if expressions:
        yield texts, expressions


def _span(said: str) -> Span | None:
    start, _, end = said.split(" ", maxsplit=1)[0].partition("-")
    return (int(start), int(end)) if start else None


def _opened(path: Path) -> TextIO:
    if path.suffix == ".bz2":
        return bz2.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _fill(scratch: Path) -> None:
    place = scratch / "tables"
    place.mkdir()
    installed = [Path(name) for name in sorted(glob.glob(INSTALLED)) if (Path(name) / EXHAUSTIVE).is_file()]
    if installed:
        for name in (WHOLE, EXHAUSTIVE):
            shutil.copy(installed[-1] / name, place / name)
    else:
        _download(scratch)
        _unpack(next(scratch.glob("*.deb")), place)
    _slice(place / EXHAUSTIVE, place / SLICE)
    if not FETCHED.exists():
        os.replace(place, FETCHED)


def _slice(source: Path, to: Path) -> None:
    number = 0
    with _opened(source) as table, to.open("w", encoding="utf-8", newline="\n") as out:
        for texts, expressions in _blocks(table):
            chosen = expressions[-number % EVERY :: EVERY]
            number += len(expressions)
            if chosen:
                out.writelines(["strings\n", *texts, "regexps\n"])
                for expression, results in chosen:
                    out.writelines([expression, *results])


def _download(scratch: Path) -> None:
    try:
        name = _newest(scratch)
    except subprocess.CalledProcessError:
        _run(["apt-get", "update"], scratch)
        name = _newest(scratch)
    _run(["apt-get", "download", name], scratch)


def _newest(scratch: Path) -> str:
    said = _run(["apt-cache", "depends", "--important", "golang-src"], scratch)
    return next(line.split()[-1] for line in said.split("\n") if "Depends: golang-1" in line)


def _run(command: list[str], place: Path) -> str:
    done = subprocess.run(command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=True)
    return done.stdout.decode()


def _unpack(package: Path, place: Path) -> None:
    with (
        subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as child,
        tarfile.open(fileobj=child.stdout, mode="r|") as files,
    ):
        for member in files:
            name = os.path.basename(member.name)
            if name in {WHOLE, EXHAUSTIVE} and "/regexp/testdata/" in member.name:
                data = files.extractfile(member)
                if data is not None:
                    (place / name).write_bytes(data.read())


if __name__ == "__main__":
    try:
        print(directory())
    except Missing as missing:
        print(missing, "Its tests will be skipped.")
