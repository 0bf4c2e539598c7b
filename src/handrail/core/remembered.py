"""What people said to remember: which rules an answer makes, and whether rules answer a question; asks nobody.

Rules about secrets, protected places and launches reach no further than one file, one task and one use of one tool.
"""

import os
from collections.abc import Callable, Sequence
from functools import lru_cache

from handrail.model.errors import InvalidCall
from handrail.model.records import Answered, Request
from handrail.store.protocol import Rule

_META = frozenset("\\*?[]{},!^")


def literal(path: str) -> str:
    """The glob that names exactly this absolute path."""
    return "".join("\\" + c if c in _META else c for c in path)


def absolute(pattern: str) -> str | None:
    """The pattern with `~` written out, as rules keep it; `None` when it isn't a readable absolute glob."""
    if pattern.startswith("~"):
        pattern = os.path.expanduser(pattern)
    if not pattern.startswith("/") or _matcher(pattern) is None:
        return None
    return pattern


def is_narrow(request: Request) -> bool:
    """Whether a remembered answer may reach no further than this one file in this one task."""
    return request.narrow or request.reason != "mutation"


def answering(request: Request, rules: Sequence[Rule]) -> Rule | None:
    """The rule that answers the question; of several files each needs one, and the last one's is returned."""
    answer: Rule | None = None
    fitting = [rule for rule in rules if _fits(rule, request)]
    for path in request.paths:
        answer = next((rule for rule in fitting if _names(rule, path, request)), None)
        if answer is None:
            return None
    return answer


def rules_of(request: Request, answered: Answered, *, now: int) -> tuple[Rule, ...]:
    """The rules that an answer makes; none for a denial, for `once`, or where there is no task to hold them.

    A pattern for a secret or a protected place, or one that can't be read, becomes the file alone.
    """
    if answered.verdict != "allow" or answered.scope == "once":
        return ()
    narrow = is_narrow(request)
    pattern = absolute(answered.pattern) if answered.pattern and answered.scope != "file" and not narrow else None
    always = answered.scope == "always" and pattern is not None
    if request.task is None and not always:
        return ()
    patterns = (pattern,) if pattern is not None else tuple(literal(path) for path in request.paths)
    return tuple(
        Rule(
            id=0,
            session=None if always else request.session,
            task=None if always else request.task,
            pattern=each,
            tool=_use(request) if narrow else None,
            created_at=now,
        )
        for each in patterns
    )


def _fits(rule: Rule, request: Request) -> bool:
    if is_narrow(request):
        return rule.task is not None and _same_work(rule, request) and rule.tool == _use(request)
    return _same_work(rule, request) and rule.tool in {None, request.tool}


def _same_work(rule: Rule, request: Request) -> bool:
    return rule.task in {None, request.task} and rule.session in {None, request.session}


def _names(rule: Rule, path: str, request: Request) -> bool:
    if rule.pattern == literal(path):
        return True
    if is_narrow(request):
        return False
    matcher = _matcher(rule.pattern)
    return matcher is not None and matcher(path)


def _use(request: Request) -> str:
    """What a narrow rule allows: reading with a tool is one thing, changing with it another."""
    return f"{request.tool} {'change' if request.changes else request.reason}"


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> Callable[[str], bool] | None:
    from handrail.text.globs import Matcher

    try:
        return Matcher((pattern,)).match
    except InvalidCall:
        return None
