"""An `.editorconfig` and the setting `encoding` decide over detection, in both families; others' lines stay."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import handrail
from handrail.interfaces.api import Handrail
from handrail.model.errors import InvalidCall

SHORT = "测试\n".encode("gbk")  # too short to be told from other encodings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def files(root: Path) -> Iterator[Handrail]:
    rules = [{"paths": "*.gbk", "encoding": "GBK"}]
    with handrail.open(
        root=root, approve="auto", data_dir=root.parent / "data", settings={"encoding": rules}
    ) as opened:
        yield opened


def edit(files: Handrail, family: str, path: Path, old: str, new: str) -> dict:
    files.call("read_files", {"files": [{"path": str(path)}]}).unwrap()
    pair = {"old_string": old, "new_string": new}
    if family == "batch":
        return files.call("edit_file", {"path": str(path), "targets": [pair]}).payload
    return files.call("Edit", {"file_path": str(path), **pair}).payload


def write(files: Handrail, family: str, path: Path, text: str) -> bytes:
    if family == "batch":
        files.call("edit_file", {"path": str(path), "content": text}).unwrap()
    else:
        files.call("Write", {"file_path": str(path), "content": text}).unwrap()
    return path.read_bytes()


both = pytest.mark.parametrize("family", ["batch", "claude_code"])


@both
def test_a_setting_names_the_encoding_of_files_by_glob(files: Handrail, root: Path, family: str) -> None:
    path = root / "a.gbk"
    path.write_bytes(SHORT)
    assert "测试" in files.call("read_files", {"files": [{"path": "a.gbk"}]}).text
    edit(files, family, path, "测", "检")
    assert path.read_bytes() == "检试\n".encode("gbk")
    assert write(files, family, root / "new.gbk", "新\n") == "新\n".encode("gbk")


@both
def test_plain_ascii_is_written_on_in_the_declared_encoding(files: Handrail, root: Path, family: str) -> None:
    (root / ".editorconfig").write_text("[*.txt]\ncharset = latin1\n")
    path = root / "a.txt"
    path.write_bytes(b"cafe\n")
    shown = edit(files, family, path, "cafe", "café")
    assert path.read_bytes() == b"caf\xe9\n"
    if family == "batch":
        assert "+café" in shown["diff"]
    refused = edit(files, family, path, "café", "测")
    assert refused["kind"] == "unencodable"
    assert "U+6D4B" in refused["error"] and "latin-1" in refused["error"]
    assert path.read_bytes() == b"caf\xe9\n"


@both
def test_a_file_that_is_not_what_was_declared_is_detected_as_ever(files: Handrail, root: Path, family: str) -> None:
    (root / ".editorconfig").write_text("[*]\ncharset = utf-8\n")
    path = root / "old.txt"
    text = "这是一个测试文件里面有中文内容编码是国标\nend\n"
    path.write_bytes(text.encode("gbk"))
    edit(files, family, path, "end", "完")
    assert path.read_bytes() == text.replace("end", "完").encode("gbk")


@both
def test_new_files_take_mark_ends_and_a_final_newline_from_the_editorconfig(
    files: Handrail, root: Path, family: str
) -> None:
    (root / ".editorconfig").write_text(
        "root = true\n[*.ps1]\ncharset = utf-8-bom\nend_of_line = crlf\n[*.md]\ninsert_final_newline = true\n"
        "[*.u16]\ncharset = utf-16be\n"
    )
    assert write(files, family, root / "a.ps1", "é\nb") == b"\xef\xbb\xbf\xc3\xa9\r\nb"
    assert write(files, family, root / "a.md", "a\nb") == b"a\nb\n"
    assert write(files, family, root / "e.md", "") == b""
    assert write(files, family, root / "a.u16", "a") == "\ufeffa".encode("utf-16-be")
    assert write(files, family, root / "a.txt", "a\nb") == b"a\nb"


@both
def test_lines_of_others_are_never_rewritten(files: Handrail, root: Path, family: str) -> None:
    (root / ".editorconfig").write_text("[*]\nend_of_line = crlf\ninsert_final_newline = true\ncharset = utf-8-bom\n")
    path = root / "a.txt"
    path.write_bytes(b"a\nb\nc")
    edit(files, family, path, "b", "b\nnew")
    assert path.read_bytes() == b"a\nb\nnew\nc"  # lines of one kind stay so
    path.write_bytes(b"a\nb\nc\r\nd")
    edit(files, family, path, "b", "b\nnew")
    assert path.read_bytes() == b"a\nb\r\nnew\nc\r\nd" or path.read_bytes() == b"a\nb\nnew\r\nc\r\nd"
    path.write_bytes(b"a")
    edit(files, family, path, "a", "a\nb")
    assert path.read_bytes() == b"a\r\nb"


@both
def test_the_nearest_editorconfig_wins_up_to_one_that_is_the_root(files: Handrail, root: Path, family: str) -> None:
    (root / ".editorconfig").write_text("[*]\nend_of_line = crlf\ninsert_final_newline = true\n")
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / ".editorconfig").write_text("[*]\nend_of_line = lf\n")
    (root / "d" / "e" / ".editorconfig").write_text("root=true\n")
    assert write(files, family, root / "a", "a\nb") == b"a\r\nb\r\n"
    assert write(files, family, root / "d" / "a", "a\nb") == b"a\nb\n"
    assert write(files, family, root / "d" / "e" / "a", "a\nb") == b"a\nb"


@both
def test_an_editorconfig_outside_hidden_or_behind_a_link_says_nothing(root: Path, family: str) -> None:
    crlf = "[*]\nend_of_line = crlf\n"
    (root.parent / ".editorconfig").write_text(crlf)
    (root / "hidden").mkdir()
    (root / "hidden" / ".editorconfig").write_text(crlf)
    (root / ".handrailignore").write_text("hidden/.editorconfig\n")
    (root / "linked").mkdir()
    os.symlink("../../.editorconfig", root / "linked" / ".editorconfig")
    with handrail.open(root=root, approve="auto", data_dir=root.parent / "data") as files:
        for name in ("a", "hidden/a", "linked/a"):
            assert write(files, family, root / name, "a\nb\n") == b"a\nb\n"


def test_an_editorconfig_that_changes_counts_from_then_on(files: Handrail, root: Path) -> None:
    assert write(files, "batch", root / "a", "a\n") == b"a\n"
    (root / ".editorconfig").write_text("[*]\nend_of_line = crlf\n")
    assert write(files, "batch", root / "b", "a\n") == b"a\r\n"
    (root / ".editorconfig").write_text("[*]\nend_of_line = lf\n\n")
    assert write(files, "batch", root / "c", "a\n") == b"a\n"


@pytest.mark.parametrize("name", ["no-such", "utf-16", "base64"])
def test_an_encoding_that_nobody_knows_stops_the_start(root: Path, name: str) -> None:
    with pytest.raises(InvalidCall, match="encoding"):
        handrail.open(root=root, data_dir=root.parent / "d", settings={"encoding": [{"paths": "*", "encoding": name}]})
