"""Diffs are what git takes: applied to the text before they give the text after, byte for byte, in bounded time."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.text import diff

TEXT = st.lists(
    st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\re\n", "f\x0cg\n", "+x\n", "-y\n", "@@ z\n"]), max_size=14
)


def applied(patch: str, before: str, directory: Path) -> bytes:
    target = directory / "f.txt"
    target.write_bytes(before.encode())
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    env["GIT_CEILING_DIRECTORIES"] = str(directory.parent)
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=patch.encode(), cwd=directory, env=env, check=True, capture_output=True)
    return target.read_bytes()


@settings(max_examples=80, deadline=None)
@given(TEXT, TEXT, st.sampled_from([(0, 0), (0, 1), (1, 0), (1, 1)]), st.integers(1, 4))
def test_git_applies_it(
    tmp_path_factory: pytest.TempPathFactory, a: list[str], b: list[str], bare: tuple[int, int], context: int
) -> None:
    before, after = "".join(a), "".join(b)
    before, after = before[: len(before) - bare[0]], after[: len(after) - bare[1]]
    if not before or not after or before == after:
        return  # git knows an empty file as one to be made or removed only
    patch = diff.unified(before, after, name="f.txt", context=context)
    assert applied(patch, before, tmp_path_factory.mktemp("d")) == after.encode()


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
def test_the_way_is_the_shortest(a: list[str], b: list[str]) -> None:
    codes = diff.opcodes(a, b)
    assert [x for tag, i, j, k, m in codes for x in (a[i:j] if tag == "equal" else b[k:m])] == b
    assert all(a[i:j] == b[k:m] for tag, i, j, k, m in codes if tag == "equal")
    assert [tag for tag, *_ in codes].count("equal") <= len(codes) // 2 + 1
    assert sum(j - i for tag, i, j, _, _ in codes if tag == "equal") == longest_common(a, b)


def longest_common(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for at, y in enumerate(b):
            row.append(before[at] + 1 if x == y else max(row[at], before[at + 1]))
    return row[-1]


@pytest.mark.parametrize(("before", "after"), [("", "a\n"), ("a\n", ""), ("a", ""), ("", "a")])
def test_an_empty_side_is_spelled_as_gnu_does(before: str, after: str) -> None:
    patch = diff.unified(before, after, name="f")
    assert "@@ -0,0 +1 @@" in patch or "@@ -1 +0,0 @@" in patch


def test_a_missing_last_line_end_is_said() -> None:
    assert diff.unified("a\nb", "a\nb\n", name="f") == (
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    )


def test_equal_texts_have_no_diff() -> None:
    assert diff.unified("a\n", "a\n", name="f") == ""


def test_a_capped_diff_says_how_much_is_left_out() -> None:
    patch = diff.unified("a\n" * 50, "b\n" * 50, name="f", max_lines=10)
    assert patch.count("\n") == 11
    assert patch.endswith("[93 more lines of this diff are not shown]\n")


def test_a_name_cannot_forge_a_header() -> None:
    patch = diff.unified("a\n", "b\n", name="x\n+++ b/y")
    assert patch.splitlines()[0] == "--- a/x\\n+++ b/y\t"
    assert sum(line.startswith(("+++ ", "--- ")) for line in patch.split("\n")) == 2


def test_a_carriage_return_shows_on_a_screen() -> None:
    patch = diff.unified("a\nb\n", "a\rEVIL\nb\r\n", name="f")
    shown = diff.readable(patch)
    assert "+a␍EVIL\n" in shown
    assert "+b␍\n" in shown
    assert "\r" not in shown


def test_a_readable_diff_can_not_move_the_cursor_or_turn_text_around() -> None:
    assert diff.readable("+\x1b[2Jx\u202ey\x08\udcff\n\tz\n") == "+\\x1b[2Jx\\u202ey\\x08\\xff\n\tz\n"
    assert diff.readable("+␍\n") == "+\\u240d\n"


def test_a_line_is_made_visible() -> None:
    assert diff.visible("\tdef  f():  \r\n") == "→def  f():··␍¶"
    assert diff.visible("  x\u00a0y") == "··x⍽y"
    assert diff.visible("    ") == "····"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([f"{n}\n" for n in range(60000)], [f"{n}x\n" for n in range(60000)]),
        (["x\n", "y\n"] * 30000, ["y\n", "z\n", "x\n"] * 20000),
        ([f"{n % 300}\n" for n in range(50000)], [f"{n % 301}\n" for n in range(50000)]),
        ([f"{n % 7}\n" for n in range(900)], [f"{n % 11}\n" for n in range(900)]),
        ([f"{n % 190}\n" for n in range(19000)], [f"{(n * 7) % 190}\n" for n in range(19000)]),
    ],
)
def test_the_effort_is_bounded(a: list[str], b: list[str]) -> None:
    codes = diff.opcodes(a, b)
    rebuilt = [line for tag, i, j, k, m in codes for line in (a[i:j] if tag == "equal" else b[k:m])]
    assert rebuilt == b
