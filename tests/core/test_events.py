"""Sinks hear what happens, in order; a slow or failing one never slows or breaks a call."""

import threading

from handrail.core.events import KEPT, CallEnded, CallStarted, Events


def started(tool="Read"):
    return CallStarted(tool=tool, session="s", interface="test")


def ended(tool="Read"):
    return CallEnded(tool=tool, session="s", kind="text", ok=True, seconds=0.1)


def collect(events, count):
    heard, done = [], threading.Event()

    def sink(event):
        heard.append(event)
        if len(heard) == count:
            done.set()

    return heard, done, events.subscribe(sink)


def test_every_sink_hears_everything_in_order():
    events = Events()
    first, first_done, _ = collect(events, 100)
    second, second_done, _ = collect(events, 100)
    sent = [started(str(n)) if n % 2 else ended(str(n)) for n in range(100)]
    for event in sent:
        events.emit(event)
    assert first_done.wait(10)
    assert second_done.wait(10)
    assert first == second == sent


def test_a_failing_sink_goes_on_and_others_dont_notice(caplog):
    events = Events()
    events.subscribe(lambda _: 1 / 0)
    heard, done, _ = collect(events, 3)
    for _ in range(3):
        events.emit(started())
    assert done.wait(10)
    assert len(heard) == 3


def test_a_stuck_sink_costs_a_bounded_queue_and_nothing_else(caplog):
    events = Events()
    gate, heard, done = threading.Event(), [], threading.Event()

    def sink(event):
        gate.wait(10)
        heard.append(event)
        if event.tool == "last":
            done.set()

    events.subscribe(sink)
    for n in range(KEPT * 2):
        events.emit(started(str(n)))
    events.emit(started("last"))
    gate.set()
    assert done.wait(10)
    assert len(heard) <= KEPT + 1
    assert "left out" in caplog.text


def test_a_sink_that_stopped_hears_nothing_more():
    events = Events()
    heard, done, stop = collect(events, 1)
    events.emit(started())
    assert done.wait(10)
    stop()
    events.emit(started())
    events.close()
    assert len(heard) == 1


def test_without_sinks_no_thread_is_started():
    before = threading.active_count()
    Events().emit(started())
    assert threading.active_count() == before
