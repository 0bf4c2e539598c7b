"""What a tree shows is what git would add, on random trees; and the search program finds the same files by it."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from random_trees import git_sees, grow, init, line

from handrail.fs import ignores, ripgrep
from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds
from handrail.fs.rules import Rules
from handrail.fs.tree import Asked, Trees
from handrail.model.files import Directory
from handrail.model.paths import seal
from handrail.model.view import Tally


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user whose excludes for all repositories are few."""
    place = tmp_path / "config/git"
    place.mkdir(parents=True)
    (place / "ignore").write_bytes(b"*.txt~\n/zz\n")
    for name, value in (("HOME", "home"), ("XDG_CONFIG_HOME", "config")):
        monkeypatch.setenv(name, str(tmp_path / value))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return place


def tree(root: Path, inside: Path | None = None) -> list[Directory]:
    bounds = Bounds(inside=[str(inside or root)])
    return list(HostFileSystem().tree(seal(str(root)), bounds, Tally({})) or ())


def names(directories: list[Directory], root: Path, *, links: bool = False) -> set[str]:
    return {os.path.relpath(f"{d.name}/{name}", root) for d in directories for name in (d.links if links else d.files)}


@pytest.mark.parametrize("seed", range(50))
def test_a_tree_shows_what_git_would_add(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "r"
    root.mkdir()
    grow(root, random.Random(seed))
    found = tree(root)
    assert names(found, root) == git_sees(root)
    assert names(found, root, links=True) == git_sees(root, links=True)


@pytest.mark.parametrize("seed", range(50, 70))
def test_a_tree_is_the_same_from_any_start(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "r"
    root.mkdir()
    grow(root, random.Random(seed), dotted=True)
    whole = {d.name: d for d in tree(root)}
    for name, directory in whole.items():
        start = ignores.start(name, [str(root)])
        if start.freed or start.lifted:
            continue  # it was named, so the rules that would hide it or all in it don't hold
        again = tree(Path(name), root)
        assert {d.name for d in again} == {n for n in whole if n == name or n.startswith(name + "/")}
        for one in again:
            other = whole[one.name]
            assert (set(one.files), set(one.links), set(one.ignored)) == (
                set(other.files),
                set(other.links),
                set(other.ignored),
            )
        everything = set(directory.files + directory.links) | {n + "/" for n in directory.directories}
        everything |= set(directory.ignored)
        assert ignores.ignored(name, sorted(everything), [str(root)]) == set(directory.ignored)


@pytest.mark.parametrize("seed", range(70, 100))
def test_the_search_program_finds_the_files_of_the_tree(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "r"
    root.mkdir()
    grow(root, random.Random(seed), dotted=True)
    trees = Trees()
    bounds = Bounds(inside=[str(root)])
    shown = trees.walk(seal(str(root)), Asked(), bounds=bounds, tally=Tally({}))
    found = ripgrep.walk(
        seal(str(root)),
        bounds,
        Tally({}),
        respect_ignore=True,
        omitted=lambda place: trees.omitted(place, bounds.inside),
    )
    assert {os.path.relpath(name, root) for name in found} == names(list(shown or ()), root)


def test_more_than_the_search_program_can_be_told_is_left_out_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.fs.omitted.MOST", 3)
    root = tmp_path / "r"
    for name in ("a/x.o", "b\nb/x", "b\nb/c/x", "c/d/y", "k.o", "l.o", "seen", "\udcff/z", "t\t", "e/f"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_bytes(b"*.o\nb?b\nd\n\xff\nt?\n/e\n")
    trees = Trees()
    bounds = Bounds(inside=[str(root)])
    shown = trees.walk(seal(str(root)), Asked(), bounds=bounds, tally=Tally({}))
    found = ripgrep.walk(
        seal(str(root)),
        bounds,
        Tally({}),
        respect_ignore=True,
        omitted=lambda place: trees.omitted(place, bounds.inside),
    )
    assert {os.path.relpath(name, root) for name in found} == {".gitignore", "seen"} == names(list(shown or ()), root)


# Each line by itself, on names that it may be about.

PATHS = [
    "a",
    "b",
    "ab",
    "a.o",
    "#x",
    "!y",
    "a b",
    "b ",
    "[a]",
    "a{b}",
    "A",
    "-",
    "]",
    "^",
    "a\\b",
    "a*",
    "\\",
    "\udcff",
]
INNER = ["a", "b", "foo", "a.o", "b/a", "b/a/foo", "ab/x", "\t", "_", "o"]


def test_a_line_means_what_git_means_by_it(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    init(root)
    files = [f"{name}/{inner}" for name in PATHS for inner in INNER] + [f"z{name}" for name in PATHS] + PATHS
    asked = b"\0".join(os.fsencode(path) for path in files)
    dice = random.Random(11)
    for _ in range(150):
        lines = b"\n".join(line(dice) for _ in range(dice.randint(1, 3)))
        (root / ".gitignore").write_bytes(lines)
        listed = subprocess.run(
            ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"],
            input=asked,
            capture_output=True,
            check=False,
        ).stdout
        by_git = {os.fsdecode(name) for name in listed.split(b"\0") if name}
        rules = Rules(lines)
        assert {path for path in files if rules.ignore(path)} == by_git, lines
