"""The settings of a workspace: every key, its default, and how the layers are put together."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A table of the configuration file: frozen, and without keys that nobody knows."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FsSettings(Section):
    """`[tools.fs]`."""

    workspace_root: str | None = None
    allow_paths: tuple[str, ...] = ()
    deny_paths: tuple[str, ...] = ()
    track_reads: bool = False
    must_read_before_write: bool = False
    require_approval: bool = True
    max_read_bytes: int = Field(default=10_485_760, ge=1)
    binary_policy: Literal["reject", "base64"] = "reject"
    respect_gitignore: bool = True
    checkpoint_before_mutation: bool = False
    context_window_tokens: int | None = Field(default=None, ge=1)
    output_directory: str | None = None
    sensitive_paths: tuple[str, ...] = ()
    max_edit_bytes: int = Field(default=64 * 1024 * 1024, ge=1)


class ToolPolicy(Section):
    """`[tools.policy]`: tool names, `*` globs, groups `@read` and `@write`; deny wins."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class SandboxSettings(Section):
    """`[tools.exec.sandbox]`."""

    backend: Literal["host", "auto", "bubblewrap", "podman", "docker", "apple"] = "host"
    managed_files_mount: Literal["none", "ro", "rw"] = "ro"


class ExecSettings(Section):
    """`[tools.exec]`."""

    sandbox: SandboxSettings = SandboxSettings()


class Tools(Section):
    """`[tools]`."""

    fs: FsSettings = FsSettings()
    policy: ToolPolicy = ToolPolicy()
    exec: ExecSettings = ExecSettings()


class FreshnessRule(Section):
    """One row of `[[freshness]]`: how strict the guard is for paths that a glob names; the last match decides."""

    paths: str
    mode: Literal["strict", "region", "off"] = "strict"


class ApprovalSettings(Section):
    """`[approval]`; seconds."""

    timeout: float = Field(default=120.0, gt=0)


class Limits(Section):
    """`[limits]`; seconds and bytes."""

    deadline: float = Field(default=20.0, gt=0)
    max_entries: int = Field(default=2_000_000, ge=1)
    max_search_file_bytes: int | None = Field(default=None, ge=1)


class HistorySettings(Section):
    """`[history]`: how much is kept. `required=false` lets a change through that can't be recorded, and says so."""

    required: bool = True
    max_age_days: int = Field(default=30, ge=1)
    max_versions_per_path: int = Field(default=200, ge=1)
    max_bytes: int = Field(default=2 * 1024**3, ge=1)


class Config(Section):
    """A whole configuration."""

    tools: Tools = Tools()
    approval: ApprovalSettings = ApprovalSettings()
    limits: Limits = Limits()
    history: HistorySettings = HistorySettings()
    freshness: tuple[FreshnessRule, ...] = ()
