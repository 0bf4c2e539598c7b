"""Names of files: the resolved path that only the resolver makes, and the one spelling in which names are shown.

Inside, a name is a `str` with surrogate escapes (`os.fsdecode`), so that any bytes survive.
"""

import re
from typing import Final, final

_MAKER: Final = object()
_HOSTILE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\udc80-\udcff]"
)
_ESCAPE: Final = re.compile(r"\\(?:n|r|t|\\|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_UNNAMED: Final = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


@final
class RealPath:
    """An absolute path without a link in it, as `guard/resolve.py` found it; nothing else can make one.

    A backend opens it component by component and follows nothing, so what was judged is what is opened.
    """

    __slots__ = ("text",)
    text: str

    def __init__(self, text: str, maker: object) -> None:
        if maker is not _MAKER:
            raise TypeError("a RealPath comes from guard/resolve.py")
        object.__setattr__(self, "text", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a RealPath never changes")

    @property
    def name(self) -> str:
        """The last component; empty for the root directory."""
        return self.text.rpartition("/")[2]

    @property
    def parent(self) -> str:
        """The text of the directory that holds it; the root directory is its own parent."""
        return self.text.rpartition("/")[0] or "/"

    def above(self) -> "RealPath":
        """The directory that holds it: as free of links, and still to be judged by who looks into it."""
        return RealPath(self.parent, _MAKER)

    def __str__(self) -> str:
        return shown(self.text)

    def __repr__(self) -> str:
        return f"RealPath({self.text!r})"

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RealPath) and other.text == self.text


def seal(text: str) -> RealPath:
    """Make a `RealPath`; called by `guard/resolve.py` alone, which a test keeps."""
    return RealPath(text, _MAKER)


def within(path: str, directory: str) -> bool:
    """Whether `path` is `directory` or lies below it, compared by whole components of absolute, normal paths."""
    return path == directory or path.startswith(directory if directory.endswith("/") else directory + "/")


def shown(name: str) -> str:
    r"""Spell a name so that it can't pass for another or break a line: `\n`, `\x1b`, `\xNN` for stray bytes, `\\`.

    A name without hostile characters and without what would read as an escape is shown as it is.
    """
    if not _HOSTILE.search(name) and not _ESCAPE.search(name):
        return name
    return "".join(_escaped(c) for c in name)


def is_escaped(name: str) -> bool:
    """Whether `shown` spells this name differently; listings mark such names."""
    return shown(name) != name


def unescaped(text: str) -> str:
    """The name that `shown` spelled as `text`; text without an escape is itself."""

    def plain(match: re.Match[str]) -> str:
        body = match.group()[1:]
        if body[0] in _UNNAMED:
            return _UNNAMED[body[0]]
        code = int(body[1:], 16)
        return chr(0xDC00 + code) if body[0] == "x" and code >= 0x80 else chr(code)

    return _ESCAPE.sub(plain, text)


def _escaped(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    if not _HOSTILE.match(character):
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
