"""A text replaced at very many places gives what replacing it place by place gives, in little time and memory."""

import resource
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from one_file import changed, edited, failure, plan_edit

from handrail.editing import everywhere


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(everywhere, "FROM", 1)


texts = st.lists(st.sampled_from(["a", "b", "é", "\n", "\r\n", "\r", "aa"]), max_size=30).map("".join)
anchors = st.lists(st.sampled_from(["a", "b", "é", "\n", "\r\n", "\r"]), min_size=1, max_size=3).map("".join)


@settings(max_examples=400, deadline=None)
@given(text=texts, old=anchors, new=anchors, encoding=st.sampled_from(["utf-8", "utf-16-le", "latin-1"]))
def test_all_at_once_is_what_one_by_one_is(text, old, new, encoding):
    mark = "\ufeff".encode(encoding) if encoding == "utf-16-le" else b""
    data = mark + (text + "éèü à la größe ça et là\n").encode(encoding)
    found = []
    for many in (1, 10**9):
        everywhere.FROM = many
        try:
            answer = changed(plan_edit(data, (old, new, True), semantics="in_order"))
            found.append((edited(data, (old, new, True)), answer.replacements, answer.recovered_via_crlf))
        except AssertionError:
            raise
        except Exception as error:  # the same refusal, by its kind
            found.append(getattr(error, "kind", error))
    assert found[0] == found[1]


def test_bytes_between_the_places_stay_in_an_encoding_with_two_spellings():
    data = b"\x87\x90 \x81\xe0 x x x " + "日本語の文章です、漢字と仮名".encode("cp932") + b" x\n"
    assert edited(data, ("x", "yy", True)) == data.replace(b"x", b"yy")


def test_stray_bytes_between_the_places_stay():
    data = "æøå 漢字 ".encode() * 3 + b"x\xff x \xfe\xc3 x\n"
    assert edited(data, ("x", "é", True)) == data.replace(b"x", "é".encode())


def test_others_beside_it_in_the_same_call_are_placed_as_ever():
    data = b"a b a c a\n"
    assert edited(data, ("a", "x", True), ("c", "y")) == b"x b x y x\n"
    error = failure(data, ("a", "x", True), ("a c", "y"))
    assert error.facts["indices"] == [0, 1]


def test_too_many_places_one_by_one_are_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr("handrail.editing.anchors.MOST", 10)
    monkeypatch.setattr("handrail.editing.edit.MOST", 10)
    error = failure(b"a c\n" * 20, ("a", "x", True), ("zz", "y"))
    assert (error.kind, error.facts["max_places"], error.facts["index"]) == ("too_large", 10, 0)
    assert edited(b"a c\n" * 20, ("a", "x", True)) == b"x c\n" * 20


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux tells it")
def test_a_million_places_need_a_few_times_the_file():
    size = 1 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert edited(b"ab\n" * size, ("a", "cc", True)) == b"ccb\n" * size
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 * 1024
