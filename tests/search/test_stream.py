"""Searching a file piece by piece gives the rows that searching it whole gives."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from plain_view import PlainView

from handrail.model.errors import WrongContent
from handrail.model.paths import seal
from handrail.search import pattern, rows, stream
from handrail.search.stream import Stream
from handrail.text import codec


def streamed(path: Path, expression: str) -> tuple[list[tuple[int, int, bytes]], bool]:
    view = PlainView(path.parent)
    one = Stream(view.glance(seal(str(path))), pattern.compile(expression), view)
    found = [(hit.row, hit.skipped + hit.spans[0][0], hit.data) for hit in one.rows()]
    return found, one.unsure


def whole(data: bytes, expression: str) -> list[tuple[int, int]]:
    text = rows.normal(codec.decode(data).text)
    return [(hit.row, hit.spans[0][0]) for hit in rows.search(text, pattern.compile(expression))]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BLOCK", 7)
    monkeypatch.setattr(stream, "LONG", 40)
    monkeypatch.setattr(stream, "OVERLAP", 12)


EXPRESSIONS: Sequence[str] = ("foo", "^foo", "foo$", r"\bfoo\b", "a|b", "^$", "o.f", "^", "x$")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_any_text_in_pieces_has_the_rows_it_has_whole(tmp_path: Path, small_blocks: None, expression: str) -> None:
    dice = random.Random(expression)
    for number in range(60):
        pieces = [dice.choice(["foo", "a", "b", "\n", "\r\n", "x", " ", "y" * 30]) for _ in range(dice.randrange(60))]
        data = "".join(pieces).encode()
        path = tmp_path / str(number)
        path.write_bytes(data)
        found, _ = streamed(path, expression)
        assert [(row, at) for row, at, _ in found] == whole(data, expression), data


def test_the_match_in_a_row_without_end_is_shown_with_what_stands_around_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one\n" + b"x" * (9 << 20) + "é needle é".encode() + b"y" * (6 << 20) + b"\nneedle\n")
    found, unsure = streamed(path, "needle")
    assert [row for row, _, _ in found] == [2, 3]
    assert "é needle é".encode() in found[0][2]
    assert len(found[0][2]) < 10_000
    assert not unsure


def test_a_match_that_may_be_longer_than_the_window_leaves_it_unsure(tmp_path: Path, small_blocks: None) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a" + b"x" * 500 + b"z\n")
    assert streamed(path, "a.*z") == ([], True)
    assert streamed(path, "needle") == ([], False)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "gbk", "shift_jis"])
def test_other_encodings_stream_as_text(tmp_path: Path, small_blocks: None, encoding: str) -> None:
    path = tmp_path / "f"
    text = "テスト needle テスト\n" if encoding == "shift_jis" else "测试 needle 测试\n"
    path.write_bytes((text * 20).encode(encoding))
    found, _ = streamed(path, "needle")
    assert [row for row, _, _ in found] == list(range(1, 21))


def test_a_binary_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"foo\0\1\2\0" * 50)
    with pytest.raises(WrongContent):
        streamed(path, "foo")
