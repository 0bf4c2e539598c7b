# ruff: noqa: RUF001
"""Quotes: folding keeps offsets; new text takes on the style that was found, and only where it differed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.text import quotes

QUOTED = st.text(st.sampled_from("ab '\"“”‘’„‚‟‛(\n"))


@given(QUOTED)
def test_folding_keeps_the_length_and_is_done_once(text: str) -> None:
    folded = quotes.fold(text)
    assert len(folded) == len(text)
    assert quotes.fold(folded) == folded
    assert not set(folded) & set("“”‘’„‚‟‛")


@pytest.mark.parametrize(
    ("old", "found", "new", "written"),
    [
        ('say("yes")', "say(“yes”)", 'say("no")', "say(“no”)"),
        ("it's", "it’s", "it isn't", "it isn’t"),
        ('a "b" c', "a “b” c", 'a "b" and "d" c', "a “b” and “d” c"),
        ("“x”", '"x"', "“y” ‘z’", '"y" ‘z’'),
        ('"a"', "„a“", '"b" "c"', "„b“ „c“"),
        ("'a' \"b\"", '‘a’ "b"', "'c' \"d\"", '‘c’ "d"'),
    ],
)
def test_new_text_takes_on_the_style_that_was_found(old: str, found: str, new: str, written: str) -> None:
    assert quotes.like(new, old=old, found=found) == written


@given(QUOTED, QUOTED)
def test_after_an_exact_match_new_text_is_as_sent(old: str, new: str) -> None:
    assert quotes.like(new, old=old, found=old) == new


@given(QUOTED)
def test_unchanged_text_is_what_was_found(found: str) -> None:
    assert quotes.like(quotes.fold(found), old=quotes.fold(found), found=found) == found


@given(QUOTED, QUOTED)
def test_only_quotes_ever_change(found: str, new: str) -> None:
    written = quotes.like(new, old=quotes.fold(found), found=found)
    assert quotes.fold(written) == quotes.fold(new)


def test_text_that_matched_otherwise_is_left_alone() -> None:
    assert quotes.like('"x"', old="abc", found="“b”") == '"x"'
