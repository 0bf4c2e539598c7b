"""Every fault kind of "Performance and hangs" and "Big files" in searches: they end, and say what they left out."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir

import pytest
from engines import until_rebuilt
from faces import workspace
from plain_view import Finder, PlainView, tree

import handrail
from handrail.model.operations import Find, Query

pytestmark = pytest.mark.usefixtures("engine")
TINY = 1e-9


def apart(program: str, *arguments: str) -> dict[str, object]:
    """Run a program in a process of its own, with this test's engine, and give back what it told as JSON."""
    from handrail.search import inside

    start = f"import json, os, sys\nfrom handrail.search import inside\ninside.SMALL = {inside.SMALL}\n"
    read, write = os.pipe()  # an open, silent standard input
    try:
        done = subprocess.run(
            [sys.executable, "-c", start + program, *arguments],
            env=os.environ | {"HOME": os.path.dirname(arguments[0])},
            stdin=read,
            capture_output=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout.rpartition(b"\0")[2]))


ASK = """
import handrail
with handrail.open(root=sys.argv[1], data_dir=sys.argv[2]) as files:
    found = files.call("find_files", {"queries": [{"pattern": "needle", "file_pattern": "**/*"}]}).payload
    other = files.call("Grep", {"pattern": "needle"}).payload
    named = files.call("find_files", {"queries": [{"pattern": "*.txt"}]}).payload
print(json.dumps({"found": found, "other": other, "named": named}, default=str))
"""


def test_an_open_silent_standard_input_keeps_no_search_waiting(tmp_path: Path) -> None:
    root = tree(tmp_path / "project", {"a.txt": "needle\n"})
    told = apart(ASK, str(root), str(tmp_path / "data"))
    assert [row["path"] for row in told["found"]["files"]] == ["a.txt"]
    assert told["other"]["files"] == [str(root / "a.txt")]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a user to give its rights away")
@pytest.mark.parametrize("closed", ["directory", "file"])
def test_what_cannot_be_read_is_counted_and_the_rest_is_found(
    tmp_path: Path, closed: str, request: pytest.FixtureRequest
) -> None:
    root = tree(tmp_path / "project", {"a.txt": "needle\n", "closed/b.txt": "needle\n", "d/c.txt": "needle\n"})
    (tmp_path / "data").mkdir()
    for place in [tmp_path, *tmp_path.rglob("*")]:
        os.chown(place, 65534, 65534)
    for place in (tmp_path, *tmp_path.parents):
        if place != Path(gettempdir()) and place.is_relative_to(gettempdir()):
            place.chmod(place.stat().st_mode | 0o055)
    (root / "closed" if closed == "directory" else root / "closed" / "b.txt").chmod(0)
    warm = tree(tmp_path / "warm", {"a": "needle\n"})  # the one whose rights are gone may not import any more
    drop = f"sys.argv[1:3], given = [{str(warm)!r}, {str(warm / 'data')!r}], sys.argv[1:3]\n{ASK}\n"
    drop += "sys.argv[1:3] = given\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\nprint(end='\\0')\n"
    told = apart(drop + ASK, str(root), str(tmp_path / "data"))
    assert {row["path"] for row in told["found"]["files"]} == {"a.txt", "d/c.txt"}
    assert told["found"]["skipped_unreadable"] == 1
    assert told["other"]["skipped"] == {"unreadable": 1}
    assert set(told["named"]["paths"]) == ({"a.txt", "d/c.txt"} | ({"closed/b.txt"} if closed == "file" else set()))


def test_pipes_sockets_and_devices_are_never_opened(tmp_path: Path) -> None:
    import socket

    with workspace(tmp_path, {"a.txt": "needle\n"}) as faces, socket.socket(socket.AF_UNIX) as listening:
        for number in range(3):
            os.mkfifo(faces.root / f"pipe{number}.txt")
        os.symlink("/dev/zero", faces.root / "zero.txt")
        os.symlink("pipe0.txt", faces.root / "linked.txt")
        here = os.getcwd()
        os.chdir(faces.root)  # a socket's name must be short
        try:
            listening.bind("socket.txt")
        finally:
            os.chdir(here)
        assert faces.holding("needle") == {"a.txt"}
        assert faces.named("*.txt") == {"a.txt"}
        assert faces.find(dir="pipe0.txt", pattern="needle", mode="search")["kind"] == "not_regular_file"


def test_the_whole_machine_is_searched_within_its_budget_and_marked_so(tmp_path: Path) -> None:
    with handrail.open(root="/", data_dir=tmp_path / "data", settings={"limits.deadline": 0.05}) as files:
        assert files.call("find_files", {"queries": [{"pattern": "*.nowhere"}]}).payload["complete"] is False
        assert files.call("Grep", {"pattern": "no such text anywhere"}).payload["complete"] is False
    with handrail.open(root="/", data_dir=tmp_path / "data", settings={"limits.max_entries": 50}) as files:
        assert files.call("find_files", {"queries": [{"pattern": "*.nowhere"}]}).payload["complete"] is False


@pytest.mark.parametrize("mode", ["search", "glob", "list"])
def test_with_no_time_at_all_the_answer_is_partial_and_says_so(tmp_path: Path, mode: str) -> None:
    tree(tmp_path, {f"d{n}/a": "needle\n" for n in range(20)})
    pattern = {"search": "needle", "glob": "a", "list": None}[mode]
    asked = Find(mode=mode, queries=(Query(directory=".", pattern=pattern, recursive=True),))
    found = Finder(tmp_path).find(asked, view=PlainView(tmp_path, seconds=0.0))
    assert not found.complete


def test_a_deadline_gives_partial_results_that_are_no_proof_of_absence(tmp_path: Path) -> None:
    files = {f"d{n}/a.txt": "needle\n" for n in range(50)}
    with workspace(tmp_path, files, limits__deadline=TINY) as faces:
        for query in ({"pattern": "needle", "file_pattern": "**/*"}, {"pattern": "*.txt"}):
            answer = faces.files.call("find_files", {"queries": [query]})
            assert answer.payload["complete"] is False, answer.payload
            assert "incomplete" in answer.text
            assert "at least" in answer.text.split("\n")[-1]
        told = faces.grep("needle")
        assert (told["complete"], told["truncated"]) == (False, True)


def test_a_cap_on_visited_entries_ends_a_walk_and_is_said(tmp_path: Path) -> None:
    with workspace(tmp_path, {f"d{n}/a.txt": "needle\n" for n in range(50)}, limits__max_entries=10) as faces:
        assert faces.find(pattern="needle", mode="search")["complete"] is False
        assert faces.find(pattern="*.txt")["complete"] is False


def test_a_cap_on_visited_entries_ends_a_list_and_is_said(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    for engine in ("inside", "ripgrep"):
        until_rebuilt(request, engine, "a recursive list knows no cap on entries")
    with workspace(tmp_path, {f"d{n}/a.txt": "" for n in range(50)}, limits__max_entries=10) as faces:
        assert faces.find(recursive=True)["complete"] is False


def test_a_cancelled_search_ends_and_is_not_complete(tmp_path: Path) -> None:
    from handrail.model.calls import Cancellation

    cancelled = Cancellation()
    cancelled.cancel()
    with workspace(tmp_path, {f"d{n}/a.txt": "needle\n" for n in range(50)}) as faces:
        query = {"queries": [{"pattern": "needle", "file_pattern": "**/*"}]}
        told = faces.files.call("find_files", query, cancellation=cancelled).payload
        assert told["kind"] == "cancelled" or not told["complete"]


def test_one_line_of_50_mb_floods_nothing_and_is_shown_in_part(tmp_path: Path) -> None:
    with workspace(tmp_path, {"a.txt": "needle\n"}) as faces:
        with (faces.root / "big.txt").open("wb") as big:
            for _ in range(25):
                big.write(b"x" * (2 << 20))
            big.write(b" needle " + b"y" * 99 + b"\n")
        assert faces.holding("needle") == {"a.txt", "big.txt"}
        found = faces.find(pattern="needle", mode="search", output="content")
        assert [row["path"] for row in found["rows"]] == ["a.txt", "big.txt"]
        row = found["rows"][1]
        assert row["cut"]
        assert "needle" in row["text"]
        assert len(row["text"].encode()) <= 512
        assert row["column"] == (50 << 20) + 2 - row["text"].index("needle")


def test_a_line_with_millions_of_matches_fails_no_search(tmp_path: Path) -> None:
    with workspace(tmp_path, {"a.txt": "y\n", "min.js": b"y" * (2 << 20) + b"\n"}) as faces:
        found = faces.find(pattern="x*", mode="search")
        assert [row["path"] for row in found["files"]] == ["a.txt", "min.js"]


def test_rows_without_end_make_a_page_and_a_count(tmp_path: Path) -> None:
    with workspace(tmp_path, {"a.txt": b"needle\n" * 50_000}) as faces:
        found = faces.find(pattern="needle", mode="search", output="content", limit=1024)
        assert (found["total"], len(found["rows"]), found["next_offset"]) == (50_000, 1024, 1024)
        (last,) = faces.find(pattern="needle", mode="search", output="content", offset=49_999)["rows"]
        assert last["row"] == 50_000
        assert faces.find(pattern="needle", mode="search")["files"][0]["count"] == 50_000


def test_a_long_line_has_a_preview_around_its_first_match(tmp_path: Path) -> None:
    line = "x" * 3000 + "NEEDLE" + "y" * 2000
    with workspace(tmp_path, {"a.txt": f"first\n{line}\nlast\n"}) as faces:
        (row,) = faces.find(pattern="NEEDLE", mode="search", output="content")["rows"]
        assert (row["row"], row["cut"], len(row["text"])) == (2, True, 512)
        assert line[row["column"] - 1 :].startswith(row["text"])
        assert "NEEDLE" in row["text"]
        (match,) = faces.grep("NEEDLE", output_mode="content")["matches"]
        assert (match["line"], match["match"], match["cut"]) == (2, row["text"], True)


@pytest.mark.parametrize(
    "text", ["a\n\x0cb\nNEEDLE\n", "a\u2028b\nNEEDLE", "a\x85b\n\x1c\nNEEDLE\n", "a\rb\nNEEDLE\r\n"]
)
def test_a_row_has_the_number_that_a_reader_gives_it(tmp_path: Path, text: str) -> None:
    with workspace(tmp_path, {"a.txt": text}) as faces:
        ((_, row, shown),) = faces.rows("NEEDLE")
        read = faces.files.call("read_files", {"files": [{"path": "a.txt", "around": [row], "context": 0}]})
        assert f"{row}\t{shown}" in read.text
        assert faces.grep("NEEDLE", output_mode="content")["matches"][0]["line"] == row


def test_folders_of_dependencies_explode_no_answer(tmp_path: Path) -> None:
    files = {f"node_modules/p{n % 40}/file{n}.js": "needle\n" for n in range(2000)}
    with workspace(tmp_path, files) as faces:
        for asked in ({"recursive": True}, {"pattern": "*.js"}):
            answer = faces.files.call("find_files", {"queries": [asked]})
            shown = len(answer.payload.get("entries") or answer.payload["paths"])
            assert len(answer.text.encode()) <= 130 * 1024
            assert answer.payload["dropped"] + shown == answer.payload["total"] >= 2000
            assert f"{answer.payload['dropped']} dropped" in answer.text.split("\n")[-1]
        found = faces.find(pattern="needle", mode="search")
        assert (len(found["files"]), found["next_offset"], found["total"]) == (256, 256, 2000)
        (faces.root / ".gitignore").write_text("node_modules/\n")
        assert faces.named("*.js") == faces.holding("needle") == set()
