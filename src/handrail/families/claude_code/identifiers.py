"""Checkpoint ids: opaque to models, a version's number to us.

A checkpoint is the state before a change. Where nothing was there before, it is named by the version that the change
made, and restoring it removes what was created.
"""

import base64
import binascii
from dataclasses import dataclass

from handrail.model.records import Receipt

PREFIX = "cp-"
MOST = 2**62


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state: of `version`, or with `created` the nothing before it."""

    version: int
    created: bool = False


def of_receipt(receipt: Receipt) -> str | None:
    """The checkpoint before a change; `None` where nothing was recorded."""
    if receipt.before_version is not None:
        return spelled(Checkpoint(receipt.before_version))
    return None if receipt.version is None else spelled(Checkpoint(receipt.version, created=True))


def spelled(checkpoint: Checkpoint) -> str:
    """The id of a checkpoint."""
    number = checkpoint.version * 2 + checkpoint.created
    data = number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
    return PREFIX + base64.b32encode(data).decode("ascii").rstrip("=").lower()


def read(text: str) -> Checkpoint | None:
    """The checkpoint of an id; `None` where it is none of ours."""
    body = text.strip().lower()
    if not body.startswith(PREFIX) or not body.isascii() or len(body) > 24:
        return None
    body = body[len(PREFIX) :].upper()
    try:
        number = int.from_bytes(base64.b32decode(body + "=" * (-len(body) % 8)), "big")
    except (binascii.Error, ValueError):
        return None
    checkpoint = Checkpoint(number // 2, created=bool(number % 2))
    return checkpoint if 0 < number < MOST and spelled(checkpoint) == text.strip().lower() else None
