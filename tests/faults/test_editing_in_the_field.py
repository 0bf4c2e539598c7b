"""The rest of "Edit matching" and "Encodings", down the whole road in both families.

| seen in the field | shown here by |
| --- | --- |
| the file is touched though the edit failed | `test_a_failed_edit_leaves_bytes_and_times` |
| a near miss takes long | `test_a_near_miss_of_a_huge_anchor_is_explained_in_bounded_work` |
| one of several edits is applied | `test_several_edits_are_all_made_or_none` |
| the machine's own encoding is used | `test_the_locale_has_no_say` |
| a huge file is read into memory | `test_a_file_of_a_gigabyte_is_refused_with_the_limit` |
| all other kinds | test_faults_in_editing.py, test_arguments.py, test_search.py |
| a path in a patch's body | there is none: a call names its one file, which is judged (tests/guard/) |
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from either_family import both, good, opened


@both
def test_a_failed_edit_leaves_bytes_and_times(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a.html"
        path.write_bytes(b"<p>a</p><p>b</p>")
        before = path.stat()
        tools.read("a.html")
        assert tools.edit("a.html", "absent", "x")["kind"] == "no_match"
        assert tools.edits("a.html", ("<p>a</p>", "x"), ("absent", "y"))["kind"] == "no_match"
        after = path.stat()
        assert (after.st_mtime_ns, after.st_ctime_ns, after.st_ino) == (
            before.st_mtime_ns,
            before.st_ctime_ns,
            before.st_ino,
        )
        assert path.read_bytes() == b"<p>a</p><p>b</p>"


@both
def test_several_edits_are_all_made_or_none(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        path = tools.root / "a"
        path.write_bytes(b"one two three\n")
        tools.read("a")
        assert tools.edits("a", ("one", "1"), ("absent", "2"), ("three", "3"))["kind"] == "no_match"
        assert path.read_bytes() == b"one two three\n"
        assert good(tools.edits("a", ("one", "1"), ("two", "2"), ("three", "3")))
        assert path.read_bytes() == b"1 2 3\n"


@both
def test_a_near_miss_of_a_huge_anchor_is_explained_in_bounded_work(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family) as tools:
        rows = [f"    value_{n} = compute(first_{n}, second_{n})\n" for n in range(60_000)]
        text = "".join(rows)
        (tools.root / "a").write_bytes(text.encode())
        tools.read("a")
        started = time.process_time()
        answer = tools.edit("a", text[1_000_000:2_000_000].replace("first_30000", "first_x"), "gone")
        assert time.process_time() - started < 10
        assert answer["kind"] == "no_match"
        assert answer["nearest"]
        assert len(str(answer)) < 10_000


@both
def test_a_file_of_a_gigabyte_is_refused_with_the_limit(tmp_path: Path, family: str) -> None:
    with opened(tmp_path, family, settings={"freshness": [{"paths": "*", "mode": "off"}]}) as tools:
        path = tools.root / "big"
        with path.open("wb") as file:
            file.truncate(1 << 30)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer = tools.edit("big", "a", "b")
        assert (answer["kind"], answer["bytes"], answer["max_bytes"]) == ("too_large", 1 << 30, 64 << 20)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


EDIT = """
import sys
import handrail
root, data = sys.argv[1:]
with handrail.open(root=root, approve="auto", data_dir=data) as files:
    files.call("read_files", {"files": [{"path": "a"}]}).unwrap()
    target = {"old_string": "\\u00e6", "new_string": "\\u00f8\\u00e5"}
    files.call("edit_file", {"path": "a", "targets": [target]}).unwrap()
"""


def test_the_locale_has_no_say(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    path = tmp_path / "root" / "a"
    path.write_bytes("æ ß 漢\n".encode())
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"}
    words = [sys.executable, "-c", EDIT, str(tmp_path / "root"), str(tmp_path / "data")]
    told = subprocess.run(words, env=os.environ | plain, capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    assert path.read_bytes() == "øå ß 漢\n".encode()
