"""A tree of texts in every form that files come in, and what RE2 finds in them when it is asked row by row."""

import random
from collections.abc import Iterator
from pathlib import Path

import re2
from plain_view import tree

from handrail.model.errors import WrongContent
from handrail.text import codec

ROWS = (
    "",
    "a",
    "ab foo",
    "Kelvin K and \u212a, long \u017f and s",
    "é È ß ẞ ñandú",
    "данные Привет ЖЖ",
    "測試 文件 数据",
    "テスト ひらがな カ",
    "한국어 문장",
    "λ\u0301 Ω ω",
    "٣ 1 \uff12",
    "x\ty  tail ",
    "vt\x0bff\x0cend",
    "u2028\u2028x\u0085y",
    "a.b [x] {2} (y) a|b \\d $1 ^ab",
    "word_1 WORD-2 0x1F",
    "-e --pre=x",
    "q\rmid",
    "x" * 700 + "é needle",
)
LATIN = ("caf\xe9 cr\xe8me", "na\xefve fa\xe7ade", "a", "foo bar", "\xa1Ol\xe9! \xdcber stra\xdfe", "", "x\xa0y")
GREEK = ("Καλημέρα κόσμε", "foo a", "ωμέγα Σίσυφος", "")
RUSSIAN = ("Привет, как дела?", "Это обычный русский текст", "foo a", "", "ещё Жук")
CHINESE = ("测试文件的中文内容用来检测编码", "foo 数据", "", "a 文件")
JAPANESE = ("これは日本語の文章です。", "foo テスト ソ表", "", "a カタカナ")
KOREAN = ("이것은 한국어 문장입니다.", "foo 테스트", "", "a")


def _text(rows: tuple[str, ...], *, end: str = "\n", times: int = 2) -> str:
    return "".join(row + end for row in rows) * times


def _mixed() -> str:
    dice = random.Random(5)
    return "".join(row + dice.choice(["\n", "\r\n", "\r\r\n"]) for row in ROWS)


def _bytes_of_all_kinds() -> bytes:
    dice = random.Random(6)
    rows = [bytes(dice.choices(range(1, 256), k=dice.randrange(30))) for _ in range(25)]
    return b"foo\n" + b"\n".join(rows) + b"\nfoo a\n"


FILES: dict[str, str | bytes] = {
    "plain": _text(ROWS, times=1),
    "crlf": _text(ROWS, end="\r\n", times=1),
    "lone-cr": _text(ROWS, end="\r", times=1),
    "mixed": _mixed(),
    "no-end": "foo\na",
    "crlf-no-end": "foo\r\na\r",
    "empty": "",
    "one-end": "\n",
    "ends": "\n\n\r\n\n",
    "mark": b"\xef\xbb\xbf" + _text(ROWS, times=1).encode(),
    "mark-crlf": b"\xef\xbb\xbffoo\r\na\r\n",
    "inner-mark": "a\n\ufefffoo\n",
    "stray": "é plain utf-8 before\n".encode() * 12 + b"foo \xff\xfe tail\na\xc3\n",
    "one-nul": b"some words here\n" * 80 + b"a\0b foo\n",
    "binary": b"foo\0\1\2\0a\n" * 5,
    "any-bytes": _bytes_of_all_kinds(),
    "escape": "foo \x1b[31mred\x1b[0m a\n",
    "pdf": b"%PDF-1.4\nfoo a\n",
    "like-pdf": b"%PD foo\na\n",
    "latin-1": _text(LATIN).encode("latin-1"),
    "latin-1-crlf": _text(LATIN, end="\r\n").encode("latin-1"),
    "cp1253": _text(GREEK).encode("cp1253"),
    "cp1251": _text(RUSSIAN).encode("cp1251"),
    "koi8": _text(RUSSIAN).encode("koi8-r"),
    "gbk": _text(CHINESE).encode("gbk"),
    "gb18030-crlf": _text(CHINESE, end="\r\n").encode("gb18030"),
    "big5": _text(("這是一個繁體中文的檔案", "foo", "", "a 測試文件")).encode("big5"),
    "shift-jis": _text(JAPANESE).encode("shift_jis"),
    "euc-jp": _text(JAPANESE).encode("euc_jp"),
    "iso-2022-jp": _text(JAPANESE).encode("iso2022_jp"),
    "iso-2022-jp-crlf": _text(JAPANESE, end="\r\n").encode("iso2022_jp"),
    "euc-kr": _text(KOREAN).encode("euc_kr"),
    "utf-16": _text(ROWS, times=1).encode("utf-16"),
    "utf-16-le": _text(LATIN).encode("utf-16-le"),
    "utf-16-be": _text(LATIN).encode("utf-16-be"),
    "utf-16-be-mark": b"\xfe\xff" + _text(ROWS, end="\r\n", times=1).encode("utf-16-be"),
    "utf-32": _text(ROWS, times=1).encode("utf-32"),
    "sub/deep/utf-8": _text(CHINESE + RUSSIAN + LATIN, times=1),
}


def planted(root: Path) -> Path:
    """The tree itself."""
    return tree(root, FILES)


def texts(root: Path) -> dict[str, bytes]:
    """Each file's text as a person reads it, in UTF-8, rows ended by LF; binaries aren't there."""
    found = {}
    for name in FILES:
        try:
            text = codec.decode((root / name).read_bytes()).text
        except WrongContent:
            continue
        found[name] = text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")
    return found


def judged(expression: str) -> "re2._Regexp | None":
    """RE2's word on an expression, `None` where it refuses it."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    try:
        return re2.compile(expression.encode(), options)
    except re2.error:
        return None


Rows = dict[tuple[str, int], bytes]
"""The first match in each matching row, by file and number."""


def rows(found: dict[str, bytes], compiled: "re2._Regexp") -> Rows:
    """What RE2 finds when it is asked row by row."""
    return {
        (name, number): match.group()
        for name, text in found.items()
        for number, row in enumerate(split(text), 1)
        if (match := compiled.search(row))
    }


def spanned(found: dict[str, bytes], compiled: "re2._Regexp") -> Rows:
    """What it finds in whole texts: every row that a match touches, with what of the first match lies in it."""
    told: Rows = {}
    for name, text in found.items():
        starts = [0]
        for row in split(text)[:-1]:
            starts.append(starts[-1] + len(row) + 1)
        lines = split(text)
        for match in compiled.finditer(text):
            start, end = match.span()
            for number in _touched(text, start, end):
                if number <= len(lines):
                    base, row = starts[number - 1], lines[number - 1]
                    told.setdefault((name, number), row[max(start - base, 0) : max(end - base, 0)])
    return told


def _touched(text: bytes, start: int, end: int) -> Iterator[int]:
    yield from range(text.count(b"\n", 0, start) + 1, text.count(b"\n", 0, max(start, end - 1)) + 2)


def split(text: bytes) -> list[bytes]:
    """The rows of a text; nothing behind the last line end is one."""
    parts = text.split(b"\n")
    return parts[:-1] if parts[-1] == b"" else parts
