"""Pages, whatever their size: they join to exactly the whole, in both engines, and only the first one searches."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_view import Finder, tree

from handrail.model.answers import Found, MatchingRow
from handrail.search import content

PLENTY = 1 << 30
LINES = ["foo\n", "bar\n", "x foo y\r\n", "\n", "foo foo\n", "é foo\n"]
TREES = st.dictionaries(
    st.sampled_from(["a", "b/c", "b/d", "b", "e e", "f.txt", "z/z/z", "-e", "é"]).map(lambda name: f"t/{name}.d/f"),
    st.lists(st.sampled_from(LINES), max_size=14).map("".join),
    min_size=1,
)


def pages(finder: Finder, limit: int, **asked: object) -> Iterator[Found]:
    offset: int | None = 0
    while offset is not None:
        page = finder.search("foo", offset=offset, limit=limit, **asked)
        yield page
        assert page.first == (offset + 1 if page.last else 0)
        assert page.next_offset is None or page.next_offset == page.last > offset
        offset = page.next_offset


def matching(found: Found) -> list[MatchingRow]:
    return [row for row in found.rows if not row.context]


CONTEXTS = st.integers(0, 4)
KEPT = st.sampled_from([0, 5, content.KEPT_ROWS])


@settings(max_examples=12)
@given(files=TREES, limit=st.integers(1, 9), context=CONTEXTS, kept=KEPT)
def test_pages_of_rows_join_to_the_whole(
    engine: str, files: dict[str, str], limit: int, context: int, kept: int
) -> None:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "KEPT_ROWS", kept)
        finder = Finder(tree(Path(place).resolve(), files))
        asked = {"unit": "content", "before": context, "after": context}
        whole = finder.search("foo", text_cap=PLENTY, **asked)
        _surrounded(whole, finder, context, files)
        found = list(pages(finder, limit, **asked))
        assert [(r.path, r.row, r.text) for page in found for r in matching(page)] == [
            (r.path, r.row, r.text) for r in matching(whole)
        ]
        assert [len(matching(page)) for page in found[:-1]] == [limit] * (len(found) - 1)
        assert {page.total for page in found} == {whole.total}


@pytest.mark.parametrize("kept", [0, content.KEPT_ROWS])
def test_what_matches_on_the_next_page_is_still_among_the_surroundings(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, kept: int
) -> None:
    monkeypatch.setattr(content, "KEPT_ROWS", kept)
    files = {"t/a.d/f": "foo\nfoo\nbar\nfoo\nbar\nbar\n"}
    finder = Finder(tree(tmp_path, files))
    for limit in (1, 2, 3):
        for page in pages(finder, limit, unit="content", before=1, after=1):
            _surrounded(page, finder, 1, files)


def _surrounded(page: Found, finder: Finder, context: int, files: dict[str, str]) -> None:
    """Each matching row stands in its surroundings, and no row comes twice, however contexts overlap."""
    shown = [(finder.name(row.path), row.row) for row in page.rows]
    assert len(set(shown)) == len(shown)
    assert shown == sorted(shown, key=lambda place: (str(finder.root / place[0]), place[1]))
    last = {name: text.count("\n") for name, text in files.items()}
    assert set(shown) == {
        (finder.name(row.path), number)
        for row in matching(page)
        for number in range(max(row.row - context, 1), min(row.row + context, last[finder.name(row.path)]) + 1)
    }
    for one, other in zip(page.rows, page.rows[1:], strict=False):
        follows = (one.path, one.row + 1) == (other.path, other.row)
        assert (one.block == other.block) == follows


@settings(max_examples=8)
@given(files=TREES, limit=st.integers(1, 4), unit=st.sampled_from(["files", "count"]))
def test_pages_of_files_join_to_the_whole(engine: str, files: dict[str, str], limit: int, unit: str) -> None:
    with TemporaryDirectory() as place:
        finder = Finder(tree(Path(place).resolve(), files))
        whole = finder.search("foo", unit=unit)
        assert [file for page in pages(finder, limit, unit=unit) for file in page.files] == list(whole.files)
        wanted = {name: sum("foo" in row for row in text.split("\n")) for name, text in files.items()}
        assert {name: count for name, (count, _) in finder.files(whole).items()} == {
            name: count for name, count in wanted.items() if count
        }


@pytest.mark.parametrize("cap", [1, 700, 3000])
def test_pages_that_are_cut_by_their_text_join_too(engine: str, tmp_path: Path, cap: int) -> None:
    tree(tmp_path, {f"f{n}": ("foo " + "x" * n * 30 + "\n") * n for n in range(9)})
    finder = Finder(tmp_path)
    whole = matching(finder.search("foo", unit="content", text_cap=PLENTY))
    for context in (0, 2):
        found = list(pages(finder, 100, unit="content", text_cap=cap, before=context, after=context))
        assert [(r.path, r.row) for page in found for r in matching(page)] == [(r.path, r.row) for r in whole]
        assert len(found) > 1


@pytest.mark.parametrize("unit", ["content", "files"])
def test_a_following_page_searches_nothing_again(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    finder = Finder(tree(tmp_path, {f"d{n % 5}/f{n}": "foo\nbar\n" * 3 for n in range(40)}))
    runs = []
    real = content.engine.matching
    monkeypatch.setattr(content.engine, "matching", lambda *args, **more: (runs.append(1), real(*args, **more))[1])
    first = finder.search("foo", unit=unit, limit=7)
    searches = len(finder.view.searches)
    assert len(runs) == 1
    assert first.next_offset == 7
    for offset in (7, 14, 7):
        page = finder.search("foo", unit=unit, limit=7, offset=offset)
        assert (page.first, page.last) == (offset + 1, offset + 7)
        assert page.searched_at == first.searched_at
    assert (len(runs), len(finder.view.searches)) == (1, searches)
    finder.search("fo+", unit=unit, limit=7, offset=7)
    assert len(runs) == 2


def test_a_file_that_changed_since_is_named_on_its_page_alone(engine: str, tmp_path: Path) -> None:
    finder = Finder(tree(tmp_path, {f"f{n}": "foo\nfoo\n" for n in range(6)}))
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, ns=(1, 1))
    finder.view.now = lambda: max((tmp_path / f"f{n}").stat().st_ctime_ns for n in range(6)) + 1  # type: ignore[method-assign]
    first = finder.search("foo", unit="content", limit=4)
    del finder.view.now  # type: ignore[attr-defined]
    assert first.changed == ()
    later = first.searched_at + 10**9
    (tmp_path / "f3").write_text("gone\n")
    os.utime(tmp_path / "f3", ns=(later, later))
    (tmp_path / "f5").unlink()
    changed = [
        [finder.name(path) for path in finder.search("foo", unit=unit, limit=limit, offset=offset).changed]
        for unit, limit, offset in [("content", 4, 4), ("content", 4, 8)]
    ]
    assert changed == [["f3"], ["f5"]]


@pytest.mark.parametrize("width", ["x", "é", "文", "😀"])
@pytest.mark.parametrize("around", [(0, 2000), (2000, 0), (700, 700), (255, 254), (3, 600)])
def test_a_long_row_is_cut_at_characters_around_its_first_match(
    engine: str, tmp_path: Path, width: str, around: tuple[int, int]
) -> None:
    line = width * around[0] + "needle" + width * around[1]
    finder = Finder(tree(tmp_path, {"a": f"{line} needle\nneedle\n"}))
    row = finder.search("needle", unit="content").rows[0]
    assert row.cut
    assert row.column is not None
    assert row.match == "needle"
    assert (line + " needle")[row.column - 1 :].startswith(row.text)
    start = row.column - 1
    assert start <= around[0] <= start + len(row.text) - len("needle")
    assert 512 - len(width.encode()) < len(row.text.encode()) <= 512
