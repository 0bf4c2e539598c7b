"""ISO-2022 looks like ASCII; a patch must not mix another encoding into it."""

from pathlib import Path

import pytest

import handrail


@pytest.mark.parametrize(
    ("encoding", "text", "new"), [("iso2022_jp", "日本語テスト\nabc\n", "日"), ("iso2022_kr", "한국어\nabc\n", "한")]
)
def test_an_iso_2022_file_is_read_and_edited_as_what_it_is(tmp_path: Path, encoding: str, text: str, new: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "j.txt").write_bytes(text.encode(encoding))
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        read = files.call("read_files", {"files": [{"path": "j.txt"}]})
        assert text.split("\n", maxsplit=1)[0] in read.text
        edit = {"path": "j.txt", "targets": [{"old_string": "abc", "new_string": new}]}
        assert files.call("edit_file", edit).ok
    assert (root / "j.txt").read_bytes().decode(encoding) == text.replace("abc", new)


def test_escape_sequences_of_a_terminal_are_no_encoding(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "log.txt").write_bytes(b"\x1b[31mred\x1b[0m\nplain\n")
    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        read = files.call("read_files", {"files": [{"path": "log.txt"}]})
        listed = read.payload["files"]
        assert isinstance(listed, list) and listed[0].get("encoding", "utf-8") == "utf-8"
