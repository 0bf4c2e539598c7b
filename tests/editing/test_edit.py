"""Edit: each refusal of the specification, and what the answer says."""

import pytest
from one_file import both_ways, changed, edited, failure, plan_edit


@pytest.mark.parametrize("semantics", ["together", "in_order"])
def test_an_empty_anchor_is_refused(semantics):
    error = failure(b"a", ("a", "b"), ("", "x"), semantics=semantics)
    assert (error.kind, error.facts["index"]) == ("invalid_arguments", 1)
    assert "insert" in error.hint


@pytest.mark.parametrize("semantics", ["together", "in_order"])
def test_a_replacement_that_changes_nothing_is_refused(semantics):
    assert failure(b"a", ("a", "a"), semantics=semantics).kind == "no_change"
    assert failure(b"a\r\nb\r\n", ("a\nb", "a\r\nb"), semantics=semantics).kind == "no_change"


def test_edits_that_cancel_out_are_refused():
    assert failure(b"a", ("a", "b"), ("b", "a"), semantics="in_order").kind == "no_change"


def test_no_replacement_at_all_is_refused():
    assert failure(b"a").kind == "invalid_arguments"


def test_binary_is_refused():
    assert failure(b"\0\1\2\3" * 50, ("a", "b")).kind == "binary"


def test_too_large_names_both_figures():
    error = failure(b"a" * 11, ("a", "b"), limit=10)
    assert (error.kind, error.facts["bytes"], error.facts["max_bytes"]) == ("too_large", 11, 10)


def test_a_refusal_names_the_file():
    assert failure(b"a", ("b", "c")).path == "/root-of-tests/file"


def test_an_anchor_inside_an_earlier_new_text_is_refused():
    error = failure(b"one\ntwo\n", ("one", "1 two"), ("two", "2"))
    assert (error.kind, error.facts["indices"]) == ("overlapping_edits", [0, 1])
    assert edited(b"one\ntwo\n", ("two", "2"), ("one", "1 two")) == b"1 two\n2\n"


def test_empty_new_text_deletes_exactly_the_span():
    assert both_ways(b"a\nb\nc\n", "b\n", "") == b"a\nc\n"
    assert both_ways(b"a\nb\nc\n", "b", "") == b"a\n\nc\n"


def test_an_insert_repeats_the_anchor():
    assert both_ways(b"a\nc\n", "a\n", "a\nb\n") == b"a\nb\nc\n"


def test_an_emptied_file_is_noted():
    assert changed(plan_edit(b"a", ("a", ""))).emptied


def test_replacements_are_counted_by_target():
    answer = changed(plan_edit(b"a b a\n", ("a", "x", True), ("b", "y")))
    assert (answer.replacements, answer.per_target, answer.lines) == (3, (2, 1), 1)


def test_all_places_that_look_the_same_are_replaced():
    assert edited(b"a\nb\r\na\r\nb\n", ("a\nb", "x", True)) == b"x\r\nx\n"


def test_places_left_alone_for_their_line_ends_are_said():
    plan = plan_edit(b"a\nb\r\na\r\nb\n", ("a\nb", "x"))
    assert "line ends only" in changed(plan).warnings[0]


def test_rows_of_an_ambiguous_anchor_are_bounded():
    error = failure(b"a\n" * 5000, ("a", "b"))
    assert error.facts["rows"] == list(range(1, 11))
    assert "at least 1000 times" in error.message


def test_a_file_that_will_be_taken_for_another_is_said():
    assert any("binary" in s for s in plan_edit(b"a\n", ("a", "\0" * 50)).unusual)


def test_edits_in_order_may_work_on_what_the_last_one_wrote():
    data = b"head\r\nkeep\ntail\r\n"
    got = edited(data, ("head", "one\ntwo"), ("two\nkeep", "2\nkeep\n3"), ("one\n2", "1\n2"), semantics="in_order")
    assert got == b"1\r\n2\r\nkeep\r\n3\ntail\r\n"
