"""What a person sees before a yes, and what each key means."""

import os
import sys
import termios
import threading
import time

import pytest
from person import Person, plain

from handrail.core.remembered import literal
from handrail.interfaces.cli import asking
from handrail.interfaces.cli.asking import Leave, TerminalChannel
from handrail.interfaces.cli.watch import Watch
from handrail.model.calls import Cancellation
from handrail.model.records import Answered, ProposedChange, Request
from handrail.store.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX terminal")

DIFF = "--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1 +1 @@\n-old\n+new\n"


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(asking, "SETTLE", 0.0)


@pytest.fixture
def person():
    person = Person()
    yield person
    person.close()


def request(name="r1", *, path="/w/a.txt", diff=DIFF, reason="mutation", task="t1", unusual=(), changes=None):
    now = time.time_ns()
    return Request(
        id=name,
        tool="edit_file",
        reason=reason,
        changes=(ProposedChange(path=path, action="modify", diff=diff, base_hash="00"),)
        if changes is None
        else changes,
        paths=(path,),
        session="s",
        task=task,
        objective="mend the parser",
        interface="stdio",
        asked_at=now,
        expires_at=now + 60 * 10**9,
        unusual=unusual,
        narrow=reason != "mutation",
    )


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.005)


def asked(person, question, *presses, stop=lambda: False):
    box = []
    choices = person.seen.count("q leave")

    def run():
        with person.keys as keys:
            box.append(asking.ask(question, keys, person.write, paint=plain, stop=stop))

    thread = threading.Thread(target=run)
    thread.start()
    for number, keys in enumerate(presses):
        if number and keys == "q":
            until(lambda: person.seen.count("q leave") > choices + 1)
        person.presses(keys, when_asked=number == 0)
    thread.join(10)
    assert not thread.is_alive()
    return box[0]


def test_the_question_shows_who_wants_what_the_diff_and_what_is_unusual(person):
    asked(person, request(unusual=("the file shrinks to a tenth",)), "q")
    for part in ("edit_file", "/w/a.txt", "mend the parser", "the file shrinks to a tenth", "-old\n+new\n"):
        assert part in person.seen


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("y", ("allow", "once", None, "")),
        ("Y", ("allow", "once", None, "")),
        ("f", ("allow", "file", None, "")),
        ("p\r", ("allow", "pattern", "/w/*.txt", "")),
        ("p\x15/w/**\r", ("allow", "pattern", "/w/**", "")),
        ("a\r", ("allow", "always", "/w/*.txt", "")),
        ("n\r", ("deny", "once", None, "")),
        ("nuse the ötther\x7f\x7f\x7f\x7f\x7fother\r", ("deny", "once", None, "use the öother")),
        ("xz7\x1b[Ay", ("allow", "once", None, "")),
    ],
)
def test_each_key_gives_its_answer(person, keys, expected):
    said = asked(person, request(), keys)
    assert (said.verdict, said.scope, said.pattern, said.reason) == expected


@pytest.mark.parametrize("key", ["n", "p", "a"])
def test_escape_goes_back_to_the_choices(person, key):
    assert isinstance(asked(person, request(), f"{key}\x1b", "q"), Leave)


def test_a_pattern_that_cant_be_read_is_asked_for_again(person):
    said = asked(person, request(), "p\x15src/*\r", "\x15/w/[\r", "\x15/w/*\r")
    assert said.pattern == "/w/*"
    assert person.seen.count("must be a readable glob") == 2


def test_about_a_secret_there_is_no_pattern_and_no_always(person):
    said = asked(person, request(reason="sensitive"), "pay")
    assert (said.verdict, said.scope) == ("allow", "once")
    assert "always" not in person.seen


def test_without_a_task_nothing_for_the_task_is_offered(person):
    said = asked(person, request(task=None), "fpy")
    assert said.scope == "once"
    assert "for the task" not in person.seen


def test_ctrl_d_leaves(person):
    assert isinstance(asked(person, request(), "\x04"), Leave)


def test_keys_typed_before_the_question_answer_nothing(person):
    person.presses("y", when_asked=False)
    assert asked(person, request(), "n\r").verdict == "deny"


def test_a_long_diff_is_cut_openly_and_d_shows_all_of_it(person):
    long = DIFF + "".join(f"+row {n}\n" for n in range(1000)) + "+the last\n"
    asked(person, request(diff=long), "q")
    assert "606 more lines" in person.seen
    assert "the last" not in person.seen
    asked(person, request(diff=long), "dq")
    assert "the last" in person.seen


def test_nothing_in_names_or_text_reaches_the_terminal_raw(person):
    evil = "\x1b[2J\x1b]0;x\x07\x9b31m\u202egnp.exe\u2066\x00\r\u200b\udcff\U000e0041"
    question = request(path="/w/" + evil, diff=DIFF + f"+{evil}\n", unusual=(evil,))
    asked(person, question, "q")
    asked(person, question, "p\x1b", "q")
    assert not set(person.seen) & set(evil.replace("[", "").replace("]", "")) - set("2J0;x31mgnp.exe")
    assert "\\x1b[2J" in person.seen
    assert "\\u202e" in person.seen


def test_the_terminal_is_given_back_as_it_was(person):
    before = termios.tcgetattr(person.keyboard)
    asked(person, request(), "y")
    assert termios.tcgetattr(person.keyboard) == before


def test_a_question_answered_elsewhere_leaves_the_terminal(person):
    closed = Cancellation()
    channel = TerminalChannel(person.keyboard, person.write, plain)
    channel._keys = person.keys
    before = termios.tcgetattr(person.keyboard)
    box = []
    thread = threading.Thread(target=lambda: box.append(channel.ask(request(), closed)))
    thread.start()
    assert person._listening.acquire(timeout=10)
    closed.cancel()
    thread.join(10)
    assert box == [None]
    assert termios.tcgetattr(person.keyboard) == before


def test_the_suggested_pattern_names_the_file_whatever_its_name(person):
    for path in ("/w/a[1].txt", "/w/noending", "/w/.hidden", "/w/{a}/b*c.py"):
        assert asking._suggestion(request(path=path)).startswith(literal(path.rpartition("/")[0]) + "/*")


# the watch


@pytest.fixture
def store(tmp_path):
    store = SqliteStore(str(tmp_path), owner="test")
    yield store
    store.close()


def watching(store, person):
    def run():
        with person.keys as keys:
            Watch(store, keys, person.write, plain).run()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_the_watch_answers_questions_as_they_come(store, person):
    thread = watching(store, person)
    until(lambda: store.watchers(time.time_ns() - 10**10))
    for number in range(2):
        store.ask(request(f"r{number}"))
        person.presses("y")
        until(lambda name=f"r{number}": store.answered(name))
    answered = store.answered("r1")
    assert (answered.verdict, answered.by.startswith("watch: ")) == ("allow", True)
    person.presses("q", when_asked=False)
    thread.join(10)
    assert not thread.is_alive()
    assert not store.watchers(0)


def test_a_question_that_ends_elsewhere_makes_room_for_the_next(store, person):
    thread = watching(store, person)
    store.ask(request("r1", path="/w/one"))
    assert person._listening.acquire(timeout=10)
    store.answer("r1", Answered(verdict="withdrawn", by="handrail"))
    until(lambda: "the agent gave it up" in person.seen)
    store.ask(request("r2", path="/w/two"))
    person.presses("n\r")
    until(lambda: store.answered("r2"))
    assert store.answered("r2").verdict == "deny"
    person.presses("q", when_asked=False)
    thread.join(10)


def test_leaving_a_question_leaves_it_unanswered(store, person):
    thread = watching(store, person)
    store.ask(request())
    person.presses("q")
    thread.join(10)
    assert [r.id for r in store.pending()] == ["r1"]


def test_the_watch_ends_when_its_terminal_goes(store):
    person = Person()
    thread = watching(store, person)
    until(lambda: store.watchers(0))
    os.write(person._master, b"\x04")
    thread.join(10)
    assert not thread.is_alive()
    person.close()


def test_a_key_meant_for_one_question_doesnt_answer_the_next(store, person):
    for number in range(2):
        store.ask(request(f"r{number}"))
    thread = watching(store, person)
    person.presses("yy")
    assert person._listening.acquire(timeout=10)
    person.presses("q", when_asked=False)
    thread.join(10)
    assert store.answered("r0").verdict == "allow"
    assert store.answered("r1") is None
