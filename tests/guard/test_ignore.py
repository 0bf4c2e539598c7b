"""What `.handrailignore` hides, against git's own reading of the same rules."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from guarded import Guarded
from hypothesis import given, settings
from hypothesis import strategies as st


def test_it_hides_for_every_use_of_a_path(tmp_path: Path) -> None:
    world = Guarded(tmp_path, allow=["**/*"])
    world.put(".handrailignore", "*.log\nhid/\n")
    world.put("hid/x")
    for access in ("read", "write", "search", "open", "history"):
        for path in ("a.log", "deep/a.log", "hid/x", "hid"):
            assert world.rule(path, access) == "-.handrailignore"  # type: ignore[arg-type]
    assert world.rule("hidden") == "allow_paths"


def test_a_file_below_adds_to_those_above_and_the_nearest_word_counts(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    world.put(".handrailignore", "*.log\n/top\nshut/\n")
    world.put("sub/.handrailignore", "!keep.log\n*.tmp\n")
    world.put("shut/.handrailignore", "!x\n")
    names = ["a.log", "top", "sub/top", "sub/keep.log", "sub/a.log", "a.tmp", "sub/deep/a.tmp", "shut/x"]
    assert world.allowed(names) == ["sub/top", "sub/keep.log", "a.tmp"]


def test_a_change_of_the_file_counts_at_once(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    assert world.rule("a") == "roots"
    world.put(".handrailignore", "a\n")
    assert world.rule("a") == "-.handrailignore"
    world.put(".handrailignore", "b\n")
    assert world.allowed(["a", "b"]) == ["a"]
    (world.root / ".handrailignore").unlink()
    assert world.allowed(["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize("line", [b"\xef\xbb\xbfa\r\n", b"a\r\n!\n\\\n[z-a]\n/\n", b"\xff\na", b"# x\n  \na  \n"])
def test_marks_line_ends_and_lines_that_are_no_pattern_change_nothing(tmp_path: Path, line: bytes) -> None:
    world = Guarded(tmp_path)
    world.put(".handrailignore", line)
    assert world.allowed(["a", "b"]) == ["b"]


def test_a_file_that_cannot_be_read_hides_all_beside_it(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    os.mkfifo(world.root / ".handrailignore")
    assert world.rule("a") == "-.handrailignore"
    (world.root / ".handrailignore").unlink()
    world.put(".handrailignore", b"#" * (2 << 20))
    assert world.rule("a") == "-.handrailignore"
    world.put(".handrailignore", b"b\n")
    assert world.rule("a") == "roots"


def test_a_file_that_is_a_link_counts_and_a_directory_of_that_name_does_not(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    (world.base / "rules").write_text("a\n")
    (world.root / ".handrailignore").symlink_to("../rules")
    (world.root / "sub").mkdir()
    (world.root / "sub" / ".handrailignore").mkdir()
    assert world.allowed(["a", "b", "sub/a", "sub/b"]) == ["b", "sub/b"]


_PATTERN = st.text(alphabet="ab*?/!.[]\\ ", min_size=1, max_size=6)
_TREE = [f"{a}{b}{c}" for a in ("", "a/", "b/") for b in ("", "a/", "a.b/") for c in ("a", "b", "ab", "a.b")]


@settings(max_examples=25, deadline=None)
@given(st.lists(_PATTERN, max_size=5), st.lists(_PATTERN, max_size=3))
def test_the_same_rules_hide_what_git_would_ignore(top: list[str], below: list[str]) -> None:
    with TemporaryDirectory() as place:
        world = Guarded(Path(place))
        for name in _TREE:
            if not (world.root / name).is_dir():
                _parents(world.root / name)
        subprocess.run(["git", "init", "-q"], cwd=world.root, check=True)
        files = [name for name in _TREE if (world.root / name).is_file()]
        for directory, rules in (("", top), ("a/", below)):
            for name in (".handrailignore", ".gitignore"):
                if (world.root / directory).is_dir():
                    world.put(directory + name, "\n".join(rules))
        asked = subprocess.run(
            ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "--stdin"],
            cwd=world.root,
            input="\n".join(files),
            capture_output=True,
            text=True,
            check=False,
        )
        assert set(files) - set(world.allowed(files)) == set(asked.stdout.split("\n")) - {""}


def _parents(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except (FileExistsError, NotADirectoryError):
        return
