"""A lost content looked for where it was recorded from: the user's own file may still hold the very bytes."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from handrail.model.files import CHUNK


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A content that a file holds now; whoever records it verifies the hash once more."""

    path: str
    hash: str
    size: int

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order."""
        with open(self.path, "rb") as file:
            while piece := file.read(CHUNK):
                yield piece

    def bytes(self) -> bytes:
        """All of it."""
        return b"".join(self.chunks())


def standing_on_disk(path: str, digest: str) -> OnDisk | None:
    """The content of a regular file whose SHA-256 is the one asked for."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        content = OnDisk(path, digest, found.st_size)
        total = hashlib.sha256()
        for piece in content.chunks():
            total.update(piece)
    except (OSError, ValueError):
        return None
    return content if total.hexdigest() == digest else None
