"""Station 7: may this happen? Answered by the mode, by what people said to remember, or by a person, asked everywhere.

All channels are asked at once and the store's queue is one of them; the first answer wins. Waiting holds no lock.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

from handrail.core.channels import Askers
from handrail.core.events import ApprovalAnswered, ApprovalAsked, Events
from handrail.core.remembered import answering, is_narrow, rules_of
from handrail.core.waiting import Lookout, Waiting
from handrail.model.calls import Cancellation, Channel, Progress
from handrail.model.errors import Refused
from handrail.model.paths import shown
from handrail.model.records import Answered, Request
from handrail.store.protocol import ApprovalStore, Rule

log = logging.getLogger("handrail")

Mode = Literal["ask", "auto", "deny"]

PRESENT = 5_000_000_000
"""A watcher that gave a sign within this time, in nanoseconds, is there."""
PROGRESS_EVERY = 1.0
"""Seconds between two words of progress."""
ASKERS = 64
"""Channels that block at the same time; the store's queue has no such limit."""


class Approvals:
    """The questions of one workspace; any number of threads may wait in it. `timeout` in seconds."""

    def __init__(
        self,
        store: ApprovalStore,
        *,
        mode: Mode,
        timeout: float,
        channels: Sequence[Channel] = (),
        clock: Callable[[], int] = time.time_ns,
        events: Events | None = None,
    ) -> None:
        self.mode = mode
        self.timeout = timeout
        self._store = store
        self._channels = tuple(channels)
        self._clock = clock
        self._events = events or Events()
        self._askers = Askers(ASKERS)
        self._lookout = Lookout(store, self._answer_by_rule)
        self._lock = threading.Lock()

    def shows(self, reason: str) -> bool:
        """Whether a question with this reason may reach a person, so that its diff is worth making."""
        if self.mode == "ask":
            return True
        return reason != "mutation" if self.mode == "auto" else reason in {"sensitive", "launch"}

    def settle(
        self,
        request: Request,
        *,
        channels: Sequence[Channel] = (),
        cancellation: Cancellation | None = None,
        progress: Progress | None = None,
    ) -> Answered:
        """Wait until the question is answered; returns a yes.

        Raises `Refused`: `approval_denied`, `approval_timeout`, `approval_unavailable`, `approval_withdrawn`.
        """
        now = self._clock()
        request = replace(request, asked_at=now, expires_at=now + int(self.timeout * 1e9))
        standing = self._standing(request)
        if standing is not None:
            return standing
        asked = (*self._channels, *channels)
        if not asked and not self._is_watched():
            raise _unavailable(request)
        waiting = Waiting(request=request, cancellation=cancellation or Cancellation(), unsaid=len(asked))
        answered = self._wait(waiting, asked, progress)
        self._events.emit(ApprovalAnswered(request=request, answered=answered))
        if answered.verdict != "allow":
            unasked = waiting.silent and answered.verdict == "withdrawn"
            raise _unavailable(request) if unasked else _refusal(request, answered, self.timeout)
        self._remember(request, answered)
        return answered

    # without asking

    def _standing(self, request: Request) -> Answered | None:
        if self.mode == "deny" and (request.changes or request.reason in {"mutation", "protected"}):
            raise _switched_off(request)
        if self.mode == "auto" and not is_narrow(request):
            return Answered(verdict="allow", by="auto", at=request.asked_at)
        rule = answering(request, self._store.rules())
        return None if rule is None else _by_rule(rule, request.asked_at)

    def _answer_by_rule(self, request: Request, rules: Sequence[Rule]) -> bool:
        rule = answering(request, rules)
        return rule is not None and self._store.answer(request.id, _by_rule(rule, self._clock()))

    def _remember(self, request: Request, answered: Answered) -> None:
        if answered.by.startswith("rule "):
            return
        rules = rules_of(request, answered, now=self._clock())
        for rule in rules:
            self._store.remember(rule)
        if rules:
            self._lookout.look_again()

    # asking

    def _is_watched(self) -> bool:
        return bool(self._store.watchers(self._clock() - PRESENT))

    def _wait(self, waiting: Waiting, asked: Sequence[Channel], progress: Progress | None) -> Answered:
        self._store.ask(waiting.request)
        self._events.emit(ApprovalAsked(request=waiting.request))
        try:
            self._lookout.join(waiting)
            for channel in asked:
                self._askers.run(partial(self._put, channel, waiting))
            self._hold(waiting, progress)
            return self._outcome(waiting)
        except BaseException:
            self._store.answer(waiting.request.id, self._no("withdrawn"))
            raise
        finally:
            self._lookout.leave(waiting)
            waiting.closed.cancel()

    def _put(self, channel: Channel, waiting: Waiting) -> None:
        """Ask in one channel; runs in a thread of its own."""
        try:
            answered = None if waiting.closed.cancelled else channel.ask(waiting.request, waiting.closed)
            if answered is not None:
                by = answered.by if answered.by.startswith(channel.name) else f"{channel.name}: {answered.by}"
                self._store.answer(waiting.request.id, replace(answered, by=by, at=self._clock()))
                waiting.wake.set()
                return
        except Exception:
            log.exception("the approval channel %s failed", channel.name)
        with self._lock:
            waiting.unsaid -= 1
        if waiting.unsaid == 0 and not self._is_watched():
            waiting.silent = True
            waiting.wake.set()

    def _hold(self, waiting: Waiting, progress: Progress | None) -> None:
        message = f"Waiting for a person to allow {_subject(waiting.request)}"
        while True:
            passed = time.monotonic() - waiting.since
            if progress is not None:
                progress(min(passed, self.timeout), self.timeout, message)
            left = self.timeout - passed
            if left <= 0 or waiting.wake.wait(min(left, PROGRESS_EVERY)):
                return

    def _outcome(self, waiting: Waiting) -> Answered:
        """What it came to; whoever writes first into the store decides, but a cancelled call is never allowed."""
        if waiting.cancellation.cancelled:
            own = self._no("withdrawn")
            self._store.answer(waiting.request.id, own)
            return own
        answered = self._store.answered(waiting.request.id)
        if answered is None:
            if waiting.failure is not None:
                raise waiting.failure
            own = self._no("withdrawn" if waiting.silent else "timeout")
            self._store.answer(waiting.request.id, own)
            answered = self._store.answered(waiting.request.id) or own
        return answered

    def _no(self, verdict: Literal["timeout", "withdrawn"]) -> Answered:
        return Answered(verdict=verdict, by="handrail", at=self._clock())


def _by_rule(rule: Rule, now: int) -> Answered:
    return Answered(verdict="allow", by=f"rule {rule.id}", pattern=rule.pattern, at=now)


def _subject(request: Request) -> str:
    more = len(request.paths) - 1
    where = f" on {shown(request.paths[0])}" if request.paths else ""
    return f"{request.tool}{where}" + (f" and {more} more" if more > 0 else "")


def _refusal(request: Request, answered: Answered, timeout: float) -> Refused:
    path = request.paths[0] if request.paths else None
    if answered.verdict == "timeout":
        return Refused(
            "approval_timeout",
            f"Nobody allowed {_subject(request)} within {timeout:g} s; nothing was done.",
            hint="Tell the person that it waits for a yes, then send the same call again.",
            path=path,
            retryable=True,
        )
    if answered.verdict == "withdrawn":
        return Refused(
            "approval_withdrawn",
            f"The question about {_subject(request)} was withdrawn before anybody answered; nothing was done.",
            hint="Send the call again if it is still wanted.",
            path=path,
        )
    return Refused(
        "approval_denied",
        f"A person said no to {_subject(request)}; nothing was done.",
        hint=f"The person's reason: {answered.reason}"
        if answered.reason
        else "Ask the person what they want instead; the same call would only ask again.",
        path=path,
        facts={"reason": answered.reason, "denied_by": answered.by},
    )


def _switched_off(request: Request) -> Refused:
    return Refused(
        "approval_denied",
        f"Changes are switched off here, so {_subject(request)} was not done.",
        hint="Finding and reading still work; who started Handrail decides this with --approve.",
        path=request.paths[0] if request.paths else None,
    )


def _unavailable(request: Request) -> Refused:
    return Refused(
        "approval_unavailable",
        f"{_subject(request)} needs a person's yes, and nobody is there to ask; nothing was done.",
        hint="Ask the person to run `handrail approvals watch` in a second terminal, to use a client that can ask "
        "(MCP elicitation), to pass a callback in Python, or to start Handrail with --approve auto "
        "(which never covers secrets and protected places); then send the same call again.",
        path=request.paths[0] if request.paths else None,
        retryable=True,
    )
