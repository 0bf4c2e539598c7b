"""Random trees with random ignore files, and what git sees of them; for the tests and the bench."""

import os
import random
import subprocess
from pathlib import Path

NAMES = [
    *(b"a", b"b", b"ab", b"a.o", b"b.txt", b".hidden", b"#x", b"!y", b"a b", b"b ", b"[a]", b"a{b}", b"A", b"-", b"=x"),
    *(b"a\\b", b"a*", b"\xff\xfe", b"\xc3\xa9", b"new\nline", b"\x01", b"^", b"]", b"foo", b"bar"),
]
PIECES = [
    *(b"a", b"b", b"o", b".", b"x", b"foo", b"*", b"*", b"?", b"**", b"/", b"/", b"**/", b"/**", b"*.", b"-", b"A"),
    *(b"[ab]", b"[!a]", b"[^b]", b"[a-c]", b"[]a]", b"[[:alpha:]]", b"[[:punct:]]", b"[[:x:]]", b"[", b"]", b"[a-"),
    *(
        b"\\#",
        b"\\!",
        b"\\ ",
        b"\\*",
        b"\\a",
        b"\\",
        b" ",
        b"\t",
        b"{",
        b"}",
        b"{a,b}",
        b"#",
        b"!",
        b"\xff",
        b"\xc3\xa9",
    ),
]
USUAL = [
    *(b"*", b"!*/", b"!*.txt", b"*.o", b"/a", b"a/", b"/a/", b"b/*", b"!a/b", b"**/b", b"a/**", b"a/**/b", b"!a.o"),
    *(b"foo", b"/foo/bar", b"!/foo", b"/*", b"!/b", b"**", b"b ", b"\\#x", b"\\!y", b".*", b"!.gitignore"),
]


def line(dice: random.Random) -> bytes:
    """One line of an ignore file, usual or not."""
    if dice.random() < 0.5:
        return dice.choice(USUAL)
    sign = b"!" if dice.random() < 0.2 else b""
    return sign + b"".join(dice.choices(PIECES, k=dice.randint(1, 5)))


def ignore_file(dice: random.Random) -> bytes:
    """A whole ignore file, with or without CRs, a byte order mark and a last line end."""
    end = dice.choice([b"\n", b"\n", b"\n", b"\r\n"])
    lines = [
        dice.choice([line(dice), line(dice), line(dice), b"", b"# says nothing"]) for _ in range(dice.randint(1, 4))
    ]
    mark = b"\xef\xbb\xbf" if dice.random() < 0.05 else b""
    return mark + end.join(lines) + (end if dice.random() < 0.8 else b"")


def grow(root: Path, dice: random.Random, *, nested: bool = True, dotted: bool = False) -> list[Path]:
    """Make a random repository at `root` and return the roots of those nested in it; `dotted`: `.ignore` files too."""
    directories = [os.fsencode(root)]
    for _ in range(dice.randint(2, 8)):
        directories.append(os.path.join(dice.choice(directories), dice.choice(NAMES)))
        os.makedirs(directories[-1], exist_ok=True)
    for place in directories:
        for name in dice.sample(NAMES, dice.randint(0, 7)):
            path = os.path.join(place, name)
            if not os.path.lexists(path):
                _leaf(path, dice)
        if dice.random() < (0.8 if place == directories[0] else 0.3):
            Path(os.fsdecode(place), ".gitignore").write_bytes(ignore_file(dice))
        if dotted and dice.random() < 0.2:
            Path(os.fsdecode(place), ".ignore").write_bytes(ignore_file(dice))
    found = []
    init(root)
    if dice.random() < 0.4:
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_bytes(ignore_file(dice))
    if nested and dice.random() < 0.3:
        inner = Path(os.fsdecode(dice.choice(directories[1:])))
        if inner != root:
            init(inner)
            found.append(inner)
    return found


def _leaf(path: bytes, dice: random.Random) -> None:
    if dice.random() < 0.1:
        os.symlink(dice.choice([b".", b"nowhere", b"a"]), path)
    else:
        Path(os.fsdecode(path)).write_bytes(b"")


def init(root: Path) -> None:
    """Make a repository by hand: two thousand runs of `git init` would take longer than the rest."""
    (root / ".git/refs").mkdir(parents=True)
    (root / ".git/objects").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")


def git_sees(root: Path, *, links: bool = False) -> set[str]:
    """The files, or links, that git would add, those of nested repositories as git sees them there."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-o", "--exclude-standard", "-z"], capture_output=True, check=True
    ).stdout
    found: set[str] = set()
    for name in map(os.fsdecode, filter(None, listed.split(b"\0"))):
        path = root / name
        if name.endswith("/"):
            found |= {os.path.join(name, below) for below in git_sees(path, links=links)}
        elif path.is_symlink() == links:
            found.add(name)
    return found
