"""What a tree's ignore rules leave out, said name by name to a program that would read the rules otherwise."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 5_000
"""Names that are told the program; it takes longer to read more of them than to look at what they name."""
_SPECIAL: Final = re.compile(r"[\\*?\[\]{}!# ]")
_UNSAID: Final = re.compile("[\n\r\udc80-\udcff]|[^/\\S]\\Z")


@dataclass(frozen=True, slots=True)
class Omitted:
    """What is left out below a root: `lines` say most of it, `rest` are absolute names, directories with a slash."""

    lines: bytes
    rest: frozenset[str]

    def omits(self, path: str) -> bool:
        """Whether an absolute name that was found nevertheless is left out, or a directory above it."""
        if not self.rest:
            return False
        ends = (at + 1 for at, character in enumerate(path) if character == "/")
        return path in self.rest or any(path[:end] in self.rest for end in ends)


def omitted(root: str, names: Iterable[Sequence[str]]) -> Omitted:
    """Say what is left out below `root`, given directory by directory as absolute names; directories come first."""
    base = len(root.rstrip("/"))
    said: list[str] = []
    rest: list[str] = []
    files: list[str] = []
    for name in (name for group in names for name in group):
        if _UNSAID.search(name):
            rest.append(name)
        else:
            (said if name.endswith("/") else files).append(name)
    said += files
    rest += said[MOST:]
    lines = [_SPECIAL.sub(lambda found: "\\" + found.group(), name[base:]) for name in said[:MOST]]
    return Omitted("\n".join(lines).encode(), frozenset(rest))
