"""Three-way merges, with `git merge-file` as the judge."""

import itertools
import random
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.history.alignment import changes
from handrail.history.merge import Labels, merge

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git as the judge")
MARK = "<" * 7, "=" * 7, ">" * 7


def git(place, triples) -> list[tuple[str, int]]:
    """What `git merge-file` makes of each (base, ours, theirs), and how many conflicts it has."""
    for number, texts in enumerate(triples):
        for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
            (place / f"{number}.{name}").write_bytes(text.encode())
    loop = (
        "n=0; while [ -e $n.base ]; do git merge-file -pq -L ours -L base -L theirs $n.ours $n.base $n.theirs > $n.out;"
        " echo $? > $n.code; n=$((n + 1)); done"
    )
    subprocess.run(["sh", "-c", loop], cwd=place, check=True)
    return [
        ((place / f"{n}.out").read_bytes().decode(), int((place / f"{n}.code").read_text()))
        for n in range(len(triples))
    ]


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


def spelled(chance: random.Random, lines: list[str], ends: str) -> str:
    text = "".join(line + (("\r\n" if len(line) % 2 else "\n") if ends == "mixed" else ends) for line in lines)
    return text.removesuffix("\n").removesuffix("\r") if chance.random() < 0.15 else text


CODE = [f"line {n}" for n in range(40)] + [""] * 8 + ["}"] * 8 + ["    return x"] * 3
ALPHABETS = {
    "lines of their own": ([f"line {n}" for n in range(200)], 30, 4, "\n", 60),
    "like code": (CODE, 60, 5, "\n", 70),
    "like code in CRLF": (CODE, 60, 5, "\r\n", 30),
    "like code with mixed ends": (CODE, 30, 4, "mixed", 30),
    "mostly repeated": (list("abcdef"), 12, 3, "\n", 70),
    "two lines": (list("ab"), 12, 3, "\n", 70),
    "none to read": (["", "{", "}", "  "], 20, 4, "\n", 50),
    "long and repeated": (list("abc"), 700, 30, "\n", 8),
    "long": ([f"line {n}" for n in range(400)] + ["", "}"] * 200, 1500, 40, "\n", 4),
}


@needs_git
@pytest.mark.parametrize("name", ALPHABETS)
def test_what_git_merges_merges_alike_and_what_conflicts_there_does_here(name, tmp_path):
    words, size, times, ends, count = ALPHABETS[name]
    chance = random.Random(name)
    triples = []
    for _ in range(count):
        base = [chance.choice(words) for _ in range(chance.randint(0, size))]
        sides = (edited(chance, base, words, chance.randint(1, times)) for _ in "12")
        mark = "\ufeff" * (chance.random() < 0.1)
        triples.append([mark + spelled(chance, lines, ends) for lines in (base, *sides)])
    merged = 0
    for texts, (told, conflicts) in zip(triples, git(tmp_path, triples), strict=True):
        found = merge(*texts)
        assert bool(found.conflicts) == bool(conflicts), texts
        if not conflicts:
            merged += 1
        if not conflicts or ends == "\n":
            assert found.text == told, texts
    assert merged or count < 10


@needs_git
def test_texts_far_apart_are_searched_as_far_as_git_does(tmp_path):
    chance = random.Random(5)

    def another(base: list[int], most: int) -> list[int]:
        out, at = list[int](), 0
        while at < len(base):
            at += chance.randint(0, 4)
            out += [chance.randrange(most) for _ in range(chance.randint(0, 4))]
            run = chance.randint(1, 40)
            out, at = out + base[at : at + run], at + run
        return out

    triples = []
    for most in (1500, 300):
        base = [chance.randrange(most) for _ in range(1500)]
        versions = (base, another(base, most), another(base, most))
        triples.append(["".join(f"{line}\n" for line in version) for version in versions])
    for texts, (told, _) in zip(triples, git(tmp_path, triples), strict=True):
        assert merge(*texts).text == told


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


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\ud83d"]), max_size=12).map("".join)


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=120, deadline=None)
@given(a=numbers, b=numbers)
def test_changes_lead_from_one_text_to_the_other_and_lie_apart(a, b):
    found = changes(a, b)
    out, at = list[int](), 0
    for change in found:
        out += a[at : change.start] + b[change.first : change.last]
        at = change.end
    assert out + a[at:] == b
    assert all(one.end < other.start and one.last < other.first for one, other in itertools.pairwise(found))


@settings(max_examples=120, deadline=None)
@given(a=st.lists(st.integers(0, 2), max_size=5), b=st.lists(st.integers(0, 2), max_size=5))
def test_short_texts_have_as_few_changes_as_can_be(a, b):
    kept = len(a) - sum(change.end - change.start for change in changes(a, b))
    assert kept <= longest_common(a, b)
    if all(a.count(line) < 4 and b.count(line) < 4 for line in a + b):  # what is too frequent may be set aside
        assert kept == longest_common(a, b)


def test_too_much_effort_is_one_conflict(monkeypatch):
    monkeypatch.setattr("handrail.history.alignment.EFFORT", 10)
    base, ours, theirs = ("".join(f"{n * step % 7}\n" for n in range(60)) for step in (1, 2, 3))
    found = merge(base, ours, theirs)
    assert found.conflicts == 1
    assert found.text.startswith("<<<<<<< ours\n")


def test_long_texts_without_a_common_line_end_in_bounded_effort():
    chance = random.Random(1)
    base, ours = ("".join(f"{chance.randrange(3000)}\n" for _ in range(3000)) for _ in "12")
    assert merge(base, ours, "first\n" + base).conflicts
    assert merge(base, "apart\n" * 3000, "first\n" + base).conflicts
