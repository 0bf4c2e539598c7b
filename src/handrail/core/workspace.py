"""The composition root: settings become a policy, planners, a writer and a road; it alone knows every room."""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from handrail.core.admission import Admission
from handrail.core.apply import Writer
from handrail.core.approval import Approvals, Mode
from handrail.core.audit import Audit
from handrail.core.config import Config
from handrail.core.config_files import Loaded, load
from handrail.core.events import Events
from handrail.core.ground import Ground
from handrail.core.hooks import Hook, Hooks
from handrail.core.locks import Locks
from handrail.core.pipeline import Road
from handrail.core.places import configured_roots, narrowed, output_directory, own, taken_over
from handrail.core.sessions import Session, Sessions
from handrail.core.tool import Reply, Tool
from handrail.core.upkeep import Upkeep
from handrail.editing.edit import EditPlanner
from handrail.editing.write import WritePlanner
from handrail.fs.host import HostFileSystem
from handrail.guard.declarations import Declarations
from handrail.guard.freshness import Ledger, modes
from handrail.guard.policy import Policy, PolicySettings, ToolRules
from handrail.guard.resolve import Resolver
from handrail.guard.sift import Sieve
from handrail.guard.view import Allowance, CallView
from handrail.history.listing import ComparePlanner, HistoryPlanner
from handrail.history.restore import RemovePlanner, RestorePlanner
from handrail.history.undo import UndoPlanner
from handrail.model.calls import Call
from handrail.model.errors import BackendFailed, HandrailError
from handrail.model.paths import RealPath, shown
from handrail.model.planner import Planner
from handrail.reading.launch import OpenPlanner
from handrail.reading.read import ReadPlanner
from handrail.search.find import FindPlanner
from handrail.store.protocol import Store
from handrail.store.sqlite import SqliteStore
from handrail.text.declared import Declared

log = logging.getLogger("handrail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a workspace is opened with. `roots`: `None` = unconfined, empty = settled by configuration or client."""

    roots: tuple[str, ...] | None
    tools: Sequence[Tool[Any]]
    failed: Callable[[Tool[Any] | None, HandrailError], Reply]
    approve: Mode | None = None
    config_file: str | None = None
    data_directory: str | None = None
    hooks: Sequence[Hook] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


class Workspace:
    """An open workspace: one store, one writer, and a road that is laid anew when the roots are narrowed."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._home = os.path.expanduser("~")
        self._own = own(opening.data_directory, os.environ)
        self._roots = configured_roots(opening.roots, self._load(None).config)
        self.settled = self._roots is None
        self._backend_named(self._load(None).config)
        self._fs = HostFileSystem()
        self._events = Events()
        self.store: Store = SqliteStore(self._own.data, owner=uuid4().hex)
        self._locks = Locks(self._own.locks)
        self._audit = Audit(self._own.audit)
        self._sessions = Sessions(self.store, self._ledger)
        self._upkeep = Upkeep(self.store, clock=time.time_ns)
        self._said: set[str] = set()
        try:
            self.road = self._lay(self._roots if self._roots or self._roots is None else (os.getcwd(),))
            self._writer.recover()
        except BaseException:
            self.store.close()
            raise

    def listed(self) -> Sequence[Tool[Any]]:
        """The tools that policy lets show."""
        return [t for t in self.road.tools.values() if self.road.tool_rules.allows(t.name, t.group)]

    def narrow(self, announced: Sequence[str]) -> None:
        """Take a client's directories into account: they narrow what is configured, or stand in for what isn't."""
        if self._roots is None:
            return
        if self._roots:
            roots, ignored = narrowed(self._roots, announced)
        else:
            roots = taken_over(announced, self._home) or (os.getcwd(),)
            ignored = ()
        for directory in ignored:
            log.warning("the client's root %s lies outside the configured ones and is ignored", shown(directory))
        log.info("the roots are %s", ", ".join(map(shown, roots)))
        self.road = self._lay(roots)
        self._sessions.forget_refusals()

    def instructions(self, family: str) -> str:
        """A few lines for a model: where it works, how changes are allowed, where documents may lie."""
        road = self.road
        mode = road.ground.approvals.mode
        lines = [
            "Handrail: file tools that keep every version. "
            + (
                "Not confined to a directory." if not road.roots else f"Workspace: {', '.join(map(shown, road.roots))}."
            ),
            {
                "ask": "Each change waits for a person's yes.",
                "auto": "Changes go through; sensitive files and protected places ask a person.",
                "deny": "Read-only: every change is refused.",
            }[mode],
        ]
        if family in ("batch", "all"):
            lines.append("Read a file before you edit it. edit_file mode=restore takes a version or a whole task back.")
        if road.config.tools.exec.sandbox.backend == "auto":
            lines.append("No sandbox is there: the tools work on the host itself.")
        lines.append(f"Host: files_dir={shown(self._own.files)}")
        return "\n".join(lines)

    def close(self) -> None:
        """Give everything back."""
        self._upkeep.close()
        self.road.audit.close()
        self._events.close()
        self.store.close()

    # laying the road

    def _backend_named(self, config: Config) -> None:
        """Never silently the host where something else was named."""
        backend = config.tools.exec.sandbox.backend
        if backend == "auto":
            log.warning("no sandbox is there, so the tools work on the host itself")
        elif backend != "host":
            raise BackendFailed(
                "backend_unavailable",
                f"This version of Handrail has no sandbox {backend!r}.",
                hint='Set tools.exec.sandbox.backend to "host", or leave it out.',
            )

    def _load(self, workspace: str | None) -> Loaded:
        return load(
            user_file=os.path.join(self._own.config, "handrail.toml"),
            file=self._opening.config_file,
            arguments=self._opening.settings,
            workspace=workspace,
        )

    def _ledger(self, session: str, store: Store | None) -> Ledger:
        return Ledger(session, store, mode=lambda path: self._mode(path))  # noqa: PLW0108 -- the mode is laid anew

    def _lay(self, roots: tuple[str, ...] | None) -> Road:
        opening = self._opening
        loaded = self._load(roots[0] if roots else None)
        config = loaded.config
        cwd = roots[0] if roots else os.getcwd()
        resolver = Resolver(self._fs, home=self._home, cwd=cwd)
        policy = Policy.build(self._policy_settings(loaded, roots), fs=self._fs, resolver=resolver)
        self._mode = modes([(rule.paths, rule.mode) for rule in config.freshness], policy.place)
        tools = {tool.name: tool for tool in opening.tools}
        rules = ToolRules(
            config.tools.policy.allow, config.tools.policy.deny, tools={t.name: t.group for t in tools.values()}
        )
        for notice in (*loaded.warnings, *rules.notices):
            if notice not in self._said:
                self._said.add(notice)
                log.warning(notice)
        self._writer = Writer(
            self._fs,
            self.store,
            self._locks,
            required=config.history.required,
            protected_roots=[*(policy.roots or ()), self._own.files, output_directory(config)],
        )
        ground = Ground(
            fs=self._fs,
            store=self.store,
            admission=Admission(fs=self._fs, resolver=resolver, policy=policy),
            sensitive=policy.sensitive,
            planners=self._planners(config, self._declared(config, resolver, policy)),
            writer=self._writer,
            approvals=self._approvals(loaded),
            make_view=self._view_maker(config, resolver, policy),
            clock=time.time_ns,
        )
        return Road(
            tools=tools,
            tool_rules=rules,
            hooks=Hooks(opening.hooks),
            ground=ground,
            sessions=self._sessions,
            audit=self._audit,
            events=self._events,
            config=config,
            roots=policy.roots or (),
            output_directory=output_directory(config),
            failed=opening.failed,
            upkeep=self._upkeep,
        )

    def _policy_settings(self, loaded: Loaded, roots: tuple[str, ...] | None) -> PolicySettings:
        fs = loaded.config.tools.fs
        output = output_directory(loaded.config)
        return PolicySettings(
            roots=roots,
            home=self._home,
            allow=fs.allow_paths,
            narrow=loaded.narrow,
            deny=fs.deny_paths,
            sensitive=fs.sensitive_paths,
            own=(self._own.data, self._own.config),
            files_directory=self._own.files,
            output_directory=output,
            made_here=self._was_made,
        )

    def _was_made(self, path: str) -> bool:
        newest = self.store.newest(path)
        while newest is not None and newest.previous is not None:
            newest = self.store.version(newest.previous)
        return newest is not None and newest.action == "create"

    def _declared(self, config: Config, resolver: Resolver, policy: Policy) -> Callable[[RealPath], Declared]:
        rules = [(rule.paths, rule.encoding) for rule in config.encoding]
        return Declarations(
            self._fs, resolver, policy.place, rules=rules, shows=lambda path: policy.judge(path, "read").allowed
        ).of

    def _planners(self, config: Config, declared: Callable[[RealPath], Declared]) -> Mapping[str, Planner[Any]]:
        reader = ReadPlanner(declared)
        limit = config.tools.fs.max_edit_bytes
        return {
            "find": FindPlanner(max_file_bytes=config.limits.max_search_file_bytes),
            "read": reader,
            "edit": EditPlanner(declared, max_bytes=limit),
            "write": WritePlanner(declared, max_bytes=limit),
            "remove": RemovePlanner(),
            "restore": RestorePlanner(self.store),
            "undo": UndoPlanner(self.store),
            "history": HistoryPlanner(self.store),
            "compare": ComparePlanner(self.store, reader),
            "open": OpenPlanner(),
        }

    def _approvals(self, loaded: Loaded) -> Approvals:
        config = loaded.config
        mode: Mode = self._opening.approve or ("ask" if config.tools.fs.require_approval else "auto")
        if mode == "auto" and "tools.fs.require_approval" in loaded.tightened:
            mode = "ask"
        return Approvals(self.store, mode=mode, timeout=config.approval.timeout, events=self._events)

    def _view_maker(self, config: Config, resolver: Resolver, policy: Policy) -> Callable[[Call, Session], CallView]:
        allowance = Allowance(seconds=config.limits.deadline, entries=config.limits.max_entries)
        sieve = Sieve(policy, resolver)

        def make(call: Call, session: Session) -> CallView:
            return CallView(
                self._fs,
                resolver,
                policy,
                session=session.name,
                allowance=allowance,
                cancellation=call.cancellation,
                progress=call.progress,
                respect_ignore=config.tools.fs.respect_gitignore,
                sieve=sieve,
            )

        return make
