"""Whether a file holds the rows that a search's child told of it: the last look before they are believed.

It knows one opened file and bytes. A child that was led elsewhere by a swapped directory is found out here.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from handrail.model.view import RowHit, Snapshot

_CHUNK: Final = 1 << 20
_WIDE: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def bears_out(snapshot: Snapshot, hits: Sequence[RowHit]) -> bool:
    """Whether the bytes of every row stand in the file, in the rows' order; without rows it is enough that it opens."""
    wanted = [hit.data for hit in hits if hit.data]
    if not wanted:
        return True
    encoding = _WIDE.get(snapshot.read(0, 2))
    if encoding is not None:
        return _in_order([snapshot.content().bytes()[2:].decode(encoding, "replace").encode()], wanted)
    return _in_order(_pieces(snapshot), wanted)


def around(rows: Sequence[RowHit], start: int, stop: int) -> Sequence[RowHit]:
    """The matching rows from `start` to `stop` and all that stand between them and their neighbours."""
    matching = [at for at, row in enumerate(rows) if not row.context]
    low = matching[start - 1] + 1 if 0 < start <= len(matching) else 0
    return rows[low : matching[stop] if stop < len(matching) else len(rows)]


def _pieces(snapshot: Snapshot) -> Iterator[bytes]:
    at = 0
    while data := snapshot.read(at, _CHUNK):
        yield data
        at += len(data)


def _in_order(pieces: Iterator[bytes] | Sequence[bytes], wanted: Sequence[bytes]) -> bool:
    """Whether each piece of `wanted` follows the one before; one may end where the next begins, none overlap."""
    index, held = 0, b""
    for piece in pieces:
        held += piece
        at = 0
        while index < len(wanted):
            found = held.find(wanted[index], at)
            if found < 0:
                break
            at = found + len(wanted[index])
            index += 1
        if index == len(wanted):
            return True
        held = held[max(at, len(held) - len(wanted[index]) + 1) :]
    return False
