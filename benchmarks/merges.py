"""Three-way merges judged by `git merge-file`: random texts, and what two people could have made of a real release.

Run with `make bench-merges [triples of a kind, default 1000]`. For each kind it prints how often both merge and whether
the bytes are the same, how often both conflict, where only one of them does, and the time of one merge. Exit 1 where
git has a conflict and we don't, where the merged bytes differ, or where over 2 % of the conflicts are needless.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from handrail.history.merge import merge
from handrail.text import codec
from hunks import hunks, split
from replay import PACKAGES, fetched, is_text

Triple = tuple[str, str, str]
CODE = [f"line {n}" for n in range(40)] + [""] * 8 + ["}"] * 8 + ["    return x"] * 3
KINDS: dict[str, tuple[list[str], int, int, str, float]] = {
    "two lines": (list("ab"), 12, 3, "\n", 1),
    "six lines": (list("abcdef"), 14, 3, "\n", 1),
    "nothing to read": (["", "{", "}", "  "], 30, 5, "\n", 1),
    "like code": (CODE, 80, 6, "\n", 1),
    "like code, CRLF": (CODE, 80, 6, "\r\n", 1),
    "like code, mixed ends": (CODE, 40, 4, "mixed", 1),
    "long": ([f"line {n}" for n in range(400)] + ["", "}"] * 100, 1500, 40, "\n", 0.1),
    "long, repeated": (list("abc"), 700, 30, "\n", 0.1),
}


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{'':24}{'triples':>9}{'same bytes':>12}{'conflicts':>11}{'needless':>10}{'missed':>8}{'other':>7}{'ms':>8}")
    failed = False
    for name, (words, size, times, ends, share) in KINDS.items():
        chance = random.Random(name)
        triples = [made(chance, words, size, times, ends) for _ in range(max(1, int(count * share)))]
        failed = judged(name, triples) or failed
    for package, older, newer, form in PACKAGES:
        triples = list(real(package, older, newer, form, count))
        failed = judged(f"{package} {older} -> {newer}"[:24], triples) or failed
    return 1 if failed else 0


def judged(name: str, triples: list[Triple]) -> bool:
    same = conflicts = needless = missed = other = 0
    told = by_git(triples)
    began = time.perf_counter()
    found = [merge(*texts) for texts in triples]
    spent = (time.perf_counter() - began) / max(1, len(triples)) * 1000
    for ours, (text, conflict) in zip(found, told, strict=True):
        if conflict and ours.conflicts:
            conflicts += 1
        elif conflict:
            missed += 1
        elif ours.conflicts:
            needless += 1
        elif ours.text == text:
            same += 1
        else:
            other += 1
    print(f"{name:24}{len(triples):9}{same:12}{conflicts:11}{needless:10}{missed:8}{other:7}{spent:8.2f}", flush=True)
    return bool(missed or other) or needless > 0.02 * max(1, same + needless)


def by_git(triples: list[Triple]) -> list[tuple[str, int]]:
    """What git makes of each, and whether it has conflicts."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        for number, texts in enumerate(triples):
            for name, text in zip(("base", "ours", "theirs"), texts, strict=True):
                (place / f"{number}.{name}").write_bytes(text.encode())
        loop = (
            "n=0; while [ -e $n.base ]; do git merge-file -pq $n.ours $n.base $n.theirs > $n.out; echo $? > $n.code;"
            " n=$((n + 1)); done"
        )
        subprocess.run(["sh", "-c", loop], cwd=place, check=True)
        return [
            ((place / f"{n}.out").read_bytes().decode(), int((place / f"{n}.code").read_text()))
            for n in range(len(triples))
        ]


# triples


def made(chance: random.Random, words: list[str], size: int, times: int, ends: str) -> Triple:
    base = [chance.choice(words) for _ in range(chance.randint(0, size))]
    ours, theirs = (edited(chance, base, words, chance.randint(1, times)) for _ in "12")
    mark = "\ufeff" * (chance.random() < 0.1)
    spell = speller(chance, ends)
    return mark + spell(base), mark + spell(ours), mark + spell(theirs)


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


def speller(chance: random.Random, ends: str) -> Callable[[list[str]], str]:
    def spell(lines: list[str]) -> str:
        text = "".join(line + (("\r\n" if len(line) % 2 else "\n") if ends == "mixed" else ends) for line in lines)
        return text.removesuffix("\n").removesuffix("\r") if chance.random() < 0.15 else text

    return spell


def real(package: str, older: str, newer: str, form: str, most: int) -> Iterator[Triple]:
    """Each side takes some of the changes of a release, and now and then leaves a line of its own."""
    before, after = fetched(package, older, form), fetched(package, newer, form)
    names = [n for n in sorted(before.keys() & after.keys()) if before[n] != after[n] and is_text(before[n], after[n])]
    pairs = [(codec.decode(before[n]).text, codec.decode(after[n]).text) for n in names]
    pairs = [(old, new) for old, new in pairs if old.isprintable() or codec.printable(old) == old]
    for number in range(most if pairs else 0):
        old, new = (split(text) for text in pairs[number % len(pairs)])
        chance = random.Random(f"{package} {number}")
        found = hunks(old, new)
        yield "".join(old), *("".join(some(chance, old, new, found)) for _ in "12")


def some(chance: random.Random, old: list[str], new: list[str], found: list) -> list[str]:
    out, at = list[str](), 0
    for hunk in found:
        taken = chance.random() < 0.5
        out += old[at : hunk.a] + (new[hunk.c : hunk.d] if taken else old[hunk.a : hunk.b])
        if chance.random() < 0.05:
            out.append("a line of one's own\n")
        at = hunk.b
    return out + old[at:]


if __name__ == "__main__":
    sys.exit(main())
