"""Station 7: who may say yes, how far a yes reaches, and what happens when nobody says anything."""

import threading
import time
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from queue_in_memory import QueueInMemory

from handrail.core.approval import Approvals
from handrail.core.channels import Askers, CallbackChannel
from handrail.core.events import ApprovalAnswered, ApprovalAsked, Events
from handrail.core.remembered import absolute, answering, literal, rules_of
from handrail.model.calls import Cancellation
from handrail.model.errors import BackendFailed, Refused
from handrail.model.records import Answered, ProposedChange, Request
from handrail.store.protocol import Rule
from handrail.store.sqlite import SqliteStore

numbers = count(1)


def request(*paths, reason="mutation", task="t1", tool="edit_file", narrow=None, changes=None, session="s"):
    paths = paths or ("/w/a.txt",)
    if changes is None:
        changes = reason != "launch"
    diff = tuple(ProposedChange(path=p, action="modify", diff="-a\n+b\n", base_hash="00") for p in paths)
    return Request(
        id=f"r{next(numbers)}",
        tool=tool,
        reason=reason,
        changes=diff if changes else (),
        paths=paths,
        session=session,
        task=task,
        objective=None,
        interface="test",
        asked_at=0,
        expires_at=0,
        narrow=reason != "mutation" if narrow is None else narrow,
    )


def says(answer):
    return CallbackChannel(lambda _: answer)


def allow(scope="once", pattern=None):
    return Answered(verdict="allow", by="test", scope=scope, pattern=pattern)


class Silent:
    """A channel that waits until it is closed."""

    name = "silent"

    def __init__(self):
        self.asked = threading.Event()
        self.closed = threading.Event()

    def ask(self, request, closed):
        self.asked.set()
        closed.wait(20)
        self.closed.set()


def approvals(store=None, *, mode="ask", timeout=20.0, **more):
    return Approvals(store or QueueInMemory(), mode=mode, timeout=timeout, **more)


def refusal(approvals_, request_, **more):
    with pytest.raises(Refused) as caught:
        approvals_.settle(request_, **more)
    return caught.value


# who is asked


def test_a_yes_lets_through_and_says_who_said_it():
    answered = approvals().settle(request(), channels=[says(True)])
    assert (answered.verdict, answered.by) == ("allow", "callback")


def test_a_no_carries_the_persons_reason_to_the_model():
    error = refusal(approvals(), request(), channels=[says("use the other file")])
    assert error.kind == "approval_denied"
    assert "use the other file" in error.hint
    assert error.facts["reason"] == "use the other file"


def test_with_nobody_there_it_is_refused_at_once_naming_the_ways():
    store = QueueInMemory()
    error = refusal(approvals(store, timeout=1000), request())
    assert error.kind == "approval_unavailable"
    for way in ("handrail approvals watch", "elicitation", "callback", "--approve auto"):
        assert way in error.hint
    assert not store.requests


def test_a_watcher_whose_sign_is_old_is_not_there():
    store = QueueInMemory()
    now = 10**18
    store.watch("w", now - 6 * 10**9)
    assert refusal(approvals(store, clock=lambda: now), request()).kind == "approval_unavailable"


def test_another_process_answers_through_the_queue():
    store = QueueInMemory()
    store.watch("w", time.time_ns())

    def person():
        while not store.pending():
            threading.Event().wait(0.005)
        store.answer(store.pending()[0].id, Answered(verdict="allow", by="watch: ada"))

    thread = threading.Thread(target=person)
    thread.start()
    assert approvals(store).settle(request()).by == "watch: ada"
    thread.join()


def test_all_channels_are_asked_at_once_and_the_first_answer_wins():
    slow, slower = Silent(), Silent()

    def late(_):
        assert slow.asked.wait(10)
        assert slower.asked.wait(10)
        return True

    assert approvals(channels=[slow]).settle(request(), channels=[slower, CallbackChannel(late)]).verdict == "allow"
    assert slow.closed.wait(10)
    assert slower.closed.wait(10)


def test_an_answer_that_comes_second_changes_nothing():
    store = QueueInMemory()
    asked = request()
    approvals(store).settle(asked, channels=[says(True)])
    assert not store.answer(asked.id, Answered(verdict="deny", by="late"))


def test_channels_that_all_cant_say_are_like_nobody_there():
    def broken(_):
        raise ValueError("no")

    error = refusal(approvals(timeout=1000), request(), channels=[says(None), CallbackChannel(broken)])
    assert error.kind == "approval_unavailable"


def test_a_channel_that_cant_say_leaves_the_question_to_a_watcher():
    store = QueueInMemory()
    store.watch("w", time.time_ns())
    done = threading.Event()

    def nothing(_):
        done.set()

    def person():
        done.wait(10)
        while not store.pending():
            threading.Event().wait(0.005)
        store.answer(store.pending()[0].id, Answered(verdict="allow", by="watch"))

    thread = threading.Thread(target=person)
    thread.start()
    assert approvals(store).settle(request(), channels=[CallbackChannel(nothing)]).by == "watch"
    thread.join()


def test_a_channel_cant_pass_for_the_mode_a_rule_or_the_persons_own_command():
    for name in ("auto", "rule 7", "person"):
        answered = approvals().settle(request(), channels=[says(Answered(verdict="allow", by=name))])
        assert answered.by == f"callback: {name}"


# time-out, cancellation, failure


def test_no_answer_in_time_is_a_timeout_and_a_late_answer_loses():
    store = QueueInMemory()
    asked = request()
    told = []
    error = refusal(
        approvals(store, timeout=0.05), asked, channels=[Silent()], progress=lambda *said: told.append(said)
    )
    assert error.kind == "approval_timeout"
    assert store.answered(asked.id).verdict == "timeout"
    assert not store.answer(asked.id, allow())
    assert told[0][1] == 0.05
    assert "/w/a.txt" in told[0][2]


def test_a_cancelled_call_withdraws_its_question():
    store = QueueInMemory()
    cancellation = Cancellation()
    channel = Silent()
    asked = request()

    def client():
        channel.asked.wait(10)
        cancellation.cancel()

    thread = threading.Thread(target=client)
    thread.start()
    error = refusal(approvals(store), asked, channels=[channel], cancellation=cancellation)
    thread.join()
    assert error.kind == "approval_withdrawn"
    assert store.answered(asked.id).verdict == "withdrawn"
    assert channel.closed.wait(10)


def test_a_yes_after_the_client_gave_up_is_no_yes():
    cancellation = Cancellation()

    def person(_):
        cancellation.cancel()
        return True

    error = refusal(approvals(), request(), channels=[CallbackChannel(person)], cancellation=cancellation)
    assert error.kind == "approval_withdrawn"


def test_a_store_that_fails_is_told_to_who_waits():
    store = QueueInMemory()

    def broken():
        raise BackendFailed("history_unavailable", "gone")

    store.changed = broken
    with pytest.raises(BackendFailed):
        approvals(store).settle(request(), channels=[Silent()])
    assert not store.pending()


def test_a_failing_progress_withdraws_the_question():
    store = QueueInMemory()

    def progress(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        approvals(store).settle(request(), channels=[Silent()], progress=progress)
    assert not store.pending()


def test_many_wait_at_once_with_few_threads_and_one_lookout():
    store = QueueInMemory()
    store.watch("w", time.time_ns())
    gate = approvals(store)
    before = threading.active_count()
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(gate.settle(request()))) for _ in range(100)]
    for thread in threads:
        thread.start()
    while len(store.pending()) < 100:
        threading.Event().wait(0.005)
    assert threading.active_count() <= before + 101
    for waiting in store.pending():
        store.answer(waiting.id, allow())
    for thread in threads:
        thread.join(10)
    assert len(answers) == 100


def test_more_channels_than_threads_are_asked_in_turn():
    askers = Askers(2)
    gate, done, lock = threading.Event(), [], threading.Lock()
    all_done = threading.Event()

    def work():
        gate.wait(10)
        with lock:
            done.append(threading.current_thread())
            if len(done) == 7:
                all_done.set()

    for _ in range(7):
        askers.run(work)
    gate.set()
    assert all_done.wait(10)
    assert len(set(done)) <= 2


# modes


def test_auto_lets_plain_changes_through_unasked():
    assert approvals(mode="auto").settle(request()).by == "auto"


@pytest.mark.parametrize("reason", ["sensitive", "protected", "launch"])
def test_auto_never_answers_for_secrets_protected_places_and_launches(reason):
    gate = approvals(mode="auto")
    assert refusal(gate, request(reason=reason)).kind == "approval_unavailable"
    assert gate.settle(request(reason=reason), channels=[says(True)]).by == "callback"
    assert gate.shows(reason)
    assert not gate.shows("mutation")


@pytest.mark.parametrize("reason", ["mutation", "protected", "sensitive"])
def test_deny_refuses_every_change_without_asking(reason):
    error = refusal(approvals(mode="deny"), request(reason=reason), channels=[says(True)])
    assert error.kind == "approval_denied"
    assert "--approve" in error.hint


def test_deny_still_asks_about_reading_a_secret():
    asked = request(reason="sensitive", changes=False)
    assert approvals(mode="deny").settle(asked, channels=[says(True)]).verdict == "allow"


# how far a yes reaches


def test_once_is_asked_again():
    gate = approvals()
    gate.settle(request(), channels=[says(allow("once"))])
    assert refusal(gate, request()).kind == "approval_unavailable"


def test_this_file_for_the_task_covers_seven_edits_of_one_file_and_no_other():
    gate = approvals()
    gate.settle(request("/w/a.txt"), channels=[says(allow("file"))])
    for _ in range(6):
        assert gate.settle(request("/w/a.txt")).by == "rule 1"
    assert refusal(gate, request("/w/b.txt")).kind == "approval_unavailable"
    assert refusal(gate, request("/w/a.txt", task="t2")).kind == "approval_unavailable"
    assert refusal(gate, request("/w/a.txt", session="other")).kind == "approval_unavailable"


def test_a_pattern_for_the_task_ends_with_the_task():
    gate = approvals()
    gate.settle(request("/w/a.txt"), channels=[says(allow("pattern", "/w/**/*.txt"))])
    assert gate.settle(request("/w/sub/c.txt")).by == "rule 1"
    assert refusal(gate, request("/w/c.py")).kind == "approval_unavailable"
    assert refusal(gate, request("/w/c.txt", task="t2")).kind == "approval_unavailable"


def test_always_for_a_pattern_holds_in_every_task_until_it_is_revoked():
    store = QueueInMemory()
    gate = approvals(store)
    gate.settle(request("/w/a.txt"), channels=[says(allow("always", "/w/**"))])
    assert gate.settle(request("/w/b.txt", task="t9", session="z", tool="Edit")).verdict == "allow"
    assert store.forget(1)
    assert refusal(gate, request("/w/b.txt")).kind == "approval_unavailable"


def test_a_rule_must_cover_every_file_of_the_question():
    gate = approvals()
    gate.settle(request("/w/a.txt"), channels=[says(allow("file"))])
    assert refusal(gate, request("/w/a.txt", "/w/b.txt")).kind == "approval_unavailable"
    gate.settle(request("/w/b.txt"), channels=[says(allow("file"))])
    assert gate.settle(request("/w/a.txt", "/w/b.txt")).verdict == "allow"


@pytest.mark.parametrize("reason", ["sensitive", "protected", "launch"])
@pytest.mark.parametrize("scope", ["file", "pattern", "always"])
def test_a_remembered_yes_to_a_secret_reaches_one_file_in_one_task(reason, scope):
    gate = approvals()
    gate.settle(request("/w/.env", reason=reason), channels=[says(allow(scope, "/**"))])
    assert gate.settle(request("/w/.env", reason=reason)).verdict == "allow"
    for other in (
        request("/w/.env.local", reason=reason),
        request("/w/.env", reason=reason, task="t2"),
        request("/w/.env", reason=reason, task=None),
        request("/w/.env", reason=reason, tool="other"),
        request("/w/plain.txt"),
    ):
        assert refusal(gate, other).kind == "approval_unavailable"


def test_a_yes_to_reading_a_secret_is_none_to_changing_it():
    gate = approvals()
    gate.settle(request("/w/.env", reason="sensitive", changes=False), channels=[says(allow("file"))])
    assert refusal(gate, request("/w/.env", reason="sensitive")).kind == "approval_unavailable"


def test_a_yes_for_plain_files_never_covers_a_secret():
    gate = approvals()
    gate.settle(request("/w/a.txt"), channels=[says(allow("always", "/**"))])
    assert refusal(gate, request("/w/.env", reason="sensitive")).kind == "approval_unavailable"


@pytest.mark.parametrize("scope", ["file", "pattern"])
def test_without_a_task_nothing_is_remembered_for_it(scope):
    store = QueueInMemory()
    approvals(store).settle(request(task=None), channels=[says(allow(scope, "/w/*"))])
    assert store.rules() == []


@pytest.mark.parametrize("pattern", ["src/*.py", "/w/[a", "", "/w/../*", None])
def test_a_pattern_that_cant_be_read_becomes_the_file_alone(pattern):
    gate = approvals()
    gate.settle(request("/w/a.txt"), channels=[says(allow("pattern", pattern))])
    assert gate.settle(request("/w/a.txt")).verdict == "allow"
    assert refusal(gate, request("/w/b.txt")).kind == "approval_unavailable"


def test_a_denial_is_never_remembered():
    store = QueueInMemory()
    answer = Answered(verdict="deny", by="x", scope="always", pattern="/**")
    refusal(approvals(store), request(), channels=[says(answer)])
    assert store.rules() == []


def test_a_new_rule_answers_what_already_waits():
    store = QueueInMemory()
    store.watch("w", time.time_ns())
    gate = approvals(store)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(gate.settle(request()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(store.pending()) < 4:
        threading.Event().wait(0.005)
    store.answer(store.pending()[0].id, allow("file"))
    for thread in threads:
        thread.join(10)
    assert sorted(a.by for a in answers) == ["rule 1", "rule 1", "rule 1", "test"]


def test_home_is_written_out_in_patterns(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    assert absolute("~/x/*") == "/home/ada/x/*"


@given(st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1), st.text(min_size=1))
def test_a_rule_for_one_file_names_no_other_whatever_the_names(name, other):
    path = "/w/" + name
    (rule,) = rules_of(request(path), allow("file"), now=1)
    assert answering(request(path), [rule]) is not None
    if other != path:
        assert answering(request(other), [rule]) is None


@given(st.text("ab*?[]{}\\!^-,.", min_size=1), st.text("ab*?[]{}\\!^-,.", min_size=1))
def test_the_glob_for_one_path_matches_it_alone(name, other):
    from handrail.text.globs import Matcher

    if {name, other} & {".", ".."}:
        return
    matcher = Matcher(("/w/" + literal(name),))
    assert matcher.match("/w/" + name)
    assert matcher.match("/w/" + other) == (name == other)


def test_a_broken_rule_in_the_store_is_passed_over():
    rule = Rule(id=1, session=None, task=None, pattern="/w/[", tool=None, created_at=0)
    assert answering(request(), [rule]) is None


# the real queue


def test_a_second_process_answers_through_the_database(tmp_path):
    ours, theirs = SqliteStore(str(tmp_path), owner="server"), SqliteStore(str(tmp_path), owner="watch")
    theirs.watch("w", time.time_ns())
    asked = request(changes=True)

    def person():
        while not theirs.pending():
            threading.Event().wait(0.005)
        seen = theirs.pending()[0]
        assert (seen.changes, seen.paths, seen.tool) == (asked.changes, asked.paths, asked.tool)
        theirs.answer(seen.id, Answered(verdict="allow", by="watch", scope="file"))

    thread = threading.Thread(target=person)
    thread.start()
    gate = approvals(ours)
    assert gate.settle(asked).by == "watch"
    thread.join()
    assert theirs.rules()[0].pattern == "/w/a.txt"
    theirs.unwatch("w")
    assert gate.settle(request()).by == "rule 1"
    theirs.forget(1)
    assert refusal(gate, request()).kind == "approval_unavailable"
    ours.close()
    theirs.close()


# events


def test_sinks_hear_of_the_question_and_of_the_answer():
    events = Events()
    heard, done = [], threading.Event()

    def sink(event):
        heard.append(event)
        if isinstance(event, ApprovalAnswered):
            done.set()

    events.subscribe(sink)
    approvals(events=events).settle(request(), channels=[says(True)])
    assert done.wait(10)
    assert [type(e) for e in heard] == [ApprovalAsked, ApprovalAnswered]
    events.close()
