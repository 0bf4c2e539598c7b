"""Rows of a text file: pages, windows, long lines, budgets; whatever the size and the encoding."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from one_view import OneView, numbers, read, texts

from handrail.model.errors import HandrailError, InvalidCall, WrongContent
from handrail.text import lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "f.txt"


def test_a_page_says_where_it_stands(file: Path) -> None:
    data = b"".join(b"line %d\n" % n for n in range(1, 101))
    file.write_bytes(data)
    answer = read(file, offset=11, limit=10)
    assert numbers(answer) == list(range(11, 21))
    assert texts(answer) == [f"line {n}" for n in range(11, 21)]
    assert (answer.first, answer.last, answer.total, answer.next_offset) == (11, 20, 100, 21)
    assert (answer.hash, answer.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert answer.exact


def test_the_last_page_has_no_next(file: Path) -> None:
    file.write_bytes(b"a\nb\nc")
    answer = read(file, offset=2)
    assert (texts(answer), answer.next_offset, answer.final_newline) == (["b", "c"], None, False)


def test_a_negative_offset_counts_from_the_end(file: Path) -> None:
    file.write_bytes(b"1\n2\n3\n4\n")
    assert texts(read(file, offset=-2)) == ["3", "4"]
    assert texts(read(file, offset=-2, limit=1)) == ["3"]
    assert texts(read(file, offset=-99)) == ["1", "2", "3", "4"]


def test_without_a_limit_a_page_has_max_rows_and_a_limit_may_ask_for_more(file: Path) -> None:
    file.write_bytes(b"x\n" * 6000)
    answer = read(file, max_rows=2048)
    assert (len(answer.rows), answer.next_offset) == (2048, 2049)
    assert len(read(file, max_rows=2000, limit=5000).rows) == 5000


def test_a_limit_of_nothing_shows_nothing_and_goes_on_there(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    answer = read(file, offset=2, limit=0)
    assert (answer.rows, answer.next_offset) == ((), 2)
    with pytest.raises(InvalidCall):
        read(file, limit=-1)


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_an_empty_file_is_text_with_no_rows_and_says_so(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    answer = read(file)
    assert (answer.kind, answer.rows, answer.total, answer.next_offset) == ("text", (), 0, None)
    assert "The file is empty." in answer.notes


def test_an_offset_past_the_end_is_text_with_no_rows_and_says_so(file: Path) -> None:
    file.write_bytes(b"a\nb\n")
    answer = read(file, offset=3)
    assert (answer.rows, answer.total, answer.next_offset) == ((), 2, None)
    assert any("2 lines" in note for note in answer.notes)


def test_line_ends_and_mark_never_show(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\n")
    answer = read(file)
    assert (texts(answer), answer.bom, answer.line_end) == (["a", "b", "c"], True, "\r\n")


def test_only_line_feeds_end_a_line(file: Path) -> None:
    file.write_bytes("a\n\x0cb\x85c\u2028d\re\nNEEDLE\n".encode())
    answer = read(file)
    assert texts(answer) == ["a", "\x0cb\x85c\u2028d\re", "NEEDLE"]


def test_a_long_line_is_cut_and_column_reads_on(file: Path) -> None:
    line = "".join(f"{n:05d}" for n in range(8000))
    file.write_text(f"a\n{line}\nb\n")
    answer = read(file)
    assert [row.cut for row in answer.rows] == [False, True, False]
    assert answer.rows[1].text == line[:2000]
    got, column = answer.rows[1].text, 2001
    while column is not None:
        part = read(file, offset=2, column=column)
        assert part.column == column
        assert len(part.rows) == 1
        got += part.rows[0].text
        column = part.next_column
    assert got == line
    assert part.next_offset == 3


def test_a_column_past_the_end_of_its_row_says_so(file: Path) -> None:
    file.write_bytes(b"abc\r\ndef\n")
    answer = read(file, column=4)
    assert (texts(answer), answer.next_column, answer.next_offset) == ([""], None, 2)
    assert any("ends before column 4" in note for note in answer.notes)
    assert texts(read(file, column=3)) == ["c"]
    with pytest.raises(InvalidCall):
        read(file, column=0)


def test_whole_lines_only_up_to_the_text_cap(file: Path) -> None:
    file.write_text("".join(f"{'x' * 99}\n" for _ in range(50)))
    answer = read(file, max_text=1050)
    assert (len(answer.rows), answer.next_offset) == (10, 11)


def test_the_cap_counts_bytes_of_utf8(file: Path) -> None:
    file.write_text("é" * 49 + "\n" + "é" * 49 + "\n", encoding="utf-8")
    assert len(read(file, max_text=150).rows) == 1


def test_a_row_larger_than_the_cap_still_shows_its_start(file: Path) -> None:
    file.write_text("é" * 500 + "\nb\n", encoding="utf-8")
    answer = read(file, max_text=100)
    assert answer.rows[0].cut
    assert 0 < len(answer.rows[0].text.encode()) <= 100
    assert answer.next_offset == 2


def test_the_calls_budget_is_shared_and_what_does_not_fit_is_named(file: Path) -> None:
    file.write_text("".join(f"{n:09d}\n" for n in range(100)))
    view = OneView(budget=155)
    first = read(file, view=view, limit=10)
    assert len(first.rows) == 10
    second = read(file, view=view, offset=11)
    assert (len(second.rows), second.next_offset) == (5, 16)
    third = read(file, view=view, offset=21)
    assert (third.rows, third.next_offset) == ((), 21)
    assert any("offset=21" in note for note in third.notes)


def test_windows_merge_and_gaps_are_marked(file: Path) -> None:
    file.write_text("".join(f"{n}\n" for n in range(1, 101)))
    answer = read(file, around=(10, 12, 50), context=2, offset=99, limit=1)
    assert numbers(answer) == [*range(8, 15), None, *range(48, 53)]
    assert answer.rows[7].text == "..."
    assert answer.windows == ((8, 14), (48, 52))
    assert answer.next_offset is None


def test_a_window_of_no_context_is_the_rows_alone(file: Path) -> None:
    file.write_text("".join(f"{n}\n" for n in range(1, 11)))
    answer = read(file, around=(9, 3, 3, 4), context=0)
    assert numbers(answer) == [3, 4, None, 9]


def test_rows_past_the_end_are_reported(file: Path) -> None:
    file.write_text("a\nb\n")
    answer = read(file, around=(1, 400), context=0)
    assert (texts(answer), answer.missing_rows) == (["a"], (400,))
    with pytest.raises(InvalidCall):
        read(file, around=(0,))


def test_windows_that_do_not_fit_are_named(file: Path) -> None:
    file.write_text("".join(f"{n:09d}\n" for n in range(1, 101)))
    answer = read(file, around=(10, 50, 90), context=1, view=OneView(budget=35))
    assert numbers(answer) == [9, 10, 11]
    assert any("around=[50, 90]" in note for note in answer.notes)


def test_encoding_is_reported_with_its_confidence(file: Path) -> None:
    file.write_bytes("测试文件，中文内容。\n第二行。\n".encode("gbk"))  # noqa: RUF001
    answer = read(file)
    assert (answer.encoding, texts(answer)[1]) == ("gbk", "第二行。")
    assert 0 < answer.encoding_confidence < 1


def test_the_named_encoding_wins(file: Path) -> None:
    file.write_bytes("été\n".encode("cp1252"))
    assert texts(read(file, encoding="cp437")) == ["\u0398t\u0398"]
    file.write_bytes("héé\n".encode("utf-16-be"))
    assert texts(read(file, encoding="utf-16-be")) == ["héé"]
    with pytest.raises(InvalidCall):
        read(file, encoding="nope")


def test_a_named_encoding_that_does_not_fit_is_typed_and_names_the_file(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\xfd\xfc\n")
    with pytest.raises(WrongContent) as caught:
        read(file, encoding="utf-8")
    assert (caught.value.kind, caught.value.path) == ("undecodable", str(file))


def test_stray_bytes_show_as_a_mark_that_travels(file: Path) -> None:
    file.write_bytes("é é é é\n".encode() + b"bad \xff\n")
    answer = read(file)
    assert texts(answer)[1] == "bad \ufffd"
    assert any("1 byte" in note for note in answer.notes)


def test_a_stray_nul_is_said(file: Path) -> None:
    file.write_bytes(b"line of text\n" * 200 + b"a\0b\n")
    answer = read(file, offset=-1)
    assert texts(answer) == ["a\0b"]
    assert any("NUL" in note for note in answer.notes)


PIECES = ["a", "é", "日", "🙂", "\n", "\r\n", "\r", " ", "xyz" * 5]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030"]),
    text=st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    offset=st.integers(-6, 8),
    limit=st.none() | st.integers(0, 5),
    max_line=st.integers(1, 12),
)
def test_pages_equal_the_lines_of_the_whole(
    file: Path, *, encoding: str, text: str, offset: int, limit: int | None, max_line: int
) -> None:
    file.write_bytes(text.encode(encoding))
    answer = read(file, encoding=encoding, offset=offset, limit=limit, max_line=max_line)
    rows = [lines.chomp(line) for line in lines.split(text)]
    start = max(0, len(rows) + offset) if offset < 0 else max(0, offset - 1)
    wanted = rows[start:] if limit is None else rows[start : start + limit]
    assert answer.total == len(rows)
    assert texts(answer) == [row[:max_line] for row in wanted]
    assert [row.cut for row in answer.rows] == [len(row) > max_line for row in wanted]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300),
    offset=st.integers(-5, 5),
    limit=st.none() | st.integers(0, 5),
    around=st.none() | st.lists(st.integers(1, 9), max_size=4).map(tuple),
    column=st.none() | st.integers(1, 30),
    encoding=st.sampled_from([None, "utf-8", "utf-16", "gbk", "shift_jis", "iso2022_jp", "hz", "cp037"]),
)
def test_any_bytes_give_an_answer_or_a_typed_failure(
    file: Path,
    *,
    data: bytes,
    offset: int,
    limit: int | None,
    around: tuple[int, ...] | None,
    column: int | None,
    encoding: str | None,
) -> None:
    file.write_bytes(data)
    try:
        answer = read(file, offset=offset, limit=limit, around=around, column=column, encoding=encoding)
    except HandrailError as error:
        assert error.kind in {"undecodable", "binary", "unsupported_kind", "transcription_unavailable"}
    else:
        assert answer.hash == hashlib.sha256(data).hexdigest()
        if answer.kind == "text":
            "".join(texts(answer)).encode()
