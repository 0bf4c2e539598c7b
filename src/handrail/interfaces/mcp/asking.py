"""How a person is asked through an MCP client: the question as a form, and the answer read back from it.

It knows nothing of sessions or of how a form travels.
"""

from typing import Any

from handrail.model.paths import shown
from handrail.model.records import Answered, Request, Scope

SHOWN_CHARACTERS = 12_000
"""A longer diff is cut in the form, which says so; the whole one stands in `handrail approvals watch`."""

_SCOPES: dict[str, Scope] = {"once": "once", "this file, for this task": "file"}


def question(request: Request) -> str:
    """What the person reads: who wants what, what is unusual, and the exact diff."""
    lines = [_headline(request)]
    if request.objective:
        lines.append(f"Task: {_plain(request.objective)}")
    lines += [f"Unusual: {_plain(sentence)}" for sentence in request.unusual]
    diff = "\n".join(_plain(c.diff) for c in request.changes)
    if len(diff) > SHOWN_CHARACTERS:
        left_out = diff[SHOWN_CHARACTERS:].count("\n") + 1
        diff = diff[:SHOWN_CHARACTERS] + f"\n... {left_out} more lines; `handrail approvals watch` shows them all."
    return "\n".join(lines) + ("\n\n" + diff if diff else "")


def form(request: Request) -> dict[str, Any]:
    """The form's schema: yes or no, how far the answer reaches, and a reason for a no."""
    properties: dict[str, Any] = {
        "allow": {"type": "boolean", "title": "Allow this", "default": False},
        "reason": {"type": "string", "title": "If not: why (the agent is told)", "maxLength": 500},
    }
    if not request.narrow:
        properties["scope"] = {
            "type": "string",
            "title": "How far the answer reaches",
            "enum": list(_SCOPES),
            "default": "once",
        }
    return {"type": "object", "properties": properties, "required": ["allow"]}


def answer(action: str, content: dict[str, Any] | None) -> Answered | None:
    """The person's answer; a form that was closed without one says nothing."""
    if action == "cancel":
        return None
    given = content or {}
    if action == "accept" and given.get("allow") is True:
        return Answered(verdict="allow", by="elicitation", scope=_SCOPES.get(str(given.get("scope")), "once"))
    return Answered(verdict="deny", by="elicitation", reason=str(given.get("reason") or ""))


def _headline(request: Request) -> str:
    paths = ", ".join(shown(p) for p in request.paths[:5])
    if len(request.paths) > 5:
        paths += f" and {len(request.paths) - 5} more"
    what = {
        "mutation": "change",
        "sensitive": "use the sensitive file",
        "protected": "change the protected place",
        "launch": "open, outside Handrail,",
    }[request.reason]
    return f"May the agent {what} {paths}? (tool {request.tool})"


def _plain(text: str) -> str:
    return "".join(c if c in "\n\t" or c.isprintable() else shown(c) for c in text)
