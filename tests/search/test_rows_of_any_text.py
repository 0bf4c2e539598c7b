"""RE2 against a search: whatever the pattern and whatever the text, the rows and what matched in them are the same."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_view import Finder, tree
from texts_of_all_kinds import Rows, judged, planted, rows, spanned, texts

from handrail.model.answers import Found
from handrail.text import codec

ATOMS = [
    *"abfxKs1éÈЖ文λ. -{}]&~#<>",
    *[r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\A", r"\z", r"\C", r"\r", r"\t", r"\v", r"\f"],
    *[r"\pL", r"\PL", r"\p{Greek}", r"\p{^Greek}", r"\P{^Lu}", r"\pN", r"\x{212a}", r"\x{17f}", r"\x41", r"\101"],
    *["[^a]", "[a-f]", "[^a-z]", r"[^\d]", r"[\W]", r"[^\S\d]", "[^[:alpha:]]", "[[:word:]]", "[Ж-я]", r"[\pL\d]"],
    *["[a&&b]", "[a~~b]", "[a--b]", "[[a]", "[]a]", "[^]a]", "[a-]", "[^\r]", r"[\x00-\x7f]"],
    *[r"[^\n]", r"[^\x00]", r"\B"],
    *["foo", "needle", "Привет", "测试", "テスト", "caf\xe9", "ソ", "tail", "end", "^", "$", r"\Qa.b [x]\E", r"\Q|\E"],
    *[
        "(?i)k",
        "(?i)S",
        "(?i:È)",
        "(?-i:K)",
        "(?i)\u212a",
        "(?i)\u017f",
        "(?i)данные",
        "(?s).",
        "(?U)a+",
        "(?m)^",
        "(?m)$",
    ],
]
PATTERNS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join),
        inner.map("({})".format),
        inner.map("(?i:{})".format),
        st.tuples(inner.map("(?:{})".format), st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,3}?"])).map(
            "".join
        ),
    ),
    max_leaves=5,
).filter(judged)
PLENTY = 1 << 30


class Judge:
    """A tree of texts, asked by search and by RE2."""

    def __init__(self, root: Path) -> None:
        self.finder = Finder(planted(root))
        self.finder.view.until += PLENTY
        self.texts = texts(root)

    def compare(self, pattern: str, *, ignore_case: bool, multiline: bool) -> None:
        flags = ("i" if ignore_case else "") + ("sm" if multiline else "")
        compiled = judged(f"(?{flags}){pattern}" if flags else pattern)
        right = spanned(self.texts, compiled) if multiline else rows(self.texts, compiled)
        asked = {"ignore_case": ignore_case, "multiline": multiline, "text_cap": PLENTY}
        self._same_rows(self.finder.search(pattern, unit="content", **asked), right)
        numbers: dict[str, list[int]] = {}
        for name, row in sorted(right):
            numbers.setdefault(name, []).append(row)
        summary = {name: (len(found), tuple(found[:5])) for name, found in numbers.items()}
        assert self.finder.files(self.finder.search(pattern, **asked)) == summary

    def _same_rows(self, found: Found, right: Rows) -> None:
        told = {(self.finder.name(row.path), row.row): row.match or "" for row in found.rows}
        assert told.keys() == right.keys()
        shown = {place: codec.printable(part.decode("utf-8", "surrogateescape")) for place, part in right.items()}
        short = [place for place, part in right.items() if len(part) < 500]
        assert {place: told[place] for place in short} == {place: shown[place] for place in short}
        assert found.complete


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(tmp_path_factory.mktemp("texts").resolve())


@settings(max_examples=40)
@given(pattern=PATTERNS, ignore_case=st.booleans())
def test_rows_are_those_that_re2_finds(engine: str, judge: Judge, pattern: str, ignore_case: bool) -> None:
    judge.compare(pattern, ignore_case=ignore_case, multiline=False)


@settings(max_examples=15)
@given(pattern=PATTERNS, ignore_case=st.booleans())
def test_spans_across_rows_are_those_that_re2_finds(engine: str, judge: Judge, pattern: str, ignore_case: bool) -> None:
    judge.compare(pattern, ignore_case=ignore_case, multiline=True)


@pytest.mark.parametrize(("pattern", "row"), [(r"\B", b"a"), (r"[^\n]", b""), (r"[^\x00]", b"")])
def test_a_line_end_is_no_part_of_its_row(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, pattern: str, row: bytes
) -> None:
    finder = Finder(tree(tmp_path, {"a": row + b"\r\n"}))
    assert finder.rows(finder.search(pattern, unit="content")) == []
