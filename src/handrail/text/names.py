"""RE2 expressions about names of files, which need not be text: stray bytes stand for themselves in both."""

from collections.abc import Callable, Sequence
from typing import Final

from handrail.model.errors import InvalidCall

NOTHING: Final = r"[^\x{0}-\x{10FFFF}]"
"""An expression that finds nothing."""

_STRAY: Final = {0xDC80 + n: 0x10FF80 + n for n in range(128)}


def searcher(regexes: Sequence[str], *, ignore_case: bool = False) -> Callable[[bytes], object]:
    """What finds any of the expressions in `encoded` text, or answers `None`; raises `InvalidCall` `invalid_glob`."""
    whole = "|".join(f"(?:{regex})" for regex in regexes) or NOTHING
    return _compiled(_matchable(whole).encode(), ignore_case=ignore_case)


def encoded(path: str) -> bytes:
    """The bytes of a name that expressions are asked about, whatever stray bytes it holds."""
    try:
        return path.encode()
    except UnicodeEncodeError:
        return path.translate(_STRAY).encode(errors="replace")


def _matchable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_STRAY)
    return text


def _compiled(regex: bytes, *, ignore_case: bool) -> Callable[[bytes], object]:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignore_case
    options.max_mem = 64 << 20
    try:
        search: Callable[[bytes], object] = re2.compile(regex, options).search
    except re2.error:
        raise InvalidCall("invalid_glob", "These globs together are too large.", hint="Give fewer globs.") from None
    return search
