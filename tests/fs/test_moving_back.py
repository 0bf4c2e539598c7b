"""A tree that came back by a copy stays, whatever becomes of the source; half a source is never found again."""

import errno
import os
from pathlib import Path

import pytest

from handrail.fs import removal
from handrail.fs.host import HostFileSystem
from handrail.model.paths import seal


def test_a_tree_is_back_though_its_source_cant_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, there = tmp_path / "trash" / "0123", Path(os.path.realpath(tmp_path)) / "dir"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "file").write_bytes(b"kept")

    def broken(_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(removal, "_renamed", lambda *_: False)  # as between two file systems
    monkeypatch.setattr(removal, "drop_tree", broken)
    assert HostFileSystem().move_in(str(source), seal(str(there)), copy_limit=1 << 20)
    assert (there / "sub" / "file").read_bytes() == b"kept"
    assert os.listdir(source.parent) == ["0123.gone"]
