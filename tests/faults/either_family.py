"""One way to say read, edit and write, in either family, so that a rule is shown over both."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import handrail
from handrail.interfaces.api import Handrail

GUARDED = {"tools.fs.track_reads": True, "tools.fs.must_read_before_write": True}
"""What the claude_code family needs to ask for a read as the batch family does."""
both = pytest.mark.parametrize("family", ["batch", "claude_code"])


class Tools:
    """The tools of one family on one workspace, under the session's own name."""

    def __init__(self, files: Handrail, family: str, root: Path, *, session: str | None = None) -> None:
        self.files, self.family, self.root, self.session = files, family, root, session

    def another(self, session: str) -> "Tools":
        return Tools(self.files, self.family, self.root, session=session)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return dict(self.files.call(name, arguments, session=self.session).payload)

    def path(self, name: str) -> str:
        return str(self.root / name)

    def read(self, name: str, *, offset: int = 1, limit: int = 2000) -> dict[str, Any]:
        if self.family == "batch":
            rows = {"path": self.path(name), "offset": offset, "limit": limit}
            return self.call("read_files", {"files": [rows]})
        return self.call("Read", {"file_path": self.path(name), "offset": offset, "limit": limit})

    def edit(self, name: str, old: str, new: str) -> dict[str, Any]:
        pair = {"old_string": old, "new_string": new}
        if self.family == "batch":
            return self.call("edit_file", {"path": self.path(name), "targets": [pair]})
        return self.call("Edit", {"file_path": self.path(name), **pair})

    def edits(self, name: str, *pairs: tuple[str, str]) -> dict[str, Any]:
        sent = [{"old_string": old, "new_string": new} for old, new in pairs]
        if self.family == "batch":
            return self.call("edit_file", {"path": self.path(name), "targets": sent})
        return self.call("MultiEdit", {"file_path": self.path(name), "edits": sent})

    def write(self, name: str, content: str) -> dict[str, Any]:
        if self.family == "batch":
            return self.call("edit_file", {"path": self.path(name), "content": content})
        return self.call("Write", {"file_path": self.path(name), "content": content})

    def search(self, pattern: str) -> dict[str, Any]:
        if self.family == "batch":
            return self.call(
                "find_files", {"queries": [{"dir": str(self.root), "pattern": pattern, "file_pattern": "*"}]}
            )
        return self.call("Grep", {"pattern": pattern, "path": str(self.root)})


@contextmanager
def opened(place: Path, family: str, **options: Any) -> Iterator[Tools]:
    """A workspace in `place/project`, guarded in both families."""
    root = place / "project"
    root.mkdir(exist_ok=True)
    settings = GUARDED | options.pop("settings", {})
    options.setdefault("approve", "auto")
    with handrail.open(root=root, data_dir=place / "data", settings=settings, **options) as files:
        yield Tools(files, family, root)


def good(payload: dict[str, Any]) -> bool:
    """Whether a change was made."""
    return payload["kind"] in ("edited", "patched", "written")
