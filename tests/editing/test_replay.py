"""Versions replayed without a network: hunks as patches and as MultiEdit calls give the newer version byte for byte.

The driver is that of `benchmarks/replay.py`, which does the same with releases of real packages.
"""

import random
import sys
from pathlib import Path

import pytest
from one_file import edited

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from handrail.text import codec
from hunks import edits, targets

SOURCE = Path(__file__).parents[2] / "src" / "handrail" / "editing"
MOST_CALLS = 6


def replayed(before: bytes, after: bytes, encoding: str, tool: str) -> tuple[bytes, int]:
    current, calls = before, 0
    while current != after and calls < MOST_CALLS:
        plan = targets if tool == "together" else edits
        sent = plan(current.decode(encoding), after.decode(encoding))
        current = edited(current, *((s["old_string"], s["new_string"]) for s in sent), semantics=tool)
        calls += 1
    return current, calls


def another(text: str, seed: int) -> str:
    """The text after some lines were dropped, doubled, swapped, changed and added."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randrange(1, 12)):
        at = chance.randrange(len(lines))
        match chance.randrange(5):
            case 0:
                del lines[at : at + chance.randrange(4)]
            case 1:
                lines[at:at] = lines[at : at + chance.randrange(4)]
            case 2:
                lines[at : at + 2] = reversed(lines[at : at + 2])
            case 3:
                lines[at] = lines[at].replace("e", "é", 1) + " "
            case 4:
                lines.insert(at, chance.choice(["", "}", "    return 1", "\ttabbed", "it\u2019s"]))
        lines = lines or [""]
    return "\n".join(lines) or text  # an empty file has no anchor; it is written, not patched


@pytest.mark.parametrize("tool", ["together", "in_order"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_versions_of_a_source_file(tool, end, encoding):
    for seed, file in enumerate(sorted(SOURCE.glob("[!_]*.py"))):
        before = file.read_text("utf-8")
        for step in range(3):
            after = another(before, seed * 10 + step)
            old, new = (t.replace("\n", end).encode(encoding) for t in (before, after))
            got, calls = replayed(old, new, encoding, tool)
            assert (got, calls <= 3) == (new, True), (file.name, step)
            before = after


@pytest.mark.parametrize("tool", ["together", "in_order"])
def test_versions_with_mixed_ends(tool):
    text = (SOURCE / "pieces.py").read_text("utf-8")
    for seed in range(12):
        chance = random.Random(seed)
        before, after = (
            "".join(line + chance.choice(["\n", "\n", "\r\n"]) for line in version.split("\n"))
            for version in (text[:1500], another(text[:1500], seed))
        )
        assert replayed(before.encode(), after.encode(), "utf-8", tool)[0] == after.encode()


@pytest.mark.parametrize(("one", "other"), [("\n", "\r\n"), ("\r\n", "\n")])
@pytest.mark.parametrize("tool", ["together", "in_order"])
def test_a_version_with_all_ends_changed(tool, one, other):
    text = (SOURCE / "draft.py").read_text("utf-8")
    before, after = text.replace("\n", one).encode(), another(text, 7).replace("\n", other).encode()
    got, calls = replayed(before, after, "utf-8", tool)
    assert (got, calls <= 2) == (after, True)


FORMS = {
    "CRLF": ("utf-8", "\r\n", "größer, schöner: naïve cafés"),
    "UTF-16 with a mark": ("utf-16", "\n", "größer 漢字 \U0001f600"),
    "UTF-16 without one": ("utf-16-le", "\r\n", "größer 漢字"),
    "UTF-32": ("utf-32", "\n", "größer 漢字"),
    "UTF-8 with a mark": ("utf-8-sig", "\n", "größer 漢字"),
    "GBK": ("gbk", "\n", "这是一个测试文件里面有中文内容"),
    "GB18030": ("gb18030", "\n", "这是一个测试文件里面有中文内容㐀"),
    "Big5": ("big5", "\n", "這是一個測試檔案裡面有中文內容"),
    "Shift-JIS": ("shift_jis", "\r\n", "これは日本語の文章です。漢字と仮名、ソ表能"),
    "EUC-JP": ("euc_jp", "\n", "これは日本語の文章です。漢字と仮名"),
    "EUC-KR": ("euc_kr", "\n", "이것은 한국어로 쓴 글입니다 파일 시험"),
    "Latin-1": ("latin-1", "\r\n", "größer, schöner: naïve cafés à la carte"),
    "cp1252": ("cp1252", "\n", "größer \u2013 “schöner” … naïve cafés"),
    "cp1251": ("cp1251", "\n", "это русский текст для проверки файла"),
    "KOI8-R": ("koi8-r", "\n", "это русский текст для проверки файла"),
}


@pytest.mark.parametrize("tool", ["together", "in_order"])
@pytest.mark.parametrize("name", FORMS)
def test_versions_turned_into_another_form(tool, name):
    encoding, end, words = FORMS[name]
    source = (SOURCE / "anchors.py").read_text("utf-8").replace("→", "")
    for seed in range(4):
        text = "".join(
            f"{line}  # {words}\n" if n % 5 == seed else f"{line}\n" for n, line in enumerate(source.split("\n"))
        )
        newer = another(text, seed).replace("é", "e").replace("\u2019", "'")
        before, after = (version.replace("\n", end).encode(encoding) for version in (text, newer))
        got, calls = replayed_as_read(before, after, newer.replace("\n", end), tool)
        assert (got, calls <= 3) == (after, True), seed


def replayed_as_read(before: bytes, after: bytes, goal: str, tool: str) -> tuple[bytes, int]:
    """As an agent does it, who knows only what the reader shows, in the encoding that was detected."""
    current, calls = before, 0
    while current != after and calls < MOST_CALLS:
        sent = (targets if tool == "together" else edits)(codec.decode(current).text, goal)
        current = edited(current, *((s["old_string"], s["new_string"]) for s in sent), semantics=tool)
        calls += 1
    return current, calls
