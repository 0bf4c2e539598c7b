"""Times as people type them, in local time or with their own zone."""

import re
from datetime import datetime, timedelta
from typing import Final

from handrail.model.errors import InvalidCall

_SPANS: Final = (
    (re.compile(r"\d{4}-\d{2}-\d{2}"), timedelta(days=1)),
    (re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}"), timedelta(minutes=1)),
    (re.compile(r".*:\d{2}(?:Z|[+-]\d{2}:?\d{2})?"), timedelta(seconds=1)),
)
"""How much time a spelling names: a day, a minute, a second."""


def moment(field: str, text: str, *, last: bool) -> int:
    """Nanoseconds since the epoch of `2026-08-13`, `2026-08-13 15:04[:05]` or RFC 3339; without a zone, local.

    `last`: the end of the day, minute or second that is named, for the end of a span that includes it.
    """
    typed = text.strip()
    try:
        when = datetime.fromisoformat(typed)
        if last:
            when += next((span for form, span in _SPANS if form.fullmatch(typed)), timedelta(microseconds=1))
        return round(when.astimezone().timestamp() * 10**6) * 1000 - (1 if last else 0)
    except (ValueError, OverflowError, OSError):
        raise InvalidCall(
            "invalid_arguments",
            f"`{field}` is no time.",
            hint='Write it as "2026-08-13", "2026-08-13 15:04" or "2026-08-13T15:04:05+02:00".',
            facts={"field": field},
        ) from None
