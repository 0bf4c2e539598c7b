"""Which tools may be called at all, by name; deny wins. It knows names and groups, not what a tool does."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

GROUPS: Final = ("@read", "@write")


class ToolRules:
    """The tool policy: `allow` (empty = all) and `deny` hold names, `*` globs and groups.

    `tools` maps every tool there is to its group, for the notices.
    """

    def __init__(self, allow: Sequence[str] = (), deny: Sequence[str] = (), *, tools: Mapping[str, str]) -> None:
        self._allow = _Names(allow)
        self._deny = _Names(deny)
        self.notices = tuple(self._noticed([*allow, *deny], tools))

    def allows(self, name: str, group: str) -> bool:
        """Whether the tool may be called, and so is listed."""
        return self.decided_by(name, group)[0]

    def decided_by(self, name: str, group: str) -> tuple[bool, str]:
        """Whether the tool may be called, and the rule that says so."""
        rule = self._deny.which(name, group)
        if rule is not None:
            return False, f"tools.policy.deny {rule!r}"
        if not self._allow.rules:
            return True, "tools.policy.allow is empty"
        rule = self._allow.which(name, group)
        return rule is not None, f"tools.policy.allow {rule!r}" if rule is not None else "not in tools.policy.allow"

    def _noticed(self, rules: Sequence[str], tools: Mapping[str, str]) -> list[str]:
        """Sentences for the log at start: unknown names in one, writers that are denied only in part in another."""
        notices = []
        unknown = [r for r in dict.fromkeys(rules) if not any(_Names([r]).which(n, g) for n, g in tools.items())]
        if unknown := [r for r in unknown if r not in GROUPS]:
            said = [_said(rule, [*tools, *GROUPS]) for rule in unknown]
            notices.append(f"The tool policy names what is no tool here, which is ignored: {', '.join(said)}.")
        writers = [name for name, group in tools.items() if group == "@write"]
        denied = [name for name in writers if not self.allows(name, "@write")]
        if denied and len(denied) < len(writers):
            rest = [name for name in writers if name not in denied]
            notices.append(
                f"The tool policy denies {', '.join(denied)}, but {', '.join(rest)} can still change files; "
                'deny = ["@write"] stops all of them.'
            )
        return notices


class _Names:
    def __init__(self, rules: Sequence[str]) -> None:
        self.rules = tuple(rules)

    def which(self, name: str, group: str) -> str | None:
        return next((rule for rule in self.rules if rule == group or _names(rule, name)), None)


def _names(rule: str, name: str) -> bool:
    """Whether the rule, in which `*` stands for anything, is the name."""
    first, *rest = rule.split("*")
    if not rest:
        return rule == name
    if not name.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = name.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])


def _said(rule: str, known: Sequence[str]) -> str:
    near = get_close_matches(rule, known, n=1)
    return f"{rule!r} (did you mean {near[0]!r}?)" if near else repr(rule)
