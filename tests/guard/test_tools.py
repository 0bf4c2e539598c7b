"""Which tools may be called, by name."""

from handrail.guard.tools import ToolRules

TOOLS = {"Read": "@read", "Grep": "@read", "Write": "@write", "Edit": "@write", "MultiEdit": "@write"}


def allowed(allow: list[str], deny: list[str]) -> list[str]:
    rules = ToolRules(allow, deny, tools=TOOLS)
    return [name for name, group in TOOLS.items() if rules.allows(name, group)]


def test_an_empty_allow_list_allows_all() -> None:
    assert allowed([], []) == list(TOOLS)


def test_deny_wins() -> None:
    assert allowed(["Read", "Write"], ["Write"]) == ["Read"]
    assert allowed(["*"], ["@write"]) == ["Read", "Grep"]
    assert allowed(["@read"], []) == ["Read", "Grep"]


def test_a_star_stands_for_anything() -> None:
    assert allowed([], ["*Edit"]) == ["Read", "Grep", "Write"]
    assert allowed(["*e*"], []) == ["Read", "Grep", "Write"]
    assert allowed(["M*i*t"], []) == ["MultiEdit"]
    assert allowed(["R*ead", "Read*d"], []) == ["Read"]
    assert allowed(["*"], ["*"]) == []


def test_an_allow_list_of_unknown_names_allows_nothing() -> None:
    assert allowed(["exec"], []) == []


def test_unknown_names_are_said_once_with_the_nearest_one() -> None:
    rules = ToolRules(["exec", "Reed", "exec"], ["@write", "no*"], tools=TOOLS)
    assert len(rules.notices) == 1
    assert "'exec'" in rules.notices[0] and "did you mean 'Read'" in rules.notices[0] and "'no*'" in rules.notices[0]


def test_denying_some_writers_while_others_stay_is_warned_about() -> None:
    notices = ToolRules([], ["Write"], tools=TOOLS).notices
    assert len(notices) == 1
    assert "Edit" in notices[0] and "@write" in notices[0]
    assert not ToolRules([], ["@write"], tools=TOOLS).notices
    assert not ToolRules(["Read"], [], tools=TOOLS).notices
