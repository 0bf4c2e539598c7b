"""Stations 4 and 5: every path that an operation names is resolved, judged by policy, and looked at for secrets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from handrail.core.sessions import Session
from handrail.fs.protocol import ReadableFileSystem
from handrail.guard.policy import Policy
from handrail.guard.resolve import Resolver
from handrail.model.errors import HandrailError, Refused
from handrail.model.operations import Access, Operation, Want
from handrail.model.paths import RealPath
from handrail.model.planner import Planner
from handrail.model.view import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The door that every path of every tool goes through."""

    fs: ReadableFileSystem
    resolver: Resolver
    policy: Policy

    def admit(self, operation: Operation, planner: Planner[Operation], session: Session) -> Sequence[Target]:
        """The operation's targets, resolved and allowed; an optional one carries its refusal instead of raising it."""
        return [self._target(want, session) for want in planner.wants(operation)]

    def secrets(self, targets: Sequence[Target]) -> Sequence[RealPath]:
        """The sensitive files whose content the operation would look at, on disk or in the history."""
        return [
            t.real
            for t in targets
            if t.path is not None
            and (t.exists or t.want.access == "history")
            and self._is_secret(t)
            and self._looks_into(t)
        ]

    def _target(self, want: Want, session: Session) -> Target:
        target = self.resolver.resolve(want)
        if target.path is None:
            return target
        try:
            self._judge(target.path, want.access, session, exists=target.exists)
        except HandrailError as error:
            if want.optional:
                return replace(target, path=None, error=error)
            raise
        return target

    def _judge(self, path: RealPath, access: Access, session: Session, *, exists: bool) -> None:
        reason = session.refused(path.text)
        if reason is None:
            directory = exists and self._is_directory(path)
            verdict = self.policy.judge(path.text, access, directory=directory, exists=exists)
            if verdict.allowed:
                return
            reason = verdict.reason
            if directory and access != "write":
                session.refuse(path.text, reason)
        raise Refused(
            "path_denied",
            f"{path} is out of reach: {reason}",
            hint="Choose a path inside the workspace; asking for this one again gives the same answer.",
            path=path.text,
        )

    def _looks_into(self, target: Target) -> bool:
        return not self._is_directory(target.real)

    def _is_directory(self, path: RealPath) -> bool:
        stat = self.fs.stat(path)
        return stat is not None and stat.kind == "directory"

    def _is_secret(self, target: Target) -> bool:
        given = target.want.path.rpartition("/")[2]
        return self.policy.sensitive.sensitive(target.real.text) or (
            bool(given) and self.policy.sensitive.sensitive("/" + given)
        )
