"""A question to the person at a terminal: what is wanted, the exact diff, one key for the answer."""

import os
import pwd
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from handrail.core.remembered import absolute, is_narrow, literal
from handrail.interfaces.cli import screen
from handrail.interfaces.cli.keys import Keys, Stop
from handrail.model.calls import Cancellation
from handrail.model.paths import shown
from handrail.model.records import Answered, Request

ROWS: Final = 400
"""Lines of a diff shown at once; a key shows the rest."""
SETTLE: Final = 0.25
"""Seconds in which keys aren't taken when a question follows another: they were meant for the one before."""

Write = Callable[[str], None]
Scope = Literal["pattern", "always"]

_WANTS: Final = {
    "mutation": "wants to change",
    "sensitive": "wants to change the secret",
    "protected": "wants to change the protected",
    "launch": "wants to start",
}


@dataclass(frozen=True, slots=True)
class Leave:
    """The person left without an answer."""


def person() -> str:
    """Who sits at this terminal, as the system names them."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def show(request: Request, write: Write, paint: screen.Paint, *, rows: int | None = ROWS) -> bool:
    """Print the question; says whether its diffs were shown whole."""
    names = [screen.line(shown(path)) for path in request.paths]
    reads = request.reason == "sensitive" and not request.changes
    wants = "wants to look into the secret" if reads else _WANTS[request.reason]
    write(paint(f"{screen.line(request.tool)} {wants} {', '.join(names[:3]) or 'something'}", "bold"))
    write(f" and {len(names) - 3} more\n" if len(names) > 3 else "\n")
    if request.objective or request.task:
        write(f"  task     {screen.line(request.objective or request.task or '')}\n")
    write(f"  session  {screen.line(request.session)} over {screen.line(request.interface)}\n")
    for sentence in request.unusual:
        write(paint(f"  unusual  {screen.line(sentence)}", "yellow") + "\n")
    whole = True
    for change in request.changes:
        if len(request.changes) > 1 or not change.diff:
            write(paint(f"{screen.line(change.action)} {screen.line(shown(change.path))}", "bold") + "\n")
        if change.diff:
            write(screen.diff(change.diff, paint, rows=rows))
            whole = whole and change.diff.count("\n") <= (rows or ROWS) and _fits(change.diff)
    return whole


def ask(
    request: Request, keys: Keys, write: Write, *, paint: screen.Paint, stop: Stop, settle: float = 0.0
) -> Answered | Leave | None:
    """Show the question and wait for a key; `None` when `stop` came first. `by` names the person.

    Keys pressed before it is shown, or within `settle` seconds after, answer nothing.
    """
    keys.forget()
    whole = show(request, write, paint)
    write(_choices(request, paint, whole=whole))
    until = time.monotonic() + settle
    while keys.key(lambda: stop() or time.monotonic() >= until) is not None:
        pass
    while True:
        key = keys.key(stop)
        if key is None:
            return None if stop() else Leave()
        answered = _answer(key.lower(), request, keys, write, stop)
        if answered is not None:
            return answered
        if key.lower() == "d":
            show(request, write, paint, rows=None)
        if key.lower() in {"d", "p", "a", "n"} and not stop():
            write(_choices(request, paint, whole=whole))


class TerminalChannel:
    """Asks on the terminal that a command runs in."""

    name = "terminal"

    def __init__(self, keyboard: int, write: Write, paint: screen.Paint) -> None:
        self._keys = Keys(keyboard)
        self._write = write
        self._paint = paint

    def ask(self, request: Request, closed: Cancellation) -> Answered | None:
        """Put the question there; `None` when the person left it, or when it was answered elsewhere."""
        with self._keys:
            said = ask(request, self._keys, self._write, paint=self._paint, stop=lambda: closed.cancelled)
        self._write("\n")
        return said if isinstance(said, Answered) else None

    def close(self) -> None:
        """Give the terminal back, whatever the asking thread is doing."""
        self._keys.restore()


def terminal_channel() -> TerminalChannel | None:
    """A channel to the person in front, where there is one: both the keyboard and the error stream are a terminal."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return TerminalChannel(sys.stdin.fileno(), screen.whisper, screen.painter(sys.stderr))


def _answer(key: str, request: Request, keys: Keys, write: Write, stop: Stop) -> Answered | Leave | None:
    by = person()
    narrow = is_narrow(request)
    if key == "y":
        return Answered(verdict="allow", by=by)
    if key == "q":
        return Leave()
    if key == "f" and request.task is not None:
        return Answered(verdict="allow", by=by, scope="file")
    if key == "p" and not narrow and request.task is not None:
        return _with_pattern("pattern", request, keys, write, stop)
    if key == "a" and not narrow:
        return _with_pattern("always", request, keys, write, stop)
    if key == "n":
        write("\nWhy not? (the agent is told; Enter for no reason, Escape to go back) ")
        reason = keys.line(stop, _echo(write))
        return None if reason is None else Answered(verdict="deny", by=by, reason=reason.strip())
    return None


def _with_pattern(scope: Scope, request: Request, keys: Keys, write: Write, stop: Stop) -> Answered | None:
    reach = "for this task" if scope == "pattern" else "always"
    start = _suggestion(request)
    while True:
        write(f"\nAllow {reach} what this pattern names (Escape to go back): ")
        typed = keys.line(stop, _echo(write), start=start)
        if typed is None:
            return None
        pattern = absolute(typed.strip())
        if pattern is not None:
            return Answered(verdict="allow", by=person(), scope=scope, pattern=pattern)
        write("It must be a readable glob that starts with / or ~, as /home/me/project/src/**/*.py\n")
        start = typed


def _echo(write: Write) -> Write:
    return lambda text: write(screen.block(text) if text.strip("\b ") else text)


def _suggestion(request: Request) -> str:
    """Files of the same kind in the same directory: the narrowest pattern that isn't this file alone."""
    path = request.paths[0] if request.paths else "/"
    directory, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{literal(directory)}/*" + (f".{literal(ending)}" if dot and stem else "")


def _fits(text: str) -> bool:
    return all(len(row) <= screen.LINE_SHOWN for row in text.split("\n"))


def _choices(request: Request, paint: screen.Paint, *, whole: bool) -> str:
    narrow = is_narrow(request)
    choices = [("y", "yes, once")]
    if request.task is not None:
        choices.append(("f", "this file, for the task"))
    if not narrow and request.task is not None:
        choices.append(("p", "a pattern, for the task"))
    if not narrow:
        choices.append(("a", "always, for a pattern"))
    choices += [("n", "no"), *([] if whole else [("d", "the whole diff")]), ("q", "leave")]
    return "\n" + "   ".join(f"{paint(key, 'bold')} {words}" for key, words in choices) + "\n"
