"""A workspace that is searched through both families at once: what one of them tells, the other must tell too."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plain_view import tree

import handrail
from handrail.interfaces.api import Handrail
from handrail.model.paths import shown, unescaped


class Faces:
    """Asks `find_files` and, of the same thing, `Grep` or `Glob`; names are relative to the workspace."""

    def __init__(self, files: Handrail, root: Path) -> None:
        self.files, self.root = files, root

    def find(self, **asked: Any) -> dict[str, Any]:
        """The payload of one query; what isn't a query's belongs to the call."""
        query = {key: asked.pop(key) for key in ("dir", "pattern", "file_pattern", "recursive") if key in asked}
        return dict(self.files.call("find_files", {"queries": [query], **asked}).payload)

    def grep(self, pattern: str, **asked: Any) -> dict[str, Any]:
        return dict(self.files.call("Grep", {"pattern": pattern, **asked}).payload)

    def rows(self, pattern: str, **asked: Any) -> list[tuple[str, int, str]]:
        """Matching rows, by the batch family."""
        found = self.find(pattern=pattern, mode="search", output="content", **asked)
        return [(row["path"], row["row"], row["text"]) for row in found["rows"] if not row.get("context")]

    def holding(self, pattern: str, directory: str = ".", glob: str | None = None, **flags: Any) -> set[str]:
        """The files whose text matches."""
        narrowed = {} if glob is None else {"file_pattern": glob}
        one = self.find(dir=directory, pattern=pattern, mode="search", **narrowed, **flags)
        assert one["kind"] == "files", one
        path = {"path": os.path.join(self.root, directory)} if directory != "." else {}
        other = self.grep(pattern, **path, **({} if glob is None else {"glob": glob}), **flags)
        assert other["kind"] == "matches", other
        names = {row["path"] for row in one["files"]}
        assert {self.name(path) for path in other["files"]} == names
        return names

    def named(self, glob: str, directory: str = ".") -> set[str]:
        """The files that a glob names."""
        one = self.find(dir=directory, pattern=glob, mode="glob")
        assert one["kind"] == "paths", one
        other = self.files.call("Glob", {"pattern": glob, "path": os.path.join(self.root, directory)}).payload
        assert other["kind"] == "paths", other
        assert [self.name(path) for path in other["paths"]] == one["paths"]
        return set(one["paths"])

    def listed(self, directory: str = ".", *, recursive: bool = True) -> set[str]:
        """The files that a list shows."""
        found = self.find(dir=directory, recursive=recursive)
        assert found["kind"] == "entries", found
        return {entry["path"] for entry in found["entries"] if entry["type"] == "file"}

    def read(self, path: str) -> dict[str, Any]:
        """One file's answer, by the name that a search showed."""
        payload = self.files.call("read_files", {"files": [{"path": path}]}).payload
        return dict(payload["files"][0])

    def name(self, path: str) -> str:
        return shown(os.path.relpath(unescaped(path), self.root))


@contextmanager
def workspace(place: Path, files: dict[str, str | bytes], **settings: Any) -> Iterator[Faces]:
    """A workspace in `place/project` with these files in it."""
    root = place / "project"
    root.mkdir(exist_ok=True)
    tree(root, files)
    dotted = {key.replace("__", "."): value for key, value in settings.items()}
    with handrail.open(root=root, data_dir=place / "data", settings=dotted, approve="auto") as opened:
        yield Faces(opened, root)
