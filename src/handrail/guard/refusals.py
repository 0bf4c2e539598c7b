"""How guards say no; for freshness: the next call to make, a short diff of what changed, the rows it is about."""

import json
from collections.abc import Sequence
from typing import Final

from handrail.model.errors import BackendFailed, HandrailError, NotThere, OutOfDate, Refused
from handrail.model.paths import RealPath, shown
from handrail.text import codec, diff, lines

_DIFF_LINES: Final = 40
_FRESH_ROWS: Final = 40
_LINE: Final = 500
_MARGIN: Final = 3


def not_read(path: str, *, read_call: str, now: bytes | None = None, around: Sequence[int] = ()) -> OutOfDate:
    """The file stands there and this session never read it."""
    call = _call(path, read_call, around)
    return OutOfDate(
        "not_read",
        f"{shown(path)} hasn't been read in this session, so nothing was changed; first call {call}.",
        hint="After that read, send this call again; search results, diffs and receipts don't count as a read.",
        path=shown(path),
        facts=_facts(None, now, path, around),
    )


def modified(
    path: str, seen: bytes | None, now: bytes | None, *, read_call: str, around: Sequence[int], own: bool
) -> OutOfDate:
    """The file isn't what this session saw last."""
    call = _call(path, read_call, around)
    last = "wrote" if own else "read"
    return OutOfDate(
        "file_modified_since_read",
        f"{shown(path)} changed on disk after this session {last} it, so nothing was changed; read it again: {call}.",
        hint="After that read, send this call again, made for what stands there now.",
        path=shown(path),
        facts=_facts(seen, now, path, around),
    )


def stale(path: str, expected: str, found: str | None) -> OutOfDate:
    """The caller named the hash of what it means, and that isn't what stands there."""
    what = "nothing stands there" if found is None else f"its bytes have the hash {found}"
    return OutOfDate(
        "stale",
        f"{shown(path)} isn't what expected_hash says: {what}; nothing was changed.",
        hint="Read the file again and use the hash of that read, or leave expected_hash out.",
        path=shown(path),
        facts={"expected_hash": expected[:128], "hash": found},
    )


def _call(path: str, read_call: str, around: Sequence[int]) -> str:
    """The read that makes the caller fresh, as it is typed."""
    rows = sorted(set(around))[:10]
    if read_call == "Read":
        return f"Read(file_path={_quoted(path)}" + (f", offset={max(1, rows[0] - 20)})" if rows else ")")
    part = f', "around": {rows}' if rows else ""
    return f'{read_call}(files=[{{"path": {_quoted(path)}{part}}}])'


def _quoted(path: str) -> str:
    return json.dumps(shown(path), ensure_ascii=False)


def _facts(seen: bytes | None, now: bytes | None, path: str, around: Sequence[int]) -> dict[str, object]:
    new = None if now is None else _text(now)
    old = None if seen is None else _text(seen)
    facts: dict[str, object] = {}
    if old is not None and new is not None:
        facts["diff"] = codec.printable(_bounded(diff.unified(old, new, name=path, max_lines=_DIFF_LINES)))
    if new is not None and around:
        facts["fresh_rows"] = _rows(new, around)
    return facts


def _bounded(text: str) -> str:
    """The diff with lines cut that are too long for a refusal."""
    return "".join(
        line if len(line) <= _LINE else f"{line[:_LINE]}…\n" for line in (piece + "\n" for piece in text.split("\n"))
    ).removesuffix("\n")


def _rows(text: str, around: Sequence[int]) -> list[dict[str, object]]:
    whole = lines.split(text)
    wanted = sorted({n for row in around[:20] for n in range(row - _MARGIN, row + _MARGIN + 1) if 0 < n <= len(whole)})
    return [{"row": n, "text": codec.printable(lines.chomp(whole[n - 1])[:_LINE])} for n in wanted[:_FRESH_ROWS]]


def _text(data: bytes) -> str | None:
    try:
        return codec.decode(data).text
    except HandrailError:
        return None


def missing(path: RealPath) -> NotThere:
    """What isn't there, or is hidden, which looks the same."""
    return NotThere("not_found", f"{path} doesn't exist.", hint="Look for it with find_files.", path=str(path))


def unconfirmed(path: RealPath) -> Refused:
    """A sensitive file whose name was told, and nothing more."""
    return Refused(
        "path_denied",
        f"{path} is a sensitive file, which a person has to confirm first.",
        hint="Read that file by its own path, so that the person is asked about it.",
        path=str(path),
    )


def too_long(seconds: float) -> BackendFailed:
    """The call's time is over."""
    return BackendFailed(
        "deadline_exceeded",
        f"The call took longer than its {seconds:g} seconds.",
        hint="Ask for less: a narrower directory, pattern or range of rows.",
        retryable=True,
    )
