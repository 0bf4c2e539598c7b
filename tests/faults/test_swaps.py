"""A directory that is swapped with a link all the time: nothing is read or written outside."""

import os
import threading
from pathlib import Path

import pytest

from handrail.fs import kernel
from handrail.fs.host import HostFileSystem
from handrail.model.errors import HandrailError
from handrail.model.files import Bytes
from handrail.model.paths import seal

SWAPS = 2000
TURNS = 20


@pytest.mark.parametrize("by_steps", [False, True])
def test_while_a_directory_is_swapped_with_a_link_nothing_lands_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_steps: bool
) -> None:
    if by_steps:
        monkeypatch.setattr(kernel, "open_without_links", lambda *_: None)
    root, outside = Path(os.path.realpath(tmp_path)) / "root", Path(os.path.realpath(tmp_path)) / "outside"
    for place, data in ((root / "dir" / "sub", b"inside"), (outside / "sub", b"secret")):
        place.mkdir(parents=True)
        (place / "file").write_bytes(data)
    (root / "link").symlink_to(outside)
    handle = os.open(root, os.O_RDONLY)
    if not kernel.exchange(handle, "dir", "link"):
        os.close(handle)
        pytest.skip("this kernel can't swap two names")
    swapped, turned = threading.Event(), threading.Event()

    def swap() -> None:
        swaps = 0
        while swaps <= SWAPS or not turned.is_set():
            kernel.exchange(handle, "dir", "link")
            swaps += 1
        swapped.set()

    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    fs, seen, kinds, turns = HostFileSystem(), set[bytes](), set[str](), 0
    path = seal(f"{root}/dir/sub/file")
    while not swapped.is_set():
        turns += 1
        if turns == TURNS:
            turned.set()
        new = seal(f"{root}/dir/sub/new{turns}")
        for act in (
            lambda: seen.add(fs.open(path).content().bytes()),
            lambda new=new: fs.replace(new, Bytes(b"new"), None, None),
            lambda: fs.make_directory(seal(f"{root}/dir/made"), None),
            lambda: fs.unlink(path, "0" * 64),
            lambda: seen.update(e.name.encode() for e in fs.entries(seal(f"{root}/dir"))),
        ):
            try:
                act()
            except HandrailError as error:
                kinds.add(error.kind)
    thread.join()
    os.close(handle)
    assert turns >= TURNS
    assert kinds <= {"stale", "not_found"}
    assert b"secret" not in seen
    assert os.listdir(outside) == ["sub"]
    assert os.listdir(outside / "sub") == ["file"]
    assert (outside / "sub" / "file").read_bytes() == b"secret"
