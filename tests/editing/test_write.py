"""Writing whole: what is created, what of the old file stays, what is refused, what a person is told."""

import pytest
from one_file import ROOT, changed, plan_write, written

from handrail.model.errors import HandrailError
from handrail.model.files import Absent, FileState


def refused(*arguments, **options) -> HandrailError:
    with pytest.raises(HandrailError) as caught:
        plan_write(*arguments, **options)
    return caught.value


def test_a_new_file_has_exactly_the_bytes_sent():
    for content in ("", "a", "a\n", "a\r\nb\r\n", "a\r\nb\n", "\ufeffa", "é\U0001f600\x0c\u2028\r"):
        assert written(content) == content.encode()


def test_a_new_file_is_a_creation():
    (change,) = plan_write("x", parents=True).changes
    assert (change.action, change.parents, type(change.before)) == ("create", True, Absent)
    assert changed(plan_write("x")).existed is False


def test_a_replaced_file_keeps_its_mode():
    (change,) = plan_write("x", before=b"y").changes
    assert change.action == "modify"
    assert isinstance(change.before, FileState)
    assert change.before.mode == 0o640
    assert change.after.mode is None  # what stands there now


def test_encoding_and_mark_stay():
    for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-8", b"\xef\xbb\xbf")):
        assert written("neu\n", before=mark + "alt\n".encode(encoding)) == mark + "neu\n".encode(encoding)
    before = "größer und schöner, Füße, Käse, Öl\n".encode("cp1252")
    assert written("Fuß\n", before=before) == "Fuß\n".encode("cp1252")


def test_a_character_that_the_old_encoding_lacks_is_refused_by_name():
    error = refused("测", before="größer und schöner, Füße, Käse, Öl\n".encode("cp1252"))
    assert (error.kind, error.facts["character"]) == ("unencodable", "U+6D4B")
    assert "remove it first" in error.hint


def test_line_ends_that_the_reader_hides_stay():
    plan = plan_write("a\nb\n", before=b"x\r\ny\r\n")
    assert plan.changes[0].after.content.bytes() == b"a\r\nb\r\n"
    assert "stay CRLF" in changed(plan).warnings[0]


def test_line_ends_that_were_sent_are_written():
    assert written("a\r\nb\n", before=b"x\r\ny\r\n") == b"a\r\nb\n"
    assert written("a\r\n", before=b"x\n") == b"a\r\n"
    assert "change to CRLF" in changed(plan_write("a\r\n", before=b"x\n")).warnings[0]


def test_the_same_content_again_changes_nothing():
    plan = plan_write("a\nb\n", before=b"a\nb\n")
    assert plan.changes == ()
    assert changed(plan).unchanged


def test_a_link_is_refused_where_links_are_not_written_through():
    assert refused("x", before=b"y", linked=True, through_links=False).kind == "symlink_refused"
    assert written("x", before=b"y", linked=True) == b"x"


def test_a_dangling_link_is_said():
    assert refused("x", linked=True).kind == "symlink_refused"


def test_the_directory_must_exist_unless_parents_are_made():
    missing = f"{ROOT}/none/file"
    assert refused("x", path=missing).kind == "not_found"
    assert written("x", path=missing, parents=True) == b"x"


def test_a_taken_name_is_counted_up():
    taken = {f"{ROOT}/untitled.txt": b"", f"{ROOT}/untitled-2.txt": b""}
    plan = plan_write("x", path=f"{ROOT}/untitled.txt", unique=True, files=taken)
    assert plan.changes[0].path.text == f"{ROOT}/untitled-3.txt"
    assert plan_write("x", path=f"{ROOT}/untitled.txt", unique=True).changes[0].path.text == f"{ROOT}/untitled.txt"
    assert (
        plan_write("x", path=f"{ROOT}/a", unique=True, files={f"{ROOT}/a": b""}).changes[0].path.text.endswith("/a-2")
    )


def test_too_much_is_refused_with_both_figures():
    error = refused("x" * 11, limit=10)
    assert (error.kind, error.facts["bytes"], error.facts["max_bytes"]) == ("too_large", 11, 10)


def test_a_file_too_big_to_edit_can_still_be_replaced():
    assert written("x", before=b"y" * 100, limit=10) == b"x"


def test_replacing_a_binary_is_said():
    assert any("binary" in s for s in plan_write("x", before=b"\0\1\2" * 100).unusual)


def test_an_emptied_file_is_noted():
    assert changed(plan_write("", before=b"y")).emptied
    assert not changed(plan_write("")).emptied
