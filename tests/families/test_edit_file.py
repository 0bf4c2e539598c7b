"""edit_file: the mode is inferred only where nothing can be lost, and refusals name what to send instead."""

from typing import Any

import pytest
from faces_alone import ROOT, Records, answer, changed, context, operations, receipt

from handrail.model.errors import HandrailError, NotThere, OutOfDate
from handrail.model.operations import Edit, Remove, Restore, Undo, Write

A = f"{ROOT}/a.txt"
PATCH = {"path": "a.txt", "targets": [{"old_string": "a", "new_string": "b"}]}


def refused(**arguments: Any) -> HandrailError:
    with pytest.raises(HandrailError) as caught:
        operations("edit_file", arguments)
    return caught.value


def test_content_means_write_and_targets_mean_patch() -> None:
    (write,) = operations("edit_file", {"path": "a.txt", "content": ""})
    assert isinstance(write, Write)
    assert (write.content, write.parents, write.through_links, write.unique, write.freshness) == (
        "",
        True,
        True,
        False,
        "required",
    )
    (patch,) = operations("edit_file", PATCH)
    assert isinstance(patch, Edit)
    assert (patch.semantics, patch.freshness, patch.replacements[0].old) == ("together", "required", "a")


def test_content_and_targets_together_are_refused() -> None:
    assert "both" in refused(**PATCH, content="").message
    assert "both" in refused(**PATCH, content="x", mode="write").message


def test_remove_and_restore_are_never_inferred() -> None:
    assert 'mode="restore"' in refused(path="a.txt", version=3).hint
    assert 'mode="restore"' in refused(task_id="t-1").hint
    assert "never inferred" in refused(path="a.txt").message


def test_what_does_not_go_with_a_mode_is_refused_by_name() -> None:
    assert refused(path="a", mode="remove", version=3).facts == {"field": "version"}
    assert refused(path="a", mode="restore", version=3, content="x").facts == {"field": "content"}
    assert refused(path="a", content="x", task_id="t").facts == {"field": "task_id"}
    assert refused(path="a", mode="patch").facts == {"field": "targets"}
    assert refused(path="a", mode="write").facts == {"field": "content"}


def test_a_blank_path_goes_with_write_alone_and_lands_in_the_output_directory() -> None:
    (write,) = operations("edit_file", {"content": "# Hello"})
    assert write.path.startswith("/home/ada/Downloads/untitled-2026")
    assert write.path.endswith(".md")
    assert write.unique
    assert refused(targets=PATCH["targets"]).facts == {"field": "path"}
    assert refused(mode="remove").facts == {"field": "path"}


@pytest.mark.parametrize(
    ("content", "ending"),
    [("<!DOCTYPE html><p>", ".html"), ('{"a": 1}', ".json"), ("{x", ".txt"), ("hi", ".txt"), ("#!/bin/sh\n", ".sh")],
)
def test_the_ending_of_an_untitled_file_fits_its_content(content: str, ending: str) -> None:
    assert operations("edit_file", {"content": content})[0].path.endswith(ending)


def test_an_expected_hash_is_64_hex_digits() -> None:
    assert operations("edit_file", {**PATCH, "expected_hash": "AB" * 32})[0].expected_hash == "ab" * 32
    assert refused(**PATCH, expected_hash="abc").facts == {"field": "expected_hash"}


def test_restore_takes_a_version_or_a_task_not_both() -> None:
    (restore,) = operations("edit_file", {"mode": "restore", "version": "12", "path": "a.txt"})
    assert restore == Restore(version=12, path="a.txt")
    assert "both" in refused(mode="restore", version=1, task_id="t").message
    assert refused(mode="restore").facts == {"field": "version"}


def test_undoing_a_task_is_one_operation_a_path_narrowed_by_path() -> None:
    records = Records({"t-1": [f"{ROOT}/src/b.txt", A]}, current="t-1")
    undo = operations("edit_file", {"mode": "restore", "task_id": "current"}, context(records))
    assert undo == [Undo(task="t-1", path=f"{ROOT}/src/b.txt"), Undo(task="t-1", path=A)]
    narrowed = operations("edit_file", {"mode": "restore", "task_id": "t-1", "path": "src"}, context(records))
    assert [operation.path for operation in narrowed] == [f"{ROOT}/src/b.txt"]


def test_an_unknown_task_or_path_is_named() -> None:
    with pytest.raises(NotThere) as caught:
        operations("edit_file", {"mode": "restore", "task_id": "t-9"})
    assert caught.value.kind == "task_not_found"
    with pytest.raises(NotThere) as caught:
        operations("edit_file", {"mode": "restore", "task_id": "current"})
    assert caught.value.kind == "task_not_found"
    with pytest.raises(NotThere) as caught:
        where = context(Records({"t-1": [A]}))
        operations("edit_file", {"mode": "restore", "task_id": "t-1", "path": "b.txt"}, where)
    assert caught.value.kind == "not_found"


def test_remove_carries_the_preview_flag_and_the_hash() -> None:
    (remove,) = operations("edit_file", {"path": "d", "mode": "remove", "dry_run": True, "expected_hash": "00" * 32})
    assert remove == Remove(path="d", dry_run=True, expected_hash="00" * 32)


def test_a_receipt_has_path_bytes_lines_version_task_and_a_short_diff() -> None:
    diff = "--- a/a.txt\n+++ b/a.txt\n" + "".join(f"+{i}\n" for i in range(500))
    outcome = {"receipts": (receipt(A),), "diff": diff, "unseen_rows": 3}
    _, payload, text = answer(
        "edit_file", {"path": "a.txt", "content": "x"}, changed(A, warnings=("It shrank.",)), **outcome
    )
    assert payload["kind"] == "written"
    assert (payload["path"], payload["bytes"], payload["lines"]) == ("a.txt", 12, 2)
    assert (payload["version"], payload["before_version"], payload["task"]) == (7, 6, "t-1")
    assert (payload["unseen_rows"], payload["warnings"]) == (3, ["It shrank."])
    assert payload["diff"].split("\n")[-1] == "[442 more lines of this diff not shown]"
    assert text.startswith("written a.txt: 12 bytes, 2 lines, version 7, task t-1\n3 rows changed since")


def test_a_patch_says_how_often_each_target_was_replaced() -> None:
    _, payload, text = answer("edit_file", PATCH, changed(A, replacements=2, per_target=(2,), emptied=True))
    assert (payload["kind"], payload["replacements"], payload["per_target"]) == ("patched", 2, [2])
    assert "the file is empty now" in text


def test_a_preview_says_that_nothing_was_written_and_holds_the_diff() -> None:
    _, payload, text = answer("edit_file", {**PATCH, "dry_run": True}, changed(A), dry_run=True, diff="-a\n+b\n")
    assert (payload["kind"], payload["mode"], payload["dry_run"], payload["diff"]) == (
        "preview",
        "patch",
        True,
        "-a\n+b",
    )
    assert "nothing was written" in text


def test_a_failure_has_its_facts_and_the_text_repeats_them() -> None:
    error = OutOfDate("stale", "a.txt changed.", hint="Read it again.", path=A, facts={"diff": "-x\n+y", "rows": [3]})
    reply, payload, text = answer("edit_file", PATCH, error)
    assert not reply.ok
    assert (payload["kind"], payload["path"], payload["retryable"], payload["diff"]) == ("stale", A, True, "-x\n+y")
    assert text == "stale: a.txt changed.\nRead it again.\ndiff:\n-x\n+y\nrows: [3]"


def test_an_undone_task_answers_path_by_path() -> None:
    records = Records({"t-1": [A, f"{ROOT}/b.txt"]})
    conflict = OutOfDate("conflict", "b.txt was changed by others.", path=f"{ROOT}/b.txt", facts={"merge": "<<<"})
    asked = {"mode": "restore", "task_id": "t-1"}
    reply, payload, text = answer(
        "edit_file", asked, changed(A, merged=True), conflict, where=context(records), receipts=(receipt(A),)
    )
    assert reply.ok
    assert (payload["kind"], payload["undone_task"], payload["task"]) == ("undone", "t-1", "t-1")
    assert payload["files"][0]["merged"] is True
    assert (payload["files"][1]["kind"], payload["files"][1]["merge"]) == ("conflict", "<<<")
    assert text.startswith("task t-1: 1 of 2 paths taken back\n")


def test_an_undo_fails_when_no_path_could_be_taken_back() -> None:
    conflict = OutOfDate("conflict", "a.txt was changed by others.", path=A)
    asked = {"mode": "restore", "task_id": "t-1"}
    reply, payload, _ = answer("edit_file", asked, conflict, where=context(Records({"t-1": [A]})))
    assert (reply.ok, payload["kind"]) == (False, "conflict")


def test_the_description_names_the_output_directory() -> None:
    from faces_alone import TOOLS

    assert "/home/ada/Downloads" in TOOLS["edit_file"].describe(context())
