"""file_history and open_file: what was recorded, and what it means to look at it."""

import os
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from faces_alone import NOW, ROOT, Records, answer, context, operations, text

from handrail.families.batch.times import moment
from handrail.model.answers import Compared, Opened, Versions
from handrail.model.errors import BackendFailed, HandrailError, InvalidCall, NotThere
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState
from handrail.model.operations import Compare, History, Open
from handrail.model.paths import seal
from handrail.model.records import Version

A = f"{ROOT}/a.txt"


@pytest.fixture
def far_east() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "XST-9"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def version(number: int, **facts: Any) -> Version:
    known: dict[str, Any] = {
        "path": A,
        "state": FileState(Bytes(b"hello")),
        "action": "modify",
        "tool": "edit_file",
        "session": "s",
        "task": "t-1",
        "objective": "tidy\nup",
        "time_ns": NOW,
    }
    return Version(id=number, **{**known, **facts})


def test_paths_mean_read_and_nothing_means_list() -> None:
    assert operations("file_history", {}) == [History(limit=3)]
    assert operations("file_history", {"paths": ["a", "b"]}) == [Compare(path="a"), Compare(path="b")]
    assert operations("file_history", {"mode": "read", "path": "a"}) == [Compare(path="a")]
    assert operations("file_history", {"mode": "read", "version": 4}) == [Compare(version=4)]
    with pytest.raises(InvalidCall):
        operations("file_history", {"mode": "read"})
    with pytest.raises(InvalidCall):
        operations("file_history", {"version": 4})


def test_the_limit_is_capped_at_24() -> None:
    assert operations("file_history", {"limit": 500})[0].limit == 24


def test_the_running_task_is_called_current() -> None:
    records = Records({"t-1": []}, current="t-1")
    assert operations("file_history", {"task_id": "current"}, context(records))[0].task == "t-1"
    with pytest.raises(NotThere):
        operations("file_history", {"task_id": "t-2"}, context(records))


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("2026-08-13", "2026-08-13T00:00:00+09:00", "2026-08-14T00:00:00+09:00"),
        ("2026-08-13 15:04", "2026-08-13T15:04:00+09:00", "2026-08-13T15:05:00+09:00"),
        ("2026-08-13 15:04:05", "2026-08-13T15:04:05+09:00", "2026-08-13T15:04:06+09:00"),
        ("2026-08-13T15:04:05Z", "2026-08-13T15:04:05+00:00", "2026-08-13T15:04:06+00:00"),
        ("2026-08-13T15:04:05+02:00", "2026-08-13T15:04:05+02:00", "2026-08-13T15:04:06+02:00"),
    ],
)
def test_times_are_local_unless_they_say_their_zone(far_east: None, typed: str, first: str, last: str) -> None:
    def nanoseconds(stamp: str) -> int:
        return int(datetime.fromisoformat(stamp).timestamp()) * 10**9

    assert moment("from", typed, last=False) == nanoseconds(first)
    assert moment("to", typed, last=True) == nanoseconds(last) - 1


@pytest.mark.parametrize("typed", ["yesterday", "2026-13-01", "0001-01-01", "9999-12-31", "15:04", "\u0662026-01-01"])
def test_what_is_no_time_is_refused_by_name(typed: str) -> None:
    try:
        (history,) = operations("file_history", {"to": typed})
    except HandrailError as error:
        assert error.kind == "invalid_arguments"
        assert error.facts == {"field": "to"}
    else:
        assert isinstance(history.until, int)


def test_versions_say_all_that_is_known_of_them() -> None:
    pruned = version(3, state=ABSENT, action="remove", restorable=False, why_not="pruned")
    found = Versions(
        versions=(version(5), version(4, state=DirectoryState(size=9), tool="", task=None), pruned), more=7
    )
    _, payload, shown = answer("file_history", {"path": "a.txt"}, found)
    first, second, third = payload["versions"]
    assert (first["version"], first["path"], first["size"], first["action"]) == (5, "a.txt", 5, "modify")
    assert (first["tool"], first["session"], first["task"], first["objective"]) == ("edit_file", "s", "t-1", "tidy\nup")
    assert first["changed_at"].startswith("2026-08-13T")
    assert (second["type"], second["task"], third["restorable"], third["why_not"]) == (
        "directory",
        None,
        False,
        "pruned",
    )
    lines = shown.split("\n")
    assert len(lines) == 4
    assert lines[0].startswith("version 5\t2026-08-13 ")
    assert lines[0].endswith("\tmodify\ta.txt\t5 bytes\tby edit_file\ttask t-1 (tidy up)")
    assert lines[-1] == "[versions 1-3 of 10; 7 more; raise limit (24 at most) or narrow the span]"


def test_an_empty_history_says_so() -> None:
    assert answer("file_history", {}, Versions(versions=()))[2] == "[versions 0-0 of 0; no more]"


def test_a_comparison_is_a_diff_or_is_said_in_words() -> None:
    same = Compared(path=A, version=version(5), now=ABSENT, said="identical")
    differs = Compared(path=f"{ROOT}/b", version=version(6), now=ABSENT, diff="-a\n+b\n")
    _, payload, shown = answer("file_history", {"paths": ["a.txt", "b"]}, same, differs)
    assert [file["path"] for file in payload["files"]] == ["a.txt", "b"]
    assert (payload["files"][0]["said"], payload["files"][1]["diff"]) == ("identical", "-a\n+b\n")
    assert "the disk holds the same" in shown
    assert shown.endswith("-a\n+b")


def test_a_version_that_is_read_comes_with_its_content() -> None:
    read = Compared(
        path=A, version=version(5), now=ABSENT, said="missing", content=text(A, "x", total=9, next_offset=2)
    )
    _, payload, shown = answer("file_history", {"mode": "read", "version": 5}, read)
    assert payload["files"][0]["content"] == "1\tx"
    assert payload["files"][0]["next_offset"] == 2
    assert "1\tx\n[lines 1-1 of 9;" in shown


def test_one_path_that_fails_leaves_the_others_alone() -> None:
    gone = NotThere("not_found", "Nothing is recorded of b.", path="b")
    same = Compared(path=A, version=version(5), now=ABSENT, said="identical")
    reply, payload, _ = answer("file_history", {"paths": ["a.txt", "b"]}, same, gone)
    assert (reply.ok, payload["files"][1]["kind"]) == (True, "not_found")
    reply, payload, _ = answer("file_history", {"paths": ["b"]}, gone)
    assert (reply.ok, payload["kind"]) == (False, "not_found")
    reply, payload, _ = answer("file_history", {"paths": ["b", "c"]}, gone, gone)
    assert (reply.ok, payload["kind"], len(payload["files"])) == (False, "not_found", 2)


def test_opening_says_with_what() -> None:
    assert operations("open_file", {"path": "a.pdf"}) == [Open(path="a.pdf")]
    _, payload, shown = answer("open_file", {"path": "a.txt"}, Opened(path=seal(A), program="xdg-open"))
    assert payload == {"kind": "opened", "path": "a.txt", "program": "xdg-open"}
    assert shown == "opened a.txt with xdg-open"


def test_an_opener_that_is_missing_is_a_failure() -> None:
    gone = BackendFailed("opener_unavailable", "There is no display.")
    reply, payload, _ = answer("open_file", {"path": "a.txt"}, gone)
    assert (reply.ok, payload["kind"], payload["path"]) == (False, "opener_unavailable", "a.txt")
    with pytest.raises(InvalidCall):
        operations("open_file", {"path": " "})
