"""A whole look at one data directory: the store's own findings, and what only who knows the users' files can mend.

It needs no workspace, for it must work where none can be opened.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from uuid import uuid4

from handrail.core.apply import Writer
from handrail.core.locks import Locks
from handrail.core.places import own
from handrail.fs.drafts import TEMPORARY
from handrail.fs.host import HostFileSystem
from handrail.guard.resolve import Resolver
from handrail.model.errors import HandrailError
from handrail.store.doctor import Finding, examine
from handrail.store.protocol import Filter
from handrail.store.sqlite import SqliteStore

_PAGE = 1024


def look(data_directory: str | None, environment: Mapping[str, str], *, repair: bool) -> Iterator[Finding]:
    """Everything that is wrong with the history, each with what would be done; done where that is asked for.

    Raises `BackendFailed` where the data directory can't be read at all.
    """
    place = own(data_directory, environment)
    broken = False
    intents: list[Finding] = []
    for finding in examine(place.data, repair=repair):
        if finding.kind == "intent":
            intents.append(finding)
        else:
            broken = broken or (finding.kind == "database" and not finding.mended)
            yield finding
    if broken or not os.path.isdir(place.data):
        return
    store = SqliteStore(place.data, owner=f"doctor-{uuid4().hex}")
    try:
        if repair and intents:
            Writer(HostFileSystem(), store, Locks(place.locks)).recover()
        for finding in intents:
            yield Finding(
                kind=finding.kind, said=finding.said, would=finding.would, mended=repair and not store.intended()
            )
        yield from _strays(store, repair=repair)
    finally:
        store.close()


def _strays(store: SqliteStore, *, repair: bool) -> Iterator[Finding]:
    """Temporary files of interrupted writers beside the files that were ever changed."""
    fs = HostFileSystem()
    resolver = Resolver(fs, home="/", cwd="/")
    for directory in sorted(_directories(store)):
        try:
            names = [name for name in os.listdir(directory) if TEMPORARY.fullmatch(name)]
            left = [name for name in names if _abandoned(os.path.join(directory, name))]
        except OSError:
            continue
        if not left:
            continue
        mended = False
        if repair:
            try:
                mended = fs.sweep(resolver.recorded(directory)) >= len(left)
            except HandrailError:
                mended = False
        said = f"{len(left)} temporary files of interrupted writers lie in {directory}"
        yield Finding(kind="stray", said=said, would="remove those whose writer is gone", mended=mended)


def _directories(store: SqliteStore) -> set[str]:
    found: set[str] = set()
    after: int | None = None
    while page := store.versions(Filter(), limit=_PAGE, after=after):
        found.update(version.path.rpartition("/")[0] or "/" for version in page)
        after = page[-1].id
    return found


def _abandoned(path: str) -> bool:
    """Whether a draft's writer is gone; a living one holds its lock."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
