"""Opening with the default application: an argument list, the absolute path, nothing inherited."""

import os
import stat
from pathlib import Path

import pytest

from handrail.fs import opener
from handrail.model.errors import BackendFailed
from handrail.model.paths import seal


def program(directory: Path, name: str, script: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755 | stat.S_IXUSR)


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "WSL_INTEROP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setenv("PATH", f"{tmp_path}")
    return tmp_path


def test_the_path_is_one_argument_and_no_shell_reads_it(desktop: Path) -> None:
    program(
        desktop, "xdg-open", f'printf "%s|" "$#" "$1" > {desktop}/said; /bin/readlink /proc/self/fd/0 >> {desktop}/said'
    )
    name = f"{desktop}/'; touch pwned; '\n$(touch pwned) -e"
    assert opener.launch(seal(name)) == "xdg-open"
    assert (desktop / "said").read_text() == f"1|{name}|/dev/null\n"
    assert not (desktop / "pwned").exists()


def test_an_opener_that_fails_is_said(desktop: Path) -> None:
    program(desktop, "xdg-open", "exit 3")
    with pytest.raises(BackendFailed) as caught:
        opener.launch(seal("/x"))
    assert caught.value.kind == "opener_unavailable"


def test_an_opener_that_stays_is_left_alone(desktop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opener, "PATIENCE", 0.0)
    os.mkfifo(desktop / "gate")
    program(desktop, "xdg-open", f"read x < {desktop}/gate; exit 1")
    assert opener.launch(seal("/x")) == "xdg-open"
    (desktop / "gate").write_text("done\n")


def test_the_openers_are_tried_in_order(desktop: Path) -> None:
    here = {"PATH": str(desktop), "WAYLAND_DISPLAY": "w"}
    with pytest.raises(BackendFailed):
        opener.opener(here)
    program(desktop, "wslview", "")
    assert opener.opener(here) == [f"{desktop}/wslview"]
    program(desktop, "gio", "")
    assert opener.opener(here) == [f"{desktop}/gio", "open"]
    program(desktop, "xdg-open", "")
    assert opener.opener(here) == [f"{desktop}/xdg-open"]
    assert opener.opener({"PATH": str(desktop), "WSL_INTEROP": "1"}) == [f"{desktop}/wslview"]


def test_without_a_display_nothing_is_started(desktop: Path) -> None:
    program(desktop, "xdg-open", "")
    with pytest.raises(BackendFailed) as caught:
        opener.opener({"PATH": str(desktop)})
    assert "display" in caught.value.message
