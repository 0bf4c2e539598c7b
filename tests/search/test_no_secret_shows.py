"""Whatever leads to a secret (an ignore file, links, a directory swapped meanwhile), no answer tells of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_view import tree
from test_under_policy import Guarded

from handrail.fs import kernel
from handrail.model.answers import Found

UNITS = ("content", "files", "count")
SWAPS = 4000
SEARCHES = 12
WORD = "HUSHHUSH"


def outside(tmp_path: Path) -> Path:
    return tree((tmp_path / "outside").resolve(), {f"f{n}": f"needle {WORD}\n" * 7 for n in range(40)})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = (tmp_path / "root").resolve()
    secret = f"needle {WORD}\n" * 7
    outside(tmp_path)
    return tree(
        place,
        {
            "a.txt": "needle plain\n",
            ".env": secret,
            "sub/.ENV.local": secret,
            "sub/keys/server.key": secret,
            "sub/b.txt": "needle plain\n",
            "denied/c.txt": secret,
            "sub/denied/deep/d.txt": secret,
            ".handrailignore": "hidden/\n*.hid\n",
            "hidden/h.txt": secret,
            "sub/x.hid": secret,
        },
    )


def tells(found: Found) -> bool:
    """Whether anything of a secret's content, or a name or count that only it can give, stands in an answer."""
    named = [entry.path for entry in (*found.files, *found.rows)]
    return WORD in repr(found) or any(hidden in name for name in named for hidden in ("denied", ".hid", "hidden"))


def asked(guarded: Guarded, **more: object) -> Iterator[Found]:
    for respect in (True, False):
        for multiline in (False, True):
            for unit in UNITS:
                yield guarded.find("search", "needle", unit=unit, respect_ignore=respect, multiline=multiline, **more)


def shown(guarded: Guarded) -> None:
    """Two files hold the word openly, once each; no answer may tell of more."""
    for found in asked(guarded):
        assert not tells(found), found
        assert found.total == 2, found
    for pattern in (WORD, f"(?i){WORD.lower()}", "needle H", "H+"):
        for unit in UNITS:
            found = guarded.find("search", pattern, unit=unit)
            assert (found.total, found.files, found.rows) == (0, (), ()), found
    for mode, pattern in (("glob", "**/*"), ("glob", "*"), ("glob", "**/*.txt"), ("list", None)):
        listed = guarded.names(guarded.find(mode, pattern))
        assert not [name for name in listed if "denied" in name or ".hid" in name or name.startswith("hidden")]


@pytest.mark.parametrize("name", [".ignore", ".gitignore", ".rgignore", "sub/.ignore"])
def test_an_ignore_file_of_the_workspace_shows_no_secret_again(root: Path, engine: str, name: str) -> None:
    tree(root, {name: "!.env\n!.ENV*\n!*.key\n!denied\n!denied/**\n!hidden/\n!*.hid\n!*\n"})
    shown(Guarded(root, ["denied"]))


def test_links_lead_to_no_secret(root: Path, engine: str) -> None:
    links = {
        "plain.txt": ".env",
        "sub/up": "../.env",
        "keys": "sub/keys",
        "out": "../outside",
        "file.txt": "../outside/f1",
        "open": "denied",
        "sub/open.txt": "denied/deep/d.txt",
        "shown": "hidden",
        "chain": "chain2",
        "chain2": "out/f1",
        "proc": f"/proc/self/root{root}/denied",
        "sub/root": f"/proc/{os.getpid()}/cwd",
        "sub/deny": f"{root}/denied",
        "x.txt": "sub/x.hid",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    guarded = Guarded(root, ["denied"])
    shown(guarded)
    for start in ("out", "open", "shown", "proc", "sub/deny", "keys"):
        for unit in UNITS:
            try:
                found = guarded.find("search", "needle", directory=start, unit=unit)
            except AssertionError:
                continue
            assert not tells(found) and found.total == 0, (start, found)


_SWAPPER = """
import os, sys
from handrail.fs import kernel
handle = os.open(sys.argv[1], os.O_RDONLY)
pairs = [pair.split(":") for pair in sys.argv[3:]]
for swap in range(int(sys.argv[2])):
    for one, other in pairs:
        kernel.exchange(handle, one, other)
    if swap % 100 == 0:
        print(swap, flush=True)
print("done", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("word", ["needle", WORD])
def test_a_directory_that_is_swapped_with_a_link_meanwhile_tells_nothing(
    root: Path, tmp_path: Path, engine: str, word: str
) -> None:
    names = [f"f{n}" for n in range(40)]
    plain = {f"{place}/{name}": "needle plain\n" for place in ("dir", "din") for name in names}
    tree(root, plain | {f"denied/{name}": f"needle {WORD}\n" * 7 for name in names} | {"one": "needle plain\n"})
    for link, target in (("ldir", "../outside"), ("ldin", "denied"), ("lone", ".env")):
        (root / link).symlink_to(target)
    guarded = Guarded(root, ["denied"])
    handle = os.open(root, os.O_RDONLY)
    try:
        if not (kernel.exchange(handle, "ldir", "dir") and kernel.exchange(handle, "ldir", "dir")):
            pytest.skip("this kernel can't swap two names")
    finally:
        os.close(handle)
    arguments = [sys.executable, "-c", _SWAPPER, str(root), str(SWAPS), "dir:ldir", "din:ldin", "one:lone"]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None and swapper.stdout.readline() == b"0\n"
        for at in range(SEARCHES):
            found = guarded.find("search", word, unit=UNITS[at % 3], respect_ignore=bool(at % 2))
            assert not tells(found), found
            most = 0 if word == WORD else 170
            assert found.total <= most and all(file.count in (None, 1) for file in found.files), found
            listed = guarded.names(guarded.find("glob", "**/*" if at % 2 else "f1*"))
            assert not [name for name in listed if "denied" in name]
        swapper.stdin.close()  # type: ignore[union-attr]
        swapper.stdout.read()
