"""What one edit of a file has to keep: each property with its smallest file, the edit, and the bytes that are right."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

END = "the end\n"
WORDS = {
    "gbk": "这是一个测试文件里面有中文内容\n",
    "gb18030": "这是一个测试文件里面有中文内容㐀\n",
    "big5": "這是一個測試檔案裡面有中文內容\n",
    "shift_jis": "これは日本語の文章です。漢字と仮名、ソ表能\n",
    "euc_jp": "これは日本語の文章です。漢字と仮名\n",
    "euc_kr": "이것은 한국어로 쓴 글입니다 파일 시험\n",
    "latin-1": "größer, schöner: naïve cafés à la carte\n",
    "cp1252": "größer \u2013 \u201cschöner\u201d \u2026 naïve cafés\n",
    "cp1251": "это русский текст для проверки файла\n",
    "koi8-r": "это русский текст для проверки файла\n",
}
ACCESS_LIST = b"\2\0\0\0" + b"".join(
    tag.to_bytes(2, "little") + rights.to_bytes(2, "little") + number.to_bytes(4, "little")
    for tag, rights, number in (
        (1, 6, 0xFFFFFFFF),
        (2, 4, 65534),
        (4, 4, 0xFFFFFFFF),
        (16, 4, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    )
)


def nothing(_: Path) -> None:
    """Prepares nothing."""


def holds(_: Path) -> bool:
    return True


@dataclass(frozen=True)
class Case:
    """`right`: the bytes after the edit; `None` says that it must be refused. `prepare` and `check` get the file."""

    name: str
    before: bytes
    old: str
    new: str
    right: bytes | None
    test: str
    prepare: Callable[[Path], object] = nothing
    check: Callable[[Path], bool] = holds


def encoded(encoding: str, shown: str) -> Case:
    before = WORDS[encoding] + END
    return Case(
        shown,
        before.encode(encoding),
        "the end",
        "the very end",
        before.replace("the end", "the very end").encode(encoding),
        "editing/test_replay.py::test_versions_turned_into_another_form",
    )


def wide(encoding: str, shown: str) -> Case:
    mark = "\ufeff".encode(encoding)
    return Case(
        shown,
        mark + "größer 漢字\nend\n".encode(encoding),
        "end",
        "fin",
        mark + "größer 漢字\nfin\n".encode(encoding),
        "editing/test_faults_in_editing.py::test_wide_encodings",
    )


def kept(name: str, test: str, prepare: Callable[[Path], object], check: Callable[[Path], bool]) -> Case:
    return Case(name, b"old\nrest\n", "old", "new", b"new\nrest\n", test, prepare, check)


def as_linked(path: Path) -> None:
    path.rename(path.with_name("target"))
    path.symlink_to("target")


FAULTS = "editing/test_faults_in_editing.py::"
FIELD = "faults/test_metadata_in_the_field.py::"
CASES = (
    Case(
        "CRLF, anchor sent with LF",
        b"a\r\nb\r\nc\r\n",
        "a\nb",
        "A\nB",
        b"A\r\nB\r\nc\r\n",
        FAULTS + "test_text_with_either_end_matches_a_crlf_file",
    ),
    Case(
        "CRLF, a line added",
        b"a\r\nb\r\n",
        "a",
        "a\nnew",
        b"a\r\nnew\r\nb\r\n",
        FAULTS + "test_added_lines_take_the_dominant_end",
    ),
    Case(
        "mixed line ends",
        b"a\r\nb\nc\r\nd\n",
        "b",
        "B",
        b"a\r\nB\nc\r\nd\n",
        FAULTS + "test_editing_one_line_leaves_all_other_line_ends",
    ),
    Case("lone CR", b"a\rb\nc\n", "c", "C", b"a\rb\nC\n", FAULTS + "test_a_lone_carriage_return_is_text"),
    Case("missing final newline", b"x=1\ny=2", "x=1", "x=2", b"x=2\ny=2", FAULTS + "test_no_final_newline_is_added"),
    Case(
        "trailing blanks",
        b"a  \nb\t\nc\n",
        "c",
        "C",
        b"a  \nb\t\nC\n",
        FAULTS + "test_tabs_are_never_guessed_and_shown",
    ),
    Case(
        "form feed, U+2028, U+0085",
        "a\x0cb\u2028c\x85d\ne\n".encode(),
        "e",
        "E",
        "a\x0cb\u2028c\x85d\nE\n".encode(),
        "text/test_lines.py::test_nothing_else_ends_a_line",
    ),
    Case(
        "`$&`, `\\1`, `\\n` in new text",
        b"one\nX\n",
        "X",
        "$$ $& $1 \\1 \\n",
        b"one\n$$ $& $1 \\1 \\n\n",
        FAULTS + "test_new_text_is_never_interpreted",
    ),
    Case(
        "quotes as sent",
        "it\u2019s\nx\n".encode(),
        "x",
        '"it\'s"',
        'it\u2019s\n"it\'s"\n'.encode(),
        FAULTS + "test_quotes_are_written_as_sent_after_an_exact_match",
    ),
    Case(
        "an anchor that is there twice: refused",
        b"a\nb\na\n",
        "a",
        "x",
        None,
        FAULTS + "test_text_that_occurs_twice_is_refused_with_its_rows",
    ),
    Case(
        "a block whose middle differs: refused",
        b"f() {\n  x = 1\n  y = 2\n  return x\n}\n",
        "f() {\n  x = 1\n  y = 99\n  return x\n}",
        "gone",
        None,
        FAULTS + "test_a_block_whose_middle_differs_is_refused",
    ),
    Case(
        "UTF-8 byte order mark",
        b"\xef\xbb\xbfhello\nb\n",
        "hello",
        "bye",
        b"\xef\xbb\xbfbye\nb\n",
        FAULTS + "test_the_mark_stays_and_is_no_part_of_line_one",
    ),
    Case(
        "stray invalid bytes",
        "æøå 漢字 ".encode() * 3 + b"\xff\xfe tail\nx=1\n",
        "x=1",
        "x=2",
        "æøå 漢字 ".encode() * 3 + b"\xff\xfe tail\nx=2\n",
        FAULTS + "test_stray_bytes_in_utf8_stay",
    ),
    wide("utf-16-le", "UTF-16 LE"),
    wide("utf-16-be", "UTF-16 BE"),
    wide("utf-32-le", "UTF-32 LE"),
    wide("utf-32-be", "UTF-32 BE"),
    *(
        encoded(e, s)
        for e, s in (
            ("gbk", "GBK"),
            ("gb18030", "GB18030"),
            ("big5", "Big5"),
            ("shift_jis", "Shift-JIS"),
            ("euc_jp", "EUC-JP"),
            ("euc_kr", "EUC-KR"),
            ("latin-1", "Latin-1"),
            ("cp1252", "cp1252"),
            ("cp1251", "cp1251"),
            ("koi8-r", "KOI8-R"),
        )
    ),
    Case(
        "GBK, new Chinese text",
        (WORDS["gbk"] + END).encode("gbk"),
        "the end",
        "测试",
        (WORDS["gbk"] + "测试\n").encode("gbk"),
        FAULTS + "test_gbk_survives",
    ),
    Case(
        "a character that the encoding lacks: refused",
        WORDS["latin-1"].encode("latin-1") + b"x\n",
        "x",
        "测",
        None,
        FAULTS + "test_a_character_that_the_encoding_lacks_is_refused_by_name",
    ),
    kept(
        "mode 0755",
        FIELD + "test_the_mode_stays",
        lambda p: p.chmod(0o755),
        lambda p: p.stat().st_mode & 0o7777 == 0o755,
    ),
    kept(
        "mode 0600",
        FIELD + "test_the_mode_stays",
        lambda p: p.chmod(0o600),
        lambda p: p.stat().st_mode & 0o7777 == 0o600,
    ),
    kept(
        "owner and group",
        FIELD + "test_owner_group_attributes_and_access_lists_stay",
        lambda p: os.chown(p, 65534, 65533),
        lambda p: (p.stat().st_uid, p.stat().st_gid) == (65534, 65533),
    ),
    kept(
        "extended attributes",
        "fs/test_host_metadata.py::test_extended_attributes_stay",
        lambda p: os.setxattr(p, "user.note", b"kept"),
        lambda p: "user.note" in os.listxattr(p),
    ),
    kept(
        "access lists",
        "fs/test_host_metadata.py::test_access_lists_stay",
        lambda p: os.setxattr(p, "system.posix_acl_access", ACCESS_LIST),
        lambda p: "system.posix_acl_access" in os.listxattr(p),
    ),
    kept(
        "hard links",
        FIELD + "test_hard_links_stay_one_file_and_the_receipt_says_how",
        lambda p: os.link(p, p.with_name("twin")),
        lambda p: p.with_name("twin").read_bytes() == b"new\nrest\n",
    ),
    kept(
        "symbolic link",
        FIELD + "test_an_edit_through_a_link_changes_its_target",
        as_linked,
        lambda p: p.is_symlink() and p.with_name("target").read_bytes() == b"new\nrest\n",
    ),
)
