"""Anchors: what counts as a place, in which order it is looked for, and how places map back to the text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.editing.anchors import Haystack, Rows, flat


def test_an_exact_place_comes_before_one_with_other_ends():
    located = Haystack("a\r\nb a\nb").locate("a\nb")
    assert (located.manner, located.spans, located.alike) == ("exact", ((5, 8),), ((0, 4),))


def test_everywhere_means_all_that_look_the_same():
    located = Haystack("a\r\nb a\nb").locate("a\nb", everywhere=True)
    assert (located.manner, located.spans) == ("ends", ((0, 4), (5, 8)))
    sent_with_ends = Haystack("a\r\nb a\nb").locate("a\r\nb", everywhere=True)
    assert sent_with_ends.spans == ((0, 4),)


def test_quotes_are_folded_only_when_nothing_else_fits():
    text = "\u2018a\u2019 'a'"
    assert Haystack(text).locate("'a'").spans == ((4, 7),)
    located = Haystack("\u2018a\u2019").locate("'a'")
    assert (located.manner, located.spans) == ("quotes", ((0, 3),))


def test_places_do_not_overlap_when_all_are_wanted():
    assert Haystack("aaa").locate("aa").spans == ((0, 2), (1, 3))
    assert Haystack("aaa").locate("aa", everywhere=True).spans == ((0, 2),)


def test_no_place_tears_a_line_end_apart():
    assert Haystack("a\r\nb").locate("\nb").spans == ((1, 4),)
    assert Haystack("a\r\nb").locate("a\r").spans == ()


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab\r\n", max_size=20), st.text(alphabet="ab\n", min_size=1, max_size=4))
def test_every_place_reads_as_the_anchor(text, old):
    for start, end in Haystack(text).locate(old).spans:
        assert flat(text[start:end]) == old
        assert text[start - 1 : start + 1] != "\r\n" or start == 0
        assert text[end - 1 : end + 1] != "\r\n"


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="a\r\n\x0c\u2028", min_size=1, max_size=20), st.data())
def test_rows_are_counted_by_newlines_alone(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    assert Rows(text).at(at) == text.count("\n", 0, at) + 1
