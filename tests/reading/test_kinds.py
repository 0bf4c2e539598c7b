"""The table of kinds: each row is found by content, and none of them passes for text."""

import gzip
import io
import sqlite3
import tarfile
import wave
import zipfile
from pathlib import Path

import pytest

from handrail.reading.kinds import KINDS, kind_of
from handrail.text import codec


def zipped(*names: str, first: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        if first:
            archive.writestr(zipfile.ZipInfo("mimetype"), first)
        for name in names:
            archive.writestr(name, "x" * 20)
    return out.getvalue()


def sound() -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\1" * 100)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), io.BytesIO())
    return out.getvalue()


def boxes(brand: bytes) -> bytes:
    return b"\0\0\0\x18ftyp" + brand + b"\0\0\0\0" + b"isom"


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 100
FILES = {
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF\0",
    "gif": b"GIF89a\x01\0\x01\0\x80\0\0",
    "webp": b"RIFF\x1a\0\0\0WEBPVP8L",
    "bmp": b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
    "tiff": b"II*\0\x08\0\0\0",
    "avif": boxes(b"avif"),
    "heic": boxes(b"heic"),
    "docx": zipped("[Content_Types].xml", "_rels/.rels", "word/document.xml"),
    "pptx": zipped("[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml"),
    "xlsx": zipped("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"),
    "ods": zipped("content.xml", first=b"application/vnd.oasis.opendocument.spreadsheet"),
    "odt": zipped("content.xml", first=b"application/vnd.oasis.opendocument.text"),
    "odp": zipped("content.xml", first=b"application/vnd.oasis.opendocument.presentation"),
    "epub": zipped("a.xhtml", first=b"application/epub+zip"),
    "zip": zipped("word/list.txt"),
    "doc": OLE + "WordDocument".encode("utf-16-le"),
    "xls": OLE + "Workbook".encode("utf-16-le"),
    "ppt": OLE + "PowerPoint Document".encode("utf-16-le"),
    "ole": OLE,
    "wav": sound(),
    "mp3": b"ID3\x04\0\0\0\0\0\0",
    "ogg": b"OggS\0\x02\0\0",
    "flac": b"fLaC\0\0\0\x22",
    "m4a": boxes(b"M4A "),
    "mp4": boxes(b"isom"),
    "mov": boxes(b"qt  "),
    "webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm\0",
    "mkv": b"\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska\0",
    "avi": b"RIFF\0\0\0\0AVI LIST",
    "gzip": gzip.compress(b"hello hello"),
    "tar": tarred(),
    "elf": b"\x7fELF\x02\x01\x01\0\0",
    "sqlite": b"",
    "wasm": b"\0asm\x01\0\0\0",
    "7z": b"7z\xbc\xaf\x27\x1c\0\x04",
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_what_its_content_says(name: str, tmp_path: Path) -> None:
    data = FILES[name]
    if name == "sqlite":
        with sqlite3.connect(tmp_path / "x.db") as base:
            base.execute("create table t (a)")
        base.close()
        data = (tmp_path / "x.db").read_bytes()
    assert kind_of(data[:8192], data[-8192:]).name == name
    assert codec.sniff(data[:8192], whole=len(data) <= 8192) is None


def test_an_mp3_without_a_tag_is_found_by_its_frames() -> None:
    assert kind_of(b"\xff\xfb\x90\x64\0\0").name == "mp3"


def test_every_row_has_a_name_a_media_type_and_words() -> None:
    for kind in KINDS:
        assert kind.name
        assert "/" in kind.media_type
        assert kind.said.startswith(("a ", "an ", "compressed "))
