"""What reaches a terminal: nothing that it would obey, nothing that is lost without a word."""

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from person import Person, colored, plain

from handrail.interfaces.cli import screen

ANY = st.text(st.characters(), max_size=60)


def hostile(text):
    """Characters that a terminal obeys or that change how others look."""
    return [c for c in text if unicodedata.category(c) in {"Cc", "Cs"} or c in "\u202a\u202e\u2066\u200b\ufeff\u2028"]


@given(ANY)
def test_a_block_keeps_line_ends_and_tabs_and_nothing_else_of_control(text):
    assert set(hostile(screen.block(text))) <= {"\n", "\t"}
    assert hostile(screen.line(text)) == []


@given(ANY.filter(lambda t: not hostile(t)))
def test_plain_text_of_any_script_stays_as_it_is(text):
    if all(unicodedata.category(c) not in {"Cf", "Lo", "Zs"} for c in text):
        assert screen.line(text) == text


def test_stray_bytes_and_marks_are_spelled_as_names_are():
    assert screen.line("a\x1b[31m\udcff\u202e\r\n\t") == "a\\x1b[31m\\xff\\u202e\\r\\n\\t"


@given(st.recursive(st.none() | st.booleans() | ANY, lambda x: st.lists(x) | st.dictionaries(ANY, x), max_leaves=10))
def test_json_says_the_same_and_is_safe_on_a_terminal(value):
    for indent in (None, 2):
        text = screen.as_json(value, indent=indent)
        assert json.loads(text) == value
        assert set(hostile(text)) <= {"\n"}
        text.encode()


def test_json_keeps_scripts_readable():
    assert screen.as_json({"name": "测试 æ"}) == '{"name": "测试 æ"}'


def test_a_diff_is_coloured_by_what_its_lines_mean():
    text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- not a header\n+new\r\n same\n"
    assert screen.diff(text, colored).split("\n")[:-1] == [
        "<bold>--- a/x</>",
        "<bold>+++ b/x</>",
        "<cyan>@@ -1 +1 @@</>",
        "<red>--- not a header</>",
        "<green>+new</><dim>␍</>",
        " same",
    ]


@given(ANY)
def test_no_line_of_a_diff_gets_through_raw(text):
    assert set(hostile(screen.diff("@@ -1 +1 @@\n+" + text, plain))) <= {"\n", "\t"}


def test_only_newlines_end_a_line_of_a_diff():
    assert screen.diff("@@ @@\n+a\x0cb\x85c\u2028d\n", plain).count("\n") == 2


def test_a_very_long_line_is_cut_openly_and_whole_when_asked():
    text = "@@ @@\n+" + "x" * 5000 + "\n"
    assert "3001 more characters" in screen.diff(text, plain, rows=10)
    assert "x" * 5000 in screen.diff(text, plain)


def test_a_table_elsewhere_than_on_a_terminal_is_lines_of_tabs(capsys):
    screen.write_table(("a", "b"), [("1", "x\ty\n"), ("2", "\x1b")], empty="none")
    assert capsys.readouterr().out == "a\tb\n1\tx\\ty\\n\n2\t\\x1b\n"
    screen.write_table(("a",), [], empty="none")
    assert capsys.readouterr().out == ""


def test_a_table_on_a_terminal_shows_every_cell_as_text(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "100")
    screen.write_table(("path",), [("[red]x[/red]",), ("测试\x1b[2J",)], empty="none")
    screen.write_table(("path",), [], empty="Nothing yet.")
    assert "[red]x[/red]" in out.getvalue()
    assert "测试\\x1b[2J" in out.getvalue()
    assert "Nothing yet." in out.getvalue()


@pytest.mark.parametrize("name", ["NO_COLOR", "TERM"])
def test_colours_are_left_out_where_they_arent_wanted(monkeypatch, name):
    person = Person()
    with open(person.keyboard, "w", closefd=False) as terminal:
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        assert screen.painter(terminal)("x", "red") == "\x1b[31mx\x1b[0m"
        monkeypatch.setenv(name, "dumb")
        assert screen.painter(terminal)("x", "red") == "x"
    person.close()
    assert screen.painter(io.StringIO())("x", "red") == "x"
