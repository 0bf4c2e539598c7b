"""What the index of odd files and ripgrep's events promise, on trees that are searched by the child."""

import os
from pathlib import Path

import pytest
from plain_view import Finder, tree

from handrail.search import inside


@pytest.fixture
def finder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Finder:
    monkeypatch.setattr(inside, "SMALL", 0)
    return Finder(tmp_path)


def test_a_second_search_looks_for_odd_files_only_where_something_changed(finder: Finder) -> None:
    tree(finder.root, {f"d{n}/f": "foo\n" for n in range(20)} | {"d0/latin": "café foo\n".encode("latin-1")})
    assert len(finder.search("foo").files) == 21
    assert sum(grep.odd for grep in finder.view.searches) == 1
    assert len(finder.search("café").files) == 1
    assert sum(grep.odd for grep in finder.view.searches) == 1


def test_a_file_in_another_encoding_that_comes_later_is_found(finder: Finder) -> None:
    tree(finder.root, {f"d{n}/f": "foo\n" for n in range(20)})
    assert finder.search("данные").files == ()
    tree(finder.root, {"d3/u16": "данные и words\n".encode("utf-16-le")})
    assert list(finder.files(finder.search("данные"))) == ["d3/u16"]
    (finder.root / "d3" / "u16").unlink()
    assert finder.search("данные").files == ()


def test_nothing_is_said_to_be_absent_from_a_file_that_was_rewritten_in_its_place(finder: Finder) -> None:
    tree(finder.root, {f"d{n}/f": "foo\n" for n in range(20)})
    assert len(finder.search("foo").files) == 20
    with (finder.root / "d7" / "f").open("r+b") as file:
        file.write("данные и words\n".encode("utf-16-le"))
    assert list(finder.files(finder.search("данные"))) == ["d7/f"]


def test_a_row_longer_than_is_told_is_found_and_shown_in_part(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.fs.events.LONGEST", 1 << 18)
    tree(finder.root, {"a": "é" * (1 << 18) + " needle " + "y" * (1 << 18) + "\nneedle\n", "b": "needle\n"})
    assert finder.files(finder.search("needle")) == {"a": (2, (1, 2)), "b": (1, (1,))}
    first = finder.search("needle", unit="content").rows[0]
    assert first.cut
    assert "needle" in first.text
    assert first.column is not None
    assert len(first.text.encode()) <= 512


def test_where_a_row_asks_for_too_much_memory_the_others_are_still_told(
    finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.fs.ripgrep.MEMORY", 96 << 20)
    monkeypatch.setattr("handrail.search.engine.TOLD_BYTES", 1 << 20)
    tree(finder.root, {"a": b"foo " * (12 << 20), "b": "foo\n"})
    assert finder.files(finder.search("foo")) == {"a": (1, (1,)), "b": (1, (1,))}


def test_links_out_of_the_tree_are_followed_once_and_loops_end(finder: Finder) -> None:
    tree(finder.root, {"items/x.md": "foo\n", "items/deep/y.md": "foo\n", "a/z.md": "foo\n"})
    os.symlink("../items", finder.root / "a" / "link")
    os.symlink("..", finder.root / "items" / "loop")
    os.symlink("../items", finder.root / "a" / "again")
    os.symlink("../items/x.md", finder.root / "a" / "file.md")
    wanted = {"a/z.md", "items/x.md", "items/deep/y.md"}
    assert set(finder.files(finder.search("foo", "a"))) == wanted
    assert set(finder.files(finder.search("foo", "a", file_pattern="link/*.md"))) == {"items/x.md"}
    assert set(finder.files(finder.search("foo"))) == wanted
    assert set(finder.listed(finder.glob("*.md", directory="a"))) == wanted


def test_without_ripgrep_the_process_searches_a_large_tree(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    from handrail.fs import ripgrep
    from handrail.model.errors import BackendFailed

    def missing() -> str:
        raise BackendFailed("backend_unavailable", "ripgrep isn't there.")

    monkeypatch.setattr(ripgrep, "binary", missing)
    tree(finder.root, {".gitignore": "*.log\n", "a": "foo\n", "b/c": "x\nfoo\n", "x.log": "foo\n"})
    assert finder.files(finder.search("foo")) == {"a": (1, (1,)), "b/c": (1, (2,))}
