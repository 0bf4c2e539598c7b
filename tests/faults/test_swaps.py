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
    swapped = threading.Event()

    def swap() -> None:
        for _ in range(SWAPS + 1):
            kernel.exchange(handle, "dir", "link")
        swapped.set()

    thread = threading.Thread(target=swap)
    thread.start()
    fs, seen, turns = HostFileSystem(), set[bytes](), 0
    path = seal(f"{root}/dir/sub/file")
    while not swapped.is_set():
        turns += 1
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
                assert error.kind in ("stale", "not_found"), error
    thread.join()
    os.close(handle)
    assert turns > 5
    assert b"secret" not in seen
    assert os.listdir(outside) == ["sub"]
    assert os.listdir(outside / "sub") == ["file"]
    assert (outside / "sub" / "file").read_bytes() == b"secret"
