"""What a confined child can open, whatever way it tries; and that confining costs no thread, warning or freedom."""

import gc
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from handrail.fs import confined, landlock, ripgrep
from handrail.fs.children import Child
from handrail.fs.confined import Places
from handrail.fs.protocol import Bounds
from handrail.model.paths import seal
from handrail.model.view import Grep, Tally

pytestmark = pytest.mark.skipif(not landlock.available(), reason="this kernel can't confine")


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "a").write_text("needle inside\n")
    (tmp_path / "secret").write_text("needle outside\n")
    return tmp_path / "inside"


def said(arguments: Sequence[str], *places: Path, listed: Sequence[Path] = (), handles: Sequence[int] = ()) -> bytes:
    program = shutil.which(arguments[0]) or sys.executable
    child = Child(
        [os.path.realpath(program), *arguments[1:]],
        directory="/",
        until=time.monotonic() + 20,
        places=Places([str(p) for p in places], [str(p) for p in listed]),
        handles=handles,
    )
    return b"".join(child.chunks()) + child.complaints


def found(*roots: Path, within: Sequence[Path] | None = None, respect_ignore: bool = True) -> set[str]:
    grep = Grep(pattern="needle", roots=[seal(str(root)) for root in roots], respect_ignore=respect_ignore)
    bounds = Bounds(inside=[str(place) for place in (roots if within is None else within)])
    return {hits.name for hits in ripgrep.search(grep, bounds, Tally({}))}


def threads() -> int:
    return sum(thread.name == "handrail-confined" for thread in threading.enumerate())


def test_a_child_reads_below_its_places_and_nothing_else(inside: Path) -> None:
    outside = inside.parent / "secret"
    (inside / "link").symlink_to(outside)
    (inside / "up").symlink_to("..")
    assert said(["cat", str(inside / "a")], inside) == b"needle inside\n"
    ways = [outside, inside / "link", inside / "up" / "secret", inside / ".." / "secret", Path("/etc/passwd")]
    ways += [Path(f"/proc/self/root{outside}"), Path(f"/proc/{os.getpid()}/root{outside}")]
    ways += [Path("/proc/self/environ"), Path(f"/proc/{os.getpid()}/environ"), Path("/proc/1/environ")]
    for way in ways:
        answer = said(["cat", str(way)], inside)
        assert answer.endswith((b"Permission denied\n", b"No such file or directory\n")), (way, answer)
    assert b"Permission denied" in said(["ls", str(inside.parent)], inside)


def test_a_link_that_is_put_in_the_way_meanwhile_leads_nowhere(inside: Path) -> None:
    (inside / "d").mkdir()
    (inside / "d" / "secret").write_text("needle inside\n")
    for at in range(30):
        os.rename(inside / "d", inside / "was")
        (inside / "d").symlink_to(inside.parent)
        assert b"needle outside" not in said(["cat", str(inside / "d" / "secret")], inside), at
        (inside / "d").unlink()
        os.rename(inside / "was", inside / "d")
    assert said(["cat", str(inside / "d" / "secret")], inside) == b"needle inside\n"


def test_a_child_changes_nothing_and_reaches_no_network(inside: Path) -> None:
    for arguments in (["touch", "new"], ["rm", "-f", "a"], ["mkdir", "d"], ["truncate", "-s0", "a"]):
        answer = said([*arguments[:-1], str(inside / arguments[-1])], inside)
        assert b"Permission denied" in answer
    assert os.listdir(inside) == ["a"]
    if landlock.available() >= 4 and (bash := shutil.which("bash")):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            assert b"denied" in said([bash, "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], inside)


def test_names_may_be_listed_where_contents_may_not_be_read(inside: Path) -> None:
    assert said(["ls", str(inside.parent)], inside, listed=[inside.parent]) == b"inside\nsecret\n"
    assert b"denied" in said(["cat", str(inside.parent / "secret")], inside, listed=[inside.parent])


def test_an_open_handle_without_a_name_can_be_read(inside: Path) -> None:
    with open(os.memfd_create("rules"), "w+b", buffering=0) as file:
        file.write(b"rules\n")
        file.seek(0)
        assert said(["cat", f"/dev/fd/{file.fileno()}"], inside, handles=[file.fileno()]) == b"rules\n"


def test_the_search_finds_everything_inside(inside: Path, tmp_path: Path) -> None:
    (inside / "deep" / "er").mkdir(parents=True)
    (inside / "deep" / "er" / "b").write_text("a needle\n")
    (inside / ".gitignore").write_text("a\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "c").write_text("needle\n")
    everything = {str(inside / "a"), str(inside / "deep" / "er" / "b"), str(other / "c")}
    assert found(inside, other, respect_ignore=False) == everything
    assert found(inside / "a", within=[inside]) == found(inside / "a") == {str(inside / "a")}
    assert found(inside / "deep", within=[inside]) == {str(inside / "deep" / "er" / "b")}
    assert found(tmp_path, within=[other]) == {str(other / "c")}, "a directory above holds what may be read"


def test_a_root_that_was_made_anew_is_searched_again(inside: Path) -> None:
    assert found(inside) == {str(inside / "a")}
    shutil.rmtree(inside)
    assert found(inside.parent, within=[inside]) == set()
    inside.mkdir()
    (inside / "b").write_text("needle\n")
    assert found(inside) == {str(inside / "b")}


def test_a_root_in_whose_place_a_link_stands_gives_nothing(inside: Path) -> None:
    shutil.rmtree(inside)
    inside.symlink_to("/etc")
    assert b"denied" in said(["cat", f"{inside}/hostname"], inside)


def test_a_hundred_sets_of_roots_keep_few_threads(tmp_path: Path) -> None:
    for at in range(100):
        (tmp_path / str(at)).mkdir()
        (tmp_path / str(at) / "a").write_text("needle\n")
        assert said(["cat", str(tmp_path / str(at) / "a")], tmp_path / str(at)) == b"needle\n"
        if at % 10 == 1:
            assert b"denied" in said(["cat", str(tmp_path / "0" / "a")], tmp_path / str(at))
        assert threads() <= confined.THREADS + 1, "one may be about to end"


def test_nobody_else_is_confined_and_garbage_is_collected_as_before(inside: Path) -> None:
    def ask() -> None:
        for _ in range(10):
            assert found(inside) == {str(inside / "a")}

    asking = [threading.Thread(target=ask) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert (inside.parent / "secret").read_text() == "needle outside\n"
    assert gc.isenabled()
    gc.disable()
    try:
        ask()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_program_that_cannot_be_started_says_so(inside: Path) -> None:
    with pytest.raises(FileNotFoundError):
        confined.start(str(inside / "gone"), Places([str(inside)]), lambda: subprocess.Popen([inside / "gone"]))


def test_where_nothing_can_be_confined_the_search_is_as_it_was(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "confines", lambda _: False)
    before = threads()
    assert found(inside) == {str(inside / "a")}
    assert said(["cat", str(inside.parent / "secret")], inside) == b"needle outside\n"
    assert threads() == before


def test_a_thread_that_cannot_be_confined_starts_nothing(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(allowed: object) -> None:
        raise OSError(1, "no")

    monkeypatch.setattr(landlock, "confine", refused)
    assert said(["cat", str(inside / "a")], inside) == b"needle inside\n"


_SCRIPT = """
import os, sys, threading, warnings
sys.path.insert(0, sys.argv[2])
from test_confined import found
from pathlib import Path
root = Path(sys.argv[1])
assert len(found(root)) == 1
if sys.argv[3] == "fork":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        assert not any(t.name == "handrail-confined" for t in threading.enumerate())
        assert len(found(root)) == 1
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(found(root)) == 1
if sys.argv[3] == "busy":
    threading.Thread(target=lambda: [found(root) for _ in range(5)], daemon=True).start()
print("done")
"""


@pytest.mark.parametrize("way", ["exit", "fork", "busy"])
def test_an_interpreter_ends_in_silence(inside: Path, way: str) -> None:
    script = [sys.executable, "-X", "dev", "-W", "error", "-c", _SCRIPT, str(inside), os.path.dirname(__file__), way]
    ended = subprocess.run(script, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, b"done\n"), ended.stderr
    if way != "busy":
        assert ended.stderr == b""
