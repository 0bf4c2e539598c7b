"""Opening: what could run something is said, so that a person is asked first."""

import os
from pathlib import Path

import pytest
from one_view import OneView, target

from handrail.model.changes import Plan
from handrail.model.errors import NotThere, WrongContent
from handrail.model.operations import Open
from handrail.reading.launch import OpenPlanner


def plan(path: Path) -> Plan:
    planner, operation = OpenPlanner(), Open(path=str(path))
    return planner.plan(operation, [target(path, planner, operation)], OneView())


@pytest.mark.parametrize("name", ["a.txt", "b.pdf", "photo.jpeg", "notes", ".profile-like", "a.b.csv"])
def test_a_plain_document_opens_without_a_question(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("x\n")
    found = plan(file)
    assert found.launch is not None
    assert found.launch.path.text == str(file)
    assert found.unusual == ()
    assert found.changes == ()


@pytest.mark.parametrize(
    "name", ["x.desktop", "x.LNK", "x.bat", "x.exe", "x.app", "x.sh", "x.py", "x.jar", "x.txt.scr", "x.desktop. "]
)
def test_a_name_that_runs_is_asked_about(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("x\n")
    assert plan(file).unusual


def test_the_name_of_the_link_and_of_what_it_leads_to_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "run.desktop").write_text("x")
    (tmp_path / "notes.txt").symlink_to("run.desktop")
    assert plan(tmp_path / "notes.txt").unusual


@pytest.mark.parametrize(
    "data",
    [
        b"#!/bin/sh\necho\n",
        b"[Desktop Entry]\nExec=x\n",
        b"\x7fELF\x02\x01\x01\0\0",
        b"MZ" + b"\0" * 100,
        b"L\0\0\0\1\x14\2\0",
    ],
)
def test_content_that_runs_is_asked_about(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(data)
    assert plan(file).unusual


def test_mode_bits_are_asked_about(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("x")
    file.chmod(0o755)
    assert plan(file).unusual == ("The file is marked executable.",)


def test_a_hostile_name_is_just_a_name(tmp_path: Path) -> None:
    file = tmp_path / '" ; touch pwned ; ".txt'
    file.write_text("x")
    assert plan(file).unusual == ()


def test_a_directory_opens_unless_it_is_a_program(tmp_path: Path) -> None:
    (tmp_path / "Tool.app").mkdir()
    assert plan(tmp_path).unusual == ()
    assert plan(tmp_path / "Tool.app").unusual


def test_what_is_missing_or_no_file_is_typed(tmp_path: Path) -> None:
    with pytest.raises(NotThere):
        plan(tmp_path / "nope")
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(WrongContent):
        plan(tmp_path / "fifo")
