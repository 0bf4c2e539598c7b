"""Deltas: a content told as its difference from another one, and the chain of them back to a whole one.

It knows rows and bytes; which content is told from which is decided in `store/compacting.py`.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

PLAIN: Final = 0
PACKED: Final = 1
FILE: Final = 2
DELTA: Final = 3
TIGHT: Final = 4
"""The forms of a content: as it is, zstd, a zstd file, a delta, zstd as small as it gets."""

LARGEST: Final = 8 * 1024 * 1024
"""A larger content is never a delta, nor the base of one: all of both is in memory."""

SMALLEST: Final = 64
_LEVEL: Final = 9
_TIGHT_LEVEL: Final = 19
_LOOKED_FAR: Final = 1 << 20
_CHAIN: Final = """
WITH RECURSIVE chain (id, hops) AS (
    SELECT id, 0 FROM contents WHERE hash = ?
    UNION ALL
    SELECT d.base, hops + 1 FROM chain JOIN deltas d ON d.content = chain.id WHERE hops < 1000
)
SELECT c.hash, c.size, c.form, CASE c.form WHEN 3 THEN d.data ELSE c.data END
FROM chain JOIN contents c ON c.id = chain.id LEFT JOIN deltas d ON d.content = c.id
ORDER BY hops
"""


@dataclass(frozen=True, slots=True)
class Link:
    """One content of a chain as it is kept."""

    hash: bytes
    size: int
    form: int
    data: bytes | None


def chain(db: sqlite3.Connection, digest: bytes) -> list[Link]:
    """A content and what it is told from, down to a whole one; empty for a content that isn't kept.

    One statement, so that it is one moment's truth whatever others do. Raises `ValueError` for a chain that has no
    whole content at its end.
    """
    found = [Link(*row) for row in db.execute(_CHAIN, (digest,))]
    if found and found[-1].form == DELTA:
        raise ValueError("a delta has lost what it is told from")
    return found


def told(links: list[Link], whole: Callable[[Link], bytes]) -> bytes:
    """The bytes of the first content of a chain; `whole` gives those of its last one."""
    content = whole(links[-1])
    for link in reversed(links[:-1]):
        content = applied(content, link.data or b"", link.size)
    return content


def applied(base: bytes, delta: bytes, size: int) -> bytes:
    """The content that a delta tells from its base; raises `ValueError` for damaged ones."""
    import zstandard

    try:
        prefix = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        decompressor = zstandard.ZstdDecompressor(
            dict_data=prefix, format=zstandard.FORMAT_ZSTD1_MAGICLESS, max_window_size=1 << 27
        )
        return decompressor.decompress(delta, max_output_size=size)
    except zstandard.ZstdError as failure:
        raise ValueError("a delta is damaged") from failure


def difference(base: bytes, content: bytes) -> bytes:
    """The delta that tells a content from a base; it takes some milliseconds for an ordinary source file."""
    import zstandard

    total = len(base) + len(content)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL,
        source_size=len(content),
        dict_size=len(base),
        window_log=min(max(total.bit_length(), 10), 27),
        enable_ldm=total > _LOOKED_FAR,
        write_content_size=False,
        write_checksum=False,
        write_dict_id=False,
        format=zstandard.FORMAT_ZSTD1_MAGICLESS,
    )
    prefix = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=prefix).compress(content)


def tight(content: bytes) -> bytes:
    """A content by itself, as small as zstd makes it."""
    import zstandard

    return zstandard.ZstdCompressor(level=_TIGHT_LEVEL).compress(content)
