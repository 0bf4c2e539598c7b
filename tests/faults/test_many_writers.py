"""Many at once: threads of one session all land; processes with sessions of their own lose no reported edit."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import handrail

EDITOR = """
import sys
import handrail

root, data, name, count = sys.argv[1:]
with handrail.open(root=root, approve="auto", data_dir=data) as files:
    for number in range(int(count)):
        token = f"{name}-{number}"
        for attempt in range(200):
            files.call("read_files", {"files": [{"path": "shared.txt"}]}).unwrap()
            target = {"old_string": "end\\n", "new_string": token + "\\nend\\n"}
            result = files.call("edit_file", {"path": "shared.txt", "targets": [target]})
            if result.ok:
                print(token, attempt, flush=True)
                break
            assert result.kind in ("stale", "file_modified_since_read", "busy"), result.payload
        else:
            raise SystemExit(f"{token} never landed")
"""


@pytest.mark.parametrize("family", ["batch", "claude_code"])
def test_24_threads_of_one_session_each_edit_their_own_token_and_all_land(tmp_path: Path, family: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    path = root / "tokens.txt"
    path.write_bytes(b"".join(b"token %02d\n" % n for n in range(24)))
    start = threading.Barrier(24)
    results: list[handrail.Result | None] = [None] * 24

    with handrail.open(root=root, approve="auto", data_dir=tmp_path / "data") as files:
        files.call("read_files", {"files": [{"path": "tokens.txt"}]}).unwrap()

        def edit(number: int) -> None:
            pair = {"old_string": f"token {number:02d}", "new_string": f"changed {number:02d}"}
            start.wait()
            if family == "batch":
                results[number] = files.call("edit_file", {"path": "tokens.txt", "targets": [pair]})
            else:
                results[number] = files.call("Edit", {"file_path": str(path), **pair})

        threads = [threading.Thread(target=edit, args=(n,)) for n in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [r.payload for r in results if r is None or not r.ok] == []
    assert path.read_bytes() == b"".join(b"changed %02d\n" % n for n in range(24))


def test_4_processes_with_sessions_of_their_own_lose_no_reported_edit(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "shared.txt").write_bytes(b"start\nend\n")
    count = 8
    editors = [
        subprocess.Popen(
            [sys.executable, "-c", EDITOR, str(root), str(tmp_path / "data"), f"editor{n}", str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]
    landed: list[str] = []
    for editor in editors:
        out, err = editor.communicate()
        assert editor.returncode == 0, err.decode()
        landed += [line.split()[0] for line in out.decode().split("\n") if line]
    rows = (root / "shared.txt").read_bytes().decode().split("\n")
    assert sorted(rows[1:-2]) == sorted(landed) and len(landed) == 4 * count
    assert sorted(p.name for p in root.iterdir()) == ["shared.txt"]
