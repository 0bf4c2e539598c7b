"""File tools for AI agents: find, read, edit, look back and undo, behind one set of guards.

The names below are imported when they are first used, so that a command that needs none of them starts at once.
"""

from importlib import import_module

_HOMES = {
    "Handrail": "handrail.interfaces.api",
    "HandrailError": "handrail.model.errors",
    "Hook": "handrail.core.hooks",
    "Result": "handrail.model.calls",
    "ToolInfo": "handrail.interfaces.api",
    "open": "handrail.interfaces.api",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found
