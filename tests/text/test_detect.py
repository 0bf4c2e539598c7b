# ruff: noqa: RUF001
"""Text or binary, and which encoding: the order of the rules, by content."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.model.errors import WrongContent
from handrail.text import codec, detect

TEXTS = {
    "gbk": "中华人民共和国的测试文件，用来检查编码是否正确。\n第二行文字。\n",
    "big5": "這是一個用來檢查編碼是否正確的測試檔案。\n第二行文字。\n",
    "shift_jis": "これは文字コードを調べるためのテストファイルです。\n二行目のテキスト。\n",
    "euc_jp": "これは文字コードを調べるためのテストファイルです。\n二行目のテキスト。\n",
    "euc_kr": "이것은 문자 인코딩을 확인하기 위한 시험 파일입니다.\n둘째 줄입니다.\n",
    "cp1251": "Это пробный файл для проверки кодировки текста.\nВторая строка.\n",
    "koi8-r": "Это пробный файл для проверки кодировки текста.\nВторая строка.\n",
    "cp1252": "Le café “français” coûte 3 € à l’été.\nDeuxième ligne très naïve.\n",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_legacy_text_is_detected_and_says_how_sure_it_is(encoding: str) -> None:
    found = codec.decode(TEXTS[encoding].encode(encoding))
    assert found.form.encoding == encoding
    assert found.text == TEXTS[encoding]
    assert 0 < found.form.confidence < 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["hello world\n", "x = 'é'\r\ny = 2\r\n", "plain\n" * 2000, *TEXTS.values()])
def test_wide_text_without_a_mark_is_text(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    if 0 not in data:
        pytest.skip("nothing tells")
    assert codec.decode(data).text == text


def test_a_short_string_with_its_final_nul_is_no_wide_text() -> None:
    assert codec.sniff(b"abc\0", whole=True) is None
    assert codec.sniff(b"hello\0", whole=True) is None


def test_utf8_is_sure() -> None:
    form = codec.decode("größe\n".encode()).form
    assert (form.encoding, form.confidence, form.stray_bytes) == ("utf-8", 1.0, 0)


def test_empty_and_ascii_are_utf8() -> None:
    assert codec.decode(b"").form == codec.decode(b"abc\n").form == codec.Form()


def test_a_few_stray_bytes_leave_utf8_utf8() -> None:
    data = "Ünïcödé wörds hére and thére\n".encode() * 20 + b"stray \x99 byte\n"
    form = codec.decode(data).form
    assert (form.encoding, form.stray_bytes) == ("utf-8", 1)


@pytest.mark.parametrize("encoding", TEXTS)
def test_legacy_text_is_not_taken_for_utf8_with_strays(encoding: str) -> None:
    for line in TEXTS[encoding].splitlines():
        for word in (line, line[:4], line[:2]):
            data = word.encode(encoding)
            try:
                data.decode()
            except UnicodeDecodeError:
                assert codec.decode(data).form.encoding != "utf-8"


def test_nuls_in_the_head_are_binary() -> None:
    for data in (b"a\0b", b"\0", b"text " * 100 + b"\0\0\0\0", bytes(range(256)) * 32):
        with pytest.raises(WrongContent) as caught:
            codec.decode(data)
        assert caught.value.kind == "binary"


def test_a_stray_nul_in_a_text_is_text_and_counted() -> None:
    form = codec.decode(b"line of text\n" * 200 + b"\0\n").form
    assert (form.encoding, form.stray_nuls) == ("utf-8", 1)


def test_nuls_after_the_head_do_not_decide() -> None:
    assert codec.decode(b"x" * 9000 + b"\0" * 50).form.stray_nuls == 50


@pytest.mark.parametrize(
    "head",
    [
        b"%PDF-1.7\n1 0 obj\n",
        b"PK\x03\x04only letters here",
        b"\x89PNG\r\n\x1a\nabc",
        b"\x1f\x8b\x08abcdefg",
        b"7z\xbc\xaf\x27\x1cabc",
    ],
)
def test_known_formats_are_never_text_even_without_a_nul(head: bytes) -> None:
    assert codec.sniff(head, whole=True) is None


def test_compressed_bytes_are_binary() -> None:
    assert codec.sniff(os.urandom(8192), whole=False) is None


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_every_file_is_text_or_binary_and_nothing_else_happens(data: bytes) -> None:
    form = codec.sniff(data, whole=True)
    if form is None:
        with pytest.raises(WrongContent):
            codec.decode(data)
    else:
        assert codec.decode(data).splice([]) == data


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.integers(0, 3), st.booleans())
def test_a_stream_is_judged_like_the_whole(encoding: str, blocks: int, with_ascii: bool) -> None:
    data = b"plain line\n" * (blocks * 20000) + TEXTS[encoding].encode(encoding)
    data += b"plain line\n" * (30000 if with_ascii else 0)
    sniffer = codec.Sniffer()
    for start in range(0, len(data), detect.BLOCK):
        sniffer.feed(data[start : start + detect.BLOCK])
    streamed, whole = sniffer.form(), codec.decode(data).form
    assert streamed is not None
    assert (
        (streamed.encoding, streamed.confidence) == (whole.encoding, whole.confidence) == (encoding, whole.confidence)
    )


def test_the_detector_is_loaded_only_when_it_is_needed() -> None:
    import subprocess
    import sys

    code = "import sys; from handrail.text import codec; codec.decode('é'.encode()); print('chardet' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
