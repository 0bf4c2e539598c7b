"""The settings of a workspace: every key and its default; `config_files.py` puts the layers together."""

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from handrail.model.errors import InvalidCall
from handrail.text.encodings import named

PARTIAL = "one layer"
"""The validation context of a layer by itself, whose keys needn't make sense without the others."""


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

    @model_validator(mode="after")
    def _reads_are_tracked(self, info: ValidationInfo) -> Self:
        """Whether writes need a read is only known where reads are tracked; one layer alone needn't say both."""
        if info.context != PARTIAL and self.must_read_before_write and not self.track_reads:
            raise ValueError("must_read_before_write needs track_reads = true: without it nobody knows what was read")
        return self


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


class EncodingRule(Section):
    """One row of `[[encoding]]`: the encoding of files that a glob names, over what is detected; the last decides."""

    paths: str
    encoding: str

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, name: str) -> str:
        try:
            found = named(name)
        except InvalidCall as error:
            raise ValueError(error.message) from None
        if found in ("utf-16", "utf-32"):
            raise ValueError(f"{found} needs its byte order: {found}-le or {found}-be")
        return found


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
    encoding: tuple[EncodingRule, ...] = ()


def keys(section: type[BaseModel] = Config, prefix: str = "") -> Iterator[str]:
    """The dotted names of all keys, tables of rows as one."""
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Section):
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name
