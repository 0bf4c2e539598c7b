"""However tight the limits, the undo of a task within the age gives what it gives where nothing was pruned."""

import tempfile
from pathlib import Path

from history_world import World, make
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.store.protocol import Limits

START = b"".join(b"line %d\n" % n for n in range(8))
TIGHT = Limits(age=10**12, versions=1, bytes=1)
steps = st.lists(
    st.tuples(
        st.sampled_from(["t1", "t2", "t3", "outside", "remove"]),
        st.sampled_from(["/r/a", "/r/d/b"]),
        st.integers(0, 7),
    ),
    min_size=2,
    max_size=14,
)


def lived(world: World, done: list[tuple[str, str, int]]) -> None:
    for path in ("/r/a", "/r/d/b"):
        world.outside(path, START)
    for number, (who, path, at) in enumerate(done):
        if who == "remove":
            world.remove("t3", "/r/d") if "/r/d" in world.disk else None
            continue
        state = world.disk.get(path)
        rows = (state.content.bytes() if state is not None else START).split(b"\n")
        rows[min(at, len(rows) - 1)] = b"%s %d" % (who.encode(), number)
        data = b"\n".join(rows)
        if who == "outside":
            world.outside(path, data)
        else:
            world.write(who, path, data)


@settings(max_examples=12)
@given(done=steps, order=st.permutations(["t1", "t2", "t3"]), packed=st.booleans())
def test_a_young_task_is_undone_as_if_nothing_had_been_pruned(done, order, packed):
    with tempfile.TemporaryDirectory() as place:
        whole, pruned = make(Path(place, "whole")), make(Path(place, "pruned"))
        for world in (whole, pruned):
            lived(world, done)
        for task in order:
            if packed:
                for _ in pruned.store.compact():
                    pass
            for _ in pruned.store.prune(TIGHT, now=pruned.clock()):
                pass
            results = [
                world.undo(task, as_task=f"undo {task}") if world.store.task(task) else {} for world in (whole, pruned)
            ]
            kinds = [{path: getattr(result, "kind", "done") for path, result in found.items()} for found in results]
            assert kinds[0] == kinds[1]
            assert whole.said() == pruned.said()
        for world in (whole, pruned):
            world.store.close()
