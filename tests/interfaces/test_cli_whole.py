"""The command line on a real workspace: call, look back, take back, and load no more than that needs."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

from handrail.interfaces.cli import main
from handrail.store.protocol import Rule
from handrail.store.sqlite import SqliteStore

HEAVY = {"mcp", "mcp_types", "starlette", "uvicorn", "httpx", "opentelemetry", "pypdfium2", "PIL", "docx", "rich"}
EDIT = {"path": "a.txt", "targets": [{"old_string": "two", "new_string": "2"}]}


@pytest.fixture
def root(tmp_path, monkeypatch):
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    (root / ".env").write_bytes(b"KEY=secret-value\n")
    monkeypatch.setenv("HANDRAIL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def call(capsysbinary):
    def run(tool, arguments, *options, code=0):
        capsysbinary.readouterr()
        assert main.main(["call", tool, json.dumps(arguments), "--session", "s", *options]) == code
        return json.loads(capsysbinary.readouterr().out)

    return run


def edited(root, call):
    call("read_files", {"files": [{"path": "a.txt"}]})
    receipt = call("edit_file", EDIT, "--approve", "auto")
    assert (root / "a.txt").read_bytes() == b"one\n2\nthree\n"
    return receipt


def test_a_session_that_is_named_goes_on_in_the_next_process(root, call):
    assert call("edit_file", EDIT, "--approve", "auto", code=1)["kind"] == "not_read"
    edited(root, call)


def test_without_a_terminal_a_change_is_refused_naming_the_ways(root, call):
    call("read_files", {"files": [{"path": "a.txt"}]})
    payload = call("edit_file", EDIT, code=1)
    assert payload["kind"] == "approval_unavailable"
    assert "handrail approvals watch" in payload["hint"]
    assert (root / "a.txt").read_bytes() == b"one\ntwo\nthree\n"


def test_an_empty_history_and_a_missing_version_are_said_in_a_persons_words(root, call, capsysbinary):
    assert main.main(["history"]) == 0
    said = capsysbinary.readouterr()
    assert (said.out, b"Nothing was recorded here yet." in said.err) == (b"", True)
    for words in (["diff", "12"], ["restore", "12", "--yes"]):
        assert main.main(words) == 1
        said = capsysbinary.readouterr().err
        assert b"no version 12" in said and b"`handrail history`" in said and b"file_history" not in said


def test_history_diff_undo_and_restore(root, call, capsysbinary):
    receipt = edited(root, call)
    capsysbinary.readouterr()
    assert main.main(["history", "a.txt"]) == 0
    table = capsysbinary.readouterr().out.decode().split("\n")
    assert [row.split("\t")[2] for row in table[1:-1]] == ["modify", "external"]
    assert main.main(["diff", str(receipt["before_version"])]) == 0
    diff = capsysbinary.readouterr().out
    assert b"two" in diff
    assert b"2" in diff
    (root / "a.txt").write_bytes(b"zero\none\n2\nthree\n")
    assert main.main(["undo"]) == 2
    assert (root / "a.txt").read_bytes() == b"zero\none\n2\nthree\n"
    assert main.main(["undo", "--yes"]) == 0
    assert (root / "a.txt").read_bytes() == b"zero\none\ntwo\nthree\n"
    assert main.main(["restore", str(receipt["version"]), "--yes", "--json"]) == 0
    assert (root / "a.txt").read_bytes() == b"one\n2\nthree\n"


def test_a_persons_own_path_is_relative_to_where_they_stand(root, call, capsysbinary, monkeypatch):
    (root / "sub").mkdir()
    edited(root, call)
    monkeypatch.chdir(root / "sub")
    capsysbinary.readouterr()
    assert main.main(["history", "../a.txt", "--root", str(root), "--json"]) == 0
    assert len(json.loads(capsysbinary.readouterr().out)["versions"]) == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["restore", "99", "--yes"], 1),
        (["diff", "99"], 1),
        (["undo", "nothing", "--yes"], 1),
        (["undo", "--yes"], 1),
        (["history", "--from", "someday"], 1),
        (["approvals", "rules", "--revoke", "7"], 1),
        (["approvals", "watch"], 2),
    ],
)
def test_failures_say_what_and_what_next(root, capsys, words, code):
    assert main.main(words) == code
    said = capsys.readouterr().err
    assert said.startswith("handrail: ")
    assert said.count("\n") == 2


def test_tools_are_listed_by_family(root, capsys):
    assert main.main(["tools", "--family", "batch"]) == 0
    names = [row.split("\t")[0] for row in capsys.readouterr().out.split("\n")[1:-1]]
    assert names == ["find_files", "read_files", "edit_file", "file_history", "open_file"]
    assert main.main(["tools", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 13


def test_remembered_answers_are_listed_and_revoked(root, capsys, tmp_path):
    assert main.main(["approvals", "rules"]) == 0
    store = SqliteStore(str(tmp_path / "data"), owner="test")
    store.remember(Rule(id=0, session=None, task=None, pattern="/w/**", tool=None, created_at=10**18))
    store.close()
    capsys.readouterr()
    assert main.main(["approvals", "rules"]) == 0
    assert "/w/**" in capsys.readouterr().out
    assert main.main(["approvals", "rules", "--revoke", "1"]) == 0
    capsys.readouterr()
    assert main.main(["approvals", "rules", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main.main(["approvals", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "words", [["call", "read_files", '{"files": [{"path": "a.txt"}]}'], ["history"], ["approvals", "list"]]
)
def test_it_loads_no_protocol_document_or_web_library(root, words):
    code = (
        "import sys\nfrom handrail.interfaces.cli.main import main\n"
        f"code = main({words!r})\nsys.stderr.write('\\n'.join(['', *sys.modules]))\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env=os.environ
    )
    assert not set(done.stderr.split("\n")) & HEAVY


def test_on_a_terminal_a_change_is_asked_about_there(root, call):
    call("read_files", {"files": [{"path": "a.txt"}]})
    main_end, terminal = pty.openpty()
    words = [sys.executable, "-m", "handrail.interfaces.cli.main", "call", "edit_file", json.dumps(EDIT)]
    child = subprocess.Popen(
        [*words, "--session", "s"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    while b"leave" not in shown:
        shown += os.read(main_end, 4096)
    assert b"-two" in shown
    os.write(main_end, b"y")
    out, _ = child.communicate(timeout=60)
    os.close(main_end)
    assert child.returncode == 0
    assert json.loads(out)["kind"] == "patched"
    assert (root / "a.txt").read_bytes() == b"one\n2\nthree\n"


def test_ctrl_c_at_the_question_changes_nothing_and_gives_the_terminal_back(root, call):
    call("read_files", {"files": [{"path": "a.txt"}]})
    main_end, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    words = [sys.executable, "-m", "handrail.interfaces.cli.main", "call", "edit_file", json.dumps(EDIT)]
    child = subprocess.Popen(
        [*words, "--session", "s"], stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, start_new_session=True
    )
    shown = b""
    while b"leave" not in shown:
        shown += os.read(main_end, 4096)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    child.stdout.close()
    assert termios.tcgetattr(terminal) == before
    os.close(terminal)
    os.close(main_end)
    assert (root / "a.txt").read_bytes() == b"one\ntwo\nthree\n"
    assert main.main(["approvals", "--json"]) == 0


def test_serve_ends_when_its_client_leaves_and_says_nothing_on_standard_output(root):
    words = [sys.executable, "-m", "handrail.interfaces.cli.main", "serve", "--root", str(root), "--log-level", "debug"]
    done = subprocess.run(words, input=b"", capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_serve_with_a_root_that_isnt_there_says_so(root, capsys):
    assert main.main(["serve", "--root", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
