"""The doctor finds each thing that can be wrong with a store, says it in a line, and mends it where asked."""

import fcntl
import hashlib
import os
import random
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from handrail.core.doctor import look
from handrail.interfaces.cli import main
from handrail.model.errors import BackendFailed
from handrail.model.files import ABSENT, Bytes, DirectoryState, FileState
from handrail.store.doctor import Finding
from handrail.store.protocol import Author, Draft, Filter
from handrail.store.sqlite import SqliteStore

ME = Author(tool="edit_file", session="s", task=None)
BIG = os.urandom(100_000)


@pytest.fixture
def data(tmp_path) -> Path:
    return tmp_path / "data"


def recorded(data: Path, *contents: bytes, compact: bool = False, path: str = "/nowhere/a") -> list[int]:
    store = SqliteStore(str(data), owner="test")
    numbers = []
    for content in contents:
        (version,) = store.record([Draft(path=path, state=FileState(Bytes(content), 0o644), action="modify")], ME)
        store.settle([version.id], done=True)
        numbers.append(version.id)
    if compact:
        for _ in store.compact():
            pass
    store.close()
    return numbers


def looked(data: Path, *, repair: bool = False) -> list[Finding]:
    return list(look(str(data), {}, repair=repair))


def mended(data: Path, kind: str) -> str:
    """One thing is wrong; it is found, mended, and gone; how it was said."""
    (found,) = looked(data)
    assert (found.kind, found.mended) == (kind, False)
    assert "\n" not in found.said
    (done,) = looked(data, repair=True)
    assert (done.kind, done.mended, done.said) == (kind, True, found.said)
    assert looked(data) == []
    return found.said


def blob(data: Path, content: bytes) -> Path:
    digest = hashlib.sha256(content).hexdigest()
    return data / "blobs" / digest[:2] / digest[2:]


def sql(data: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(data / "history.sqlite3") as db:
        db.execute(statement, values)
    db.close()


def readable(data: Path) -> dict[int, bool]:
    """Which versions say that they are restorable; each of those must give its content back."""
    store = SqliteStore(str(data), owner="test")
    found = {v.id: v for v in store.versions(Filter(), limit=1000)}
    for version in found.values():
        if version.restorable and isinstance(version.state, FileState):
            assert hashlib.sha256(version.state.content.bytes()).hexdigest() == version.state.content.hash
    store.close()
    return {number: version.restorable for number, version in sorted(found.items())}


def lines(number: int) -> bytes:
    rows = [b"line %d of a file that is worked on\n" % n for n in range(200)]
    rows[number] = b"changed in version %d\n" % number
    return b"".join(rows)


def test_a_sound_store_has_nothing_to_be_said_and_none_is_none(data):
    assert looked(data) == []
    assert not data.exists()
    recorded(data, b"one", BIG, *map(lines, range(9)), compact=True)
    assert looked(data) == []


def test_a_damaged_content_is_found_and_its_versions_say_so(data):
    one, two, three = recorded(data, b"fine", BIG, b"fine too")
    with open(blob(data, BIG), "r+b") as file:
        file.seek(50_000)
        file.write(b"damage")
    store = SqliteStore(str(data), owner="test")
    assert store.version(one).state.content.bytes() == b"fine", "the rest still reads"
    with pytest.raises(BackendFailed):
        store.version(two).state.content.bytes()
    store.close()
    assert f"version {two} of /nowhere/a" in mended(data, "content")
    assert readable(data) == {one: True, two: False, three: True}
    (again,) = recorded(data, BIG)
    assert readable(data)[again], "the same bytes can be recorded again"


def test_a_content_that_is_missing_is_found(data):
    one, two = recorded(data, BIG, b"newer")
    os.unlink(blob(data, BIG))
    assert "is missing" in mended(data, "content")
    assert readable(data) == {one: False, two: True}


def test_a_row_that_is_missing_is_found(data):
    one, two = recorded(data, b"older", b"newer")
    sql(data, "DELETE FROM contents WHERE hash = ?", hashlib.sha256(b"older").digest())
    mended(data, "content")
    assert readable(data) == {one: False, two: True}


def test_a_lost_content_is_taken_from_the_disk_where_it_still_stands(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(BIG)
    (number,) = recorded(data, BIG, path=str(path))
    os.unlink(blob(data, BIG))
    mended(data, "content")
    assert readable(data) == {number: True}


def test_a_broken_delta_breaks_no_other_chain(data):
    numbers = recorded(data, *map(lines, range(9)), compact=True)
    other = recorded(data, *map(lines, range(20, 29)), compact=True, path="/nowhere/b")
    digest = hashlib.sha256(lines(4)).digest()
    sql(data, "UPDATE deltas SET data = x'00' WHERE content = (SELECT id FROM contents WHERE hash = ?)", digest)
    broken = looked(data)
    assert {finding.kind for finding in broken} == {"content"}
    assert len(broken) == 5, "it and the older ones that are told from it"
    assert all(finding.mended for finding in looked(data, repair=True))
    assert looked(data) == []
    kept = readable(data)
    assert [kept[number] for number in numbers] == [False] * 5 + [True] * 4
    assert all(kept[number] for number in other)


def test_a_chain_whose_newest_content_still_stands_on_the_disk_is_whole_again(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(lines(8))
    numbers = recorded(data, *map(lines, range(9)), compact=True, path=str(path))
    digest = hashlib.sha256(lines(8)).digest()
    sql(data, "UPDATE contents SET data = x'00' WHERE hash = ?", digest)
    assert len(looked(data)) == 9
    assert all(finding.mended for finding in looked(data, repair=True))
    assert readable(data) == dict.fromkeys(numbers, True)


def test_contents_and_files_that_nothing_needs_are_found(data):
    recorded(data, b"one")
    (orphan, file) = (os.urandom(3), os.urandom(70_000))
    sql(
        data,
        "INSERT INTO contents (hash, size, form, data) VALUES (?, 3, 0, ?)",
        hashlib.sha256(orphan).digest(),
        orphan,
    )
    assert "belong to no version" in mended(data, "orphan")
    blob(data, file).parent.mkdir(parents=True, mode=0o700)
    (data / "blobs").chmod(0o700)
    blob(data, file).write_bytes(file)
    blob(data, file).chmod(0o600)
    assert "content files" in mended(data, "orphan")
    assert not blob(data, file).exists()


def test_stray_temporary_files_are_found_in_the_store_and_beside_the_users_files(data, tmp_path):
    place = tmp_path / "project"
    place.mkdir()
    recorded(data, BIG, path=str(place / "a"))
    (place / "a").write_bytes(BIG)
    for stray in (
        blob(data, BIG).with_name(blob(data, BIG).name + ".0123456789ab.tmp"),
        place / f".handrail-{'0' * 24}.tmp",
    ):
        stray.write_bytes(b"half")
        stray.chmod(0o600)
        with open(stray, "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert looked(data) == [], "its writer is at it"
        mended(data, "stray")
        assert not stray.exists()


def test_an_intent_of_a_dead_process_is_found_and_decided(data, tmp_path):
    path = tmp_path / "file"
    store = SqliteStore(str(data), owner="dead")
    store.record([Draft(path=str(path), state=FileState(Bytes(b"new"), 0o644), action="create")], ME)
    assert looked(data) == [], "a living process is at it"
    store.close()
    assert str(path) in mended(data, "intent")


def test_rights_of_others_are_found_and_taken(data):
    recorded(data, BIG)
    trash = data / "trash" / ("0" * 32)
    trash.mkdir(parents=True)
    trash.parent.chmod(0o700)
    trash.chmod(0o755)
    for place in (data, data / "history.sqlite3", blob(data, BIG)):
        place.chmod(place.stat().st_mode | 0o044)
    note, finding = sorted(looked(data), key=lambda f: f.kind != "trash")
    assert (finding.kind, note.kind, note.harmless) == ("permissions", "trash", True)
    assert "and 2 more" in finding.said
    looked(data, repair=True)
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE(blob(data, BIG).stat().st_mode) == 0o600
    assert stat.S_IMODE(trash.stat().st_mode) == 0o755, "what lies in the trash keeps its own"


def test_a_tree_that_no_version_leads_to_is_said_and_left(data):
    place = str(data / "trash" / ("a" * 32))
    recorded(data, b"one")
    os.makedirs(place)
    os.chmod(os.path.dirname(place), 0o700)
    (note,) = looked(data, repair=True)
    assert note.harmless and note.kind == "trash" and place in note.said
    assert os.path.isdir(place)
    os.rename(place, place + ".gone")
    assert mended(data, "stray")


def damage_pages(data: Path, *, every: int, of: int) -> None:
    file = data / "history.sqlite3"
    raw = bytearray(file.read_bytes())
    leaves = [page for page in range(2, len(raw) // 4096) if raw[page * 4096] == 13]
    for page in leaves:
        if page % of == every:
            raw[page * 4096 + 8 : page * 4096 + 4000] = random.Random(page).randbytes(3992)
    file.write_bytes(raw)


def test_a_damaged_database_is_made_anew_from_what_reads_and_no_number_is_given_again(data):
    numbers = recorded(data, *(b"%d %s" % (n, random.Random(n).randbytes(300)) for n in range(150)))
    damage_pages(data, every=3, of=9)
    found = looked(data)
    assert [f.kind for f in found] == ["database"], "of a damaged database nothing else is believed"
    done = looked(data, repair=True)
    assert done[0].kind == "database" and done[0].mended
    assert all(f.mended for f in done)
    assert looked(data) == []
    assert any(".damaged-" in name for name in os.listdir(data)), "the damaged one is kept"
    kept = readable(data)
    assert 10 < sum(kept.values()) < 150
    assert recorded(data, b"after")[0] > max(numbers)


def test_what_is_no_database_at_all_is_set_aside_and_a_new_one_begun(data):
    recorded(data, BIG)
    (data / "history.sqlite3").write_bytes(os.urandom(8192))
    assert [f.kind for f in looked(data)] == ["database"]
    done = looked(data, repair=True)
    assert done[0].mended
    assert blob(data, BIG).exists(), "contents that a lost database knew are not swept with it"
    assert recorded(data, b"again")


def test_a_damaged_database_that_others_have_open_is_left_alone(data):
    recorded(data, *(os.urandom(300) for n in range(100)))
    store = SqliteStore(str(data), owner="living")
    with store._database.reading() as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    damage_pages(data, every=1, of=3)
    (found,) = looked(data, repair=True)
    assert not found.mended and "other processes" in found.would
    store.close()


def test_the_exit_code_says_whether_something_stays_wrong(data, monkeypatch, capsys):
    monkeypatch.setenv("HANDRAIL_DATA_DIR", str(data))
    assert main.main(["doctor"]) == 0
    assert "nothing is left over" in capsys.readouterr().out
    recorded(data, BIG, b"newer")
    os.unlink(blob(data, BIG))
    assert main.main(["doctor"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("wrong: the content ") and said.out.count("\n") == 1
    assert "--repair" in said.err
    assert main.main(["doctor", "--json"]) == 1
    assert '"kind": "content"' in capsys.readouterr().out
    assert main.main(["doctor", "--repair"]) == 0
    assert capsys.readouterr().out.startswith("mended: ")
    assert main.main(["doctor"]) == 0


def test_gc_says_what_it_came_to(data, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("HANDRAIL_DATA_DIR", str(data))
    recorded(data, *map(lines, range(30)))
    assert main.main(["gc", "--root", str(tmp_path)]) == 0
    assert "29 of 30 contents are kept as differences" in capsys.readouterr().out
    assert main.main(["gc", "--root", str(tmp_path), "--json"]) == 0
    assert '"deltas": 29' in capsys.readouterr().out
    assert looked(data) == []


def test_a_moved_tree_is_no_finding_while_a_version_leads_to_it(data):
    store = SqliteStore(str(data), owner="test")
    place = store.trash_place()
    os.mkdir(place)
    for state in (DirectoryState(entries=1, trash=place), ABSENT):
        (version,) = store.record([Draft(path="/nowhere/d", state=state, action="remove")], ME)
        store.settle([version.id], done=True)
    store.close()
    assert looked(data) == []
    shutil.rmtree(place)
    assert looked(data) == [], "a tree that was put back is no loss"
