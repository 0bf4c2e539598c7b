"""A tree shows what the policy says name by name; what may not be walked is never touched; what is known is kept."""

import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from guarded import Guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.guard.sift import Sieve
from handrail.guard.view import CallView
from handrail.model.errors import NotThere, Refused
from handrail.model.paths import RealPath
from handrail.model.view import Sifted, Tally


class Walker:
    """The host's file system; `touched` tells where a tree was walked."""

    def __init__(self, world: Guarded) -> None:
        self._fs = world.fs
        self.touched: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    def tree(self, root: RealPath, *given: Any, descend: Callable[[str], bool], **more: Any) -> Any:
        def watched(name: str) -> bool:
            may = descend(name)
            if may:
                self.touched.add(name)
            return may

        self.touched.add(root.text)
        return self._fs.tree(root, *given, descend=watched, **more)


class Sifting(Guarded):
    def __init__(self, tmp_path: Path, **more: Any) -> None:
        super().__init__(tmp_path, **more)
        self.walker = Walker(self)
        self.sieve = Sieve(self.policy, self.resolver)

    def view(self, **more: Any) -> CallView:
        return CallView(self.walker, self.resolver, self.policy, session="s", sieve=self.sieve, **more)

    def tree(self, root: str = ".", view: CallView | None = None, **more: Any) -> Sequence[Sifted]:
        found = (view or self.view()).tree(self.target(root).real, Tally({}), **more)
        assert found is not None
        return found

    def names(self, root: str = ".") -> dict[str, tuple[list[str], list[str]]]:
        return {os.path.relpath(p.path.text, self.root): (sorted(p.open), sorted(p.sensitive)) for p in self.tree(root)}


_FILES = [
    "a",
    "b.py",
    ".env",
    ".env.example",
    "x.own",
    "server.key",
    "id_rsa~",
    "UP.PY",
    "\udcff.py",
    ".handrailignore",
]
_DIRECTORIES = ["", "s", "s/t", "s/t/deep", "q.d", "s/.ssh", "own", "own/files", "out", "out/in", "..x", "s/s"]
_RULE = st.sampled_from(["*.py", "!b.py", "s/", "/a", "t", "!t", "deep/*", "*", "!*/", "q.d/x.own", "[ab]", "\\!x"])
_GLOB = st.sampled_from(
    ["*.py", "s", "s/t/**", "**/deep/a", "q.*", "{s,own}/*", "*/b.py", "a", "/", "s/t/deep/a", "~", "**/t/**/*.py",
     "BASE/root/s", "BASE/**/*.own", "BASE/root/**", "**", "out/**", "s/?/**/b*"]
)  # fmt: skip


def _plant(world: Sifting, rules: dict[str, list[str]]) -> None:
    for directory in _DIRECTORIES:
        for name in _FILES[:-1]:
            world.put(f"{directory}/{name}".lstrip("/"))
    for directory, lines in rules.items():
        world.put(f"{directory}/.handrailignore".lstrip("/"), "\n".join(lines))


def _judged(world: Sifting, root: str) -> dict[str, tuple[list[str], list[str]]]:
    """What policy says, path by path, of all that lies below."""
    policy, found = world.policy, {}
    waiting = [world.target(root).real.text]
    while waiting:
        place = waiting.pop()
        if not policy.judge(place, "read", directory=True, look=policy.look()).allowed:
            continue
        entries = list(os.scandir(place))
        seen = {e.name: policy.visibility(f"{place}/{e.name}") for e in entries if e.is_file()}
        found[os.path.relpath(place, world.root)] = (
            sorted(n for n, v in seen.items() if v == "open"),
            sorted(n for n, v in seen.items() if v == "sensitive"),
        )
        waiting += [e.path for e in entries if e.is_dir()]
    return found


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_tree_shows_what_the_policy_says_name_by_name(data: st.DataObject) -> None:
    globs = st.lists(_GLOB, max_size=3)
    with TemporaryDirectory() as place:
        base = os.path.realpath(place)
        inside = f"{base}/root"

        def drawn(label: str) -> list[str]:
            return [glob.replace("BASE", base) for glob in data.draw(globs, label)]

        given_ = data.draw(st.sampled_from([[inside], [inside, f"{inside}/s/t"], [f"{inside}/s"], None]), "roots")
        world = Sifting(
            Path(place),
            roots=given_,
            allow=drawn("allow") if data.draw(st.booleans()) else [],
            narrow=drawn("narrow") if data.draw(st.booleans()) else [],
            deny=drawn("deny"),
            sensitive=data.draw(st.sampled_from([[], ["*.own"], ["s/*"], ["Q.D"]]), "sensitive"),
            own=[f"{inside}/own"],
            files_directory=f"{inside}/own/files",
            output_directory=data.draw(st.sampled_from([None, f"{inside}/out"])),
            made_here=lambda path: path.endswith("a"),
        )
        rules = st.dictionaries(st.sampled_from(_DIRECTORIES), st.lists(_RULE, max_size=3), max_size=3)
        _plant(world, data.draw(rules, "rules"))
        root = data.draw(st.sampled_from([".", "s", "s/t", "own", "out"]), "root")
        for _ in range(2):
            assert world.names(root) == _judged(world, root)
            world.walker.touched.clear()
            shown = {place.path.text for place in world.tree(root)}
            assert world.walker.touched == shown or not shown
            _plant(world, data.draw(rules, "changed"))


def test_what_may_not_be_walked_is_never_touched(tmp_path: Path) -> None:
    world = Sifting(tmp_path, deny=["no", "**/*.d"], own=[f"{tmp_path}/root/own"])
    world.put(".handrailignore", "hid/\n")
    for name in ("a", "no/a", "s/x.d/deep/a", "own/a", "hid/a", "s/hid/deep/a"):
        world.put(name)
    assert set(world.names()) == {".", "s"}
    assert {os.path.relpath(t, world.root) for t in world.walker.touched} == {".", "s"}


def test_the_same_objects_come_again_as_long_as_nothing_changed(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    for name in ("a", "s/b", "s/.env", "t/c"):
        world.put(name)
    first = world.tree()
    assert world.tree() is first
    world.put("s/new")
    second = world.tree()
    (changed,) = [new for old, new in zip(first, second, strict=True) if new is not old]
    assert (changed.path.name, changed.open, changed.sensitive) == ("s", {"b", "new"}, {".env"})


@pytest.mark.parametrize("kind", ["file", "link", "fifo"])
def test_an_ignore_file_counts_at_once_wherever_it_comes_changes_or_goes(tmp_path: Path, kind: str) -> None:
    world = Sifting(tmp_path)
    for name in ("a", "s/a", "s/t/a", "s/t/b"):
        world.put(name)
    everything = world.names()
    rules = world.root / "s" / ".handrailignore"
    if kind == "fifo":
        os.mkfifo(rules)
        hidden: list[str] = ["s/a", "s/t/a", "s/t/b"]
    elif kind == "link":
        (world.base / "rules").write_text("a\n")
        rules.symlink_to(world.base / "rules")
        hidden = ["s/a", "s/t/a"]
    else:
        rules.write_text("a\n")
        hidden = ["s/a", "s/t/a"]

    def shown() -> set[str]:
        return {os.path.normpath(f"{d}/{n}") for d, (names, _) in world.names().items() for n in names}

    assert shown() - {"s/.handrailignore"} == {"a", "s/a", "s/t/a", "s/t/b"} - set(hidden)
    if kind == "file":
        rules.write_text("t/b\n!a\n")
        assert shown() == {"a", "s/a", "s/t/a", "s/.handrailignore"}
        rules.write_text("t\n")
        assert shown() == {"a", "s/a", "s/.handrailignore"}
        world.put(".handrailignore", "a\n")
        assert shown() == {".handrailignore", "s/.handrailignore"}
        (world.root / ".handrailignore").unlink()
    rules.unlink()
    assert world.names() == everything


def test_an_ignore_file_below_that_shows_again_what_one_above_hides_is_heeded_at_once(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    world.put(".handrailignore", "x\n")
    for name in ("s/x/a", "s/b"):
        world.put(name)
    assert "s/x" not in world.names()
    world.put("s/.handrailignore", "!x\n")
    assert world.names()["s/x"] == (["a"], [])


def test_rules_above_the_directory_that_is_asked_for_hold_in_it(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    world.put("s/t/a")
    world.put("s/t/b")
    assert world.names("s/t") == {"s/t": (["a", "b"], [])}
    world.put("s/.handrailignore", "a\n")
    assert world.names("s/t") == {"s/t": (["b"], [])}
    world.put("s/.handrailignore", "t\n")
    assert world.names("s/t") == {}


def test_too_many_files_are_no_tree_and_leave_nothing_wrong_behind(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    for name in ("s/a", "s/b", "s/t/c"):
        world.put(name)
    rules = world.put("s/.handrailignore", "a\n")
    assert world.view().tree(world.target(".").real, Tally({}), most=2) is None
    rules.unlink()
    assert world.names()["s"] == (["a", "b"], [])


def test_only_open_files_are_loaded_and_a_told_secret_is_not_looked_into(tmp_path: Path) -> None:
    world = Sifting(tmp_path, deny=["*.no"])
    for name in ("a", ".env", "b.no"):
        world.put(name, name)
    view = world.view()
    (place,) = world.tree(view=view)
    assert [(one.name, one.data) for one in view.load(place, ["a"], most=10)] == [("a", b"a")]
    for name, error in ((".env", Refused), ("b.no", NotThere), ("gone", NotThere)):
        with pytest.raises(error):
            view.load(place, [name], most=10)
    with pytest.raises(Refused):
        view.look(world.target(".env").real)


def test_a_directory_of_an_earlier_call_is_judged_again_before_it_is_loaded(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    world.put("a", b"x")
    (place,) = world.tree()
    assert [one.data for one in world.view().load(place, ["a"], most=10)] == [b"x"]
    world.put(".handrailignore", "a\n")
    with pytest.raises(NotThere):
        world.view().load(place, ["a"], most=10)


def test_a_pinned_file_is_loaded_as_it_was_pinned(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    world.put("a", b"before")
    view = world.view()
    (place,) = world.tree(view=view)
    view.look(world.target("a").real)
    os.replace(world.put("new", b"after"), world.root / "a")
    assert [one.data for one in view.load(place, ["a"], most=10)] == [b"before"]
    assert [one.data for one in view.load(place, ["a"], most=3)] == [None]


def test_many_threads_sift_one_tree_while_its_ignore_files_come_and_go(tmp_path: Path) -> None:
    world = Sifting(tmp_path)
    for at in range(20):
        world.put(f"d{at}/always.txt")
        world.put(f"d{at}/.env")
    wrong: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            wrong.extend(p for p in world.tree() if ".env" in p.open or (p.path.name.startswith("d") and not p.open))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for at in range(60):
        rules = world.put(f"d{at % 20}/.handrailignore", "none\n")
        if at % 2:
            rules.unlink()
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    shutil.rmtree(world.root / "d1")
    assert "d1" not in world.names()
