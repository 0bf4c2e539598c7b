"""What named sessions know of files, kept so that it outlives their process."""

import json
from collections.abc import Mapping

from handrail.store import rows
from handrail.store.database import Database
from handrail.store.protocol import Known


class Ledgers:
    """The ledgers of one store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, session: str, path: str) -> Known | None:
        """What the session knows of the path."""
        query = "SELECT hash, size, mtime_ns, inode, own, unseen, text FROM ledger WHERE session = ? AND path = ?"
        with self._database.reading() as db:
            row = db.execute(query, (rows.bind(session), rows.name(path))).fetchone()
        if row is None:
            return None
        digest, size, mtime_ns, inode, own, unseen, text = row
        return Known(
            hash=digest.hex(),
            size=size,
            mtime_ns=mtime_ns,
            inode=_unsigned(inode),
            own=bool(own),
            unseen=tuple((first, last) for first, last in json.loads(unseen)),
            text=_unpacked(text),
        )

    def know(self, session: str, entries: Mapping[str, Known]) -> None:
        """Note it, in place of what was known."""
        values = [
            (
                rows.bind(session),
                rows.name(path),
                bytes.fromhex(known.hash),
                known.size,
                known.mtime_ns,
                _signed(known.inode),
                known.own,
                json.dumps(known.unseen),
                _packed(known.text),
            )
            for path, known in entries.items()
        ]
        with self._database.writing(durable=False) as db:
            db.executemany("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _signed(number: int) -> int:
    # Some file systems give inode numbers of a full 64 bits; SQLite's integers are signed.
    return number - 2**64 if number >= 2**63 else number


def _unsigned(number: int) -> int:
    return number + 2**64 if number < 0 else number


def _packed(text: bytes | None) -> bytes | None:
    if text is None:
        return None
    import zstandard

    return zstandard.ZstdCompressor(level=1).compress(text)


def _unpacked(text: bytes | None) -> bytes | None:
    if text is None:
        return None
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(text)
    except zstandard.ZstdError as failure:
        raise ValueError("a stored text is damaged") from failure
