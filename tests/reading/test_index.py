"""Large files: any row is found across blocks, a second page needs no second pass, and time that runs out is said."""

from pathlib import Path

import pytest
from one_view import OneView, read, texts

from handrail.reading.index import BLOCK
from handrail.reading.read import ReadPlanner


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.txt"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be", "gb18030"])
def test_any_row_is_found_across_blocks(file: Path, encoding: str) -> None:
    rows = [f"{n} {'é日🙂'[n % 3] * (n % 61)}" for n in range(30000)]
    rows[12345] = "L" * (3 * BLOCK)
    data = "".join(row + ("\r\n" if n % 5 == 0 else "\n") for n, row in enumerate(rows)).encode(encoding)
    assert len(data) > 4 * BLOCK
    file.write_bytes(data)
    planner = ReadPlanner()
    view = OneView(later=10**12)
    for offset in (1, 2, 777, 9999, 12340, 12346, 12347, 20000, 29990):
        answer = read(file, planner=planner, view=view, encoding=encoding, offset=offset, limit=12)
        assert answer.total == 30000
        assert texts(answer) == [row[:2000] for row in rows[offset - 1 : offset + 11]]
    answer = read(file, planner=planner, view=view, encoding=encoding, offset=12346, column=600001)
    assert texts(answer) == ["L" * 16000]
    assert answer.next_column == 616001


def test_a_file_that_changed_is_read_anew_though_its_index_was_kept(file: Path) -> None:
    planner, view = ReadPlanner(), OneView(later=10**12)
    file.write_bytes(b"aaaa\n" * 300_000)
    assert read(file, planner=planner, view=view).total == 300_000
    file.write_bytes(b"aaaaaaaaa\n" * 150_000)
    answer = read(file, planner=planner, view=view, limit=1)
    assert (answer.total, texts(answer)) == (150_000, ["aaaaaaaaa"])


def test_a_kept_index_spares_the_second_pass(file: Path) -> None:
    planner = ReadPlanner()
    file.write_bytes(b"aaaa\n" * 2_000_000)
    view = Counting(later=10**12)
    first = read(file, planner=planner, view=view, offset=1_000_000, limit=5)
    once = view.bytes_read
    second = read(file, planner=planner, view=view, offset=1_000_006, limit=5)
    assert view.bytes_read - once < 3 * BLOCK
    assert (first.hash, first.total) == (second.hash, second.total)


def test_when_time_is_up_the_rest_is_said_to_be_unknown(file: Path) -> None:
    file.write_bytes(b"aaaa\n" * 1_000_000)
    answer = read(file, view=OneView(seconds=0.9), limit=3)
    assert texts(answer) == ["aaaa"] * 3
    assert (answer.exact, answer.hash, answer.next_offset) == (False, "", 4)
    assert any("at least" in note for note in answer.notes)


class Counting(OneView):
    bytes_read = 0

    def look(self, path):  # type: ignore[no-untyped-def]
        snapshot = super().look(path)
        return Counted(snapshot, self)


class Counted:
    def __init__(self, inner, view) -> None:  # type: ignore[no-untyped-def]
        self.inner, self.view, self.path, self.stat = inner, view, inner.path, inner.stat

    def read(self, offset: int, size: int) -> bytes:
        data = self.inner.read(offset, size)
        self.view.bytes_read += len(data)
        return data

    def content(self):  # type: ignore[no-untyped-def]
        return self.inner.content()
