"""The audit: a whole line a call, chained, bounded, private, whatever the names."""

import json
import multiprocessing
import os
import stat
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.audit import START, Audit, AuditEvent, first_broken
from handrail.model.errors import BackendFailed
from handrail.model.paths import unescaped


def event(**more):
    return AuditEvent(
        **{"tool": "edit_file", "outcome": "ok", "kind": "edited", "session": "s", "interface": "test", **more}
    )


def files(directory):
    def number(name):
        middle = name.removesuffix(".jsonl").rpartition(".")[2]
        return int(middle) if middle.isdecimal() else 0

    return [os.path.join(directory, n) for n in sorted(os.listdir(directory), key=number)]


def lines(directory):
    found = []
    for name in files(directory):
        with open(name, "rb") as file:
            found += file.read().split(b"\n")[:-1]
    return found


def test_a_call_is_one_line_with_the_fields_of_the_specification(tmp_path):
    audit = Audit(str(tmp_path), clock=lambda: 1_800_000_000_123_456_789)
    audit.write(event(file_path="/w/a", bytes=7, duration_ms=1.5, approval="allow", approved_by="terminal: ada"))
    (line,) = lines(tmp_path)
    said = json.loads(line)
    assert said["time"] == "2027-01-15T08:00:00.123456Z"
    assert {k: said[k] for k in ("tool", "file_path", "bytes", "outcome", "kind", "approval", "approved_by")} == {
        "tool": "edit_file",
        "file_path": "/w/a",
        "bytes": 7,
        "outcome": "ok",
        "kind": "edited",
        "approval": "allow",
        "approved_by": "terminal: ada",
    }
    assert {"session", "task", "interface", "duration_ms", "prev", "hash"} <= set(said)


def test_nothing_is_made_before_the_first_line(tmp_path):
    Audit(str(tmp_path / "audit"))
    assert not (tmp_path / "audit").exists()


def test_only_the_owner_may_read_it(tmp_path):
    old = os.umask(0)
    try:
        Audit(str(tmp_path / "audit"), process="p").write(event())
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "audit").st_mode) == 0o700
    assert stat.S_IMODE(os.stat(tmp_path / "audit" / "audit-p.jsonl").st_mode) == 0o600


def test_the_chain_shows_a_changed_a_removed_and_a_moved_line(tmp_path):
    audit = Audit(str(tmp_path))
    for n in range(5):
        audit.write(event(bytes=n))
    kept = lines(tmp_path)
    assert first_broken(kept, prev=START) is None
    assert first_broken([*kept[:2], kept[2].replace(b'"bytes":2', b'"bytes":9'), *kept[3:]], prev=START) == 2
    assert first_broken([*kept[:2], *kept[3:]], prev=START) == 2
    assert first_broken([kept[0], kept[2], kept[1], *kept[3:]], prev=START) == 1
    assert first_broken([*kept[:3], b"garbage", *kept[3:]], prev=START) == 3
    assert first_broken(kept[1:], prev=START) == 0
    assert first_broken(kept[1:]) is None


@settings(max_examples=60)
@given(st.binary(min_size=1, max_size=30).filter(lambda b: b"\0" not in b))
def test_any_name_stays_one_line_and_can_be_read_back(tmp_path_factory, name):
    directory = tmp_path_factory.mktemp("audit")
    path = "/w/" + os.fsdecode(name)
    audit = Audit(str(directory))
    audit.write(event(file_path=path, paths=(path,)))
    audit.close()
    (line,) = lines(directory)
    said = json.loads(line)
    assert said["file_path"].isprintable() or "\\" in said["file_path"] or said["file_path"] == path
    assert unescaped(said["file_path"]) == path
    line.decode("ascii")


def test_a_full_file_is_followed_by_the_next_and_the_chain_goes_on(tmp_path):
    audit = Audit(str(tmp_path), process="p", file_bytes=2000)
    for n in range(30):
        audit.write(event(bytes=n))
    assert len(files(tmp_path)) > 2
    assert all(os.stat(name).st_size < 3000 for name in files(tmp_path))
    assert [json.loads(line)["bytes"] for line in lines(tmp_path)] == list(range(30))
    assert first_broken(lines(tmp_path), prev=START) is None


def test_the_oldest_files_go_and_the_rest_still_holds(tmp_path):
    audit = Audit(str(tmp_path), process="p", file_bytes=1000, files_kept=3)
    for n in range(40):
        audit.write(event(bytes=n))
    assert len(files(tmp_path)) == 3
    assert first_broken(lines(tmp_path)) is None


def test_a_process_that_comes_back_goes_on_with_its_chain(tmp_path):
    for n in range(25):
        audit = Audit(str(tmp_path), process="cli", file_bytes=1500)
        audit.write(event(bytes=n))
        audit.close()
    assert [json.loads(line)["bytes"] for line in lines(tmp_path)] == list(range(25))
    assert first_broken(lines(tmp_path), prev=START) is None


def test_a_line_that_a_crash_cut_short_spoils_no_other(tmp_path):
    Audit(str(tmp_path), process="p").write(event(bytes=1))
    with open(tmp_path / "audit-p.jsonl", "ab") as file:
        file.write(b'{"time":"2026')
    Audit(str(tmp_path), process="p").write(event(bytes=2))
    first, cut, last = lines(tmp_path)
    assert cut == b'{"time":"2026'
    assert first_broken([first, last], prev=START) is None


def _write_many(directory, count):
    audit = Audit(directory, process="shared", file_bytes=20_000)
    for n in range(count):
        audit.write(event(bytes=n))


def test_processes_that_share_a_name_share_one_chain(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write_many, args=(str(tmp_path), 100)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    kept = lines(tmp_path)
    assert len(kept) == 300
    assert first_broken(kept, prev=START) is None


def test_many_threads_write_whole_lines(tmp_path):
    audit = Audit(str(tmp_path))
    threads = [threading.Thread(target=lambda: [audit.write(event()) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(tmp_path)) == 400
    assert first_broken(lines(tmp_path), prev=START) is None


def test_where_it_cant_be_written_the_failure_is_typed(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    audit = Audit(str(tmp_path / "file" / "audit"))
    for act in (audit.ready, lambda: audit.write(event())):
        with pytest.raises(BackendFailed) as caught:
            act()
        assert caught.value.kind == "audit_unavailable"


def test_a_link_in_its_place_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / "audit-p.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BackendFailed):
        Audit(str(tmp_path), process="p").write(event())
    assert (tmp_path / "elsewhere").read_bytes() == b""
