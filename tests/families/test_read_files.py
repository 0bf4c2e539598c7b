"""read_files: numbered rows, tails, joined parts, and failures that leave the others alone."""

from typing import Any

from faces_alone import ROOT, answer, operations, text

from handrail.model.answers import ReadBinary, ReadImage, Row
from handrail.model.calls import ImageBlock
from handrail.model.errors import NotThere, TooLarge
from handrail.model.paths import seal

A = f"{ROOT}/a.txt"


def one(**file: Any) -> dict[str, Any]:
    return {"files": [{"path": "a.txt", **file}]}


def test_a_read_has_the_defaults_of_the_specification() -> None:
    (read,) = operations("read_files", one())
    assert (read.offset, read.limit, read.max_rows, read.max_text, read.max_line) == (1, None, 2048, 1 << 20, 2000)
    assert (read.around, read.context, read.column, read.encoding) == (None, 20, None, None)


def test_a_limit_that_is_asked_for_is_not_capped_by_the_default() -> None:
    assert operations("read_files", one(limit=5000))[0].max_rows == 5000


def test_offsets_from_the_end_and_windows_reach_the_read() -> None:
    assert operations("read_files", one(offset=-10))[0].offset == -10
    assert operations("read_files", one(offset=0))[0].offset == 1
    assert operations("read_files", one(around=[12, 400], context=0))[0].around == (12, 400)
    assert operations("read_files", one(around=[]))[0].around is None


def test_rows_come_as_number_tab_line() -> None:
    reply, payload, shown = answer("read_files", one(), text(A, "one", "\ttwo"))
    assert shown == "1\tone\n2\t\ttwo"
    assert reply.ok
    file = payload["files"][0]
    assert (file["path"], file["kind"], file["text"], file["total"]) == ("a.txt", "text", shown, 2)
    assert (file["hash"], file["encoding"], file["line_end"]) == ("ab" * 32, "utf-8", "\n")


def test_a_cut_answer_ends_with_the_tail_alone_on_the_last_line() -> None:
    read = text(A, "[lines 1-1 of 1; call again with offset=9 for more]", "b", total=9, next_offset=3)
    _, payload, shown = answer("read_files", one(), read)
    assert shown.split("\n")[-1] == "[lines 1-2 of 9; call again with offset=3 for more]"
    assert shown.startswith("1\t[lines")
    assert payload["files"][0]["next_offset"] == 3


def test_a_total_that_is_not_exact_is_a_lower_bound() -> None:
    _, _, shown = answer("read_files", one(), text(A, "a", total=9, next_offset=2, exact=False))
    assert shown.split("\n")[-1] == "[lines 1-1 of at least 9; call again with offset=2 for more]"


def test_a_gap_between_windows_is_a_line_of_dots_and_missing_rows_are_said() -> None:
    read = text(A, "a", rows=(Row(row=3, text="c"), Row(row=None, text=""), Row(row=9, text="i")), missing_rows=(40,))
    _, payload, shown = answer("read_files", one(around=[3, 9, 40]), read)
    assert shown.startswith("3\tc\n...\n9\ti\n")
    assert "[past the end: 40;" in shown
    assert payload["files"][0]["missing_rows"] == [40]


def test_a_cut_line_is_marked_and_names_the_call_that_reads_on() -> None:
    read = text(A, rows=(Row(row=1, text="x" * 2000, cut=True),), first=1, last=1, total=1)
    _, payload, shown = answer("read_files", one(), read)
    assert payload["files"][0]["next_column"] == 2001
    assert '"column":2001' in shown
    assert "x [cut]" in shown


def test_an_encoding_other_than_utf_8_is_reported_with_its_confidence() -> None:
    _, payload, shown = answer("read_files", one(), text(A, "x", encoding="gbk", encoding_confidence=0.91))
    assert "[encoding: gbk, confidence 0.91]" in shown
    assert payload["files"][0]["encoding_confidence"] == 0.91


def test_several_files_have_headings_and_one_failure_leaves_the_others_alone() -> None:
    gone = NotThere(
        "not_found", "There is no b.txt.", hint="Nearest: a.txt.", path=f"{ROOT}/b.txt", facts={"nearest": ["a.txt"]}
    )
    asked = {"files": [{"path": "a.txt"}, {"path": "b.txt"}]}
    reply, payload, shown = answer("read_files", asked, text(A, "x"), gone)
    assert reply.ok
    assert shown.startswith("==> a.txt <==\n1\tx\n\n==> ")
    assert payload["files"][1]["kind"] == "not_found"
    assert payload["files"][1]["nearest"] == ["a.txt"]


def test_the_call_fails_only_when_every_file_did() -> None:
    gone = NotThere("not_found", "There is no b.txt.", path="b.txt")
    big = TooLarge("too_large", "c.txt is too large.", path="c.txt", facts={"bytes": 9, "max_bytes": 5})
    reply, payload, _ = answer("read_files", {"files": [{"path": "b.txt"}, {"path": "c.txt"}]}, gone, big)
    assert not reply.ok
    assert (payload["kind"], payload["error"]) == ("not_found", "There is no b.txt.")
    assert payload["files"][1]["max_bytes"] == 5


def test_results_of_one_path_are_joined_in_order() -> None:
    asked = {"files": [{"path": "a.txt", "limit": 1}, {"path": "a.txt", "offset": 5}, {"path": "a.txt", "offset": 6}]}
    parts = (
        text(A, "one", total=6, next_offset=2),
        text(A, "five", first=5, total=6, next_offset=6),
        text(A, "six", first=6, total=6),
    )
    _, payload, shown = answer("read_files", asked, *parts)
    assert len(payload["files"]) == 1
    assert shown == "1\tone\n...\n5\tfive\n6\tsix"
    assert "next_offset" not in payload["files"][0]


def test_an_empty_file_says_so() -> None:
    assert "empty" in answer("read_files", one(), text(A, notes=("The file is empty.",)))[2]
    assert "empty" in answer("read_files", one(), text(A))[2]


def test_a_file_that_no_longer_fits_is_named_with_its_next_call() -> None:
    read = text(A, total=9, next_offset=1, notes=("no room left",))
    _, _, shown = answer("read_files", one(), read)
    assert '{"files":[{"path":"a.txt","offset":1}]}' in shown


def test_a_binary_is_named_by_its_content() -> None:
    binary = ReadBinary(path=seal(A), media_type="application/zip", size=3, hash="00")
    reply, payload, shown = answer("read_files", one(), binary)
    assert not reply.ok
    assert payload["kind"] == "binary"
    assert "application/zip" in shown


def test_a_picture_travels_in_its_block_alone() -> None:
    picture = ReadImage(
        path=seal(A),
        media_type="image/png",
        data=b"png",
        width=2,
        height=1,
        original_width=4,
        original_height=2,
        size=3,
        hash="00",
    )
    reply, payload, shown = answer("read_files", one(), picture)
    assert reply.blocks[-1] == ImageBlock(b"png", "image/png")
    assert payload["files"][0]["original_width"] == 4
    assert "2x1 pixels shown" in shown


def test_stray_bytes_show_as_replacement_characters() -> None:
    _, payload, shown = answer("read_files", one(), text(A, "caf\udce9"))
    assert shown == "1\tcaf\ufffd"
    assert payload["files"][0]["text"] == shown


def test_a_path_asked_for_absolutely_is_answered_so() -> None:
    assert answer("read_files", {"files": [{"path": A}]}, text(A, "x"))[1]["files"][0]["path"] == A
