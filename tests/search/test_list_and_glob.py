import os
from pathlib import Path

import pytest
from plain_view import Finder, tree

from handrail.model.errors import InvalidCall
from handrail.model.operations import Find, Query


@pytest.fixture
def finder(tmp_path: Path) -> Finder:
    return Finder(tmp_path)


def test_a_plain_list_shows_ignored_entries_too_marked(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "out/\n*.o\n", "out/x": "", "b.o": "1", "A": "", "a": "22", "d/x": ""})
    (finder.root / "link").symlink_to("a")
    found = finder.entries()
    assert finder.listed(found) == [".gitignore", "A", "a", "b.o", "d", "link", "out"]
    entries = {finder.name(entry.path): entry for entry in found.listed}
    assert {name for name, entry in entries.items() if entry.ignored} == {"b.o", "out"}
    assert {name: entry.kind for name, entry in entries.items() if entry.kind != "file"} == {
        "d": "directory",
        "link": "symlink",
        "out": "directory",
    }
    assert entries["a"].size == 2
    assert entries["a"].mtime_ns == os.stat(finder.root / "a").st_mtime_ns


def test_a_recursive_list_walks_under_the_ignore_rules(finder: Finder) -> None:
    tree(
        finder.root,
        {".gitignore": "out/\n", "out/x": "", "d/e/x": "", "d/.gitignore": "no\n", "d/no": "", ".git/c": ""},
    )
    (finder.root / "empty").mkdir()
    found = finder.entries(recursive=True)
    assert finder.listed(found) == [".gitignore", "d", "d/.gitignore", "d/e", "d/e/x", "empty"]
    assert finder.listed(finder.entries("out", recursive=True)) == ["out/x"]
    assert "out/x" in finder.listed(finder.entries(recursive=True, respect_ignore=False))


def test_links_are_listed_and_not_entered(finder: Finder) -> None:
    tree(finder.root, {"d/x": ""})
    (finder.root / "d" / "loop").symlink_to("..")
    assert finder.listed(finder.entries(recursive=True)) == ["d", "d/loop", "d/x"]


def test_a_list_is_capped_and_says_how_many_were_dropped(finder: Finder) -> None:
    tree(finder.root, {f"file{n:04}": "" for n in range(100)})
    found = finder.entries(text_cap=2000)
    assert 10 < len(found.listed) < 60
    assert found.dropped == 100 - len(found.listed)
    assert found.total == 100


def test_lists_of_many_directories_merge(finder: Finder) -> None:
    tree(finder.root, {"a/x": "", "b/y": ""})
    assert finder.listed(finder.entries("b", "a", "b")) == ["a/x", "b/y"]
    found = finder.entries("a", "missing", "a/x")
    assert finder.listed(found) == ["a/x"]
    assert {index: error.kind for index, error in found.errors.items()} == {1: "not_found", 2: "not_regular_file"}


def test_globs_give_files_newest_first_ties_by_path(finder: Finder) -> None:
    tree(finder.root, {"b.py": "", "a.py": "", "d/c.py": "", "e.txt": "", "dir.py/x": ""})
    for name, time in {"b.py": 5, "a.py": 5, "d/c.py": 9}.items():
        os.utime(finder.root / name, ns=(time, time))
    assert finder.listed(finder.glob("*.py")) == ["d/c.py", "a.py", "b.py"]


@pytest.mark.parametrize(
    ("glob", "wanted"),
    [
        ("*.py", {"x.py", "a/x.py", "a/b/y.py"}),
        ("a/*.py", {"a/x.py"}),
        ("a/**", {"a/x.py", "a/b/y.py", "a/.hid/z"}),
        ("**/x.py", {"x.py", "a/x.py"}),
        ("a/**/*.py", {"a/x.py", "a/b/y.py"}),
        ("{a/b,q}/*", {"a/b/y.py", "q/[z].txt", "q/z.txt", "q/2026-07.md"}),
        ("q/2026-07.md", {"q/2026-07.md"}),
        ("q/[z].txt", {"q/[z].txt"}),
        (r"q/\[z\].txt", {"q/[z].txt"}),
        ("./a/x.py", {"a/x.py"}),
        ("z", {"a/.hid/z"}),
        (".hid/z", set()),
        ("a/.*/*", {"a/.hid/z"}),
        ("?.py", {"x.py", "a/x.py", "a/b/y.py"}),
        ("[!x].py", {"a/b/y.py"}),
    ],
)
def test_the_glob_dialect(finder: Finder, glob: str, wanted: set[str]) -> None:
    tree(
        finder.root,
        dict.fromkeys(["x.py", "a/x.py", "a/b/y.py", "a/.hid/z", "q/[z].txt", "q/z.txt", "q/2026-07.md"], ""),
    )
    assert set(finder.listed(finder.glob(glob))) == wanted


def test_globs_keep_ignore_rules_and_name_what_is_there(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "node_modules/\n", "node_modules/a.md": "", "b.md": ""})
    assert finder.listed(finder.glob("**/*.md")) == ["b.md"]
    assert finder.glob("a.md").skipped == {"ignored": 1}
    assert finder.listed(finder.glob("node_modules/a.md")) == ["node_modules/a.md"]
    assert finder.listed(finder.glob("*.md", directory="node_modules")) == ["node_modules/a.md"]


def test_a_name_is_accepted_as_it_was_shown(finder: Finder) -> None:
    tree(finder.root, {"new\nline.txt": "", os.fsdecode(b"\xff.txt"): ""})
    assert finder.listed(finder.glob(r"new\nline.txt")) == ["new\nline.txt"]
    assert finder.listed(finder.glob(r"\xff.txt")) == [os.fsdecode(b"\xff.txt")]


def test_a_limit_makes_pages(finder: Finder) -> None:
    tree(finder.root, {f"f{n}": "" for n in range(5)})
    for name in os.listdir(finder.root):
        os.utime(finder.root / name, ns=(7, 7))
    found = finder.glob("f*", limit=2, offset=2)
    assert finder.listed(found) == ["f2", "f3"]
    assert (found.total, found.first, found.last, found.next_offset, found.dropped) == (5, 3, 4, 4, 0)


def test_a_bad_glob_names_its_query_and_position(finder: Finder) -> None:
    queries = (Query(directory=".", pattern="ok"), Query(directory=".", pattern="a/[x"))
    with pytest.raises(InvalidCall) as refused:
        finder.find(Find(mode="glob", queries=queries))
    assert refused.value.kind == "invalid_glob"
    assert (refused.value.facts["query"], refused.value.facts["position"]) == (1, 3)
