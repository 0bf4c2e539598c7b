"""Any order of changes by tools, changes by others, removes, restores, undos and prunes; nothing is lost on the way."""

import itertools
import shutil
import tempfile
from pathlib import Path

from history_world import World, make
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from handrail.model.errors import NotThere, OutOfDate
from handrail.model.files import Absent, FileState
from handrail.store.protocol import Limits

PATHS = ["/r/a", "/r/d/b", "/r/d/e/c"]
START = b"".join(b"line %d\n" % n for n in range(6))
paths = st.sampled_from(PATHS)
tasks = st.sampled_from(["t1", "t2", "t3"])


class Whatever(RuleBasedStateMachine):
    """`mine` holds, for each path, the lines that others put there and that stood there ever since."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.world: World = make(self.place / "store")
        self.numbers = itertools.count()
        self.recorded: dict[int, object] = {}
        self.given_up: set[int] = set()
        self.mine: dict[str, set[bytes]] = {path: set() for path in PATHS}

    @initialize(at=st.sets(paths, min_size=1))
    def begin(self, at):
        for path in sorted(at):
            self.world.outside(path, START)

    def teardown(self):
        self.world.store.close()
        shutil.rmtree(self.place)

    # others

    @rule(path=paths, at=st.integers(0, 8), whole=st.integers(0, 5))
    def others_write(self, path, at, whole):
        rows = self.rows(path) if whole else []
        new = b"others %d\n" % next(self.numbers)
        rows[at:at] = [new]
        self.world.outside(path, b"".join(rows))
        self.forget()
        self.mine[path].add(new)

    @rule(path=paths)
    def others_remove(self, path):
        self.world.outside(path, None)
        self.forget()

    # tools

    @rule(
        task=tasks,
        path=paths,
        at=st.integers(0, 8),
        how=st.sampled_from(["insert", "insert", "replace", "replace", "delete", "whole"]),
    )
    def tool_writes(self, task, path, at, how):
        rows = self.rows(path)
        new = b"tool %d\n" % next(self.numbers)
        if how == "whole":
            rows = [new]
        elif how == "insert":
            rows[at:at] = [new]
        else:
            rows[at : at + 1] = [new] if how == "replace" else []
        self.tool(lambda: self.world.write(task, path, b"".join(rows)))

    @rule(task=tasks, path=st.sampled_from([*PATHS, "/r/d", "/r/d/e"]))
    def tool_removes(self, task, path):
        if path in self.world.disk:
            self.tool(lambda: self.world.remove(task, path))

    @rule(task=tasks, back=st.integers(0, 30))
    def tool_restores(self, task, back):
        numbers = sorted(self.recorded)
        if not numbers:
            return
        number = numbers[-1 - min(back, len(numbers) - 1)]
        version = self.world.store.version(number)
        try:
            self.tool(lambda: self.world.restore(task, number))
        except (OutOfDate, NotThere) as error:
            assert error.kind in ("conflict", "not_restorable")
            return
        now = self.world.disk.get(version.path)
        if isinstance(version.state, FileState):
            assert now.content.bytes() == version.state.content.bytes()
            assert now.mode == version.state.mode
        elif isinstance(version.state, Absent):
            assert now is None

    @rule(task=tasks)
    def tool_undoes(self, task):
        if self.world.store.task(task) is None:
            return
        before = self.world.said()
        lines = {path: set(found) for path, found in self.mine.items()}
        undone = f"undo {next(self.numbers)}"
        self.tool(lambda: self.world.undo(task, as_task=undone))
        for path, found in lines.items():
            standing = set(self.rows(path))
            assert found <= standing, "an undo lost what others wrote"
        self.tool(lambda: self.world.undo(undone, as_task=f"again {next(self.numbers)}"))
        assert self.world.said() == before, "undo of undo is the identity"

    # upkeep

    @rule(most=st.integers(1, 4), age=st.sampled_from([1, 20, 10**6]))
    def history_is_pruned(self, most, age):
        newest = {path: self.world.store.newest(path) for path in PATHS}
        for _ in self.world.store.prune(Limits(age=age, versions=most, bytes=1 << 30), now=self.world.clock() + 2):
            pass
        for path, version in newest.items():
            assert self.world.store.newest(path) == version, "the newest version of a path stays"
        self.given_up = {n for n in self.recorded if not self.world.store.version(n).restorable}

    @rule()
    def history_is_compacted(self):
        for _ in self.world.store.compact():
            pass

    # what holds

    @invariant()
    def every_version_reads_as_recorded(self):
        for number, expected in self.recorded.items():
            version = self.world.store.version(number)
            assert version is not None, "a version stays listed, whatever is given up"
            if number not in self.given_up:
                assert plain(version.state) == expected

    @invariant()
    def what_is_not_given_up_is_kept_whole(self):
        for path in PATHS:
            newest = self.world.store.newest(path)
            assert newest is None or not isinstance(newest.state, FileState) or newest.restorable

    def rows(self, path: str) -> list[bytes]:
        state = self.world.disk.get(path)
        return state.content.bytes().splitlines(keepends=True) if isinstance(state, FileState) else []

    def tool(self, act) -> None:
        before = {path: state for path, state in self.world.disk.items() if isinstance(state, FileState)}
        highest = max(self.recorded, default=0)
        act()
        number = highest + 1
        while (version := self.world.store.version(number)) is not None:
            self.recorded[number] = plain(version.state)
            number += 1
        moved = {
            state.content.hash
            for place, tree in self.world.aside.items()
            if Path(place).exists()
            for state in tree.values()
            if hasattr(state, "content")
        }
        for path, state in before.items():
            now = self.world.disk.get(path)
            if not isinstance(now, FileState) or now.content.hash != state.content.hash:
                kept = self.world.store.content(state.content.hash) is not None
                assert kept or state.content.hash in moved, "what stood there is nowhere to be found"
        self.forget()

    def forget(self) -> None:
        for path, found in self.mine.items():
            found &= set(self.rows(path))


def plain(state: object) -> object:
    return (state.content.bytes(), state.mode) if isinstance(state, FileState) else state


Whatever.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=18,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestWhatever = Whatever.TestCase
