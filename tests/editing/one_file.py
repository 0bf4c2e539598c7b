"""A view with a few files in memory, for planners that are tested alone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from handrail.editing.edit import EditPlanner
from handrail.editing.write import WritePlanner
from handrail.model.answers import Changed
from handrail.model.changes import Plan
from handrail.model.errors import HandrailError, NotThere
from handrail.model.files import Bytes, Content, FileState, Stat
from handrail.model.operations import Edit, Replacement, Write
from handrail.model.paths import RealPath, seal
from handrail.model.view import Target

ROOT = "/root-of-tests"


@dataclass(frozen=True)
class Pinned:
    path: RealPath
    data: bytes
    stat: Stat

    def read(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]

    def content(self) -> Content:
        return Bytes(self.data)


class MemoryView:
    """The little of a view that the editing planners use."""

    session = "tests"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def look(self, path: RealPath) -> Pinned:
        if path.text not in self.files:
            raise NotThere("not_found", "Nothing stands there.")
        stat = self.stat(path)
        assert stat is not None
        return Pinned(path, self.files[path.text], stat)

    def stat(self, path: RealPath) -> Stat | None:
        if path.text not in self.files:
            return None
        size = len(self.files[path.text])
        return Stat("file", size, 0o640, 0, 0, 0, 0, 1, 0, 0)

    def check(self) -> None:
        pass


def plan_edit(
    data: bytes, *replacements: tuple[str, str] | tuple[str, str, bool], semantics="together", limit=None
) -> Plan:
    path = f"{ROOT}/file"
    operation = Edit(path=path, replacements=tuple(_made(r) for r in replacements), semantics=semantics)
    planner = EditPlanner() if limit is None else EditPlanner(max_bytes=limit)
    targets = [Target(want=want, path=seal(want.path), exists=True) for want in planner.wants(operation)]
    return planner.plan(operation, targets, MemoryView({path: data}))


def _made(parts) -> Replacement:
    return Replacement(old=parts[0], new=parts[1], everywhere=len(parts) > 2 and parts[2])


def after(plan: Plan) -> bytes:
    (change,) = plan.changes
    assert isinstance(change.after, FileState)
    data = change.after.content.bytes()
    answer = changed(plan)
    assert answer.hash == hashlib.sha256(data).hexdigest()
    assert answer.bytes_written == len(data)
    return data


def changed(plan: Plan) -> Changed:
    assert isinstance(plan.answer, Changed)
    return plan.answer


def edited(data: bytes, *replacements, semantics="together") -> bytes:
    return after(plan_edit(data, *replacements, semantics=semantics))


def both_ways(data: bytes, old: str, new: str, everywhere: bool = False) -> bytes:
    """One replacement gives the same bytes in either semantics."""
    results = {edited(data, (old, new, everywhere), semantics=s) for s in ("together", "in_order")}
    assert len(results) == 1
    return results.pop()


def failure(data: bytes, *replacements, semantics="together", limit=None) -> HandrailError:
    try:
        plan_edit(data, *replacements, semantics=semantics, limit=limit)
    except HandrailError as error:
        return error
    raise AssertionError("the edit was planned")


def plan_write(content: str, *, before: bytes | None = None, files=None, linked=False, limit=None, **options) -> Plan:
    path = options.pop("path", f"{ROOT}/file")
    operation = Write(path=path, content=content, **options)
    files = dict(files or {}) | ({path: before} if before is not None else {})
    planner = WritePlanner() if limit is None else WritePlanner(max_bytes=limit)
    wants = planner.wants(operation)
    targets = [
        Target(want=w, path=seal(w.path), exists=w.path in files or w.path == ROOT, linked=linked) for w in wants
    ]
    return planner.plan(operation, targets, MemoryView(files))


def written(content: str, *, before: bytes | None = None, **options) -> bytes:
    return after(plan_write(content, before=before, **options))
