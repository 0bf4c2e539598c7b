"""What is there to read: kinds by content, limits, names near a missing one, things that are no files."""

import os
import socket
from pathlib import Path

import pytest
from one_view import OneView, read

from handrail.model.answers import ReadBinary
from handrail.model.errors import BackendFailed, NotThere, TooLarge, WrongContent


def test_a_binary_file_is_named_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(b"\x7fELF\x02\x01\x01\0" + b"\0" * 200)
    answer = read(file)
    assert isinstance(answer, ReadBinary)
    assert (answer.media_type, answer.size, answer.data) == ("application/x-elf", 208, None)


def test_bytes_are_handed_out_only_when_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"\0\1\2\3")
    assert read(file, raw_bytes=True).data == b"\0\1\2\3"


def test_text_is_text_whatever_its_name(tmp_path: Path) -> None:
    for name in ("a.pdf", "a.png", "a.zip", "a"):
        (tmp_path / name).write_text("hello\n")
        assert read(tmp_path / name).kind == "text"


def test_a_document_without_its_reader_is_named_not_dumped(tmp_path: Path) -> None:
    file = tmp_path / "x.ods"
    head = b"PK\x03\x04\x14\0\0\0\0\0" + b"\0" * 16 + b"\x08\0\0\0"
    file.write_bytes(head + b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet" + b"\0" * 50)
    with pytest.raises(WrongContent, match=r"spreadsheet \(ODS\)") as caught:
        read(file)
    assert caught.value.kind == "unsupported_kind"
    assert caught.value.facts["media_type"] == "application/vnd.oasis.opendocument.spreadsheet"


def test_sound_without_a_provider_says_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0")
    with pytest.raises(WrongContent) as caught:
        read(file)
    assert caught.value.kind == "transcription_unavailable"


def test_a_file_over_the_limit_is_refused_whatever_the_offset(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"a\n" * 600)
    with pytest.raises(TooLarge) as caught:
        read(file, max_file_bytes=1000, offset=5, limit=1)
    assert caught.value.facts == {"bytes": 1200, "max_bytes": 1000}


def test_a_missing_file_names_what_is_near(tmp_path: Path) -> None:
    for name in ("README.md", "readme.txt", "main.py", "hidden-readme.md"):
        (tmp_path / name).write_text("x")
    with pytest.raises(NotThere) as caught:
        read(tmp_path / "readme.md")
    assert caught.value.kind == "not_found"
    assert caught.value.facts["nearest"] == [str(tmp_path / "README.md"), str(tmp_path / "readme.txt")]


def test_a_missing_directory_names_its_like(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    with pytest.raises(NotThere) as caught:
        read(tmp_path / "sources" / "a" / "b.py")
    assert caught.value.facts["nearest"] == [str(tmp_path / "source")]


def test_a_near_name_is_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "ab\ncd.txt").write_text("x")
    with pytest.raises(NotThere) as caught:
        read(tmp_path / "abcd.txt")
    assert caught.value.facts["nearest"] == [f"{tmp_path}/ab\\ncd.txt"]


def test_many_names_are_compared_in_bounded_time(tmp_path: Path) -> None:
    from handrail.reading.nearest import like

    names = [f"file-{n:06d}-with-a-rather-long-name.txt" for n in range(50_000)]
    assert like("file-000123-with-a-rather-long-nome.txt", names)


def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(tmp_path, os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        for name in ("fifo", "socket", "."):
            with pytest.raises(WrongContent) as caught:
                read(tmp_path / name)
            assert caught.value.kind == "not_regular_file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_typed(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("x")
    file.chmod(0)
    with pytest.raises(BackendFailed) as caught:
        read(file)
    assert caught.value.kind == "permission_denied"


def test_pages_and_sheet_of_a_text_file_are_said_to_mean_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("x\n")
    answer = read(file, pages="1-2", view=OneView())
    assert answer.rows[0].text == "x"
    assert any("pages" in note for note in answer.notes)
