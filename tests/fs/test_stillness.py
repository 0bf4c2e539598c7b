"""Names lead where they led as long as no directory on the way changed."""

import os
from pathlib import Path

import pytest

from handrail.fs.stillness import changed

LATER = 3_000_000_000


@pytest.fixture
def top(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "top"
    (place / "a" / "b").mkdir(parents=True)
    (place / "c").mkdir()
    return place


def told(top: Path, since: int, *names: str) -> set[str]:
    directories = [str(top / name) if name else str(top) for name in names or ("", "a", "a/b", "c")]
    return {os.path.relpath(name, top) for name in changed(str(top), directories, since)}


def newest(top: Path) -> int:
    return max(os.stat(path).st_ctime_ns for path in (top, top / "a", top / "a" / "b", top / "c"))


def test_what_changed_before_is_still_and_what_changed_since_is_not(top: Path) -> None:
    assert told(top, newest(top) + LATER) == set()
    (top / "c" / "new").touch()
    since = os.stat(top / "c").st_ctime_ns
    assert "c" in told(top, since)


def test_a_change_above_is_a_change_of_all_below(top: Path) -> None:
    since = newest(top) + LATER
    os.utime(top / "a")
    assert told(top, os.stat(top / "a").st_ctime_ns, "a/b", "a") == {"a/b", "a"}
    assert told(top, since) == set()


def test_a_time_that_is_set_back_helps_nobody(top: Path) -> None:
    (top / "c" / "new").touch()
    os.utime(top / "c", ns=(0, 0))
    assert told(top, os.stat(top / "c").st_ctime_ns, "c") == {"c"}


@pytest.mark.parametrize("name", ["gone", "a/gone/x", "link", "link/b", "file"])
def test_what_is_no_directory_below_is_never_still(top: Path, name: str) -> None:
    (top / "link").symlink_to("a")
    (top / "file").touch()
    assert told(top, newest(top) + LATER, name) == {os.path.normpath(name)}


def test_what_lies_beyond_is_never_still(top: Path) -> None:
    beyond = {str(top.parent), str(top.parent / "topside")}
    (top.parent / "topside").mkdir()
    assert changed(str(top), beyond, newest(top) + LATER) == beyond
