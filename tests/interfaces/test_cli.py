"""The command line: what is typed, what is printed, which exit code; and that it loads no more than it needs."""

import io
import json
import subprocess
import sys
from contextlib import contextmanager
from importlib import metadata

import pytest

from handrail.interfaces.cli import calls, main
from handrail.model.calls import Result
from handrail.model.errors import InvalidCall, NotThere

HEAVY = ("mcp", "starlette", "uvicorn", "opentelemetry", "pypdfium2", "PIL", "docx", "rich")


class Engine:
    """Stands in for the workspace: answers each call with what it was told to."""

    def __init__(self, payload, *, ok=True):
        self.payload = payload
        self.ok = ok
        self.calls = []

    def call(self, tool, arguments, **options):
        self.calls.append((tool, arguments, options))
        return Result(tool=tool, kind="x", ok=self.ok, payload=self.payload, blocks=())


def engine(monkeypatch, payload, *, ok=True):
    made = Engine(payload, ok=ok)

    @contextmanager
    def opened(options, **_):
        made.options = options
        yield made

    monkeypatch.setattr(calls, "opened", opened)
    return made


def run(*words):
    return main.main(list(words))


def test_version_is_the_installed_one(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"handrail {metadata.version('handrail')}\n"


@pytest.mark.parametrize("words", [["--help"], ["call", "--help"], ["approvals", "watch", "--help"]])
def test_help_is_no_failure(words, capsys):
    assert run(*words) == 0
    assert "usage: handrail" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["call"], ["call", "Read"], ["restore", "abc"], ["serve", "--family", "x"], ["--vers"]]
)
def test_what_cant_be_meant_is_usage(words, capsys):
    assert run(*words) == 2
    assert capsys.readouterr().out == ""


def test_call_prints_the_payload_as_json(monkeypatch, capsysbinary):
    made = engine(monkeypatch, {"kind": "text", "text": "æ \x1b[2J \u202e \udcff"})
    assert run("call", "read_files", '{"files": []}', "--session", "s", "--task", "t") == 0
    out = capsysbinary.readouterr().out
    assert json.loads(out) == made.payload
    assert "æ".encode() in out
    assert not {b"\x1b", "\u202e".encode()} & {out[i : i + n] for n in (1, 3) for i in range(len(out))}
    tool, arguments, options = made.calls[0]
    assert (tool, arguments, options["session"], options["task"]) == ("read_files", {"files": []}, "s", "t")
    assert options["channels"] == ()


def test_call_that_isnt_ok_exits_with_one_and_still_prints(monkeypatch, capsysbinary):
    engine(monkeypatch, {"kind": "not_found"}, ok=False)
    assert run("call", "Read", "{}") == 1
    assert json.loads(capsysbinary.readouterr().out) == {"kind": "not_found"}


def test_call_reads_its_arguments_from_standard_input(monkeypatch, capsysbinary):
    made = engine(monkeypatch, {})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO('{"path": "ü"}'.encode())))
    assert run("call", "Read", "-") == 0
    assert made.calls[0][1] == {"path": "ü"}


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "nope", "[" * 100_000, "9" * 5000])
def test_arguments_that_are_no_json_are_usage(monkeypatch, capsys, text):
    made = engine(monkeypatch, {})
    assert run("call", "Read", text) == 2
    assert made.calls == []
    assert "no JSON" in capsys.readouterr().err


def test_arguments_on_standard_input_that_are_no_utf8_are_usage(monkeypatch, capsys):
    engine(monkeypatch, {})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": "\xff"}')))
    assert run("call", "Read", "-") == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [(InvalidCall("invalid_path", "Bad \x1b.", hint="Do that."), 2), (NotThere("not_found", "Gone.", hint="Look."), 1)],
)
def test_a_failure_is_one_sentence_and_a_hint_on_standard_error(monkeypatch, capsys, error, code):
    @contextmanager
    def opened(*_, **__):
        raise error
        yield

    monkeypatch.setattr(calls, "opened", opened)
    assert run("call", "Read", "{}") == code
    said = capsys.readouterr()
    assert said.out == ""
    assert error.hint in said.err
    assert "\x1b" not in said.err
    assert "Traceback" not in said.err


def test_ctrl_c_ends_it_quietly(monkeypatch, capsys):
    @contextmanager
    def opened(*_, **__):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(calls, "opened", opened)
    assert run("call", "Read", "{}") == 130
    assert capsys.readouterr().err == ""


def loaded_by(*words):
    code = (
        "import sys\nfrom handrail.interfaces.cli.main import main\n"
        f"main({list(words)!r})\nsys.stderr.write('\\n'.join(['', *sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return set(done.stderr.split("\n"))


def test_version_loads_next_to_nothing():
    assert not loaded_by("--version") & {*HEAVY, "argparse", "pydantic", "sqlite3", "re2", "importlib.metadata", "re"}


def test_a_reader_that_leaves_early_is_no_failure_with_a_traceback():
    code = "from handrail.interfaces.cli.main import main\nimport sys\nsys.exit(main(['--help']))"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    _, err = child.communicate(timeout=60)
    assert b"Traceback" not in err
