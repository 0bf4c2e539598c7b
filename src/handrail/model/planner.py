"""The one door of a capability: what it needs, and what it would do."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from handrail.model.changes import Plan
from handrail.model.operations import Operation, Want
from handrail.model.view import Target, View

O_contra = TypeVar("O_contra", bound=Operation, contravariant=True)


class Planner(Protocol[O_contra]):
    """Plans one kind of operation; it never acts and sees nothing but its view."""

    def wants(self, operation: O_contra) -> Sequence[Want]:
        """The paths the operation needs, and how each; raises `HandrailError` for what can't be meant."""
        ...

    def plan(self, operation: O_contra, targets: Sequence[Target], view: View) -> Plan:
        """What would happen; `targets` stand in the order of `wants`. Raises `HandrailError`."""
        ...
