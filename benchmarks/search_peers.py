"""Holds our search against what people use, on the same tree: names with names, contents with contents.

Each is driven as its users drive it: servers over MCP's standard streams by the SDK's client, libraries in their own
process; ours both ways. A peer that can't be run says so in the table.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from subprocess import CalledProcessError
from typing import Literal

from search_driven import DesktopCommander, Driven, Handrail, HandrailHere, ReferenceServer, deepagents, gemini
from search_table import Failed, Row, failed, interleaved, ratio

Way = Literal["over stdio", "in process"]
LIMIT = 1.05


@dataclass(frozen=True)
class Question:
    """What is looked for: a glob among names, or plain text in contents."""

    kind: Literal["names", "contents"]
    pattern: str


QUESTIONS = (
    Question("names", "**/*serializ*"),
    Question("names", "**/*config*.py"),
    Question("names", "**/*.js"),
    Question("contents", "zqxjvkwpy"),
    Question("contents", "setUpTestData("),
    Question("contents", "ZeroDivisionError"),
    Question("contents", "getElementById"),
    Question("contents", "TODO"),
    Question("contents", "kubernetes"),
)
GROUPS: dict[Way, tuple[Callable[[Path], Driven], dict[str, Callable[[Path], Driven]]]] = {
    "over stdio": (Handrail, {"server-filesystem": ReferenceServer, "DesktopCommander": DesktopCommander}),
    "in process": (HandrailHere, {"gemini-cli": gemini, "deepagents": deepagents}),
}


def peers(tree: Path, rounds: int) -> Iterator[Row]:
    for way, (ours, others) in GROUPS.items():
        part = f"Against peers, {way}, milliseconds (`found`: ours / theirs; at most {LIMIT} x the fastest)"
        with ExitStack() as stack:
            running = {"ours": stack.enter_context(ours(tree))}
            for name, start in others.items():
                try:
                    running[name] = stack.enter_context(start(tree))
                except (Failed, OSError, CalledProcessError) as error:
                    yield failed(part, f"{name}: can't be run", error, ours=False)
            for question in QUESTIONS:
                yield from _asked(part, question, running, rounds)


def _asked(part: str, question: Question, running: dict[str, Driven], rounds: int) -> Iterator[Row]:
    found: dict[str, int] = {}
    able = {}
    for name, one in running.items():
        if question.kind not in one.kinds:
            continue
        try:
            found[name] = one.ask(question.kind, question.pattern)[1]
            able[name] = one
        except Failed as error:
            yield failed(part, f"{name}, {question.kind} {question.pattern}", error, ours=name == "ours")
    if not able:
        return
    runs = {n: lambda one=one: one.ask(question.kind, question.pattern)[0] for n, one in able.items()}
    best = interleaved(runs, rounds, patient=False)
    ours = best.get("ours")
    for name in sorted(able.keys() - {"ours"}, key=best.__getitem__):
        case = f"{question.kind} {question.pattern}, {name}"
        if ours is None:
            yield Row(part=part, case=case, found=f"{found[name]:,}", other=best[name])
        else:
            yield ratio(part, case, ours, best[name], LIMIT, found=f"{found['ours']:,} / {found[name]:,}")
