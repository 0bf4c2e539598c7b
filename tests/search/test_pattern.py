"""RE2 is the oracle: what it finds row by row, ripgrep must find with the translated pattern."""

import random
import subprocess
from pathlib import Path

import pytest

from handrail.fs.ripgrep import binary
from handrail.model.errors import InvalidCall
from handrail.search import pattern

LINES = (
    "",
    "a",
    "ab",
    "foo bar",
    "foo()",
    "{ name }",
    "a{2}",
    "a{,3}",
    "[x]",
    "a-b&&c~~d",
    "x\ty",
    "tail \r",
    "vt\x0bff\x0c",
    "Kelvin \u212a and long \u017f",
    "é È ß ẞ",
    "данные 数据 ٣",
    "word_1 WORD-2",
    "\\d <b> #end",
    "aaa",
    "λ\u0301",
    "\u2028x\x85y",
    "q\rmid",
    "123 0x1F",
)
PIECES = [
    *(
        "a",
        "b",
        "foo",
        "x",
        "1",
        "é",
        "Ж",
        "λ",
        " ",
        ".",
        "^",
        "$",
        "|",
        "(",
        ")",
        "(?:",
        "(?i)",
        "(?i:",
        "(?-i:",
        "(?P<n>a)",
    ),
    *(
        "(?U)",
        "(?s)",
        "(?m)",
        "(?-m)",
        "(?ims:",
        "(?ii:",
        "*",
        "+",
        "?",
        "*?",
        "{2}",
        "{1,2}",
        "{2,}",
        "{,3}",
        "{",
        "}",
        "]",
        "-",
    ),
    *(
        r"\d",
        r"\D",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\b",
        r"\B",
        r"\A",
        r"\z",
        r"\C",
        r"\n",
        r"\r",
        r"\t",
        r"\v",
        r"\pL",
        r"\PL",
    ),
    *(
        r"\p{Greek}",
        r"\p{^Greek}",
        r"\P{^Lu}",
        r"\p{Any}",
        r"\x41",
        r"\x{e9}",
        r"\101",
        r"\0",
        r"[\0]",
        r"[^\0]",
        r"\Qa.b\E",
        r"\Q{}\E",
        r"\.",
        r"\<",
    ),
    *(
        "[a-z]",
        "[^a]",
        "[a&&b]",
        "[a~~b]",
        "[a--b]",
        "[[a]",
        "[]a]",
        "[^]a]",
        "[a-]",
        r"[\d-z]",
        r"[\W]",
        r"[^\S\d]",
        r"[\n]",
        r"[^\n]",
    ),
    *(
        "[[:alpha:]]",
        "[^[:^space:]]",
        r"[\pL\d]",
        r"[\x00-\x7f]",
        r"[^\p{Greek}]",
        "[#-&]",
        "[Ж-я]",
        r"[\]\-\\]",
        "&",
        "~",
        "#",
        "<",
        ">",
    ),
]


def rows_by_re2(compiled: pattern.Pattern, rows: tuple[str, ...] = LINES) -> set[int]:
    return {n for n, row in enumerate(rows) if compiled.rows.search(row.removesuffix("\r").encode())}


def rows_by_ripgrep(compiled: pattern.Pattern, place: Path, *options: str) -> set[int]:
    done = subprocess.run(
        [
            binary(),
            "--no-config",
            "-n",
            "--no-filename",
            "--color=never",
            *options,
            "-e",
            compiled.ripgrep,
            "--",
            str(place),
        ],
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 1}, (compiled.text, compiled.ripgrep, done.stderr.decode())
    return {int(row.split(b":")[0]) - 1 for row in done.stdout.split(b"\n") if row}


def agrees(text: str, place: Path, **asked: bool) -> bool:
    try:
        compiled = pattern.compile(text, **asked)
    except InvalidCall:
        return False
    expected = rows_by_re2(compiled)
    found = rows_by_ripgrep(compiled, place, *(["-F"] if asked.get("literal") else []))
    if compiled.exact:
        assert found == expected, (text, compiled.ripgrep)
    else:
        assert found >= expected, (text, compiled.ripgrep)
        extra = {n for n in found - expected if "\r" not in LINES[n]}
        assert not extra, (text, compiled.ripgrep, [LINES[n] for n in extra])
    return True


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "rows"
    path.write_bytes("".join(line + "\n" for line in LINES).encode())
    return path


@pytest.mark.parametrize("piece", PIECES)
def test_each_construct_finds_the_rows_that_re2_finds(piece: str, place: Path) -> None:
    agrees(piece, place)


def test_random_patterns_find_the_rows_that_re2_finds(place: Path) -> None:
    dice = random.Random(20)
    tried = sum(agrees("".join(dice.choices(PIECES, k=dice.randrange(2, 6))), place) for _ in range(500))
    assert tried > 150


@pytest.mark.parametrize("text", ["foo()", "a|b", "{ name }", r"\d", "[x]", "$", "tail"])
def test_literal_text_is_text(text: str, place: Path) -> None:
    compiled = pattern.compile(text, literal=True)
    assert rows_by_re2(compiled) == {n for n, line in enumerate(LINES) if text in line}
    assert rows_by_ripgrep(compiled, place) == rows_by_re2(compiled)


def test_case_is_folded_as_re2_folds_it(place: Path) -> None:
    for text in ("k", "S", "É", "ß", r"\w", "[a-z]+", "данные"):
        assert agrees(text, place, ignore_case=True)


@pytest.mark.parametrize(
    ("text", "position"),
    [("(", 1), ("a(b", 2), ("a)", 2), ("x[a", 2), ("é[z-a]", 3), ("*a", 1), ("a**", 2), (r"a\Z", 2), ("(?=a)", 1)],
)
def test_a_refused_pattern_names_its_position_and_the_literal_way(text: str, position: int) -> None:
    with pytest.raises(InvalidCall) as refused:
        pattern.compile(text)
    assert refused.value.kind == "invalid_pattern"
    assert refused.value.facts["position"] == position
    assert f"character {position}" in refused.value.message
    assert "literal=true" in refused.value.hint


def test_a_pattern_that_needs_a_line_end_says_so() -> None:
    assert pattern.compile(r"foo\nbar").never
    assert not pattern.compile(r"foo\nbar", multiline=True).never


def test_a_pattern_that_would_blow_up_is_compiled_or_refused_quickly() -> None:
    pattern.compile("(x+x+)+y")
    pattern.compile("|".join(f"word{n}" for n in range(10_000))[: pattern.LONGEST - 10])
    with pytest.raises(InvalidCall):
        pattern.compile("((x{100}){100}){100}")
    with pytest.raises(InvalidCall):
        pattern.compile("\ud800")
