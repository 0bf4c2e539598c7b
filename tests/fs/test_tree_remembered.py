"""What is remembered of a tree is what a fresh walk sees, whatever was done to it in between."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from handrail.fs import listing
from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds
from handrail.model.files import Directory
from handrail.model.paths import seal
from handrail.model.view import Tally

PLACES = ["", "a", "b", "a/c", "a/c/d", "b/a"]
NAMES = ["x", "y.o", "a", "c", ".ignore", ".git"]
IGNORES = [".gitignore", ".ignore", ".handrailignore", ".git/info/exclude"]
LINES = ["*.o\n", "x\n", "a/\n", "!x\n", "/c\n", "*\n", "", "c/d\n", "!*.o\n"]
PLACE = st.sampled_from(PLACES)
Shape = tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]


def shape(found: list[Directory]) -> dict[str, Shape]:
    return {
        d.name: (frozenset(d.files), frozenset(d.directories), frozenset(d.links), frozenset(d.ignored)) for d in found
    }


class Remembering(RuleBasedStateMachine):
    """Random changes to a small tree; after each, one backend that remembers and one that is new must agree."""

    base: Path
    count = 0

    def __init__(self) -> None:
        super().__init__()
        Remembering.count += 1
        self.root = self.base / str(Remembering.count)
        self.root.mkdir()
        self.fs = HostFileSystem()
        self.objects: dict[str, tuple[Directory, Shape, bytes]] = {}

    def at(self, place: str, name: str = "") -> Path:
        return self.root / place / name

    @rule(place=PLACE)
    def make_directories(self, place: str) -> None:
        if not any(p.is_symlink() or p.is_file() for p in (self.at(place), *self.at(place).parents)):
            self.at(place).mkdir(parents=True, exist_ok=True)

    @rule(place=PLACE, name=st.sampled_from(NAMES))
    def make_file(self, place: str, name: str) -> None:
        if self.at(place).is_dir() and not os.path.lexists(self.at(place, name)):
            self.at(place, name).write_text("")

    @rule(place=PLACE, name=st.sampled_from(IGNORES), lines=st.lists(st.sampled_from(LINES), max_size=3))
    def edit_rules_in_place(self, place: str, name: str, lines: list[str]) -> None:
        if self.at(place).is_dir() and not self.at(place, ".git").is_file():
            self.at(place, name).parent.mkdir(parents=True, exist_ok=True)
            if not self.at(place, name).is_dir():
                self.at(place, name).write_text("".join(lines))

    @rule(place=PLACE, name=st.sampled_from([*NAMES, *IGNORES]))
    def remove(self, place: str, name: str) -> None:
        path = self.at(place, name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()

    @rule(old=PLACE, new=PLACE)
    def rename(self, old: str, new: str) -> None:
        source, target = self.at(old), self.at(new)
        free = not os.path.lexists(target) and target.parent.is_dir()
        if old and new and os.path.lexists(source) and free and not f"{new}/".startswith(f"{old}/"):
            source.rename(target)

    @rule(one=PLACE, other=PLACE)
    def exchange(self, one: str, other: str) -> None:
        apart = not f"{one}/".startswith(f"{other}/") and not f"{other}/".startswith(f"{one}/")
        if one and other and apart and self.at(one).is_dir() and self.at(other).is_dir():
            aside = self.base / "aside"
            self.at(one).rename(aside)
            self.at(other).rename(self.at(one))
            aside.rename(self.at(other))

    @rule(place=PLACE, to=PLACE)
    def swap_for_a_link(self, place: str, to: str) -> None:
        if place and self.at(place).is_dir() and not self.at(place).is_symlink():
            shutil.rmtree(self.at(place))
            self.at(place).symlink_to(self.at(to))

    @rule(place=PLACE, mode=st.sampled_from([0o755, 0o700]))
    def change_mode(self, place: str, mode: int) -> None:
        if self.at(place).is_dir():
            self.at(place).chmod(mode)

    @rule(name=st.sampled_from(IGNORES[:3]), mode=st.sampled_from([0o644, 0o600]))
    def change_mode_of_rules(self, name: str, mode: int) -> None:
        if self.at("", name).is_file():
            self.at("", name).chmod(mode)

    @rule(start=PLACE, respect=st.booleans())
    def walk_elsewhere(self, start: str, respect: bool) -> None:
        self.compare(start, respect)

    @precondition(lambda self: self.root.is_dir())
    @invariant()
    def both_see_the_same(self) -> None:
        self.compare("", True)

    def compare(self, start: str, respect: bool) -> None:
        path = str(self.at(start)).rstrip("/")
        if os.path.realpath(path) != path or not os.path.isdir(path):
            return
        bounds = Bounds(inside=[str(self.root)])
        remembered = list(self.fs.tree(seal(path), bounds, Tally({}), respect_ignore=respect) or ())
        fresh = list(HostFileSystem().tree(seal(path), bounds, Tally({}), respect_ignore=respect) or ())
        assert shape(remembered) == shape(fresh)
        if start == "" and respect:
            self.same_objects_mean_no_change(remembered)

    def same_objects_mean_no_change(self, found: list[Directory]) -> None:
        now: dict[str, tuple[Directory, Shape, bytes]] = {}
        for directory, seen in zip(found, shape(found).values(), strict=True):
            rules = self.rules_over(directory.name)
            now[directory.name] = (directory, seen, rules)
            before = self.objects.get(directory.name)
            if before is not None and before[0] is directory:
                assert before[1:] == (seen, rules)
        self.objects = now

    def rules_over(self, place: str) -> bytes:
        said = b""
        while len(place) >= len(str(self.root)):
            for name in IGNORES[:3]:
                path = os.path.join(place, name)
                file = os.path.isfile(path) and not os.path.islink(path)
                said += f"{place}/{name}\0".encode() + Path(path).read_bytes() if file else b""
            place = os.path.dirname(place)
        return said


@pytest.mark.parametrize("window", [0, listing.RACY_NS])
def test_remembered_is_fresh_after_any_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    """With no window for young stamps the stamps alone must do: here the clock moves on before each look."""
    Remembering.base = tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    if window == 0:
        monkeypatch.setattr(listing, "RACY_NS", -(10**18))
        slow_down(monkeypatch)
    Remembering.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
    Remembering.TestCase("runTest").runTest()


def slow_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each change stand before it is looked at for as long as the file system's clock needs for a step."""
    real = HostFileSystem.tree

    def tree(self: HostFileSystem, *args: object, **asked: object) -> object:
        root = args[0].text  # type: ignore[attr-defined]
        probe = os.path.join(os.path.dirname(root), f".probe{os.getpid()}")
        before = None
        while True:
            with open(probe, "w", encoding="ascii"):
                os.utime(probe)
            now = os.stat(probe).st_mtime_ns
            if before is not None and now != before:
                break
            before = before or now
        os.unlink(probe)
        return real(self, *args, **asked)  # type: ignore[arg-type]

    monkeypatch.setattr(HostFileSystem, "tree", tree)
