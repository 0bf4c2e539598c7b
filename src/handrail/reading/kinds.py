"""What a file is, by its content and never by its name: the table of kinds, one row each.

A new format is a row here and its reader in a file beside this one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from handrail.model.answers import ReadAnswer
from handrail.model.operations import Read
from handrail.model.view import Snapshot, View

HEAD: Final = 8192
"""Bytes from the start of a file that `kind_of` looks at; as many from its end for archives."""
Group = Literal["document", "image", "audio", "video", "archive", "data", "program"]
Reader = Callable[[Read, Snapshot, View], ReadAnswer]
Magic = re.Pattern[bytes] | Callable[[bytes, bytes], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A row of the table. `said` completes "This file is ..."; without `reader` it can be named, not read.

    `magic` is a pattern for the start of the file, or a test of its start and its end.
    """

    name: str
    group: Group
    media_type: str
    said: str
    magic: Magic
    reader: Reader | None = None


def _zip(*names: bytes, mimetype: bytes = b"") -> Callable[[bytes, bytes], bool]:
    """A ZIP archive that holds a member of one of these names, or says this type in its first member."""

    def test(head: bytes, tail: bytes) -> bool:
        if not head.startswith(b"PK\x03\x04"):
            return False
        if mimetype:
            return head[30:38] == b"mimetype" and head[38:].startswith(mimetype)
        both = head + tail
        return b"[Content_Types].xml" in both and any(name in both for name in names)

    return test


def _riff(form: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"RIFF[\s\S]{4}" + form)


def _boxes(*brands: bytes) -> re.Pattern[bytes]:
    """An ISO media file (`ftyp` box) of one of these brands."""
    return re.compile(rb"[\s\S]{4}ftyp(?:" + b"|".join(brands) + rb")")


def _ole(name: str) -> Callable[[bytes, bytes], bool]:
    """An OLE file with a stream of this name, as far as its start or end shows it."""
    stream = name.encode("utf-16-le")

    def test(head: bytes, tail: bytes) -> bool:
        return head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") and (stream in head or stream in tail)

    return test


def _mpeg_audio(head: bytes, _tail: bytes) -> bool:
    """A run of MPEG audio frames: a sync word whose fields aren't among the reserved ones."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 not in {0xE2, 0xE4, 0xE6}:
        return False
    return head[1] & 0x18 != 0x08 and head[2] & 0xF0 not in {0, 0xF0} and head[2] & 0x0C != 0x0C


def _tar(head: bytes, _tail: bytes) -> bool:
    return head[257:262] == b"ustar"


def _kind(name: str, group: Group, media_type: str, said: str, magic: Magic | bytes) -> Kind:
    pattern = re.compile(magic) if isinstance(magic, bytes) else magic
    return Kind(name=name, group=group, media_type=media_type, said=said, magic=pattern)


_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_OPEN: Final = "application/vnd.oasis.opendocument."

KINDS: Final[tuple[Kind, ...]] = (
    _kind("pdf", "document", "application/pdf", "a PDF document", rb"%PDF-\d"),
    _kind("png", "image", "image/png", "a PNG picture", rb"\x89PNG\r\n\x1a\n"),
    _kind("jpeg", "image", "image/jpeg", "a JPEG picture", rb"\xff\xd8\xff"),
    _kind("gif", "image", "image/gif", "a GIF picture", rb"GIF8[79]a"),
    _kind("webp", "image", "image/webp", "a WebP picture", _riff(rb"WEBP")),
    _kind("bmp", "image", "image/bmp", "a BMP picture", rb"BM[\s\S]{4}\0\0\0\0[\s\S]{4}[\x0c\x28\x40\x6c\x7c]\0\0\0"),
    _kind("tiff", "image", "image/tiff", "a TIFF picture", rb"II[\x2a\x2b]\0|MM\0[\x2a\x2b]"),
    _kind("avif", "image", "image/avif", "an AVIF picture", _boxes(b"avif", b"avis")),
    _kind("heic", "image", "image/heic", "a HEIC picture", _boxes(b"hei[cxms]", b"hev[cmxs]", b"mif1", b"msf1")),
    _kind("ico", "image", "image/vnd.microsoft.icon", "an icon", rb"\0\0\x01\0[\x01-\xff]\0[\s\S]{2}"),
    _kind("docx", "document", _OFFICE + "wordprocessingml.document", "a Word document (DOCX)", _zip(b"word/")),
    _kind("pptx", "document", _OFFICE + "presentationml.presentation", "a presentation (PPTX)", _zip(b"ppt/")),
    _kind("xlsx", "document", _OFFICE + "spreadsheetml.sheet", "a spreadsheet (XLSX)", _zip(b"xl/w", b"xl/_rels")),
    _kind("ods", "document", _OPEN + "spreadsheet", "a spreadsheet (ODS)", _zip(mimetype=f"{_OPEN}spre".encode())),
    _kind("odt", "document", _OPEN + "text", "a text document (ODT)", _zip(mimetype=f"{_OPEN}text".encode())),
    _kind("odp", "document", _OPEN + "presentation", "a presentation (ODP)", _zip(mimetype=f"{_OPEN}pres".encode())),
    _kind("epub", "document", "application/epub+zip", "a book (EPUB)", _zip(mimetype=b"application/epub+zip")),
    _kind("zip", "archive", "application/zip", "a ZIP archive", rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"),
    _kind("doc", "document", "application/msword", "an old Word document (DOC)", _ole("WordDocument")),
    _kind("xls", "document", "application/vnd.ms-excel", "an old spreadsheet (XLS)", _ole("Workbook")),
    _kind("ppt", "document", "application/vnd.ms-powerpoint", "an old presentation (PPT)", _ole("PowerPoint Document")),
    _kind("ole", "document", "application/x-ole-storage", "an old Office file", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _kind("wav", "audio", "audio/wav", "a sound recording (WAV)", _riff(rb"WAVE")),
    _kind("mp3", "audio", "audio/mpeg", "a sound recording (MP3)", rb"ID3[\x02-\x04]"),
    _kind("mp3", "audio", "audio/mpeg", "a sound recording (MP3)", _mpeg_audio),
    _kind("ogg", "audio", "audio/ogg", "a sound recording (Ogg)", rb"OggS\0"),
    _kind("flac", "audio", "audio/flac", "a sound recording (FLAC)", rb"fLaC\0"),
    _kind("aiff", "audio", "audio/aiff", "a sound recording (AIFF)", rb"FORM[\s\S]{4}AIF[FC]"),
    _kind("m4a", "audio", "audio/mp4", "a sound recording (M4A)", _boxes(b"M4A ", b"M4B ")),
    _kind(
        "mp4", "video", "video/mp4", "a film (MP4)", _boxes(b"isom", b"iso[2-6]", b"mp4[12]", b"avc1", b"M4V ", b"dash")
    ),
    _kind("mov", "video", "video/quicktime", "a film (QuickTime)", _boxes(b"qt  ")),
    _kind("webm", "video", "video/webm", "a film (WebM)", rb"\x1a\x45\xdf\xa3[\s\S]{0,64}webm"),
    _kind("mkv", "video", "video/matroska", "a film (Matroska)", rb"\x1a\x45\xdf\xa3"),
    _kind("avi", "video", "video/vnd.avi", "a film (AVI)", _riff(rb"AVI ")),
    _kind("gzip", "archive", "application/gzip", "compressed data (gzip)", rb"\x1f\x8b\x08"),
    _kind("bzip2", "archive", "application/x-bzip2", "compressed data (bzip2)", rb"BZh\d1AY&SY"),
    _kind("xz", "archive", "application/x-xz", "compressed data (xz)", rb"\xfd7zXZ\0"),
    _kind("zstd", "archive", "application/zstd", "compressed data (zstd)", rb"\x28\xb5\x2f\xfd"),
    _kind("7z", "archive", "application/x-7z-compressed", "a 7z archive", rb"7z\xbc\xaf\x27\x1c"),
    _kind("rar", "archive", "application/vnd.rar", "a RAR archive", rb"Rar!\x1a\x07"),
    _kind("tar", "archive", "application/x-tar", "a TAR archive", _tar),
    _kind("sqlite", "data", "application/vnd.sqlite3", "an SQLite database", rb"SQLite format 3\0"),
    _kind("elf", "program", "application/x-elf", "a program or library (ELF)", rb"\x7fELF"),
    _kind("pe", "program", "application/vnd.microsoft.portable-executable", "a Windows program", rb"MZ[\s\S]{58}"),
    _kind("macho", "program", "application/x-mach-binary", "a macOS program", rb"[\xce\xcf]\xfa\xed\xfe"),
    _kind("class", "program", "application/java-vm", "a Java class", rb"\xca\xfe\xba\xbe\0\0\0[\x2d-\x50]"),
    _kind("wasm", "program", "application/wasm", "a WebAssembly module", rb"\0asm"),
    _kind("woff", "data", "font/woff", "a font", rb"wOF[F2]"),
    _kind("font", "data", "font/sfnt", "a font", rb"\0\x01\0\0\0|OTTO\0"),
)
"""In the order in which they are asked; the first that fits is the kind."""
UNKNOWN: Final = _kind("binary", "data", "application/octet-stream", "a binary file of no known kind", rb"")


def kind_of(head: bytes, tail: bytes = b"") -> Kind:
    """The kind of a file that is no text, by its first and last bytes; `UNKNOWN` when no row fits."""
    for kind in KINDS:
        fits = kind.magic(head, tail) if callable(kind.magic) else kind.magic.match(head)
        if fits:
            return kind
    return UNKNOWN
