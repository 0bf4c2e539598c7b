"""A task as a patch: `git apply` makes of what stood there before the task exactly what the task left."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import handrail
from handrail.interfaces.cli import main
from handrail.model.errors import NotThere
from handrail.text.patch import Side, section


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HANDRAIL_DATA_DIR", str(tmp_path / "data"))
    place = tmp_path / "root"
    place.mkdir()
    return place


def opened(root: Path) -> handrail.Handrail:
    return handrail.open(root=root, approve=lambda request: True)


def told(place: Path) -> dict[str, object]:
    """Names, bytes and what git keeps of modes; empty directories don't count, for git has none."""
    found: dict[str, object] = {}
    for path in sorted(place.rglob("*")):
        name = os.fsencode(path.relative_to(place))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file() and b".git/" not in name:
            found[name] = (path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
    return found


def apply(place: Path, patch: bytes, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_DIR": "/nonexistent"}
    for more in (["--check"], []):
        done = subprocess.run(
            ["git", "apply", *more, *words, "-"], cwd=place, input=patch, capture_output=True, env=env, check=False
        )
        assert done.returncode == 0, done.stderr.decode() + patch.decode("latin-1")


def test_git_makes_of_before_what_the_task_left_and_back(root, tmp_path):
    (root / "lf").write_bytes(b"one\ntwo\nthree\n" * 20)
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\r\n\r\nlast without end")
    (root / "latin").write_bytes(b"caf\xe9\nna\xefve\n")
    (root / "utf16").write_bytes("eins\nzwei\n".encode("utf-16"))
    (root / "empty").write_bytes(b"")
    (root / "run").write_bytes(b"#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / 'a b\tü".txt').write_bytes(b"name\n")
    tree = root / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "x").write_bytes(b"x\n")
    (tree / "bin").write_bytes(bytes(range(256)) * 30)
    (tree / "run").write_bytes(b"exit\n")
    (tree / "run").chmod(0o750)
    (tree / "link").symlink_to("deep/x")
    before = tmp_path / "before"
    shutil.copytree(root, before, symlinks=True)
    with opened(root) as files, files.task("all kinds of changes") as task:
        for path, old, new in (
            ("lf", "one\ntwo\nthree\n" * 20, "one\n2\nthree\n" * 20 + "four"),
            ("crlf.txt", "last without end", "last with one\n"),
            ("latin", "café", "thé"),
            ("utf16", "zwei", "drei"),
            ("run", "#!/bin/sh", "#!/bin/bash"),
            ('a b\tü".txt', "name", "other name"),
            ("tree/run", "exit", "exit 1"),
        ):
            files.call("read_files", {"files": [{"path": path}]})
            change = {"path": path, "targets": [{"old_string": old, "new_string": new}]}
            files.call("edit_file", change).unwrap()
        files.call("edit_file", {"path": "new/deep/file", "content": "new\n"}).unwrap()
        files.call("edit_file", {"path": "new/empty", "content": ""}).unwrap()
        for path in ("tree", "empty"):
            files.call("edit_file", {"path": path, "mode": "remove"}).unwrap()
        found = files.export(task)
    assert found.left_out == ()
    assert b"\x00" not in found.patch
    after = told(root)
    copy = tmp_path / "copy"
    shutil.copytree(before, copy, symlinks=True)
    apply(copy, found.patch)
    assert told(copy) == after
    apply(copy, found.patch, "-R")
    assert told(copy) == told(before)


SIDES = st.none() | st.builds(
    Side,
    st.sampled_from(["100644", "100755"]),
    st.binary(max_size=60) | st.lists(st.sampled_from([b"a\n", b"b\n", b"\r\n", b"c\r", b"d\0\n", b"e"])).map(b"".join),
)


@settings(max_examples=60)
@given(before=SIDES, after=SIDES, name=st.sampled_from(["f", "a b", "d/é", '"q"\\', "t\tn\nl", "-p"]))
def test_any_two_states_of_a_name(before, after, name, tmp_path_factory):
    place = tmp_path_factory.mktemp("git")
    file = place / name

    def stands() -> Side | None:
        if not file.exists():
            return None
        return Side("100755" if file.stat().st_mode & 0o100 else "100644", file.read_bytes())

    if before is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(before.data)
        file.chmod(int(before.mode, 8) & 0o777)
    patch = section(os.fsencode(name), before, after)
    if before == after:
        assert patch == b""
        return
    apply(place, patch)
    assert stands() == after
    apply(place, patch, "-R")
    assert stands() == before


def test_a_file_becomes_a_link_and_back(tmp_path):
    patch = section(b"f", Side("100644", b"text\n"), Side("120000", b"over/there"))
    (tmp_path / "f").write_bytes(b"text\n")
    apply(tmp_path, patch)
    assert os.readlink(tmp_path / "f") == "over/there"


def test_sensitive_files_are_left_out_and_said_unless_named(root):
    (root / ".env").write_bytes(b"TOKEN=old-secret\n")
    with opened(root) as files, files.task("secrets") as task:
        files.call("read_files", {"files": [{"path": ".env"}]})
        change = {"targets": [{"old_string": "old-secret", "new_string": "new-secret"}]}
        files.call("edit_file", {"path": ".env", **change}).unwrap()
        files.call("edit_file", {"path": "plain", "content": "text\n"}).unwrap()
        found = files.export(task)
        assert b"secret" not in found.patch and b"+text" in found.patch
        assert [(path, "sensitive" in why) for path, why in found.left_out] == [(str(root / ".env"), True)]
        named = files.export(task, include=[root / ".env"])
        assert b"+TOKEN=new-secret" in named.patch and named.left_out == ()
        with pytest.raises(NotThere):
            files.export("t-nothing")


def test_what_a_secret_was_in_a_removed_directory_stays_out(root):
    (root / "d").mkdir()
    (root / "d" / "id_rsa").write_bytes(b"secret\n")
    (root / "d" / "plain").write_bytes(b"plain\n")
    with opened(root) as files, files.task("remove") as task:
        files.call("edit_file", {"path": "d", "mode": "remove"}).unwrap()
        found = files.export(task)
    assert b"secret" not in found.patch and b"-plain" in found.patch
    assert [path for path, _ in found.left_out] == [str(root / "d" / "id_rsa")]


def test_what_a_person_did_in_between_is_said(root):
    with opened(root) as files, files.task("two steps") as task:
        files.call("edit_file", {"path": "a", "content": "one\n"}).unwrap()
        (root / "a").write_bytes(b"zero\none\n")
        files.call("read_files", {"files": [{"path": "a"}]})
        change = {"targets": [{"old_string": "one", "new_string": "two"}]}
        files.call("edit_file", {"path": "a", **change}).unwrap()
        found = files.export(task)
    assert [path for path, _ in found.notes] == [str(root / "a")]


def test_from_the_command_line_to_a_new_file_or_standard_output(root, tmp_path, capfdbinary):
    with opened(root) as files, files.task("one file") as task:
        files.call("edit_file", {"path": "a", "content": "one\n"}).unwrap()
        (patch,) = [files.export(task).patch]
    out = tmp_path / "task.patch"
    words = ["export", task, "--root", str(root)]
    assert main.main([*words, "-o", str(out)]) == 0
    assert out.read_bytes() == patch
    assert main.main([*words, "-o", str(out)]) == 2, "a file that is there stays as it is"
    capfdbinary.readouterr()
    assert main.main(words) == 0
    assert capfdbinary.readouterr().out == patch
    assert main.main(["export", "t-nothing", "--root", str(root)]) == 1
