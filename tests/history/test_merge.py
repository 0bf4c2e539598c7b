"""Three-way merges, with `git merge-file` as the judge."""

import itertools
import random
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.history.alignment import align, leftmost, rightmost
from handrail.history.merge import Labels, merge

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git as the judge")
MARK = "<" * 7, "=" * 7, ">" * 7


def git(place, base: str, ours: str, theirs: str) -> tuple[str, int]:
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (place / name).write_bytes(text.encode())
    command = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    assert 0 <= done.returncode < 128, done.stderr
    return done.stdout.decode(), done.returncode


def edited(chance: random.Random, lines: list[str], words: list[str], times: int) -> list[str]:
    out = list(lines)
    for _ in range(times):
        at, kind = chance.randrange(len(out) + 1), chance.random()
        if kind < 0.35:
            out[at:at] = [chance.choice(words) for _ in range(chance.randint(1, 3))]
        elif kind < 0.65:
            del out[at : at + chance.randint(1, 3)]
        elif out:
            out[at : at + 1] = [chance.choice(words)]
    return out


def joined(chance: random.Random, lines: list[str]) -> str:
    text = "".join(line + "\n" for line in lines)
    return text[:-1] if chance.random() < 0.15 else text


ALPHABETS = {
    "lines of their own": ([f"line {n}" for n in range(200)], 30, 4),
    "like code": ([f"line {n}" for n in range(40)] + [""] * 8 + ["}"] * 8 + ["    return x"] * 3, 60, 5),
    "mostly repeated": (list("abcdef"), 12, 3),
}


@needs_git
@pytest.mark.parametrize("name", ALPHABETS)
def test_never_merges_where_git_conflicts_and_gives_the_same_bytes(name, tmp_path):
    words, size, times = ALPHABETS[name]
    chance = random.Random(name)
    merged = needless = 0
    for _ in range(150):
        base = [chance.choice(words) for _ in range(chance.randint(0, size))]
        texts = [
            joined(chance, lines)
            for lines in (base, *(edited(chance, base, words, chance.randint(1, times)) for _ in "12"))
        ]
        told, conflicts = git(tmp_path, *texts)
        found = merge(*texts)
        if conflicts:
            assert found.conflicts, texts
        elif found.conflicts:
            needless += 1
        else:
            merged += 1
            assert found.text == told, texts
    assert merged > 20
    assert needless <= 14


def test_changes_apart_are_both_kept():
    found = merge("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")
    assert (found.text, found.conflicts) == ("A\nb\nc\nd\nE\n", 0)


def test_changes_that_touch_are_a_conflict_with_labels():
    found = merge("a\nb\nc\n", "a\nX\nc\n", "a\nb\nY\n", labels=Labels(ours="before", theirs="now"))
    assert found.conflicts == 1
    assert found.text == "a\n<<<<<<< before\nX\nc\n=======\nb\nY\n>>>>>>> now\n"


def test_the_same_change_on_both_sides_is_no_conflict():
    assert merge("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\nd\n").text == "a\nX\nc\nd\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "text"),
    [
        ("a\nb", "a\nb", "a\nb\n", "a\nb\n"),
        ("a\nm\nb", "A\nm\nb", "a\nm\nb\n", "A\nm\nb\n"),
        ("a\nm\nb\n", "A\nm\nb\n", "a\nm\nb", "A\nm\nb"),
        ("a\r\nm\r\nb\nc", "A\r\nm\r\nb\nc", "a\r\nm\r\nb\nC", "A\r\nm\r\nb\nC"),
        ("a\rb\n\x0cc\nd\u2028e\n", "a\rb\n\x0cc\nd\u2028E\n", "A\rb\n\x0cc\nd\u2028e\n", "A\rb\n\x0cc\nd\u2028E\n"),
        ("", "x\n", "", "x\n"),
        ("x\n", "", "x\n", ""),
    ],
)
def test_line_ends_and_missing_final_newlines_stay(base, ours, theirs, text):
    found = merge(base, ours, theirs)
    assert (found.text, found.conflicts) == (text, 0)


def test_markers_start_lines_of_their_own_in_the_line_ends_around():
    found = merge("a\r\nb", "a\r\nX", "a\r\nY")
    assert found.text == "a\r\n<<<<<<< ours\r\nX\r\n=======\r\nY\r\n>>>>>>> theirs\r\n"


def test_where_a_line_came_from_is_never_guessed():
    # Which of the equal lines was removed can't be told, so nor what stands beside the added one.
    found = merge("a\na\na\n", "a\na\n", "a\nx\na\na\n")
    assert found.conflicts


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\ud83d"]), max_size=12).map("".join)


@settings(max_examples=200, deadline=None)
@given(base=texts, ours=texts, theirs=texts)
@example(base="", ours="", theirs="")
def test_sides_may_be_swapped_and_one_sided_changes_pass_through(base, ours, theirs):
    assert merge(base, ours, base).text == ours
    assert merge(base, base, theirs).text == theirs
    assert merge(base, ours, ours).text == ours
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert bool(one.conflicts) == bool(other.conflicts)
    if not one.conflicts:
        assert one.text == other.text


numbers = st.lists(st.integers(0, 4), max_size=25)


def longest_common(a: list[int], b: list[int]) -> int:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@settings(max_examples=300, deadline=None)
@given(a=numbers, b=numbers)
def test_an_alignment_is_one_of_the_longest(a, b):
    for pairs in (align(a, b), align(a, b, backwards=True)):
        for found in (pairs, leftmost(a, b, pairs), rightmost(a, b, pairs)):
            assert len(found) == longest_common(a, b)
            assert all(a[i] == b[j] for i, j in found)
            assert all(p[0] < q[0] and p[1] < q[1] for p, q in itertools.pairwise(found))


def test_long_texts_without_a_common_line_end_in_bounded_effort():
    chance = random.Random(1)
    base, ours = ("".join(f"{chance.randrange(3000)}\n" for _ in range(6000)) for _ in "12")
    assert merge(base, ours, "first\n" + base).conflicts
    assert merge(base, "apart\n" * 6000, "first\n" + base).conflicts
