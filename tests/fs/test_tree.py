"""Walking a tree: what is seen of it, what is left out and counted, when it stops, and what is remembered."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds
from handrail.fs.tree import Asked, Trees
from handrail.model.calls import Cancellation
from handrail.model.errors import OutOfDate
from handrail.model.files import Directory
from handrail.model.paths import seal
from handrail.model.view import Tally

OLD = 1_000_000_000_000_000_000


def grow(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


class Walker:
    """A backend and what it saw of a root, by relative name."""

    def __init__(self) -> None:
        self.fs = HostFileSystem()

    def tree(
        self,
        root: Path,
        *,
        inside: Path | None = None,
        tally: Tally | None = None,
        respect_ignore: bool = True,
        descend: Callable[[str], bool] = lambda _: True,
        most: int | None = None,
        **limits: object,
    ) -> dict[str, Directory] | None:
        bounds = Bounds(inside=[str(inside or root)], **limits)  # type: ignore[arg-type]
        found = self.fs.tree(
            seal(str(root)),
            bounds,
            tally or Tally({}),
            respect_ignore=respect_ignore,
            descend=descend,
            most=most,
        )
        return None if found is None else {os.path.relpath(d.name, root): d for d in found}

    def files(self, root: Path, **asked: object) -> set[str]:
        found = self.tree(root, **asked) or {}  # type: ignore[arg-type]
        return {os.path.normpath(f"{place}/{name}") for place, d in found.items() for name in d.files}


@pytest.fixture
def walker() -> Walker:
    return Walker()


# what is seen


def test_a_directory_tells_its_children_by_what_they_are(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"a": "", "d/b": "", "x.o": "", "out/y": "", ".git/HEAD": "", ".gitignore": "*.o\nout/\nl.o\n"})
    (tmp_path / "link").symlink_to("d")
    (tmp_path / "l.o").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    found = walker.tree(tmp_path)
    assert found is not None
    assert list(found) == [".", "d"]
    top = found["."]
    assert top.name == str(tmp_path)
    assert set(top.files) == {"a", ".gitignore"}
    assert (top.directories, top.links) == (("d",), ("link",))
    assert set(top.ignored) == {"x.o", "out/", "l.o"}
    assert found["d"].files == ("b",)


def test_each_directory_comes_before_those_in_it(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {f"{a}/{b}/{c}/f": "" for a in "xyz" for b in "xyz" for c in "xy"})
    order = list(walker.tree(tmp_path) or ())
    for at, place in enumerate(order[1:], 1):
        assert os.path.dirname(place) or "." in order[:at]
    assert len(order) == 1 + 3 + 9 + 18


def test_names_of_any_bytes_are_names(tmp_path: Path, walker: Walker) -> None:
    names = [b"n\xffl", b"-e", b"new\nline", b" sp ", b"\xc3\xa9", b"\x1b[31m", b"=", b"\\", b"*", b"n" * 255]
    for name in names:
        place = os.path.join(os.fsencode(tmp_path), b"d" + name[:200])
        os.mkdir(place)
        Path(os.fsdecode(os.path.join(place, name))).write_bytes(b"")
    (tmp_path / ".ignore").write_bytes(b"nothing\n")
    found = walker.files(tmp_path)
    assert found == {".ignore", *(os.fsdecode(b"d" + name[:200] + b"/" + name) for name in names)}
    (tmp_path / ".ignore").write_bytes(b"d*/n\xff?\n/d[*]\n")
    assert found - walker.files(tmp_path) == {os.fsdecode(b"dn\xffl/n\xffl"), "d*/*"}


def test_a_name_across_lines_is_ignored_by_no_part_of_it(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {".gitignore": "a\n*b\n=c\n", "a\nx": "", "x\na": "", "c": "", "x\nb": ""})
    assert walker.files(tmp_path) == {".gitignore", "a\nx", "x\na", "c"}


def test_very_deep_trees_are_walked_with_few_handles(tmp_path: Path, walker: Walker) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(400):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    before = len(os.listdir("/proc/self/fd"))
    assert len(walker.tree(tmp_path) or ()) == 401
    assert walker.files(tmp_path) == {"d/" * 400 + "leaf"}
    assert len(os.listdir("/proc/self/fd")) == before


# ignore rules


def test_hidden_files_are_seen_and_dot_git_never(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {".github/x.yml": "", ".git/config": "", "sub/.git/HEAD": "", "sub/a": "", "work/.git": "gitdir: x"})
    assert walker.files(tmp_path) == {".github/x.yml", "sub/a"}
    assert walker.files(tmp_path, respect_ignore=False) == {".github/x.yml", "sub/a"}


def test_rules_above_the_workspace_root_do_not_hold(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {".gitignore": "*\n", ".ignore": "*\n", "root/a": ""})
    assert walker.files(tmp_path / "root") == {"a"}


def test_rules_of_the_repository_hold_though_it_lies_above_the_workspace(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {".gitignore": "*.o\n", ".git/x": "", "root/a": "", "root/a.o": ""})
    assert walker.files(tmp_path / "root") == {"a"}


def test_an_ignore_file_decides_before_a_gitignore_does_from_any_start(tmp_path: Path, walker: Walker) -> None:
    grow(
        tmp_path, {".git/x": "", ".ignore": "!*.log\n", "s/.gitignore": "*.log\n*.o\n", "s/t/a.log": "", "s/t/b.o": ""}
    )
    assert walker.files(tmp_path / "s/t", inside=tmp_path) == {"a.log"}
    assert walker.files(tmp_path / "s", inside=tmp_path) == {".gitignore", "t/a.log"}
    assert "s/t/a.log" in walker.files(tmp_path)


def test_a_nested_repository_has_its_own_rules_alone(tmp_path: Path, walker: Walker) -> None:
    grow(
        tmp_path,
        {
            ".git/info/exclude": "*.e\n",
            ".gitignore": "*.x\n",
            ".ignore": "*.i\n",
            "a.x": "",
            "a.i": "",
            "n/.git/info/exclude": "*.f\n",
            "n/.gitignore": "*.y\n",
            **{f"n/d/a.{end}": "" for end in "exify"},
        },
    )
    inner = {"n/.gitignore", "n/d/a.e", "n/d/a.x", "n/d/a.i"}
    assert walker.files(tmp_path) == {".gitignore", ".ignore", *inner}
    assert {"n/" + name for name in walker.files(tmp_path / "n", inside=tmp_path)} == inner


@pytest.mark.parametrize("rule", ["scripts/*", "scripts/", "/scripts", "scripts", "*", "**"])
def test_a_named_ignored_directory_is_walked(tmp_path: Path, walker: Walker, rule: str) -> None:
    grow(tmp_path, {".gitignore": rule + "\n", "scripts/a.sh": "", "scripts/d/b": ""})
    assert not walker.files(tmp_path) - {".gitignore"}
    assert walker.files(tmp_path / "scripts", inside=tmp_path) == {"a.sh", "d/b"}


def test_a_named_directory_that_ignores_itself_is_walked(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"venv/.gitignore": "*\n", "venv/lib/a.py": "", "b": ""})
    assert walker.files(tmp_path) == {"b"}
    assert walker.files(tmp_path / "venv", inside=tmp_path) == {".gitignore", "lib/a.py"}


def test_an_ignore_file_that_is_a_link_or_no_file_says_nothing(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"rules": "*\n", "d/a": "", "e/.gitignore/x": ""})
    (tmp_path / "d/.gitignore").symlink_to("../rules")
    (tmp_path / "f").mkdir()
    os.mkfifo(tmp_path / "f/.ignore")
    assert walker.files(tmp_path) == {"rules", "d/a", "e/.gitignore/x"}


def test_global_excludes_hold_below_every_repository(
    tmp_path: Path, walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    grow(tmp_path, {"config/git/ignore": "*.g\n/top\n", "r/.git/x": "", "r/a.g": "", "r/top": "", "r/d/top": ""})
    grow(tmp_path, {"r/.gitignore": "!keep.g\n", "r/keep.g": ""})
    assert walker.files(tmp_path / "r") == {".gitignore", "keep.g", "d/top"}
    grow(tmp_path, {"home/.gitconfig": "[core]\n\texcludesFile = ~/mine\n", "home/mine": "d/\n"})
    assert walker.files(tmp_path / "r") == {".gitignore", "keep.g", "a.g", "top"}


# links and what can't be read


def test_links_loops_and_broken_ones_are_listed_and_never_followed(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"items/a": ""})
    (tmp_path / "link").symlink_to("items")
    (tmp_path / "items/loop").symlink_to("..")
    (tmp_path / "broken").symlink_to("nowhere")
    found = walker.tree(tmp_path)
    assert found is not None
    assert set(found) == {".", "items"}
    assert set(found["."].links) == {"link", "broken"}
    assert found["items"].links == ("loop",)


def test_a_root_that_is_a_link_is_stale(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"real/a": ""})
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OutOfDate):
        walker.tree(tmp_path / "link")


@pytest.fixture
def nobody(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Drops root's rights when it is called, for the rest of the test."""
    for place in (tmp_path, *tmp_path.parents):
        if place.is_relative_to("/tmp") and place != Path("/tmp") and os.geteuid() == 0:
            place.chmod(0o755)
    yield lambda: os.seteuid(65534) if os.getuid() == 0 else None
    if os.getuid() == 0:
        os.seteuid(0)


def test_an_unreadable_directory_is_counted_and_the_walk_goes_on(
    tmp_path: Path, walker: Walker, nobody: Callable[[], None]
) -> None:
    grow(tmp_path, {"a": "", "closed/b": "", "open/c": ""})
    (tmp_path / "closed").chmod(0)
    nobody()
    for _ in range(2):
        tally = Tally({})
        assert walker.files(tmp_path, tally=tally) == {"a", "open/c"}
        assert (tally.skipped, tally.complete) == ({"unreadable": 1}, True)


# when it stops


def test_no_time_left_or_a_cancelled_call_stops_the_walk_and_says_so(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {f"d{n}/f": "" for n in range(20)})
    flag = Cancellation()
    flag.cancel()
    for limits in ({"seconds": -1}, {"cancellation": flag}):
        tally = Tally({})
        assert walker.tree(tmp_path, tally=tally, **limits) == {}  # type: ignore[arg-type]
        assert not tally.complete
    assert len(walker.files(tmp_path)) == 20


def test_a_number_of_entries_stops_the_walk(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {f"d{n}/f": "" for n in range(20)})
    tally = Tally({})
    assert 0 < len(walker.files(tmp_path, tally=tally, max_entries=30)) < 20
    assert not tally.complete


def test_too_many_files_are_told_by_nothing(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {f"d{n}/f{m}": "" for n in range(5) for m in range(5)})
    assert walker.tree(tmp_path, most=24) is None
    assert len(walker.tree(tmp_path, most=25) or ()) == 6
    assert walker.tree(tmp_path, most=24) is None
    grow(tmp_path, {"d0/more": ""})
    assert walker.tree(tmp_path, most=25) is None


# which directories


def test_what_the_caller_does_not_want_is_not_touched(
    tmp_path: Path, walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path, {"a/x": "", "cloud/y": "", "a/cloud/z": ""})
    touched: list[str] = []
    for name in ("open", "stat"):
        real = getattr(os, name)

        def noting(path: object, *args: object, real: Callable[..., object] = real, **kw: object) -> object:
            touched.append(str(path))
            return real(path, *args, **kw)

        monkeypatch.setattr(os, name, noting)
    for _ in range(2):
        found = walker.tree(tmp_path, descend=lambda name: not name.endswith("/cloud"))
        assert found is not None
        assert list(found) == [".", "a"]
        assert found["."].directories == ("a",)
        assert found["a"].directories == ()
    assert touched
    assert not [name for name in touched if name.endswith("cloud")]


def test_who_wants_less_gets_the_same_objects_each_time(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"a/x": "", "b/y": ""})
    all_of_it, less = walker.tree(tmp_path), walker.tree(tmp_path, descend=lambda name: not name.endswith("b"))
    assert all_of_it is not None
    assert less is not None
    assert less["a"] is all_of_it["a"]
    assert less["."] is not all_of_it["."]
    assert less["."] is (walker.tree(tmp_path, descend=lambda name: not name.endswith("b")) or {})["."]
    assert all_of_it["."] is (walker.tree(tmp_path) or {})["."]


# what is remembered


def test_a_directory_is_the_same_object_until_it_changes(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"a/x": "", "a/b/y": "", "c/z": ""})
    first = walker.tree(tmp_path) or {}
    grow(tmp_path, {"a/new": ""})
    second = walker.tree(tmp_path) or {}
    assert second["a"].files != first["a"].files
    assert all(second[name] is first[name] for name in (".", "a/b", "c"))


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".handrailignore"])
def test_an_ignore_file_that_changes_makes_all_below_new(tmp_path: Path, walker: Walker, name: str) -> None:
    grow(tmp_path, {"a/b/y": "", "c/z": "", f"a/{name}": "one\n"})
    for text in ("two\n", "one\n", ""):
        first = walker.tree(tmp_path) or {}
        (tmp_path / "a" / name).write_text(text)
        second = walker.tree(tmp_path) or {}
        assert not [place for place in ("a", "a/b") if second[place] is first[place]]
        assert second["c"] is first["c"]
    first = second
    (tmp_path / "a" / name).unlink()
    second = walker.tree(tmp_path) or {}
    assert second["a/b"] is not first["a/b"]


@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".handrailignore"])
def test_an_ignore_file_above_that_changes_makes_all_new(tmp_path: Path, walker: Walker, name: str) -> None:
    grow(tmp_path, {"a/b/y": ""})
    first = walker.tree(tmp_path / "a", inside=tmp_path) or {}
    assert (walker.tree(tmp_path / "a", inside=tmp_path) or {})["b"] is first["b"]
    (tmp_path / name).write_text("nothing\n")
    second = walker.tree(tmp_path / "a", inside=tmp_path) or {}
    assert second["b"] is not first["b"]
    (tmp_path / name).write_text("y\n")
    assert (walker.tree(tmp_path / "a", inside=tmp_path) or {})["b"] is not second["b"]


def test_a_directory_swapped_for_a_link_or_another_is_noticed(tmp_path: Path, walker: Walker) -> None:
    grow(tmp_path, {"root/a/d/x": "", "other/d/secret": "", "twin/d/x": ""})
    root = tmp_path / "root"
    first = walker.tree(root) or {}
    (root / "a").rename(tmp_path / "kept")
    (root / "a").symlink_to(tmp_path / "other")
    assert walker.files(root) == set()
    assert (walker.tree(root) or {})["."].links == ("a",)
    (root / "a").unlink()
    (tmp_path / "twin").rename(root / "a")
    assert walker.files(root) == {"a/d/x"}
    assert (walker.tree(root) or {})["."].directories == first["."].directories


def test_what_is_remembered_has_a_bound(tmp_path: Path) -> None:
    trees = Trees(names=12)
    for name in "abc":
        grow(tmp_path / name, {f"f{n}": "" for n in range(5)})

    def seen(name: str) -> Directory:
        root = str(tmp_path / name)
        return (trees.walk(seal(root), Asked(), bounds=Bounds(inside=[root]), tally=Tally({})) or ())[0]

    a, b = seen("a"), seen("b")
    assert seen("a") is a
    seen("c")
    assert seen("a") is a
    assert seen("b") is not b


def test_many_threads_see_the_same_tree(tmp_path: Path, walker: Walker) -> None:
    from concurrent.futures import ThreadPoolExecutor

    grow(tmp_path, {f"d{n}/e/f{m}": "" for n in range(20) for m in range(3)} | {"d1/.gitignore": "f1\n"})
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: walker.files(tmp_path), range(40)):
            assert len(found) == 60


def test_git_says_the_same_of_a_worktree(tmp_path: Path, walker: Walker, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path / "r"), "-c", "user.name=n", "-c", "user.email=e", *words], check=True
        )

    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (tmp_path / "r").mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(tmp_path / "w"))
    (tmp_path / "r/.git/info").mkdir(exist_ok=True)
    (tmp_path / "r/.git/info/exclude").write_text("*.o\n")
    grow(tmp_path, {"w/a.o": "", "w/a": ""})
    assert walker.files(tmp_path / "w") == {"a"}


def test_changes_are_seen_that_come_faster_than_the_clock_ticks(tmp_path: Path, walker: Walker) -> None:
    (tmp_path / ".gitignore").write_text("a\n")
    for turn in range(150):
        (tmp_path / str(turn)).write_text("")
        assert str(turn) in walker.files(tmp_path)
        (tmp_path / f"{turn}b").write_text("")
        assert f"{turn}b" in walker.files(tmp_path)
        with open(tmp_path / ".gitignore", "r+", encoding="ascii") as rules:
            rules.write(str(turn % 10))
        assert (f"{turn % 10}" in walker.files(tmp_path)) is False
