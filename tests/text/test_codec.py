# ruff: noqa: RUF001
"""Decoding loses nothing; a change of a stretch leaves every other byte as it was, in every encoding."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.model.errors import InvalidCall, WrongContent
from handrail.text import codec

SAMPLES = {
    "utf-8": "naïve café – 日本語 🙂 plain\r\nzweite\n",
    "utf-16-le": "abc 測試 🙂\r\nx",
    "utf-16-be": "abc 測試 🙂\r\nx",
    "utf-32-le": "abc 測試 🙂\n",
    "utf-32-be": "abc 測試 🙂\n",
    "gbk": "测试 GBK 文件\nabc",
    "gb18030": "测试 🙂 文件\nabc",
    "big5": "繁體中文 abc\n",
    "big5hkscs": "繁體Ê̄中文 abc\n",
    "shift_jis": "日本語テキスト abc\\~\n",
    "cp932": "日本語①㈱ abc\n",
    "euc_jp": "日本語テキスト abc\n",
    "euc_jis_2004": "日本語テキスト abc\n",
    "euc_kr": "한국어 abc\n",
    "cp949": "한국어 똠방각하 abc\n",
    "johab": "한국어 abc\n",
    "cp1252": "café “x” €\n",
    "latin-1": "café ÿ\n",
    "koi8-r": "Привет мир\n",
    "cp437": "┌─┐ é\n",
    "cp037": "hello world\n",
    "iso2022_jp": "abc 日本語 abc 日本\nxyz 本\n",
    "iso2022_kr": "abc 한국어 abc\nxyz 한\n",
    "hz": "abc 测试 abc\nxyz 测\n",
}
STATEFUL = {"iso2022_jp", "iso2022_kr", "hz"}


def as_bytes(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


@pytest.mark.parametrize("encoding", SAMPLES)
def test_a_splice_without_edits_gives_the_same_bytes(encoding: str) -> None:
    data = as_bytes(SAMPLES[encoding], encoding)
    found = codec.decode(data, encoding=encoding)
    assert found.text == SAMPLES[encoding]
    assert found.splice([]) == data


@pytest.mark.parametrize("encoding", SAMPLES)
def test_every_single_character_can_be_replaced_removed_and_preceded(encoding: str) -> None:
    text = SAMPLES[encoding]
    data = as_bytes(text, encoding)
    found = codec.decode(data, encoding=encoding)
    for at in range(len(text) + 1):
        for end, new in ((at, "X"), (min(at + 1, len(text)), ""), (min(at + 2, len(text)), "XY\n")):
            try:
                changed = found.splice([(at, end, new)])
            except WrongContent as error:
                assert error.kind == "unencodable"
                assert encoding in {"big5hkscs", *STATEFUL}
                continue
            assert codec.decode(changed, encoding=encoding).text == text[:at] + new + text[end:]
            if encoding not in STATEFUL:
                before, after = text[:at].encode(encoding), text[end:].encode(encoding)
                assert changed.startswith(before)
                assert changed.endswith(after)


def test_hardly_any_change_in_a_stateful_encoding_is_refused() -> None:
    refused = total = 0
    for encoding in STATEFUL:
        text = SAMPLES[encoding]
        found = codec.decode(text.encode(encoding), encoding=encoding)
        for at in range(len(text)):
            total += 1
            try:
                found.splice([(at, at + 1, "Z")])
            except WrongContent:
                refused += 1
    assert refused <= 1, (refused, total)  # the one that carries the file's announcement of its character set


ENCODINGS = st.sampled_from(sorted(set(SAMPLES) - STATEFUL - {"big5hkscs", "euc_jis_2004"}))


@settings(max_examples=300, deadline=None)
@given(ENCODINGS, st.data())
def test_random_edits_equal_the_edit_of_the_pieces(encoding: str, data: st.DataObject) -> None:
    alphabet = sorted(set(SAMPLES[encoding] + "abc \t"))
    piece = st.text(alphabet, max_size=6)
    pieces = data.draw(st.lists(piece, min_size=1, max_size=8))
    edits, oracle, at = [], b"", 0
    for number, part in enumerate(pieces):
        end = at + len(part)
        new = data.draw(piece) if number % 2 else part
        if number % 2:
            edits.append((at, end, new))
        oracle += new.encode(encoding)
        at = end
    whole = "".join(pieces).encode(encoding)
    text = codec.Text(whole, codec.Form(encoding=encoding), "".join(pieces))
    assert text.splice(edits) == oracle


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xc3\xa9", b"\xe9", b"\xff", b"\xe2\x82", b"\xf0\x9f\x99\x82"]))
)
def test_stray_bytes_survive_any_edit_of_their_neighbours(parts: list[bytes]) -> None:
    data = b"".join(parts)
    text = data.decode("utf-8", "surrogateescape")
    found = codec.Text(data, codec.Form(stray_bytes=1), text)
    assert found.splice([]) == data
    for at in range(len(text) + 1):
        before = text[:at].encode("utf-8", "surrogateescape")
        after = text[at:].encode("utf-8", "surrogateescape")
        assert before + after == data
        assert found.splice([(at, at, "né")]) == before + "né".encode() + after


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from(["gbk", "big5", "shift_jis", "cp932", "euc_kr", "cp949", "gb18030", "euc_jp"]),
)
def test_any_bytes_read_in_any_encoding_come_back(data: bytes, encoding: str) -> None:
    form = codec.Form(encoding=encoding)
    text = codec.Text(data, form, codec.characters(data, form))
    assert text.splice([]) == data
    for at in range(len(text.text) + 1):
        try:
            changed = text.splice([(at, at, "")])
        except WrongContent:
            continue
        assert changed == data


def test_duplicate_codes_keep_the_one_they_had() -> None:
    data = b"\xed\x40\xfa\x5c x=1\n"  # the same character twice, in two codes
    found = codec.decode(data, encoding="cp932")
    assert found.text[0] == found.text[1]
    assert found.splice([(found.text.index("1"), found.text.index("1") + 1, "2")]) == b"\xed\x40\xfa\x5c x=2\n"


@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff"])
def test_a_mark_is_kept_once_and_never_shown(bom: bytes) -> None:
    encoding = {2: "utf-16", 3: "utf-8", 4: "utf-32"}[len(bom)]
    if encoding != "utf-8":
        encoding += "-le" if bom[0] == 0xFF else "-be"
    data = bom + "hello \ufeff x\n".encode(encoding)
    found = codec.decode(data)
    assert found.text == "hello \ufeff x\n"
    assert (found.form.encoding, found.form.bom) == (encoding, bom)
    assert found.splice([(0, 5, "hello2")]) == bom + "hello2 \ufeff x\n".encode(encoding)
    assert codec.encode("new\n", found.form) == bom + "new\n".encode(encoding)


def test_line_ends_of_other_lines_stay() -> None:
    found = codec.decode(b"a\r\nb\nc")
    assert found.splice([(5, 6, "C")]) == b"a\r\nb\nC"


def test_bytes_of_a_legacy_file_stay_when_another_line_changes() -> None:
    data = b"caf\xe9 \x99\nx=1\n"
    found = codec.decode(data)
    at = found.text.index("x=1")
    assert found.splice([(at, at + 3, "x=2")]) == b"caf\xe9 \x99\nx=2\n"


def test_half_a_unit_at_the_end_of_utf16_is_kept() -> None:
    data = "ab\n".encode("utf-16-le") + b"\x41"
    found = codec.decode(b"\xff\xfe" + data)
    assert found.splice([(0, 1, "x")]) == b"\xff\xfe" + "xb\n".encode("utf-16-le") + b"\x41"


@pytest.mark.parametrize(
    ("encoding", "character", "code"),
    [("cp1252", "中", "U+4E2D"), ("gbk", "🙂", "U+1F642"), ("shift_jis", "¥", "U+00A5"), ("utf-8", "\ud800", "U+D800")],
)
def test_a_character_that_the_encoding_lacks_is_named(encoding: str, character: str, code: str) -> None:
    found = codec.decode(b"abc", encoding=encoding)
    for attempt in (lambda: found.splice([(0, 1, character)]), lambda: codec.encode(character, found.form)):
        with pytest.raises(WrongContent, match=re.escape(code)) as caught:
            attempt()
        assert caught.value.kind == "unencodable"
        assert caught.value.facts["encoding"] == encoding


def test_stray_bytes_may_move_but_not_be_brought_in() -> None:
    found = codec.decode("é é é é\n".encode() + b"\xff\n")
    assert found.form.encoding == "utf-8"
    assert found.form.stray_bytes == 1
    assert found.splice([(0, 1, "\udcff")]).startswith(b"\xff")
    with pytest.raises(WrongContent):
        found.splice([(0, 1, "\udcfe")])


def test_overlapping_spans_are_refused() -> None:
    with pytest.raises(InvalidCall):
        codec.decode(b"abcdef").splice([(0, 3, "x"), (2, 4, "y")])


@pytest.mark.parametrize("name", ["nope", "rot13", "base64", "idna", "utf-7", "unicode_escape", "\0", "x" * 5000])
def test_what_is_no_text_encoding_is_refused(name: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        codec.decode(b"abc", encoding=name)
    assert caught.value.kind == "invalid_arguments"


@pytest.mark.parametrize(
    ("given_name", "shown_name"),
    [("UTF8", "utf-8"), ("latin1", "latin-1"), ("Windows-1252", "cp1252"), ("SJIS", "shift_jis"), ("GBK", "gbk")],
)
def test_an_encoding_has_one_name(given_name: str, shown_name: str) -> None:
    assert codec.decode(b"abc", encoding=given_name).form.encoding == shown_name


def test_a_named_encoding_that_does_not_fit_says_where() -> None:
    with pytest.raises(WrongContent, match="0xe9 at offset 3") as caught:
        codec.decode(b"caf\xe9 \xff\xfe\xfd\n", encoding="utf-8")
    assert caught.value.kind == "undecodable"


def test_binary_stays_binary_under_a_named_encoding() -> None:
    with pytest.raises(WrongContent) as caught:
        codec.decode(b"\x7fELF\0\0\0\0\x01", encoding="latin-1")
    assert caught.value.kind == "binary"


def test_what_is_printable_can_be_written_as_utf8() -> None:
    assert codec.printable("a\udcffb").encode() == b"a\xef\xbf\xbdb"
