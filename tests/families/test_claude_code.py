"""The claude_code family: absolute paths, cat -n content, answers as compact JSON, checkpoints by opaque ids."""

import base64
import json
from typing import Any

import pytest
from faces_alone import NOW, ROOT, TOOLS, Records, answer, changed, context, found, operations, receipt, text
from hypothesis import given
from hypothesis import strategies as st

from handrail.families.claude_code import identifiers
from handrail.families.claude_code.identifiers import Checkpoint
from handrail.families.claude_code.read import ANSWERS, cap
from handrail.model.answers import Listed, MatchingFile, MatchingRow, ReadBinary, ReadImage, Row, Versions
from handrail.model.calls import ImageBlock
from handrail.model.errors import HandrailError, InvalidCall, NotThere
from handrail.model.files import ABSENT, Bytes, FileState
from handrail.model.operations import History, Remove, Restore
from handrail.model.paths import seal
from handrail.model.records import Receipt, Version

A = f"{ROOT}/a.txt"
EDIT = {"file_path": A, "old_string": "a", "new_string": "b"}


def refused(name: str, arguments: dict[str, Any], **options: Any) -> HandrailError:
    with pytest.raises(HandrailError) as caught:
        operations(name, arguments, context(**options))
    return caught.value


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("Read", {"file_path": "src/a.py"}, "file_path"),
        ("Write", {"file_path": "~/a.py", "content": ""}, "file_path"),
        ("Edit", {**EDIT, "file_path": "./a"}, "file_path"),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "a", "new_string": "b"}]}, "file_path"),
        ("Glob", {"pattern": "*", "path": "src"}, "path"),
        ("Grep", {"pattern": "x", "path": "src"}, "path"),
        ("Read", {"file_path": ""}, "file_path"),
    ],
)
def test_a_relative_path_is_refused_by_name(name: str, arguments: dict[str, Any], field: str) -> None:
    error = refused(name, arguments)
    assert (error.kind, error.facts["field"]) == ("invalid_arguments", field)


def test_the_refusal_says_how_the_path_would_be_written() -> None:
    assert f"{ROOT}/src/a.py" in refused("Read", {"file_path": "src/a.py"}).hint


# Read


def test_read_has_the_family_s_defaults_and_caps() -> None:
    (read,) = operations("Read", {"file_path": A})
    assert (read.offset, read.limit, read.max_rows, read.max_text) == (1, 2000, 2000, 256 * 1024)
    assert (read.max_file_bytes, read.raw_bytes) == (10_485_760, False)
    assert operations("Read", {"file_path": A}, context(binary_policy="base64"))[0].raw_bytes
    assert operations("Read", {"file_path": A}, context(max_read_bytes=5))[0].max_file_bytes == 5


@pytest.mark.parametrize(
    ("tokens", "kib"), [(None, 256), (1, 50), (64_000, 50), (200_000, 156.25), (10_000_000, 512), (409_600, 320)]
)
def test_the_byte_cap_follows_the_context_window(tokens: int | None, kib: float) -> None:
    assert cap(tokens) == kib * 1024


def test_content_is_numbered_as_cat_does_and_stands_verbatim_in_the_text() -> None:
    read = text(A, "one", "two", first=99999, total=100_000)
    _, payload, shown = answer("Read", {"file_path": A}, read)
    assert payload["content"] == " 99999→one\n100000→two"
    assert shown == payload["content"] + "\n[lines 99999-100000 of 100000]"
    assert (payload["total_lines"], payload["start_line"], payload["rendered_lines"]) == (100_000, 99_999, 2)
    assert payload["truncated"] is False
    assert "next_offset" not in payload


def test_a_truncated_answer_says_where_it_goes_on() -> None:
    _, payload, shown = answer("Read", {"file_path": A}, text(A, "one", total=9, next_offset=2))
    assert (payload["truncated"], payload["next_offset"]) == (True, 2)
    assert payload["continuation_hint"] == "Read again with offset=2 for more."
    assert shown.endswith("\n[lines 1-1 of 9; Read again with offset=2 for more]")


def test_a_cut_line_ends_with_an_ellipsis() -> None:
    read = text(A, rows=(Row(row=1, text="x" * 2000, cut=True),), first=1, last=1, total=1)
    assert answer("Read", {"file_path": A}, read)[1]["content"].endswith("x…")


def test_an_empty_file_has_no_lines_and_says_so() -> None:
    _, payload, shown = answer("Read", {"file_path": A}, text(A, notes=("The file is empty.",)))
    assert (payload["content"], payload["rendered_lines"]) == ("", 0)
    assert shown == "[no lines of 0; The file is empty]"


def test_a_third_identical_read_adds_a_loop_warning() -> None:
    assert TOOLS["Read"].counts_repeats
    assert "loop_warning" in answer("Read", {"file_path": A}, text(A, "x"), notes=("loop",))[1]
    assert "loop_warning" not in answer("Read", {"file_path": A}, text(A, "x"))[1]


def test_a_binary_has_its_bytes_only_where_the_policy_says_so() -> None:
    binary = {"path": seal(A), "media_type": "application/zip", "size": 3, "hash": "00"}
    reply, payload, _ = answer("Read", {"file_path": A}, ReadBinary(**binary))
    assert (reply.ok, payload["kind"], payload["bytes"]) == (False, "binary", 3)
    assert "base64" not in payload
    reply, payload, _ = answer("Read", {"file_path": A}, ReadBinary(**binary, data=b"\x00\x01\x02"))
    assert (reply.ok, base64.b64decode(payload["base64"])) == (True, b"\x00\x01\x02")


def test_an_image_travels_in_its_block() -> None:
    sizes = {"width": 2, "height": 1, "original_width": 4, "original_height": 2}
    image = ReadImage(path=seal(A), media_type="image/png", data=b"png", size=3, hash="00", **sizes)
    reply, payload, _ = answer("Read", {"file_path": A}, image)
    assert (payload["format"], payload["was_resized"], payload["original_width"]) == ("png", True, 4)
    assert reply.blocks[-1] == ImageBlock(b"png", "image/png")


def test_the_six_kinds_of_read_are_ordinary_answers() -> None:
    expected = {"binary", "not_found", "permission_denied", "too_large", "not_regular_file", "path_denied"}
    assert TOOLS["Read"].answered == ANSWERS == expected
    assert all(not tool.answered for tool in TOOLS.values() if tool.name != "Read")


def test_a_failure_names_the_file_and_is_compact_json() -> None:
    gone = NotThere("not_found", "There is no a.txt.", hint="See nearest.", facts={"nearest": ["b.txt"]})
    reply, payload, shown = answer("Read", {"file_path": A}, gone)
    assert not reply.ok
    assert payload == {
        "kind": "not_found",
        "error": "There is no a.txt.",
        "hint": "See nearest.",
        "retryable": False,
        "file_path": A,
        "nearest": ["b.txt"],
    }
    assert json.loads(shown) == payload


# Write, Edit, MultiEdit


@pytest.mark.parametrize(
    ("settings", "freshness"),
    [
        ({}, "none"),
        ({"track_reads": True}, "unchanged"),
        ({"track_reads": True, "must_read_before_write": True}, "required"),
    ],
)
def test_the_settings_choose_the_freshness_guard(settings: dict[str, bool], freshness: str) -> None:
    where = context(**settings)
    assert operations("Write", {"file_path": A, "content": ""}, where)[0].freshness == freshness
    assert operations("Edit", EDIT, where)[0].freshness == freshness
    assert operations("MultiEdit", {"file_path": A, "edits": EDIT_PAIR}, where)[0].freshness == freshness


EDIT_PAIR = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c", "replace_all": True}]


def test_write_makes_no_directory_and_follows_no_link() -> None:
    (write,) = operations("Write", {"file_path": A, "content": "x"})
    assert (write.parents, write.through_links, write.unique) == (False, False, False)


def test_edits_go_in_order() -> None:
    (edit,) = operations("MultiEdit", {"file_path": A, "edits": EDIT_PAIR})
    assert edit.semantics == "in_order"
    assert [(r.old, r.new, r.everywhere) for r in edit.replacements] == [("a", "b", False), ("b", "c", True)]


def test_the_answers_of_changes_have_the_family_s_fields() -> None:
    done = changed(A, replacements=2, recovered_via_crlf=True)
    _, written, shown = answer("Write", {"file_path": A, "content": "x"}, done, receipts=(receipt(A),))
    assert {k: written[k] for k in ("kind", "file_path", "bytes_written", "checkpoint_id")} == {
        "kind": "written",
        "file_path": A,
        "bytes_written": 12,
        "checkpoint_id": None,
    }
    assert json.loads(shown) == written
    _, edited, _ = answer("Edit", EDIT, done, receipts=(receipt(A),))
    assert (edited["kind"], edited["replacements"], edited["replace_all"]) == ("edited", 2, False)
    assert (edited["recovered_via_crlf"], edited["recovered_via_quotes"]) == (True, False)
    _, multi, _ = answer("MultiEdit", {"file_path": A, "edits": EDIT_PAIR}, done)
    assert (multi["edits_applied"], multi["replacements"], multi["checkpoint_id"]) == (2, 2, None)


def test_a_checkpoint_id_is_handed_out_only_when_configured() -> None:
    where = context(checkpoint_before_mutation=True)
    _, payload, _ = answer("Edit", EDIT, changed(A), where=where, receipts=(receipt(A, 7, 6),))
    assert identifiers.read(payload["checkpoint_id"]) == Checkpoint(6)
    _, payload, _ = answer("Edit", EDIT, changed(A), where=where, receipts=(receipt(A, 7, None),))
    assert identifiers.read(payload["checkpoint_id"]) == Checkpoint(7, created=True)


# Glob, Grep


def test_glob_lists_newest_first_at_most_1000() -> None:
    (find,) = operations("Glob", {"pattern": "**/*"})
    assert (find.mode, find.limit, find.queries[0].directory, find.queries[0].pattern) == ("glob", 1000, ROOT, "**/*")
    listed = (Listed(path=A, kind="file", size=1, mtime_ns=NOW),)
    page = found("glob", listed=listed, total=2000, next_offset=1000, skipped={"unreadable": 2})
    _, payload, _ = answer("Glob", {"pattern": "*"}, page)
    assert payload["kind"] == "paths"
    assert (payload["paths"], payload["truncated"], payload["root"]) == ([A], True, ROOT)
    assert payload["skipped"] == {"unreadable": 2}


@pytest.mark.parametrize("name", ["Glob", "Grep"])
def test_a_path_is_needed_where_there_is_no_workspace_root(name: str) -> None:
    assert refused(name, {"pattern": "*"}, roots=()).facts == {"field": "path"}


def test_grep_takes_ripgrep_s_flags() -> None:
    asked = {"pattern": "x", "-i": True, "-A": 1, "-C": 3, "output_mode": "content", "type": "py", "glob": "*.py"}
    (find,) = operations("Grep", asked)
    assert (find.ignore_case, find.before, find.after, find.file_type) == (True, 3, 1, "py")
    assert (find.unit, find.limit, find.queries[0].file_pattern) == ("content", 1000, "*.py")
    assert operations("Grep", {"pattern": "x", "head_limit": 5, "offset": 2})[0].limit == 5
    assert operations("Grep", {"pattern": "x", "head_limit": 5000, "output_mode": "content"})[0].limit == 1000
    assert operations("Grep", {"pattern": "x", "head_limit": 0})[0].limit is None


def test_grep_answers_by_output_mode() -> None:
    files = (MatchingFile(path=A, count=3, rows=(1, 2, 3)),)
    _, payload, _ = answer("Grep", {"pattern": "x"}, found("search", files=files, total=1))
    assert (payload["kind"], payload["mode"], payload["files"]) == ("matches", "files_with_matches", [A])
    counted = found("search", unit="count", files=files, total=1)
    _, payload, _ = answer("Grep", {"pattern": "x", "output_mode": "count"}, counted)
    assert payload["counts"] == [{"path": A, "count": 3}]
    rows = (
        MatchingRow(path=A, row=2, text="x\udcff", block=1),
        MatchingRow(path=A, row=3, text="y", block=1, context=True),
    )
    page = found("search", unit="content", rows=rows, total=1)
    _, payload, shown = answer("Grep", {"pattern": "x", "output_mode": "content", "-A": 1}, page)
    assert payload["matches"] == [
        {"path": A, "line": 2, "match": "x\ufffd", "block": 1},
        {"path": A, "line": 3, "match": "y", "block": 1, "context": True},
    ]
    assert json.loads(shown) == payload
    _, payload, _ = answer("Grep", {"pattern": "x", "output_mode": "content", "-n": False}, page)
    assert "line" not in payload["matches"][0]


def test_a_search_that_could_not_run_is_a_failure() -> None:
    gone = NotThere("not_found", "There is no such directory.")
    page = found("search", errors={0: gone})
    reply, payload, _ = answer("Grep", {"pattern": "x", "path": "/nowhere"}, page)
    assert (reply.ok, payload["kind"], payload["file_path"]) == (False, "not_found", "/nowhere")
    assert isinstance(refused("Grep", {"pattern": ""}), InvalidCall)


# Checkpoints


def version(number: int, state: Any = None, **facts: Any) -> Version:
    known: dict[str, Any] = {"path": A, "action": "modify", "tool": "Edit", "session": "s", "task": None}
    return Version(id=number, state=state or FileState(Bytes(b"x")), objective=None, time_ns=NOW, **{**known, **facts})


@given(st.integers(1, 2**60), st.booleans())
def test_an_id_comes_back_as_the_checkpoint_it_was(number: int, created: bool) -> None:
    checkpoint = Checkpoint(number, created=created)
    assert identifiers.read(identifiers.spelled(checkpoint)) == checkpoint
    assert identifiers.read(" " + identifiers.spelled(checkpoint).upper()) == checkpoint


@given(st.text() | st.text(alphabet="abcdefg234567=-").map("cp-{}".format))
def test_other_text_is_no_checkpoint(typed: str) -> None:
    checkpoint = identifiers.read(typed)
    assert checkpoint is None or identifiers.spelled(checkpoint) == typed.strip().lower()


def test_checkpoints_are_listed_with_the_family_s_fields() -> None:
    assert operations("checkpoints_list", {"path_contains": "a"}) == [
        History(contains="a", limit=20, before_mutations=True)
    ]
    records = Records(versions={5: version(5), 8: version(8)})
    listed = Versions(versions=(version(8, ABSENT, action="create", tool="Write"), version(5)), more=2)
    _, payload, _ = answer("checkpoints_list", {}, listed, where=context(records))
    created, before = payload["checkpoints"]
    assert (payload["kind"], payload["count"]) == ("checkpoints", 2)
    assert list(before) == ["id", "createdAt", "reason", "sourcePath", "sourceKind", "existed"]
    assert (before["sourcePath"], before["sourceKind"], before["existed"]) == (A, "file", True)
    assert before["reason"] == "before modify by Edit"
    assert identifiers.read(before["id"]) == Checkpoint(5)
    assert (identifiers.read(created["id"]), created["existed"]) == (Checkpoint(8, created=True), False)


def test_a_checkpoint_is_restored_and_what_was_created_is_removed() -> None:
    records = Records(versions={5: version(5)})
    where = context(records)
    assert operations("checkpoint_restore", {"id": identifiers.spelled(Checkpoint(5))}, where) == [Restore(version=5)]
    created = {"id": identifiers.spelled(Checkpoint(5, created=True))}
    assert operations("checkpoint_restore", created, where) == [Remove(path=A)]
    made: Receipt = receipt(A, 9, 8)
    _, payload, _ = answer("checkpoint_restore", created, changed(A), where=where, receipts=(made,))
    assert payload == {"kind": "restored", "file_path": A, "version": 9, "existed": False, "task": "t-1"}


def test_an_unknown_checkpoint_is_named() -> None:
    assert refused("checkpoint_restore", {"id": "cp-zz"}).kind == "version_not_found"
    assert refused("checkpoint_restore", {"id": identifiers.spelled(Checkpoint(99))}).kind == "version_not_found"
