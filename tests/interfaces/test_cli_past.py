"""Looking back and taking back from the command line: a preview first, a yes, and only then a change."""

import json
import sys
import threading
from contextlib import contextmanager

import pytest
from person import Person

from handrail.interfaces.cli import back, main, past
from handrail.model.calls import Result
from handrail.model.records import Task

FILE = {"kind": "preview", "path": "src/a.py", "diff": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-new\n+old\n"}


def task(name, touched_at):
    return Task(id=name, session="s", objective="mend it", opened_at=0, touched_at=touched_at)


class Engine:
    """Stands in for the workspace: gives its answers in order, remembers what it was asked."""

    roots = ("/w", "/v")

    def __init__(self, *answers, tasks=None):
        self.answers = list(answers)
        self.calls = []
        self.tasks = tasks or {}
        self.store = self

    def newest_task(self, session, *, under=None):
        assert session is None
        return self.tasks.get(under)

    def call(self, tool, arguments, *, person=False):
        assert person
        self.calls.append((tool, dict(arguments)))
        payload, ok = self.answers.pop(0)
        return Result(tool=tool, kind="x", ok=ok, payload=payload, blocks=())


@pytest.fixture
def engine(monkeypatch):
    def make(*answers, **more):
        made = Engine(*answers, **more)

        @contextmanager
        def opened(_):
            yield made

        monkeypatch.setattr(back, "opened", opened)
        monkeypatch.setattr(past, "opened", opened)
        return made

    return make


def run(*words):
    return main.main(list(words))


def test_without_a_terminal_and_without_yes_only_the_preview_is_made(engine, capsys):
    made = engine((FILE, True))
    assert run("restore", "7") == 2
    said = capsys.readouterr()
    assert "+old" in said.out
    assert "--yes" in said.err
    assert made.calls == [("edit_file", {"mode": "restore", "version": 7, "dry_run": True})]


def test_yes_does_it_after_the_preview_was_possible(engine, capsys):
    made = engine((FILE, True), ({"kind": "restored", "path": "src/a.py", "version": 9}, True))
    assert run("restore", "7", "--yes") == 0
    assert made.calls[1] == ("edit_file", {"mode": "restore", "version": 7})
    assert capsys.readouterr().out == "restored: src/a.py (version 9)\n"


@pytest.mark.parametrize(("key", "code"), [("y", 0), ("Y", 0), ("n", 1), ("\r", 1), ("q", 1), ("\x1b", 1)])
def test_on_a_terminal_one_key_decides(engine, monkeypatch, key, code):
    made = engine((FILE, True), ({"kind": "restored", "path": "src/a.py"}, True))
    person = Person()
    monkeypatch.setattr(back, "Keys", lambda _: person.keys)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdin, "fileno", lambda: person.keyboard, raising=False)
    presser = threading.Thread(target=person.presses, args=(key,))
    presser.start()
    assert run("restore", "7") == code
    presser.join()
    assert len(made.calls) == (2 if code == 0 else 1)
    person.close()


def test_a_failed_preview_ends_it(engine, capsys):
    made = engine(({"kind": "version_not_found", "error": "There is no version 7.", "hint": "List them."}, False))
    assert run("restore", "7", "--yes") == 1
    assert len(made.calls) == 1
    assert "There is no version 7." in capsys.readouterr().err


def test_what_would_change_nothing_is_said_and_done_with(engine, capsys):
    made = engine(({**FILE, "diff": None, "unchanged": True}, True))
    assert run("restore", "7") == 0
    assert len(made.calls) == 1
    assert "nothing to change" in capsys.readouterr().out


def test_undo_takes_the_newest_task_below_the_roots(engine, capsys):
    preview = {"kind": "preview", "files": [FILE]}
    done = {"kind": "undone", "files": [{"kind": "restored", "path": "src/a.py", "version": 12, "merged": True}]}
    made = engine((preview, True), (done, True), tasks={"/w": task("t1", 5), "/v": task("t2", 9)})
    assert run("undo", "--yes") == 0
    assert made.calls[1] == ("edit_file", {"mode": "restore", "task_id": "t2"})
    said = capsys.readouterr()
    assert "t2" in said.err
    assert "keeping what others changed since" in said.out


def test_undo_says_which_paths_stay_and_why(engine, capsys):
    files = [{"kind": "conflict", "path": "b\x1b[2J", "error": "Both changed the same rows."}, FILE]
    engine(({"kind": "preview", "files": files}, True), ({"kind": "undone", "files": files[:1]}, False))
    assert run("undo", "t1", "--yes") == 1
    out = capsys.readouterr().out
    assert "stays as it is: b\\x1b[2J" in out
    assert "Both changed the same rows." in out


def test_undo_with_nothing_done_yet_says_so(engine, capsys):
    engine()
    assert run("undo", "--yes") == 1
    assert "Nothing was changed here yet." in capsys.readouterr().err


def test_json_is_the_payload(engine, capsysbinary):
    engine((FILE, True), ({"kind": "restored", "path": "ü"}, True))
    assert run("restore", "7", "--yes", "--json") == 0
    assert json.loads(capsysbinary.readouterr().out) == {"kind": "restored", "path": "ü"}


def version(**more):
    return {
        "version": 3,
        "path": "a\x1b.py",
        "action": "modify",
        "size": 10,
        "tool": "edit_file",
        "task": "t",
        "objective": "mend it",
        "changed_at": "2026-11-30T12:00:00+01:00",
        "restorable": True,
        **more,
    }


def test_history_lists_versions(engine, capsys):
    made = engine(({"kind": "versions", "versions": [version(), version(restorable=False)], "more": 4}, True))
    assert run("history", "src", "--limit", "2", "--task", "t") == 0
    said = capsys.readouterr()
    assert said.out.split("\n")[1] == "3\t2026-11-30 12:00:00\tmodify\t10\ta\\x1b.py\tedit_file\tt\tmend it"
    assert "3 (not restorable)" in said.out
    assert "4 more" in said.err
    tool, arguments = made.calls[0]
    assert (tool, arguments["limit"], arguments["task_id"]) == ("file_history", 2, "t")
    assert arguments["path"].endswith("/src")


def test_diff_shows_the_difference_or_says_that_there_is_none(engine, capsys):
    engine(({"kind": "compared", "files": [FILE, {"path": "b", "said": "identical"}]}, True))
    assert run("diff", "3") == 0
    out = capsys.readouterr().out
    assert "-new\n+old\n" in out
    assert "b: the same as on the disk\n" in out
