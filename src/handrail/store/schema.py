"""The tables of the embedded store and the steps from one shape of them to the next. Knows no values, only SQL."""

import sqlite3

APPLICATION_ID = 0x48524C31
"""Marks a database file as ours ("HRL1")."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE paths (
            id INTEGER PRIMARY KEY,
            path BLOB NOT NULL UNIQUE
        )""",
        """CREATE TABLE contents (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            form INTEGER NOT NULL,
            data BLOB
        )""",
        """CREATE TABLE versions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path_id INTEGER NOT NULL REFERENCES paths (id),
            kind TEXT NOT NULL,
            hash BLOB,
            size INTEGER,
            mode INTEGER,
            extra TEXT,
            action TEXT NOT NULL,
            tool TEXT NOT NULL,
            session TEXT NOT NULL,
            task TEXT,
            objective TEXT,
            time_ns INTEGER NOT NULL,
            previous INTEGER,
            part_of TEXT,
            status INTEGER NOT NULL,
            owner TEXT,
            why_not TEXT
        )""",
        "CREATE INDEX versions_by_path ON versions (path_id, id)",
        "CREATE INDEX versions_by_task ON versions (task, id) WHERE task IS NOT NULL",
        "CREATE INDEX versions_by_time ON versions (time_ns)",
        "CREATE INDEX versions_intended ON versions (owner, id) WHERE status = 0",
        """CREATE TABLE tasks (
            id TEXT PRIMARY KEY,
            session TEXT NOT NULL,
            objective TEXT,
            opened_at INTEGER NOT NULL,
            touched_at INTEGER NOT NULL,
            last_version INTEGER
        )""",
        "CREATE INDEX tasks_by_session ON tasks (session, touched_at)",
        "CREATE INDEX tasks_by_version ON tasks (last_version) WHERE last_version IS NOT NULL",
        """CREATE TABLE requests (
            id TEXT PRIMARY KEY,
            body TEXT NOT NULL,
            asked_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            answer TEXT
        )""",
        "CREATE INDEX requests_waiting ON requests (asked_at) WHERE answer IS NULL",
        """CREATE TABLE watchers (
            id TEXT PRIMARY KEY,
            seen_at INTEGER NOT NULL
        )""",
        """CREATE TABLE rules (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT,
            task TEXT,
            pattern TEXT NOT NULL,
            tool TEXT,
            created_at INTEGER NOT NULL
        )""",
        """CREATE TABLE ledger (
            session TEXT NOT NULL,
            path BLOB NOT NULL,
            hash BLOB NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            own INTEGER NOT NULL,
            unseen TEXT NOT NULL,
            text BLOB,
            PRIMARY KEY (session, path)
        )""",
    ),
    (
        "CREATE INDEX versions_by_content ON versions (hash) WHERE hash IS NOT NULL AND why_not IS NULL",
        """CREATE TABLE deltas (
            content INTEGER PRIMARY KEY REFERENCES contents (id),
            base INTEGER NOT NULL REFERENCES contents (id),
            data BLOB NOT NULL
        )""",
        "CREATE INDEX deltas_by_base ON deltas (base)",
        "CREATE TABLE loose (hash BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE upkeep (work TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    ),
)
"""One tuple of statements a step; `PRAGMA user_version` counts the steps taken. Steps are added, never changed.

`versions.status`: 0 intended, 1 done. `contents.form`: 0 as it is, 1 zstd, 2 a zstd file under `blobs/`, 3 a delta
(`deltas`), 4 zstd as small as it gets. `loose`: contents that may not be needed any more. `upkeep`: when which work
was done, and how far it came.
"""


def current(db: sqlite3.Connection) -> bool:
    """Whether the database has the newest shape; raises `sqlite3.DatabaseError` for one from a newer release."""
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if found > len(MIGRATIONS):
        raise sqlite3.DatabaseError(f"its shape {found} is newer than this release knows ({len(MIGRATIONS)})")
    return found == len(MIGRATIONS)


def migrate(db: sqlite3.Connection) -> None:
    """Take the missing steps, each in one transaction; several processes may try at once."""
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # counts only before the first table
    db.execute("PRAGMA journal_mode = WAL")
    while not current(db):
        db.execute("BEGIN EXCLUSIVE")
        try:
            found = int(db.execute("PRAGMA user_version").fetchone()[0])
            for statement in MIGRATIONS[found] if found < len(MIGRATIONS) else ():
                db.execute(statement)
            if found < len(MIGRATIONS):
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {found + 1}")
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise
