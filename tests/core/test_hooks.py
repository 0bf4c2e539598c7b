"""Hooks observe, change, block and redact; a failing one blocks unless it is told otherwise."""

import logging
import threading

import pytest

from handrail.core.hooks import AfterToolCall, BeforeToolCall, Block, Hook, Hooks, ToolResultPersist
from handrail.model.errors import Refused


def before(tool="edit_file", **arguments):
    return BeforeToolCall(tool=tool, arguments=arguments, session="s", task=None, interface="test")


def after():
    return AfterToolCall(
        tool="edit_file", arguments={}, session="s", task=None, interface="test", ok=True, payload={"kind": "edited"}
    )


def persist(**payload):
    return ToolResultPersist(tool="read_files", payload=payload, session="s", task=None, interface="test")


def on_before(call, **more):
    return Hook(event="BeforeToolCall", call=call, **more)


def fail(_):
    raise ValueError("broken")


def test_a_hook_that_returns_nothing_only_observes():
    seen = []
    assert Hooks([on_before(seen.append)]).before(before(path="a")) == {"path": "a"}
    assert seen == [before(path="a")]


def test_each_hook_sees_what_the_one_before_it_made():
    hooks = Hooks(
        [
            on_before(lambda p: {**p.arguments, "n": 1}),
            on_before(lambda p: {**p.arguments, "m": p.arguments["n"] + 1}),
        ]
    )
    assert hooks.before(before()) == {"n": 1, "m": 2}


def test_changing_the_copy_in_place_changes_nothing():
    def meddle(payload):
        payload.arguments["targets"].append("x")

    assert Hooks([on_before(meddle)]).before(before(targets=[])) == {"targets": []}


@pytest.mark.parametrize("how", ["block", "raise"])
def test_a_hook_blocks_with_a_reason_that_the_model_gets(how):
    def no(_):
        if how == "raise":
            raise Refused("blocked_by_hook", "generated files are not edited by hand")
        return Block("generated files are not edited by hand")

    later = []
    with pytest.raises(Refused) as caught:
        Hooks([on_before(no), on_before(later.append)]).before(before())
    assert caught.value.kind == "blocked_by_hook"
    assert "generated files are not edited by hand" in caught.value.message
    assert later == []


def test_a_hook_is_asked_only_about_its_tools():
    seen = []
    hooks = Hooks([on_before(seen.append, tools=("edit_*", "Write"))])
    for tool in ("edit_file", "Write", "write", "read_files"):
        hooks.before(before(tool))
    assert [p.tool for p in seen] == ["edit_file", "Write"]


@pytest.mark.parametrize("call", [fail, lambda _: 7, lambda _: ["a"]])
def test_a_hook_that_fails_blocks(call):
    with pytest.raises(Refused) as caught:
        Hooks([on_before(call)]).before(before())
    assert caught.value.kind == "blocked_by_hook"


def test_a_hook_that_takes_too_long_blocks_and_isnt_waited_for():
    gate = threading.Event()
    with pytest.raises(Refused, match=r"within 0\.02 s"):
        Hooks([on_before(lambda _: gate.wait(20), timeout=0.02)]).before(before())
    gate.set()


def test_on_failure_allow_goes_on_without_the_hook(caplog):
    gate = threading.Event()
    hooks = Hooks(
        [
            on_before(fail, on_failure="allow"),
            on_before(lambda _: gate.wait(20), timeout=0.02, on_failure="allow"),
            on_before(lambda _: 7, on_failure="allow"),
        ]
    )
    assert hooks.before(before(path="a")) == {"path": "a"}
    gate.set()
    assert "let the call go on" in caplog.text


def test_on_failure_allow_still_lets_the_hook_block():
    with pytest.raises(Refused):
        Hooks([on_before(lambda _: Block("no"), on_failure="allow")]).before(before())


def test_what_was_done_cant_be_blocked_any_more(caplog):
    caplog.set_level(logging.WARNING)
    seen = []
    hooks = Hooks([Hook(event="AfterToolCall", call=fail), Hook(event="AfterToolCall", call=seen.append)])
    hooks.after(after())
    assert seen == [after()]


def test_a_result_is_redacted_before_it_is_returned():
    hooks = Hooks([Hook(event="ToolResultPersist", call=lambda p: {**p.payload, "text": "[redacted]"})])
    assert hooks.persist(persist(kind="text", text="key=1")) == {"kind": "text", "text": "[redacted]"}


def test_a_redaction_that_fails_keeps_the_result_back_and_says_that_the_call_was_done():
    with pytest.raises(Refused) as caught:
        Hooks([Hook(event="ToolResultPersist", call=fail)]).persist(persist(kind="text", text="key=1"))
    assert "was carried out" in caught.value.message
    assert "key=1" not in str(caught.value)


def test_events_reach_only_their_own_hooks():
    seen = []
    hooks = Hooks([Hook(event="AfterToolCall", call=lambda p: seen.append(type(p).__name__))])
    hooks.before(before())
    hooks.persist(persist())
    hooks.after(after())
    assert seen == ["AfterToolCall"]
