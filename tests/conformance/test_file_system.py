"""What every backend must do. A backend joins by one line in `BACKENDS`."""

import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds, WritableFileSystem
from handrail.model.errors import BackendFailed, InvalidCall, NotThere, OutOfDate, TooLarge, WrongContent
from handrail.model.files import CHUNK, Bytes, Directory
from handrail.model.paths import RealPath, seal
from handrail.model.view import Tally

BACKENDS: dict[str, Callable[[], WritableFileSystem]] = {"host": HostFileSystem}


@dataclass(frozen=True)
class Ground:
    """A backend and a directory that it and the test both see."""

    fs: WritableFileSystem
    root: Path

    def at(self, name: str) -> RealPath:
        return seal(f"{self.root}/{name}")

    def left(self) -> list[str]:
        return sorted(os.listdir(self.root))


@pytest.fixture(params=BACKENDS)
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ground]:
    yield Ground(BACKENDS[request.param](), Path(os.path.realpath(tmp_path)))


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


SIZES = [0, 1, 4096, CHUNK, CHUNK + 1, 3 * CHUNK]


# reading


def test_nothing_stands_where_nothing_is(ground: Ground) -> None:
    assert ground.fs.stat(ground.at("none")) is None
    assert ground.fs.stat(ground.at("none/deeper")) is None
    with pytest.raises(NotThere) as caught:
        ground.fs.open(ground.at("none"))
    assert caught.value.kind == "not_found"


def test_a_name_below_a_file_is_nothing(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"x")
    assert ground.fs.stat(ground.at("file/below")) is None


@pytest.mark.parametrize("size", SIZES)
def test_a_file_reads_as_it_is(ground: Ground, size: int) -> None:
    data = os.urandom(size)
    (ground.root / "file").write_bytes(data)
    snapshot = ground.fs.open(ground.at("file"))
    content = snapshot.content()
    assert (content.size, content.hash) == (size, sha(data))
    assert b"".join(content.chunks()) == b"".join(content.chunks()) == content.bytes() == data
    assert all(len(chunk) <= CHUNK for chunk in content.chunks())
    assert snapshot.read(0, size + 10) == data
    assert snapshot.read(size // 2, 3) == data[size // 2 :][:3]
    assert snapshot.read(size, 10) == snapshot.read(size + 5, 10) == b""
    assert snapshot.stat.size == size


def test_a_snapshot_stays_one_version_when_the_file_is_replaced(ground: Ground) -> None:
    for size in (10, 2 * CHUNK):
        data = b"a" * size
        (ground.root / "file").write_bytes(data)
        snapshot = ground.fs.open(ground.at("file"))
        snapshot.read(0, 1)
        ground.fs.replace(ground.at("file"), Bytes(b"new"), None, sha(data))
        assert snapshot.content().bytes() == data
        (ground.root / "file").unlink()


def test_a_large_content_that_changed_under_its_handle_is_refused(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"a" * 2 * CHUNK)
    content = ground.fs.open(ground.at("file")).content()
    with open(ground.root / "file", "r+b") as handle:
        handle.write(b"b")
    with pytest.raises(OutOfDate):
        content.bytes()


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "directory"])
def test_what_is_no_regular_file_is_refused_at_once(ground: Ground, kind: str) -> None:
    path = str(ground.root / "thing")
    with closing(socket.socket(socket.AF_UNIX)) as one:
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            here = os.getcwd()
            os.chdir(ground.root)
            one.bind("thing")
            os.chdir(here)
        elif kind == "directory":
            os.mkdir(path)
        else:
            path = "/dev/null"
        with pytest.raises(WrongContent) as caught:
            ground.fs.open(seal(path))
        assert caught.value.kind == "not_regular_file"
        with pytest.raises((WrongContent, OutOfDate)):
            ground.fs.replace(seal(path), Bytes(b"x"), None, sha(b""))
        with pytest.raises((WrongContent, OutOfDate)):
            ground.fs.replace(seal(path), Bytes(b"x"), None, None)
        found = ground.fs.stat(seal(path))
        assert found is not None
        assert found.kind == kind


HOSTILE = ["-e", " lead", "a\nb", "\x1b[31m", "\u202etxt", "\udcff\udc80", "n" * 255, "*?[x]{a,b}", "'; touch pwned; '"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names_like_any_other(ground: Ground, name: str) -> None:
    path = ground.at(name)
    ground.fs.replace(path, Bytes(b"one"), None, None)
    ground.fs.replace(path, Bytes(b"two"), None, sha(b"one"))
    assert [entry.name for entry in ground.fs.entries(seal(str(ground.root)))] == [name]
    assert ground.fs.open(path).content().bytes() == b"two"
    assert ground.fs.resolve(path.text).text == path.text
    ground.fs.unlink(path, sha(b"two"))
    assert ground.left() == []


def test_entries_are_the_children_with_their_facts(ground: Ground) -> None:
    (ground.root / "dir").mkdir()
    (ground.root / "file").write_bytes(b"123")
    (ground.root / "link").symlink_to("nowhere")
    os.mkfifo(ground.root / "pipe")
    found = {e.name: (e.stat.kind, e.stat.size) for e in ground.fs.entries(seal(str(ground.root)))}
    assert found["file"] == ("file", 3)
    assert {name: kind for name, (kind, _) in found.items()} == {
        "dir": "directory",
        "file": "file",
        "link": "symlink",
        "pipe": "fifo",
    }


def test_entries_of_what_is_no_directory_are_refused(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"")
    with pytest.raises(WrongContent):
        ground.fs.entries(ground.at("file"))
    with pytest.raises(NotThere):
        ground.fs.entries(ground.at("none"))


# many files


def trees(ground: Ground, place: str = ".", **asked: object) -> dict[str, Directory]:
    root = ground.at(place) if place != "." else seal(str(ground.root))
    found = ground.fs.tree(root, Bounds(inside=[str(ground.root)]), Tally({}), **asked)  # type: ignore[arg-type]
    return {os.path.relpath(d.name, ground.root): d for d in found or ()}


def test_a_tree_tells_each_directory_from_the_top(ground: Ground) -> None:
    (ground.root / "dir/below").mkdir(parents=True)
    (ground.root / "dir/file").write_bytes(b"")
    (ground.root / "dir/link").symlink_to("below")
    (ground.root / ".gitignore").write_bytes(b"*.o\nout/\n")
    (ground.root / "a.o").write_bytes(b"")
    (ground.root / "out").mkdir()
    (ground.root / ".git").mkdir()
    found = trees(ground)
    assert list(found) == [".", "dir", "dir/below"]
    assert (set(found["."].files), set(found["."].ignored)) == ({".gitignore"}, {"a.o", "out/"})
    top = found["dir"]
    assert (top.name, top.files, top.directories, top.links) == (f"{ground.root}/dir", ("file",), ("below",), ("link",))
    assert "out" in trees(ground, respect_ignore=False)
    assert list(trees(ground, descend=lambda name: name.endswith("dir"))) == [".", "dir"]


def test_a_tree_of_too_many_files_is_none(ground: Ground) -> None:
    for number in range(4):
        (ground.root / str(number)).write_bytes(b"")
    root = seal(str(ground.root))
    assert ground.fs.tree(root, Bounds(), Tally({}), most=3) is None
    assert len((ground.fs.tree(root, Bounds(), Tally({}), most=4) or ())[0].files) == 4


def test_a_tree_gives_the_same_objects_until_something_changes(ground: Ground) -> None:
    (ground.root / "one").mkdir()
    (ground.root / "two").mkdir()
    first = trees(ground)
    assert all(trees(ground)[name] is first[name] for name in first)
    (ground.root / "two/file").write_bytes(b"")
    second = trees(ground)
    assert (second["one"] is first["one"], second["two"] is first["two"]) == (True, False)
    (ground.root / ".handrailignore").write_bytes(b"x")
    assert not [name for name, directory in trees(ground).items() if directory is second[name]]


def test_the_tree_of_nothing_or_of_a_file_is_refused(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"")
    with pytest.raises(NotThere):
        trees(ground, "none")
    with pytest.raises(WrongContent):
        trees(ground, "file")


def test_files_are_loaded_whole_as_they_are(ground: Ground) -> None:
    sizes = {"empty": 0, "small": 3, "most": 5000, "large": 5001}
    for name, size in sizes.items():
        (ground.root / name).write_bytes(b"x" * size)
    found = list(ground.fs.load(seal(str(ground.root)), list(sizes), most=5000))
    assert [one.name for one in found] == list(sizes)
    assert [one.stat.size if one.stat else None for one in found] == list(sizes.values())
    assert [None if one.data is None else len(one.data) for one in found] == [0, 3, 5000, None]
    assert found[1].data == b"xxx"


def test_loading_waits_for_nothing_and_follows_nothing(ground: Ground) -> None:
    os.mkfifo(ground.root / "pipe")
    (ground.root / "file").write_bytes(b"secret")
    (ground.root / "link").symlink_to("file")
    (ground.root / "dir").mkdir()
    (ground.root / "dir/file").write_bytes(b"secret")
    with closing(socket.socket(socket.AF_UNIX)) as one:
        here = os.getcwd()
        os.chdir(ground.root)
        one.bind("socket")
        os.chdir(here)
        names = ["pipe", "link", "dir", "socket", "gone", "dir/file", "../x", "n" * 300, "a\0b", "\ud800"]
        found = {one.name: one for one in ground.fs.load(seal(str(ground.root)), names, most=100)}
    assert all(one.data is None and not one.unreadable for one in found.values())
    kinds = [one.stat.kind if one.stat else None for one in found.values()]
    assert kinds == ["fifo", "symlink", "directory", "socket", None, None, None, None, None, None]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_in_the_tree_and_load(ground: Ground, name: str) -> None:
    (ground.root / name).write_bytes(b"one")
    assert trees(ground)["."].files == (name,)
    (found,) = ground.fs.load(seal(str(ground.root)), [name], most=3)
    assert (found.name, found.data) == (name, b"one")


def test_loading_from_no_directory_is_refused(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"")
    with pytest.raises(NotThere):
        list(ground.fs.load(ground.at("none"), ["x"], most=1))
    with pytest.raises(WrongContent):
        list(ground.fs.load(ground.at("file"), ["x"], most=1))


# links


def test_links_resolve_to_one_name(ground: Ground) -> None:
    (ground.root / "dir").mkdir()
    (ground.root / "dir" / "file").write_bytes(b"")
    (ground.root / "to_dir").symlink_to("dir")
    (ground.root / "to_file").symlink_to("to_dir/file")
    for given in ("dir/file", "to_dir/file", "to_file", "./to_dir/../dir/./file", "none/../to_file", "dir//file"):
        assert ground.fs.resolve(f"{ground.root}/{given}").text == f"{ground.root}/dir/file"
    assert ground.fs.resolve(f"{ground.root}/to_file").linked
    assert not ground.fs.resolve(f"{ground.root}/to_dir/file").linked
    kept = ground.fs.resolve(f"{ground.root}/to_dir/../to_file", follow=False)
    assert (kept.text, kept.linked, kept.exists) == (f"{ground.root}/to_file", True, True)


def test_missing_tails_resolve_below_the_nearest_thing_that_exists(ground: Ground) -> None:
    (ground.root / "dir").mkdir()
    (ground.root / "to_dir").symlink_to("dir")
    (ground.root / "dangling").symlink_to("to_dir/new/file")
    for given, wanted in (("to_dir/a/b", "dir/a/b"), ("dangling", "dir/new/file"), ("dangling/x", "dir/new/file/x")):
        found = ground.fs.resolve(f"{ground.root}/{given}")
        assert (found.text, found.exists) == (f"{ground.root}/{wanted}", False)


def test_loops_and_impossible_names_are_invalid(ground: Ground) -> None:
    (ground.root / "loop").symlink_to("loop")
    (ground.root / "ping").symlink_to("pong")
    (ground.root / "pong").symlink_to("ping/x")
    for name in ("loop", "loop/x", "ping", "a\0b", "n" * 256, "\ud800", "x/" * 2100):
        with pytest.raises(InvalidCall) as caught:
            ground.fs.resolve(f"{ground.root}/{name}")
        assert caught.value.kind == "invalid_path"
        caught.value.message.encode()
    assert ground.fs.resolve(f"{ground.root}/loop", follow=False).exists


def test_a_component_that_became_a_link_is_stale_for_every_verb(ground: Ground) -> None:
    (ground.root / "outside").mkdir()
    (ground.root / "outside" / "file").write_bytes(b"secret")
    (ground.root / "inside").symlink_to("outside")
    path, fs = ground.at("inside/file"), ground.fs
    verbs: list[Callable[[], object]] = [
        lambda: fs.stat(path),
        lambda: fs.open(path),
        lambda: fs.read_link(path),
        lambda: fs.entries(ground.at("inside")),
        lambda: fs.tree(ground.at("inside"), Bounds(), Tally({})),
        lambda: list(fs.load(ground.at("inside"), ["file"], most=10)),
        lambda: fs.replace(path, Bytes(b"x"), None, sha(b"secret")),
        lambda: fs.replace(ground.at("inside/new"), Bytes(b"x"), None, None),
        lambda: fs.unlink(path, sha(b"secret")),
        lambda: fs.make_directory(ground.at("inside/new"), None),
        lambda: fs.make_link(ground.at("inside/new"), "x"),
        lambda: fs.remove_directory(ground.at("inside/file")),
        lambda: fs.move_out(path, f"{ground.root}/away"),
        lambda: fs.sweep(ground.at("inside")),
    ]
    for verb in verbs:
        with pytest.raises(OutOfDate) as caught:
            verb()
        assert caught.value.kind == "stale"
    assert os.listdir(ground.root / "outside") == ["file"]
    assert (ground.root / "outside" / "file").read_bytes() == b"secret"


def test_a_last_link_is_never_written_through_nor_replaced(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"kept")
    (ground.root / "link").symlink_to("file")
    (ground.root / "dangling").symlink_to("new")
    for name, expect in (("link", sha(b"kept")), ("link", None), ("dangling", None)):
        with pytest.raises(OutOfDate):
            ground.fs.replace(ground.at(name), Bytes(b"x"), None, expect)
    with pytest.raises(OutOfDate):
        ground.fs.open(ground.at("link"))
    assert (ground.root / "file").read_bytes() == b"kept"
    assert ground.left() == ["dangling", "file", "link"]


def test_links_are_made_read_and_removed_themselves(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"kept")
    ground.fs.make_link(ground.at("link"), "file")
    assert ground.fs.read_link(ground.at("link")) == "file"
    with pytest.raises(OutOfDate):
        ground.fs.make_link(ground.at("link"), "elsewhere")
    ground.fs.unlink(ground.at("link"), None)
    assert ground.left() == ["file"]
    with pytest.raises(OutOfDate):
        ground.fs.unlink(ground.at("file"), None)


# writing


@pytest.mark.parametrize("size", SIZES)
def test_a_new_file_holds_its_content(ground: Ground, size: int) -> None:
    data = os.urandom(size)
    written = ground.fs.replace(ground.at("file"), Bytes(data), None, None)
    assert (ground.root / "file").read_bytes() == data
    assert (written.stat.size, written.in_place) == (size, False)
    assert ground.left() == ["file"]


@pytest.mark.parametrize("size", SIZES)
def test_a_replaced_file_holds_the_new_content(ground: Ground, size: int) -> None:
    (ground.root / "file").write_bytes(b"old")
    data = os.urandom(size)
    ground.fs.replace(ground.at("file"), Bytes(data), None, sha(b"old"))
    assert (ground.root / "file").read_bytes() == data
    assert ground.left() == ["file"]


def test_what_isnt_as_expected_is_stale_and_untouched(ground: Ground) -> None:
    (ground.root / "file").write_bytes(b"theirs")
    before = os.stat(ground.root / "file")
    for expect in (None, sha(b"mine")):
        with pytest.raises(OutOfDate) as caught:
            ground.fs.replace(ground.at("file"), Bytes(b"x"), None, expect)
        assert caught.value.kind == "stale"
    with pytest.raises(OutOfDate):
        ground.fs.replace(ground.at("gone"), Bytes(b"x"), None, sha(b"mine"))
    with pytest.raises(OutOfDate):
        ground.fs.unlink(ground.at("file"), sha(b"mine"))
    after = os.stat(ground.root / "file")
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert ground.left() == ["file"]
    assert (ground.root / "file").read_bytes() == b"theirs"


@pytest.mark.parametrize("mode", [0o755, 0o640, 0o600, 0o444, 0o400, 0o2755])
def test_the_mode_stays(ground: Ground, mode: int) -> None:
    if os.geteuid() and not mode & 0o200:
        pytest.skip("only root writes to a read-only file")
    (ground.root / "file").write_bytes(b"old")
    os.chmod(ground.root / "file", mode)
    written = ground.fs.replace(ground.at("file"), Bytes(b"new"), None, sha(b"old"))
    assert os.stat(ground.root / "file").st_mode & 0o7777 == written.stat.mode == mode


def test_a_given_mode_is_set(ground: Ground) -> None:
    ground.fs.replace(ground.at("file"), Bytes(b"one"), 0o751, None)
    assert os.stat(ground.root / "file").st_mode & 0o7777 == 0o751
    ground.fs.replace(ground.at("file"), Bytes(b"two"), 0o604, sha(b"one"))
    assert os.stat(ground.root / "file").st_mode & 0o7777 == 0o604
    before = os.stat(ground.root / "file")
    ground.fs.replace(ground.at("file"), Bytes(b"two"), 0o600, sha(b"two"))
    after = os.stat(ground.root / "file")
    assert (after.st_mode & 0o7777, after.st_ino, after.st_mtime_ns) == (0o600, before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_files_and_directories_follow_the_umask(ground: Ground, umask: int) -> None:
    old = os.umask(umask)
    try:
        ground.fs.replace(ground.at("file"), Bytes(b""), None, None)
        ground.fs.make_directory(ground.at("dir"), None)
        ground.fs.make_directory(ground.at("own"), 0o751)
    finally:
        os.umask(old)
    assert os.stat(ground.root / "file").st_mode & 0o777 == 0o666 & ~umask
    assert os.stat(ground.root / "dir").st_mode & 0o777 == 0o777 & ~umask
    assert os.stat(ground.root / "own").st_mode & 0o777 == 0o751


def test_hard_links_stay_one_file(ground: Ground) -> None:
    for old, new in ((b"old", b"longer than before"), (b"much longer than after", b"x"), (b"x", b"")):
        (ground.root / "a").write_bytes(old)
        os.link(ground.root / "a", ground.root / "b")
        written = ground.fs.replace(ground.at("a"), Bytes(new), None, sha(old))
        assert written.in_place
        assert written.notes
        assert (ground.root / "b").read_bytes() == new
        assert os.stat(ground.root / "a").st_ino == os.stat(ground.root / "b").st_ino
        assert ground.left() == ["a", "b"]
        (ground.root / "b").unlink()


def test_removing_one_hard_link_leaves_the_other(ground: Ground) -> None:
    (ground.root / "a").write_bytes(b"x")
    os.link(ground.root / "a", ground.root / "b")
    ground.fs.unlink(ground.at("a"), sha(b"x"))
    assert ground.left() == ["b"]


def test_directories_are_made_and_removed_when_empty(ground: Ground) -> None:
    ground.fs.make_directory(ground.at("dir"), None)
    with pytest.raises(OutOfDate):
        ground.fs.make_directory(ground.at("dir"), None)
    with pytest.raises(NotThere):
        ground.fs.make_directory(ground.at("none/dir"), None)
    (ground.root / "dir" / "file").write_bytes(b"")
    with pytest.raises(OutOfDate) as caught:
        ground.fs.remove_directory(ground.at("dir"))
    assert caught.value.kind == "conflict"
    (ground.root / "dir" / "file").unlink()
    ground.fs.remove_directory(ground.at("dir"))
    assert ground.left() == []


def test_a_missing_parent_is_not_found(ground: Ground) -> None:
    with pytest.raises(NotThere) as caught:
        ground.fs.replace(ground.at("none/file"), Bytes(b""), None, None)
    assert caught.value.kind == "not_found"


def test_trees_move_out_and_in(ground: Ground) -> None:
    (ground.root / "dir" / "sub").mkdir(parents=True)
    (ground.root / "dir" / "sub" / "file").write_bytes(b"x")
    os.chmod(ground.root / "dir", 0o751)
    (ground.root / "store").mkdir()
    place = f"{ground.root}/store/1"
    assert ground.fs.move_out(ground.at("dir"), place)
    assert ground.left() == ["store"]
    (ground.root / "dir").mkdir()
    with pytest.raises(OutOfDate):
        ground.fs.move_in(place, ground.at("dir"))
    (ground.root / "dir").rmdir()
    assert ground.fs.move_in(place, ground.at("dir"))
    assert (ground.root / "dir" / "sub" / "file").read_bytes() == b"x"
    assert os.stat(ground.root / "dir").st_mode & 0o777 == 0o751
    with pytest.raises(NotThere):
        ground.fs.move_in(place, ground.at("other"))


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    import shutil
    import tempfile

    place = Path(tempfile.mkdtemp(dir="/dev/shm")) if os.path.isdir("/dev/shm") else None
    if place is None or os.stat(place).st_dev == os.stat(tempfile.gettempdir()).st_dev:
        pytest.skip("there is no second file system to move to")
    yield place
    shutil.rmtree(place)


def test_trees_cross_file_systems_by_a_copy_up_to_a_limit(ground: Ground, elsewhere: Path) -> None:
    tree = ground.root / "dir"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "file").write_bytes(b"x" * 1000)
    os.chmod(tree / "sub" / "file", 0o640)
    os.utime(tree / "sub" / "file", ns=(10**18, 10**18))
    (tree / "link").symlink_to("/nowhere")
    os.mkfifo(tree / "pipe")
    os.chmod(tree / "sub", 0o500)
    place = f"{elsewhere}/1"
    assert not ground.fs.move_out(ground.at("dir"), place)
    with pytest.raises(TooLarge):
        ground.fs.move_out(ground.at("dir"), place, copy_limit=999)
    assert ground.left() == ["dir"]
    assert os.listdir(elsewhere) == []
    assert ground.fs.move_out(ground.at("dir"), place, copy_limit=1000)
    assert ground.left() == []
    assert not ground.fs.move_in(place, ground.at("dir"))
    assert ground.fs.move_in(place, ground.at("dir"), copy_limit=1000)
    assert os.listdir(elsewhere) == []
    assert ground.left() == ["dir"]
    found = os.stat(tree / "sub" / "file")
    assert (found.st_mode & 0o777, found.st_mtime_ns, found.st_size) == (0o640, 10**18, 1000)
    assert os.stat(tree / "sub").st_mode & 0o777 == 0o500
    assert os.readlink(tree / "link") == "/nowhere"
    os.chmod(tree / "sub", 0o700)


def test_a_sweep_takes_our_strays_and_nothing_else(ground: Ground) -> None:
    stray = f".handrail-{'0' * 24}.tmp"
    (ground.root / stray).write_bytes(b"half")
    for name in (".handrail-x.tmp", "mine.tmp", f"{stray}.bak"):
        (ground.root / name).write_bytes(b"")
    assert ground.fs.sweep(seal(str(ground.root))) == 1
    assert stray not in ground.left()
    assert len(ground.left()) == 3


def test_no_opener_or_display_is_a_typed_answer(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    (ground.root / "file").write_bytes(b"")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BackendFailed) as caught:
        ground.fs.launch(ground.at("file"))
    assert caught.value.kind == "opener_unavailable"
    with pytest.raises(NotThere):
        ground.fs.launch(ground.at("none"))
