"""Upkeep runs beside the calls: when it is due, in steps, and never in a call's way."""

import threading
from collections.abc import Iterator

import pytest

import handrail
from handrail.core.config import HistorySettings
from handrail.core.upkeep import EVERY_NS, Upkeep, limits
from handrail.model.errors import BackendFailed
from handrail.store.protocol import Limits, Tally

DAY = 24 * 3600 * 10**9
SETTINGS = HistorySettings(max_age_days=3, max_versions_per_path=5, max_bytes=7)


class Pruned:
    """A store that is only pruned: says what was asked, and goes on when it is let."""

    def __init__(self, *, is_due: bool = True, steps: int = 3) -> None:
        self.asked: list[tuple[Limits, int]] = []
        self.is_due = is_due
        self.dues: list[int] = []
        self.steps = steps
        self.done = 0
        self.stepped = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.failure: Exception | None = None

    def due(self, work: str, *, every: int, now: int) -> bool:
        self.dues.append(now)
        return self.is_due

    def prune(self, wanted: Limits, *, now: int) -> Iterator[Tally]:
        self.asked.append((wanted, now))
        for _ in range(self.steps):
            self.go.acquire()
            if self.failure:
                raise self.failure
            self.done += 1
            self.stepped.release()
            yield Tally()


def test_it_runs_beside_the_call_with_the_configured_limits():
    store = Pruned()
    upkeep = Upkeep(store, clock=lambda: 123)
    upkeep.after_call(SETTINGS)  # returns while nothing was let go on
    for _ in range(3):
        store.go.release()
        assert store.stepped.acquire(timeout=30)
    upkeep.close()
    assert store.asked == [(Limits(age=3 * DAY, versions=5, bytes=7), 123)]
    assert store.done == 3


def test_the_defaults_are_30_days_200_versions_2_gib():
    assert limits(HistorySettings()) == Limits(age=30 * DAY, versions=200, bytes=2 * 1024**3)


def test_calls_in_a_row_begin_it_once():
    store = Pruned(steps=1)
    upkeep = Upkeep(store, clock=lambda: 1)
    for _ in range(5):
        upkeep.after_call(SETTINGS)
    store.go.release()
    upkeep.close()
    assert len(store.asked) == 1


def test_nothing_is_done_while_another_process_was_at_it():
    store = Pruned(is_due=False)
    upkeep = Upkeep(store, clock=lambda: 1)
    upkeep.after_call(SETTINGS)
    upkeep.close()
    assert (store.dues, store.asked) == ([1], [])


def test_closing_ends_it_after_the_step_that_is_being_done_and_leaves_the_rest_due():
    store = Pruned(steps=1000)
    upkeep = Upkeep(store, clock=lambda: EVERY_NS)
    upkeep.after_call(SETTINGS)
    closer = threading.Thread(target=upkeep.close)
    closer.start()
    store.go.release(1000)
    closer.join(timeout=30)
    assert not closer.is_alive()
    assert store.done < 1000
    if store.done:
        assert store.dues[-1] == 0, "the next process goes on"
    upkeep.after_call(SETTINGS)
    upkeep.close()
    assert len(store.asked) <= 1


@pytest.mark.parametrize("failure", [BackendFailed("history_unavailable", "It is gone."), ValueError("a bug")])
def test_a_failure_is_logged_and_troubles_nobody(failure, caplog):
    store = Pruned()
    store.failure = failure
    upkeep = Upkeep(store, clock=lambda: 1)
    upkeep.after_call(SETTINGS)
    store.go.release()
    upkeep.close()
    assert "the history wasn't pruned" in caplog.text


def test_a_workspace_prunes_after_a_change_and_not_after_a_look(tmp_path, monkeypatch):
    begun = []
    monkeypatch.setattr(Upkeep, "after_call", lambda self, settings: begun.append(settings.max_versions_per_path))
    root = tmp_path / "root"
    root.mkdir()
    settings = {"history.max_versions_per_path": 3}
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data", settings=settings) as files:
        files.call("find_files", {"queries": [{"pattern": "x"}]})
        assert begun == []
        files.call("edit_file", {"path": "a", "content": "1\n"}).unwrap()
        assert begun == [3]


def test_versions_beyond_the_limits_lose_their_content_through_the_whole_road(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    settings = {"history.max_versions_per_path": 3}
    opening = {"root": root, "approve": "auto", "data_dir": tmp_path / "data", "settings": settings}
    with handrail.open(**opening) as files, files.task("many small steps"):
        for number in range(9):
            files.call("edit_file", {"path": "a", "content": f"{number}\n", "mode": "write"}).unwrap()
        upkeep = files._workspace._upkeep
        upkeep.close()
        for _ in files.store.prune(limits(files._workspace.road.config.history), now=2**60):
            pass
        listed = files.call("file_history", {"mode": "list", "path": "a", "limit": 24}).payload["versions"]
        assert [v["restorable"] for v in listed][:1] == [True]
        gone = [v for v in listed if not v["restorable"]]
        assert gone and all("pruned" in v["why_not"] for v in gone)
        refused = files.call("edit_file", {"mode": "restore", "version": gone[0]["version"]})
        assert refused.kind == "not_restorable"
