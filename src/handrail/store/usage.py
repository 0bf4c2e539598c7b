"""How much room a store takes: the pages of its database, its content files, its trash."""

import os

from handrail.store.database import Database
from handrail.store.protocol import Usage


def database_bytes(database: Database) -> int:
    """Bytes of the pages in use."""
    with database.reading() as db:
        pages, free, size = (
            int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size


def tree_bytes(directory: str) -> int:
    """Bytes of all regular files below a directory; no link is followed."""
    total = 0
    waiting = [directory]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        total += entry.stat(follow_symlinks=False).st_size
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # taken away meanwhile, or closed to everybody
    return total


def usage(database: Database) -> Usage:
    """All of it, counted now."""
    with database.reading() as db:
        versions, contents, deltas = (
            int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 -- three names of our own
            for table in ("versions", "contents", "deltas")
        )
    return Usage(
        bytes=database_bytes(database) + tree_bytes(os.path.join(database.directory, "blobs")),
        trash=tree_bytes(os.path.join(database.directory, "trash")),
        versions=versions,
        contents=contents,
        deltas=deltas,
    )
