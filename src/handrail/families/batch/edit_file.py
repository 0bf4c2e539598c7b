"""edit_file: every change to a file: write, patch, remove, restore, and the undo of a whole task."""

import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.batch.names import absolute, base
from handrail.families.batch.receipts import REACH, EditFileOutput, receipt, rerender
from handrail.families.batch.tasks import meant
from handrail.families.batch.untitled import untitled
from handrail.families.render import failed, failure, made
from handrail.model.errors import HandrailError, InternalError, InvalidCall, NotThere
from handrail.model.operations import Edit, Mutation, Remove, Replacement, Restore, Undo, Write
from handrail.model.paths import shown, within

Mode = Literal["write", "patch", "remove", "restore"]

DESCRIPTION = """Change a file. An existing file must have been read with read_files first and be unchanged since.
- write (content): make a file, or replace it whole; missing directories are made. A file made for the user with no \
place asked for belongs in {output}; with a blank path it lands there by itself.
- patch (targets): replace text. Each old_string must occur exactly once in the file as it is now (replace_all: \
everywhere), without row numbers; all targets apply or none. Empty new_string deletes; to insert, repeat old_string \
at the start of new_string.
- mode="remove": move a file or directory aside. mode="restore": put version back, or undo a whole task (task_id; \
"current": the running one), narrowed by path. Both can be undone.
dry_run=true answers with the diff alone."""

HASH: Final = re.compile("[0-9a-fA-F]{64}")
FIELDS: Final[dict[str, frozenset[str]]] = {
    "write": frozenset({"content", "expected_hash"}),
    "patch": frozenset({"targets", "expected_hash"}),
    "remove": frozenset({"expected_hash"}),
    "restore": frozenset({"version", "task_id"}),
}
_INSERT: Final = (
    "It was removed. To insert, patch: old_string = the text beside the place, new_string = that text followed by "
    "what is new."
)


class Target(Arguments):
    """One anchor and what takes its place."""

    refused = {"row": _INSERT, "insert_string": _INSERT, "line": _INSERT}  # noqa: RUF012 -- read by `parse`

    old_string: str
    new_string: str
    replace_all: bool = False


class EditFileArguments(Arguments):
    """What edit_file takes."""

    refused = Target.refused

    path: str = ""
    mode: Mode | None = Field(default=None, description="content means write, targets patch; the others must be said.")
    content: str | None = None
    targets: list[Target] | None = None
    version: int | None = Field(default=None, ge=1)
    task_id: str | None = None
    expected_hash: str | None = Field(
        default=None, description="SHA-256 of the file as you know it; stands for a read when it holds."
    )
    dry_run: bool = False


def operations(args: EditFileArguments, context: Context) -> Sequence[Mutation]:
    """One change; for the undo of a task one a path."""
    mode = _mode(args)
    for name in ("content", "targets", "version", "task_id", "expected_hash"):
        if getattr(args, name) not in (None, "", []) and name not in FIELDS[mode]:
            raise _refused(name, f"{name} doesn't go with mode={mode}.", f"Leave {name} out, or choose another mode.")
    if not args.path.strip() and mode in ("patch", "remove"):
        raise _refused("path", f"mode={mode} needs a path.", "Say which file; a blank path goes with write alone.")
    expected = _expected(args)
    if mode == "write":
        return [_write(args, context, expected)]
    if mode == "patch":
        return [_patch(args, expected)]
    if mode == "remove":
        return [Remove(path=args.path, expected_hash=expected, dry_run=args.dry_run)]
    return _restore(args, context)


def _mode(args: EditFileArguments) -> Mode:
    if args.content is not None and args.targets:
        raise _refused(
            "content",
            "content and targets are both given.",
            "content is the whole file, targets are parts of it: send one.",
        )
    if args.mode is not None:
        return args.mode
    if args.content is not None:
        return "write"
    if args.targets is not None:
        return "patch"
    asked = args.version is not None or args.task_id
    hint = 'Say mode="restore".' if asked else 'Send content, or targets, or say mode="remove" or mode="restore".'
    raise _refused("mode", "It isn't clear what to change: remove and restore are never inferred.", hint)


def _write(args: EditFileArguments, context: Context, expected: str | None) -> Write:
    if args.content is None:
        raise _refused("content", "mode=write needs content.", "Send the whole new text as content.")
    blank = not args.path.strip()
    return Write(
        path=untitled(args.content, context) if blank else args.path,
        content=args.content,
        parents=True,
        unique=blank,
        expected_hash=expected,
        dry_run=args.dry_run,
    )


def _patch(args: EditFileArguments, expected: str | None) -> Edit:
    if not args.targets:
        raise _refused("targets", "mode=patch needs targets.", "Send a list of {old_string, new_string}.")
    return Edit(
        path=args.path,
        replacements=tuple(
            Replacement(old=target.old_string, new=target.new_string, everywhere=target.replace_all)
            for target in args.targets
        ),
        semantics="together",
        expected_hash=expected,
        dry_run=args.dry_run,
    )


def _expected(args: EditFileArguments) -> str | None:
    if not args.expected_hash:
        return None
    if not HASH.fullmatch(args.expected_hash.strip()):
        raise _refused(
            "expected_hash",
            "expected_hash is no SHA-256.",
            "Copy the 64 hex digits of hash from a read or a receipt.",
        )
    return args.expected_hash.strip().lower()


def _restore(args: EditFileArguments, context: Context) -> Sequence[Restore | Undo]:
    if args.version is not None and args.task_id:
        raise _refused("version", "version and task_id are both given.", "Send the one that is meant.")
    if args.version is not None:
        return [Restore(version=args.version, path=args.path if args.path.strip() else None, dry_run=args.dry_run)]
    if not args.task_id:
        raise _refused(
            "version",
            "mode=restore needs version or task_id.",
            'file_history lists versions and tasks; "current" is yours.',
        )
    task = meant(args.task_id, context)
    paths = context.records.task_paths(task)
    if args.path.strip():
        asked = absolute(args.path, context.roots)
        paths = [path for path in paths if within(path, asked)]
    if not paths:
        where = f" at {shown(args.path)}" if args.path.strip() else ""
        raise NotThere(
            "not_found",
            f"The task {task} changed nothing{where}.",
            hint="file_history with this task_id says what it changed.",
        )
    return [Undo(task=task, path=path, dry_run=args.dry_run) for path in paths]


def _refused(field: str, message: str, hint: str) -> InvalidCall:
    return InvalidCall("invalid_arguments", message, hint=hint, facts={"field": field})


def reply(args: EditFileArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """The receipt of what was done, path by path for a task."""
    root = base(context.roots, [args.path] if args.path.strip() else [])
    if outcomes and isinstance(outcomes[0].operation, Undo):
        return _undone(outcomes, root)
    (outcome,) = outcomes
    if outcome.error is not None:
        return failed(TOOL, outcome.error, path=getattr(outcome.operation, "path", None))
    fields = receipt(outcome, root)
    return Reply(made(EditFileOutput, fields), rerender(fields))


def _undone(outcomes: Sequence[Outcome], root: str | None) -> Reply:
    """One entry a path; the call failed when no path could be taken back."""
    files: list[dict[str, Any]] = []
    errors: list[HandrailError] = []
    for outcome in outcomes:
        if outcome.error is not None or outcome.answer is None:
            error = outcome.error or InternalError("internal_error", "The undo gave no answer.")
            errors.append(error)
            files.append(failure(error, path=getattr(outcome.operation, "path", None)))
        else:
            files.append(receipt(outcome, root))
    task = getattr(outcomes[0].operation, "task", None)
    fields: dict[str, Any] = {"kind": "undone", "undone_task": task, "files": files, "warnings": [REACH]}
    if outcomes[0].dry_run:
        fields |= {"kind": "preview", "mode": "undo", "dry_run": True}
    tasks = [file["task"] for file in files if file.get("task")]
    if tasks:
        fields["task"] = tasks[0]
    ok = len(errors) < len(outcomes)
    if not ok:
        fields = {**failure(errors[0]), "undone_task": task, "files": files}
    return Reply(made(EditFileOutput, fields), rerender(fields), ok=ok)


def _describe(context: Context) -> str:
    return DESCRIPTION.replace("{output}", shown(context.output_directory))


TOOL: Tool[EditFileArguments] = Tool(
    name="edit_file",
    family="batch",
    title="Change a file",
    describe=_describe,
    arguments=EditFileArguments,
    output=EditFileOutput,
    operations=operations,
    reply=reply,
    rerender=rerender,
    group="@write",
    diffs=True,
    read_only=False,
    destructive=True,
)
