"""Every fault kind of "Freshness guard and lost updates" that was seen in the field, over both families.

| seen in the field | shown here by |
| --- | --- |
| an edit right after a read is refused for ever | `test_another_spelling_is_the_same_file` |
| coarse or late times, a touch, an autosave with the same bytes: false alarms | `test_times_alone_never_refuse` |
| a formatter touches other lines | `test_a_change_elsewhere_is_shown_with_the_fresh_rows`, `test_by_region_...` |
| written by the session or a shell, so unread | `test_own_writes_count_...`, `test_a_hash_stands_...` |
| a whole write clobbers | `test_a_whole_write_is_refused_too` |
| the warning comes once | `test_it_is_refused_again_after_the_next_change` |
| nothing is checked just before the write | `test_a_change_while_approval_is_open_...`, test_swaps.py |
| agents share a ledger | `test_each_agent_has_a_ledger_of_its_own` |
| a search unlocks a file, or doesn't say what would | `test_search_rows_never_count_as_a_read` |
| the refusal ends the turn | `test_the_refusal_names_the_next_call_and_shows_the_file` |
| a person edits while the approval is open | `test_a_change_while_approval_is_open_is_not_overwritten` |
| "unchanged since last read" instead of the text | `test_a_second_read_says_the_text_again` |
| so many false alarms that the guard is switched off | `test_100_edits_beside_an_autosaving_editor_...` |
"""

import hashlib
import os
from pathlib import Path

import pytest
from either_family import both, good, opened

STALE = ("file_modified_since_read", "stale")


@both
def test_another_spelling_is_the_same_file(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "d").mkdir()
        (tools.root / "d" / "a").write_bytes(b"old\n")
        (tools.root / "e").symlink_to("d")
        tools.read("d/../d/./a")
        assert good(tools.edit("e/a", "old", "new"))


@both
def test_times_alone_never_refuse(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"old\n")
        tools.read("a")
        for time_ns in (0, 10**18, path.stat().st_mtime_ns + 300_000_000):
            os.utime(path, ns=(time_ns, time_ns))
        (tools.root / "b").write_bytes(b"old\n")
        os.replace(tools.root / "b", path)  # an autosave: the same bytes in another file
        assert good(tools.edit("a", "old", "new"))


@both
def test_a_change_elsewhere_is_shown_with_the_fresh_rows(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        rows = [b"row %d\n" % n for n in range(1, 101)]
        path.write_bytes(b"".join(rows))
        tools.read("a")
        rows[89] = b"formatted\n"
        path.write_bytes(b"".join(rows))
        answer = tools.edit("a", "row 5\n", "row five\n")
        assert answer["kind"] == "file_modified_since_read"
        assert "-row 90\n+formatted\n" in answer["diff"]
        assert {"row": 5, "text": "row 5"} in answer["fresh_rows"]
        assert path.read_bytes() == b"".join(rows)


@both
def test_by_region_a_change_elsewhere_lets_the_edit_through_and_is_said(tmp_path: Path, family: str) -> None:
    settings = {"freshness": [{"paths": "*", "mode": "region"}]}
    with opened(tmp_path, family, settings=settings) as tools:
        path = tools.root / "a"
        rows = [b"row %d\n" % n for n in range(1, 101)]
        path.write_bytes(b"".join(rows))
        tools.read("a")
        rows[89] = b"formatted\n"
        path.write_bytes(b"".join(rows))
        assert good(tools.edit("a", "row 5\n", "row five\n"))
        rows[4] = b"row five\n"
        assert path.read_bytes() == b"".join(rows)
        path.write_bytes(path.read_bytes().replace(b"row 7\n", b"row seven\n"))
        assert tools.edit("a", "row 6\n", "row six\n")["kind"] == "file_modified_since_read"


@both
def test_own_writes_count_as_a_read(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        assert good(tools.write("a", "one\n"))
        assert good(tools.edit("a", "one", "two"))
        assert good(tools.write("a", "three\n"))


def test_a_hash_stands_for_a_read_of_what_a_shell_wrote(tmp_path: Path) -> None:
    with opened(tmp_path, "batch") as tools:
        (tools.root / "a").write_bytes(b"hello\n")
        target = [{"old_string": "hello", "new_string": "bye"}]
        wrong = {"path": "a", "targets": target, "expected_hash": "0" * 64}
        assert tools.call("edit_file", wrong)["kind"] == "stale"
        digest = hashlib.sha256(b"hello\n").hexdigest()
        assert good(tools.call("edit_file", wrong | {"expected_hash": digest}))


def test_a_wrong_hash_is_stale_before_its_anchor_is_ambiguous(tmp_path: Path) -> None:
    with opened(tmp_path, "batch") as tools:
        (tools.root / "a").write_bytes(b"x x\n")
        for old in ("x", "gone"):
            sent = {"path": "a", "targets": [{"old_string": old, "new_string": "y"}], "expected_hash": "0" * 64}
            assert tools.call("edit_file", sent)["kind"] == "stale"


@both
def test_a_stale_file_is_stale_before_its_anchor_is_ambiguous_or_gone(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        for now in (b"x x\n", b"gone\n"):
            path.write_bytes(b"x\n")
            tools.read("a")
            path.write_bytes(now)
            assert tools.edit("a", "x", "y")["kind"] == "file_modified_since_read"
            assert tools.edits("a", ("x", "y"))["kind"] == "file_modified_since_read"
        tools.read("a")
        assert tools.edit("a", "x", "y")["kind"] == "no_match"


@both
def test_a_whole_write_is_refused_too(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"old\n")
        assert tools.write("a", "mine\n")["kind"] == "not_read"
        tools.read("a")
        path.write_bytes(b"theirs\n")
        assert tools.write("a", "mine\n")["kind"] == "file_modified_since_read"
        assert path.read_bytes() == b"theirs\n"


@both
def test_it_is_refused_again_after_the_next_change(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"one\n")
        for text in (b"two\n", b"three\n"):
            tools.read("a")
            path.write_bytes(text)
            for _ in range(2):
                assert tools.edit("a", text.decode(), "mine\n")["kind"] == "file_modified_since_read"
        tools.read("a")
        assert good(tools.edit("a", "three", "four"))


@both
def test_each_agent_has_a_ledger_of_its_own(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "a").write_bytes(b"old\n")
        one, other = tools.another("one"), tools.another("other")
        one.read("a")
        assert other.edit("a", "old", "new")["kind"] == "not_read"
        other.read("a")
        assert good(one.edit("a", "old", "new"))
        assert other.write("a", "mine\n")["kind"] == "file_modified_since_read"
        assert (tools.root / "a").read_bytes() == b"new\n"


@both
@pytest.mark.parametrize("pattern", ["row 5$", "nowhere"])
def test_search_rows_never_count_as_a_read(tmp_path: Path, family: str, pattern: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "a").write_bytes(b"".join(b"row %d\n" % n for n in range(1, 501)))
        tools.search(pattern)
        for row in (5, 500):
            answer = tools.edit("a", f"row {row}\n", "x\n")
            assert answer["kind"] == "not_read"
            assert ("read_files(" if family == "batch" else "Read(") in answer["error"]


@both
def test_the_refusal_names_the_next_call_and_shows_the_file(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"old\n")
        answer = tools.edit("a", "old", "new")
        assert (answer["kind"], answer["retryable"]) == ("not_read", True)
        assert str(path) in answer["error"] and "first call" in answer["error"]
        tools.read("a")
        assert good(tools.edit("a", "old", "new"))


@both
@pytest.mark.parametrize("whole", [False, True])
def test_a_change_while_approval_is_open_is_not_overwritten(tmp_path: Path, family: str, whole: bool) -> None:
    def yes_after_an_edit(_: object) -> bool:
        (tmp_path / "project" / "a").write_bytes(b"by a person\n")
        return True

    with opened(tmp_path, family, approve=yes_after_an_edit) as tools:
        (tools.root / "a").write_bytes(b"old\n")
        tools.read("a")
        answer = tools.write("a", "mine\n") if whole else tools.edit("a", "old", "new")
        assert answer["kind"] in STALE
        assert (tools.root / "a").read_bytes() == b"by a person\n"


@both
def test_a_second_read_says_the_text_again(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        (tools.root / "a").write_bytes(b"the text\n")
        for _ in range(4):
            assert "the text" in str(tools.read("a"))


@both
def test_100_edits_beside_an_autosaving_editor_are_never_refused_without_need(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"count 0\n")
        for number in range(100):
            tools.read("a")
            path.write_bytes(path.read_bytes())
            os.utime(path, ns=(number, number))
            assert good(tools.edit("a", f"count {number}", f"count {number + 1}"))
