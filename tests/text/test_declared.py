"""What is declared of a text beforehand, and when the bytes bear it out."""

import pytest

from handrail.text.declared import Declared, Sections, from_properties

CHINESE = "这是一个测试文件\n"


@pytest.mark.parametrize(
    ("glob", "named", "not_named"),
    [
        ("*", ["a", "d/a.py"], []),
        ("*.py", ["a.py", "d/e/a.py"], ["a.pyc"]),
        ("*.{js,ts}", ["a.js", "d/a.ts"], ["a.py"]),
        ("lib/**.js", ["lib/a.js", "lib/d/a.js"], ["a.js", "d/lib/a.js"]),
        ("/top.txt", ["top.txt"], ["d/top.txt"]),
        ("d/*.txt", ["d/a.txt"], ["a.txt", "d/e/a.txt"]),
        ("{package.json,.travis.yml}", ["package.json", "d/.travis.yml"], ["package.yml"]),
        ("v{1..3}", ["v1", "v3"], ["v0", "v4"]),
        ("[ab].c", ["a.c"], ["c.c"]),
        ("[!ab].c", ["c.c"], ["a.c"]),
        ("[[[", [], ["a"]),
    ],
)
def test_sections_name_files_as_editors_have_it(glob, named, not_named):
    sections = Sections(f"[{glob}]\ncharset = latin1\n")
    assert [name for name in (*named, *not_named) if sections.of(name)] == named


def test_later_sections_win_and_what_cannot_be_read_is_passed_over():
    text = (
        "\ufeff; note\nroot = TRUE\n[*]\nend_of_line = lf # here\ncharset=utf-8\nnonsense\n[*.bat]\nEnd_Of_Line=CRLF\n"
    )
    sections = Sections(text)
    assert sections.root
    assert sections.of("a.py") == {"end_of_line": "lf", "charset": "utf-8"}
    assert from_properties(sections.of("a.bat")) == Declared(encoding="utf-8", end="\r\n")
    assert from_properties({"charset": "unset", "end_of_line": "cr", "insert_final_newline": "maybe"}) == Declared()


@pytest.mark.parametrize(
    ("encoding", "data", "holds"),
    [
        ("gbk", b"plain\n", True),
        ("gbk", CHINESE.encode("gbk"), True),
        ("gbk", CHINESE.encode("utf-16"), False),  # its mark says more
        ("utf-8", CHINESE.encode("gbk"), False),
        ("utf-8", CHINESE.encode(), True),
        ("latin-1", b"\x89PNG\r\n\x1a\n...", False),
        ("latin-1", b"a\0b\n", False),
        ("latin-1", "é".encode(), True),
        ("utf-16-le", b"ab\n\n", False),  # that is ASCII, whatever was declared
        ("utf-16-le", "ab\n".encode("utf-16-le"), True),
        ("shift_jis", b"\x81", False),
        ("gbk", b"", False),
    ],
)
def test_a_declaration_holds_where_the_bytes_bear_it_out(encoding, data, holds):
    assert Declared(encoding=encoding).encoding_of(data) == (encoding if holds else None)


def test_a_character_cut_by_what_is_looked_at_is_no_contradiction():
    data = b"a" * ((1 << 20) - 1) + CHINESE.encode("gbk")
    assert Declared(encoding="gbk").encoding_of(data) == "gbk"


@pytest.mark.parametrize(
    ("charset", "bytes_before"),
    [("utf-8", b""), ("utf-8-bom", b"\xef\xbb\xbf"), ("utf-16le", b"\xff\xfe"), ("latin1", b"")],
)
def test_a_new_file_gets_the_mark_that_is_declared(charset, bytes_before):
    assert from_properties({"charset": charset}).form().bom == bytes_before
