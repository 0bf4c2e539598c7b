"""One splitter: only a line feed, with or without a carriage return, ends a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.text import lines

TEXT = st.text(st.sampled_from(["a", "b", "\n", "\r", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\x0b"]))


@given(TEXT)
def test_split_joins_to_the_text_and_counts_like_count(text: str) -> None:
    rows = lines.split(text)
    assert "".join(rows) == text
    assert len(rows) == lines.count(text)
    assert all(row.endswith("\n") for row in rows[:-1])
    assert all("\n" not in row[:-1] for row in rows)


@pytest.mark.parametrize("text", ["a\rb", "a\x0cb", "a\x85b", "a\u2028b", "a\u2029b", "a\x0bb", "a\x1cb", "a\r"])
def test_nothing_else_ends_a_line(text: str) -> None:
    assert lines.split(text) == [text]


def test_a_form_feed_does_not_shift_rows() -> None:
    text = "a\n\x0cb\nNEEDLE\n"
    assert lines.row_at(text, text.index("NEEDLE")) == 3
    assert lines.split(text)[2] == "NEEDLE\n"


@given(TEXT, st.data())
def test_row_at_and_offset_of_agree(text: str, data: st.DataObject) -> None:
    rows = lines.split(text)
    at = 0
    for number, row in enumerate(rows, 1):
        assert lines.offset_of(text, number) == at
        assert {lines.row_at(text, at), lines.row_at(text, at + len(row) - 1)} == {number}
        at += len(row)
    assert lines.offset_of(text, len(rows) + 1 + data.draw(st.integers(0, 3))) == len(text)


def test_chomp_takes_one_end() -> None:
    assert [lines.chomp(x) for x in ("a\n", "a\r\n", "a\r", "a\n\n", "")] == ["a", "a", "a\r", "a\n", ""]


@pytest.mark.parametrize(
    ("text", "end"), [("", "\n"), ("a", "\n"), ("a\r\nb\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\rc", "\n")]
)
def test_the_dominant_end_is_that_of_most_lines(text: str, end: str) -> None:
    assert lines.dominant_end(text) == end


def test_ends_are_made_alike_and_lone_returns_stay() -> None:
    assert lines.with_ends("a\nb\r\nc\rd", "\r\n") == "a\r\nb\r\nc\rd"
    assert lines.with_ends("a\nb\r\nc\rd", "\n") == "a\nb\nc\rd"
    assert lines.has_mixed_ends("a\nb\r\n")
    assert not lines.has_mixed_ends("a\r\nb\r\n")
