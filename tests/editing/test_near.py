"""Near misses: what is said of an anchor that isn't there."""

from handrail.editing.anchors import Haystack
from handrail.editing.near import Miss, explain, without_prefixes


def missed(text: str, old: str, new: str = "something new") -> Miss:
    return explain(Haystack(text), old, new=new, file=text)


def test_blanks_at_the_end_are_shown():
    miss = missed("a\nb = 1  \nc\n", "b = 1\nc")
    assert miss.facts["nearest"][0] == {"row": 2, "text": "b = 1··¶", "sent": "b = 1¶"}


def test_upper_and_lower_case_are_told_apart():
    miss = missed("Hello World\n", "hello world")
    assert "upper and lower case" in miss.hint


def test_the_line_that_differs_is_shown_not_the_first():
    text = "def f():\n    a = compute(1, 2)\n    b = compute(3, 4)\n    return a\n"
    miss = missed(text, "def f():\n    a = compute(1, 2)\n    b = compute(3, 5)\n    return a\n")
    assert miss.facts["nearest"][0]["row"] == 3


def test_three_rows_at_most_the_best_first():
    text = "".join(f"value = compute(first, {i})\n" for i in range(50))
    miss = missed(text, "value = compute(first, 7x)")
    assert len(miss.facts["nearest"]) == 3
    assert miss.facts["nearest"][0]["row"] == 8


def test_nothing_alike_says_so():
    miss = missed("alpha\nbeta\n", "zzz qqq")
    assert miss.hint.startswith("Nothing like it")
    assert "nearest" not in miss.facts


def test_a_long_line_is_cut_around_the_difference():
    miss = missed("x" * 5000 + " needle end\n", "x" * 5000 + " noodle end")
    assert len(miss.facts["nearest"][0]["text"]) <= 170
    assert "needle" in miss.facts["nearest"][0]["text"]


def test_new_text_that_happens_to_stand_elsewhere_does_not_hide_a_near_miss():
    miss = missed("\tx = 1\n\n\ny = 2\n", "    x = 1", "y = 2")
    assert "tabs or blanks" in miss.hint
    assert "already there, at row 4, too" in miss.hint


def test_stray_bytes_shown_as_u_fffd_are_explained():
    miss = missed("caf\udce9 = one two\n", "caf\ufffd = one two")
    assert "bytes that aren't text" in miss.hint
    assert "\udce9" not in miss.hint


def test_prefixes_are_taken_off():
    assert without_prefixes("1\ta\n2\t\tb\n") == "a\n\tb\n"
    assert without_prefixes("     9\u2192a\n    10\u2192b") == "a\nb"
    assert without_prefixes("mid line\n3\tb") == "mid line\nb"
    assert without_prefixes("1\ta\n...\n9\tb") == "a\n...\nb"
    assert without_prefixes("a\nb") is None
    assert without_prefixes("2\ta\n1\tb") is None
