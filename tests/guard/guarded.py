"""A small workspace on the real file system, with its resolver, policy and view."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.fs.host import HostFileSystem
from handrail.guard.policy import Policy, PolicySettings
from handrail.guard.resolve import Resolver
from handrail.guard.view import CallView
from handrail.model.operations import Access, Want
from handrail.model.view import Target


class Guarded:
    """A root, a home and the guards of both; settings are those of `PolicySettings`."""

    def __init__(self, tmp_path: Path, **settings: Any) -> None:
        self.base = tmp_path.resolve()
        self.root = self.base / "root"
        self.root.mkdir(exist_ok=True)
        self.home = self.base / "home"
        self.home.mkdir(exist_ok=True)
        self.fs = HostFileSystem()
        self.resolver = Resolver(self.fs, home=str(self.home), cwd=str(self.root))
        given: dict[str, Any] = {"roots": [str(self.root)], "home": str(self.home)}
        self.policy = Policy.build(PolicySettings(**(given | settings)), fs=self.fs, resolver=self.resolver)

    def put(self, name: str, data: bytes | str = b"") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def target(self, path: str, access: Access = "read", **more: Any) -> Target:
        return self.resolver.resolve(Want(path=path, access=access, **more))

    def rule(self, path: str, access: Access = "read", *, directory: bool = False) -> str:
        """The rule that decides about a path as typed, with `-` before one that denies."""
        target = self.target(path, access)
        verdict = self.policy.judge(target.real.text, access, directory=directory, exists=target.exists)
        return verdict.rule if verdict.allowed else f"-{verdict.rule}"

    def allowed(self, names: Sequence[str], access: Access = "read") -> list[str]:
        return [name for name in names if not self.rule(name, access).startswith("-")]

    def view(self, **more: Any) -> CallView:
        return CallView(self.fs, self.resolver, self.policy, session="s", **more)
