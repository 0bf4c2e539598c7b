import os
import re
from pathlib import Path

import pytest
from plain_view import Finder, PlainView, tree

import handrail
from handrail.model.errors import InvalidCall
from handrail.model.operations import Find, Query
from handrail.search import content, inside
from handrail.search.find import FindPlanner


@pytest.fixture
def finder(tmp_path: Path) -> Finder:
    return Finder(tmp_path)


def test_a_file_row_has_its_count_and_its_first_five_rows(finder: Finder) -> None:
    tree(finder.root, {"a": "foo\nbar\n" * 7, "b": "foo", "c": "bar"})
    found = finder.search("foo")
    assert finder.files(found) == {"a": (7, (1, 3, 5, 7, 9)), "b": (1, (1,))}
    assert (found.total, found.first, found.last, found.next_offset) == (2, 1, 2, None)


def test_nothing_found_says_how_many_ignored_files_were_not_looked_at(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "out/\n", "out/a": "foo", "out/b": "foo", "c": ""})
    found = finder.search("foo")
    assert (found.total, found.first, found.last, found.next_offset) == (0, 0, 0, None)
    assert found.skipped == {"ignored": 2}
    assert finder.search("foo", file_pattern="a").skipped == {"ignored": 1}


def test_content_rows_are_ordered_by_path_then_row(finder: Finder) -> None:
    tree(finder.root, {"b": "x foo\n\nfoo", "a/z": "foo", "a.txt": "foo"})
    found = finder.search("foo", unit="content")
    assert finder.rows(found) == [("a.txt", 1, "foo"), ("a/z", 1, "foo"), ("b", 1, "x foo"), ("b", 3, "foo")]
    assert found.rows[2].match == "foo"


def test_contexts_merge_and_count_for_nothing(finder: Finder) -> None:
    tree(finder.root, {"a": "".join(f"row {n}\n" for n in range(1, 21))})
    found = finder.search("row (5|8|15)$", unit="content", before=2, after=2, limit=3)
    assert [row.row for row in found.rows] == [*range(3, 11), *range(13, 18)]
    assert [row.row for row in found.rows if not row.context] == [5, 8, 15]
    assert [row.block for row in found.rows] == [0] * 8 + [1] * 5
    assert found.total == 3
    second = finder.search("row (5|8|15)$", unit="content", before=2, after=2, offset=1, limit=1)
    assert [(row.row, row.context) for row in second.rows] == [(6, True), (7, True), (8, False), (9, True), (10, True)]
    assert (second.first, second.last, second.next_offset) == (2, 2, 2)


def test_before_and_after_differ(finder: Finder) -> None:
    tree(finder.root, {"a": "1\n2\n3\n4\n5\n"})
    assert [r.row for r in finder.search("3", unit="content", before=1).rows] == [2, 3]
    assert [r.row for r in finder.search("3", unit="content", after=2).rows] == [3, 4, 5]


@pytest.mark.parametrize("kept", [2, content.KEPT_ROWS])
def test_pages_never_overlap_or_skip(finder: Finder, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(content, "KEPT_ROWS", kept)
    tree(finder.root, {f"d{n % 3}/f{n}": "foo\n" * (n % 4) for n in range(12)})
    for unit in ("files", "content", "count"):
        whole = finder.search("foo", unit=unit)
        pages, offset = [], 0
        while offset is not None:
            page = finder.search("foo", unit=unit, offset=offset, limit=2)
            assert page.total == whole.total
            assert page.first == offset + 1
            pages += [*page.rows, *page.files]
            offset = page.next_offset
        assert [(p.path, getattr(p, "row", 0)) for p in pages] == [
            (p.path, getattr(p, "row", 0)) for p in [*whole.rows, *whole.files]
        ]


def test_a_second_page_is_answered_from_what_the_first_found(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "SMALL", 0)
    tree(finder.root, {f"f{n}": "foo\n" for n in range(4)})
    finder.search("foo", unit="content", limit=2)
    before = len(finder.view.searches)
    second = finder.search("foo", unit="content", limit=2, offset=2)
    assert finder.rows(second) == [("f2", 1, "foo"), ("f3", 1, "foo")]
    assert len(finder.view.searches) == before
    finder.search("foo", unit="content", limit=2)
    assert len(finder.view.searches) > before


def test_a_page_past_the_end_is_empty(finder: Finder) -> None:
    tree(finder.root, {"a": "foo"})
    found = finder.search("foo", offset=5)
    assert (found.total, found.first, found.last, found.next_offset, found.files) == (1, 0, 0, None, ())


def test_a_page_says_which_files_changed_since_the_search(finder: Finder) -> None:
    tree(finder.root, {"a": "foo\n", "b": "foo\n"})
    for name in "ab":
        os.utime(finder.root / name, ns=(1, 1))
    first = finder.search("foo", limit=1)
    (finder.root / "b").write_text("foo changed\n")
    os.utime(finder.root / "b", ns=(first.searched_at + 10**9,) * 2)
    second = finder.search("foo", limit=1, offset=1)
    assert [finder.name(path) for path in second.changed] == ["b"]
    assert second.searched_at == first.searched_at


def test_a_page_holds_as_much_text_as_its_cap(finder: Finder) -> None:
    tree(finder.root, {f"f{n:03}": "foo " + "x" * 400 + "\n" for n in range(100)})
    found = finder.search("foo", unit="content", text_cap=8192)
    assert 5 < len(found.rows) < 20
    assert found.next_offset == len(found.rows)
    assert finder.search("foo", unit="content", text_cap=1).next_offset == 1


def test_a_long_text_is_cut_at_a_character_around_its_first_match(finder: Finder) -> None:
    tree(finder.root, {"a": "é" * 3000 + "foo" + "é" * 3000 + "foo\n"})
    (row,) = finder.search("foo", unit="content").rows
    assert row.cut
    assert "foo" in row.text
    assert 500 < len(row.text.encode()) <= 512
    assert row.column is not None
    assert ("é" * 3000 + "foo" + "é" * 3000)[row.column - 1 :].startswith(row.text)


def test_a_match_at_either_end_of_a_long_row_is_shown(finder: Finder) -> None:
    tree(finder.root, {"a": "foo" + "x" * 2000 + "\n", "b": "x" * 2000 + "foo"})
    first, last = finder.search("foo", unit="content").rows
    assert (first.column, len(first.text)) == (1, 512)
    assert last.text.endswith("foo")
    assert len(last.text) == 512


def test_many_queries_merge_and_no_row_comes_twice(finder: Finder) -> None:
    tree(finder.root, {"a/x": "foo\nbar\n", "a/b/y": "foo\n"})
    queries = (
        Query(directory=".", pattern="foo"),
        Query(directory="a", pattern="foo"),
        Query(directory="a/b", pattern="o+"),
        Query(directory="a", pattern="bar"),
    )
    found = finder.find(Find(mode="search", queries=queries, unit="content"))
    assert finder.rows(found) == [("a/b/y", 1, "foo"), ("a/x", 1, "foo"), ("a/x", 2, "bar")]
    assert finder.files(finder.find(Find(mode="search", queries=queries))) == {"a/b/y": (1, (1,)), "a/x": (2, (1, 2))}


def test_what_one_query_ignores_another_may_name(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "node_modules/\n", "node_modules/a.md": "foo", "node_modules/b.js": "foo"})
    queries = (
        Query(directory=".", pattern="foo", file_pattern="*.js"),
        Query(directory="node_modules", pattern="foo", file_pattern="*.md"),
    )
    assert list(finder.files(finder.find(Find(mode="search", queries=queries)))) == ["node_modules/a.md"]


def test_a_query_that_cannot_run_has_its_own_error(finder: Finder) -> None:
    tree(finder.root, {"a": "foo"})
    os.mkfifo(finder.root / "pipe")
    found = finder.search("foo", ".", "missing", "pipe")
    assert list(finder.files(found)) == ["a"]
    assert {index: error.kind for index, error in found.errors.items()} == {1: "not_found", 2: "not_regular_file"}


def test_a_bad_expression_fails_the_call_and_names_its_query(finder: Finder) -> None:
    queries = (Query(directory=".", pattern="ok"), Query(directory=".", pattern="x("))
    with pytest.raises(InvalidCall) as refused:
        finder.find(Find(mode="search", queries=queries))
    assert refused.value.kind == "invalid_pattern"
    assert (refused.value.facts["query"], refused.value.facts["position"]) == (1, 2)


def test_a_single_file_is_searched_even_when_ignored(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "a.log\n", "a.log": "foo\n"})
    assert list(finder.files(finder.search("foo", "a.log"))) == ["a.log"]


def test_file_patterns_narrow_by_the_glob_dialect(finder: Finder) -> None:
    names = ["x.py", "a/x.py", "a/b/y.py", "z.txt", "app/[id]/page.tsx", "app/i/page.tsx", "w.json", "v.xml"]
    tree(finder.root, dict.fromkeys(names, "foo\n"))
    for glob, wanted in {
        "*.py": {"x.py", "a/x.py", "a/b/y.py"},
        "a/*.py": {"a/x.py"},
        "a/**": {"a/x.py", "a/b/y.py"},
        "**/*": set(names),
        "*.{json,xml}": {"w.json", "v.xml"},
        "app/[id]/page.tsx": {"app/[id]/page.tsx"},
        "[vw].*": {"w.json", "v.xml"},
    }.items():
        assert set(finder.files(finder.search("foo", file_pattern=glob))) == wanted, glob


def test_a_positive_file_pattern_lifts_no_ignore_rule(finder: Finder) -> None:
    tree(finder.root, {".gitignore": "*.log\n", "a.log": "foo", "b.log.txt": "foo"})
    assert finder.search("foo", file_pattern="*.log").files == ()


def test_a_file_type_is_one_of_ripgreps(finder: Finder) -> None:
    tree(finder.root, {"a.py": "foo", "a.js": "foo"})
    assert list(finder.files(finder.search("foo", file_type="py"))) == ["a.py"]
    with pytest.raises(InvalidCall) as unknown:
        finder.search("foo", file_type="nosuch")
    assert unknown.value.kind == "invalid_arguments"


def test_line_ends_and_marks_are_not_text(finder: Finder) -> None:
    tree(finder.root, {"crlf": b"foo\r\nfoo x\r\nq\r\r\n", "bom": b"\xef\xbb\xbffoo\r\n"})
    assert finder.files(finder.search("^foo$")) == {"bom": (1, (1,)), "crlf": (1, (1,))}
    assert finder.search(r"foo\s").files[0].count == 1
    assert finder.rows(finder.search("foo.$", unit="content")) == []
    assert finder.rows(finder.search(".$", unit="content"))[1:] == [
        ("crlf", 1, "foo"),
        ("crlf", 2, "foo x"),
        ("crlf", 3, "q\r"),
    ]
    assert [row.row for row in finder.search("x$", unit="content", before=1, file_pattern="crlf").rows] == [1, 2]


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("utf16-bom", "needle é данные\nx\n", "utf-16"),
        ("utf16", "needle here and there, with words\nx\n", "utf-16-le"),
        ("utf16be", "needle here and there, with words\nx\n", "utf-16-be"),
        ("utf8-bom", "needle é\n", "utf-8-sig"),
        ("gbk", "needle 测试文件的中文内容用来检测编码\n" * 8, "gbk"),
        ("cp1251", "needle Привет, как дела? Это обычный русский текст.\n" * 8, "cp1251"),
    ],
)
def test_every_encoding_is_searched_as_it_is_read(finder: Finder, name: str, text: str, encoding: str) -> None:
    tree(finder.root, {name: text.encode(encoding)})
    assert list(finder.files(finder.search("needle"))) == [name]
    word = text.split("\n", maxsplit=1)[0].split()[1]
    assert list(finder.files(finder.search(word))) == [name]
    found = finder.search(word, unit="content", limit=1)
    assert found.rows[0].text == text.split("\n", maxsplit=1)[0]


def test_a_row_with_stray_bytes_is_found_and_shown(finder: Finder) -> None:
    tree(finder.root, {"a": "é plain utf-8 before\n".encode() * 40 + b"needle \xff\xfe tail\n", "b": "needle\n"})
    found = finder.search("needle", unit="content")
    assert [row.path.rpartition("/")[2] for row in found.rows] == ["a", "b"]
    found.rows[0].text.encode()


def test_a_binary_that_would_match_is_counted_and_no_other(finder: Finder) -> None:
    tree(finder.root, {"one.bin": b"foo\0\1\2\0" * 50, "two.bin": b"bar\0\1\2\0" * 50, "c": "foo"})
    found = finder.search("foo")
    assert list(finder.files(found)) == ["c"]
    assert found.skipped == {"binary": 1}


def test_a_text_with_one_stray_nul_is_text(finder: Finder) -> None:
    tree(finder.root, {"a": b"some words here\n" * 500 + b"a\0b needle\n"})
    assert finder.files(finder.search("needle")) == {"a": (1, (501,))}


def test_sensitive_files_are_left_out_and_counted(finder: Finder) -> None:
    tree(finder.root, {"secret.txt": "foo", "a": "foo"})
    found = finder.search("foo")
    assert list(finder.files(found)) == ["a"]
    assert found.skipped == {"sensitive": 1}


def test_files_over_the_configured_size_are_counted(finder: Finder) -> None:
    tree(finder.root, {"a": "foo\n" * 100, "b": "foo\n", "odd": b"\xff foo\n" * 100})
    finder.planner = FindPlanner(max_file_bytes=50)
    found = finder.search("foo")
    assert list(finder.files(found)) == ["b"]
    assert found.skipped == {"too_large": 2}


def test_multiline_reports_every_row_that_a_match_spans(finder: Finder) -> None:
    tree(finder.root, {"a": "x\nfoo\nmid\nbar\ny\nfoo bar\n", "crlf": b"foo\r\nbar\r\n"})
    found = finder.search("foo.*?bar", multiline=True, unit="content")
    assert finder.rows(found) == [
        ("a", 2, "foo"),
        ("a", 3, "mid"),
        ("a", 4, "bar"),
        ("a", 6, "foo bar"),
        ("crlf", 1, "foo"),
        ("crlf", 2, "bar"),
    ]
    assert finder.files(finder.search(r"foo\nbar", multiline=True)) == {"crlf": (2, (1, 2))}
    assert finder.files(finder.search("foo\nbar", multiline=True, literal=True)) == {"crlf": (2, (1, 2))}
    assert finder.files(finder.search(r"\Afoo", multiline=True)) == {"crlf": (1, (1,))}
    assert finder.files(finder.search(r"foo.bar", multiline=True)) == {"a": (1, (6,)), "crlf": (2, (1, 2))}


def test_a_pattern_with_a_line_end_is_explained(finder: Finder) -> None:
    tree(finder.root, {"a": "foo\nbar\n"})
    found = finder.search(r"foo\nbar")
    assert found.total == 0
    assert "multiline=true" in found.notes[0]


def test_literal_text_is_no_expression(finder: Finder) -> None:
    tree(finder.root, {"a": "foo()\n", "b": "foo\n", "c": "x.y\n", "d": "xzy\n"})
    assert list(finder.files(finder.search("foo()", literal=True))) == ["a"]
    assert list(finder.files(finder.search("x.y", literal=True, ignore_case=True))) == ["c"]


def test_case_is_ignored_on_request(finder: Finder) -> None:
    tree(finder.root, {"a": "FOO É\r\n"})
    assert finder.search("foo é$").files == ()
    assert len(finder.search("foo é$", ignore_case=True).files) == 1


def test_hostile_names_are_found(finder: Finder) -> None:
    names = ["-e", "new\nline", os.fsdecode(b"\xff\xfe"), "--pre=x", "*", "a" * 255]
    tree(finder.root, dict.fromkeys(names, "foo\n"))
    assert set(finder.files(finder.search("foo"))) == set(names)
    assert set(finder.files(finder.search("^fo+$", unit="count"))) == set(names)


def test_links_are_not_followed_below(finder: Finder) -> None:
    tree(finder.root, {"a": "foo"})
    (finder.root / "loop").symlink_to(".")
    (finder.root / "dangling").symlink_to("nowhere")
    assert list(finder.files(finder.search("foo"))) == ["a"]


def test_a_pattern_too_large_for_ripgrep_is_still_searched(finder: Finder) -> None:
    tree(finder.root, {"a": "é" * 1000 + "\n", "b": "x\n"})
    assert list(finder.files(finder.search(r"(?:\pL{1000})"))) == ["a"]


def test_when_the_time_is_up_the_answer_says_that_it_is_not_complete(finder: Finder) -> None:
    tree(finder.root, {"a": "foo"})
    found = finder.find(
        Find(mode="search", queries=(Query(directory=".", pattern="foo"),)), view=PlainView(finder.root, seconds=-1)
    )
    assert not found.complete


def test_rows_are_those_of_re2_line_by_line(finder: Finder) -> None:
    import random

    from handrail.search import pattern

    dice = random.Random(3)
    rows = ["foo", "bar\r", "", "é x", "a\rb", "tab\t", "foo bar", "\x0b", "x" * 20, "end "]
    ends = ["\n", "\r\n"]
    text = "".join(dice.choice(rows) + dice.choice(ends) for _ in range(200)) + "last"
    tree(finder.root, {"a": text})
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    for expression in [
        ".",
        "$",
        r"\s",
        "^$",
        "[^a]",
        r"r$",
        r"\W$",
        "a.b",
        r"\r",
        r"o\b",
        r"^\S+\s*$",
        r"(?i)FOO$",
        r"\z",
        "x*",
    ]:
        compiled = pattern.compile(expression)
        expected = [n for n, line in enumerate(lines, 1) if compiled.rows.search(line.encode())]
        assert [row.row for row in finder.search(expression, unit="content").rows] == expected, expression
        counted = finder.search(expression).files
        assert (counted[0].count if counted else 0) == len(expected), expression


def test_multiline_agrees_with_python_on_a_whole_text(finder: Finder) -> None:
    text = "alpha\nbeta gamma\n\ndelta\nalpha beta\n"
    tree(finder.root, {"a": text})
    for expression in [
        r"alpha\nbeta",
        r"a$",
        r"^\w+$",
        r"gamma\s+delta",
        r"beta.*?delta",
        r"\Aalpha",
        r"\n\n",
        r"beta\n\z",
    ]:
        expected: set[int] = set()
        for match in re.finditer(expression.replace(r"\z", r"\Z"), text, re.MULTILINE | re.DOTALL):
            start, end = match.span()
            expected |= set(range(text.count("\n", 0, start) + 1, text.count("\n", 0, max(start, end - 1)) + 2))
        assert {row.row for row in finder.search(expression, unit="content", multiline=True).rows} == expected, (
            expression
        )


def test_a_huge_file_of_nuls_does_not_keep_the_others_from_being_searched(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    with (root / "a_big").open("wb") as big:
        big.truncate(300 << 20)
    (root / "zz.txt").write_bytes(b"needle\n")
    with handrail.open(root=root, data_dir=tmp_path / "data") as files:
        found = files.call("find_files", {"queries": [{"pattern": "needle", "file_pattern": "**/*"}]})
    assert [row["path"] for row in found.payload["files"]] == ["zz.txt"]
    assert found.payload.get("complete", True)
