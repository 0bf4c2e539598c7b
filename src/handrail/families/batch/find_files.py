"""find_files: many questions to the tree in one call; lists, globs and searches."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import Field

from handrail.core.arguments import Arguments
from handrail.core.tool import Context, Outcome, Reply, Tool
from handrail.families.batch.found import FindFilesOutput, errors_of, rows_of
from handrail.families.batch.found_text import render
from handrail.families.batch.names import base, spelled
from handrail.families.render import clean, escaped_paths, failed, failure, local_time, made
from handrail.model.answers import Found
from handrail.model.calls import Block, TextBlock
from handrail.model.errors import InvalidCall
from handrail.model.operations import Find
from handrail.model.operations import Query as Question

Mode = Literal["list", "glob", "search"]

DESCRIPTION = """Find files or text; several queries in one call, results merged.
- list (a query without pattern): a directory's entries; recursive=true lists the whole subtree.
- glob (pattern alone): file names matching `**`, `*`, `?`, `[a-z]`, `{a,b}`, newest first. Without a slash the name \
matches at any depth; at least one literal character is needed.
- search (pattern and file_pattern, or mode="search"): pattern is an RE2 regular expression on each line \
(literal=true: plain text). output="files": path, count, first rows, ready for read_files around; output="content": \
the matching rows, with context=N rows around them; multiline=true: `.` and the pattern cross line ends.
A page ends with the offset of the next one; keep everything else the same to get it. Ignored files are skipped \
unless dir names them; what was skipped is counted."""

WILD: Final = frozenset("*?[]{}/.")


class Query(Arguments):
    """One question."""

    dir: str = Field(default=".", description="Directory to look in; for a search also one file.")
    pattern: str | None = Field(default=None, description="A glob relative to dir, or the text searched for.")
    file_pattern: str | None = Field(default=None, description="Search: glob of the files looked into.")
    recursive: bool = Field(default=False, description="List: the whole subtree.")


class FindFilesArguments(Arguments):
    """What find_files takes."""

    queries: list[Query] = Field(min_length=1)
    mode: Mode | None = Field(default=None, description="Inferred from the queries when omitted.")
    output: Literal["files", "content"] = "files"
    multiline: bool = False
    offset: int = Field(default=0, ge=0, description="Where the page starts.")
    limit: int = Field(default=256, ge=1, le=2048)
    context: int = Field(default=0, ge=0, le=100)
    literal: bool = False
    documents: bool = False


def operations(args: FindFilesArguments, context: Context) -> Sequence[Find]:
    """One find for all the queries."""
    if args.documents:
        raise InvalidCall(
            "invalid_arguments",
            "documents=true isn't there yet: a search looks into text files only.",
            hint="Call again without documents.",
            facts={"field": "documents"},
        )
    mode = _mode(args)
    for index, query in enumerate(args.queries):
        _check(index, query, mode)
    searching = mode == "search"
    return [
        Find(
            mode=mode,
            queries=tuple(
                Question(
                    directory=q.dir or ".",
                    pattern=q.pattern or None,
                    file_pattern=q.file_pattern or None,
                    recursive=q.recursive,
                )
                for q in args.queries
            ),
            unit=args.output if searching else "files",
            literal=args.literal,
            multiline=args.multiline,
            before=args.context if searching else 0,
            after=args.context if searching else 0,
            offset=args.offset,
            limit=args.limit if searching or "limit" in args.model_fields_set else None,
            respect_ignore=context.config.tools.fs.respect_gitignore,
        )
    ]


def _mode(args: FindFilesArguments) -> Mode:
    if args.mode is not None:
        return args.mode
    inferred = [_inferred(index, query) for index, query in enumerate(args.queries)]
    if len(set(inferred)) > 1:
        said = ", ".join(f"queries[{index}] {mode}" for index, mode in enumerate(inferred))
        raise InvalidCall(
            "invalid_arguments",
            f"The queries mean different modes: {said}.",
            hint="Send them in separate calls, or say mode.",
            facts={"field": "queries", "modes": inferred},
        )
    return inferred[0]


def _inferred(index: int, query: Query) -> Mode:
    if query.pattern:
        return "search" if query.file_pattern else "glob"
    if query.file_pattern:
        raise _refused(
            index,
            "has a file_pattern without a pattern",
            "To find files by name put the glob into pattern; to search them give pattern the text.",
        )
    return "list"


def _check(index: int, query: Query, mode: Mode) -> None:
    if mode == "list" and (query.pattern or query.file_pattern):
        raise _refused(index, "has a pattern, but mode is list", 'Use mode="glob" for names, mode="search" for text.')
    if mode != "list" and not query.pattern:
        raise _refused(index, f"has no pattern, but mode is {mode}", "Give the query a pattern.")
    if mode == "glob" and query.file_pattern:
        raise _refused(index, "has a file_pattern, but mode is glob", 'Use mode="search", or pattern alone.')
    globs = [query.pattern if mode == "glob" else None, query.file_pattern]
    for glob in filter(None, globs):
        if glob.startswith(("/", "~")):
            raise _bad_glob(index, glob, "starts at the root or the home folder", "Put the directory into dir.")
    if mode == "glob" and set(query.pattern or "") <= WILD:
        raise _bad_glob(
            index,
            query.pattern or "",
            "holds no literal character",
            'To see what is there use mode="list" with recursive=true; to look into files use mode="search".',
        )


def _refused(index: int, what: str, hint: str) -> InvalidCall:
    return InvalidCall("invalid_arguments", f"queries[{index}] {what}.", hint=hint, facts={"index": index})


def _bad_glob(index: int, glob: str, what: str, hint: str) -> InvalidCall:
    glob = clean(glob[:200])
    return InvalidCall(
        "invalid_glob", f'The glob "{glob}" of queries[{index}] {what}.', hint=hint, facts={"index": index}
    )


def reply(args: FindFilesArguments, outcomes: Sequence[Outcome], context: Context) -> Reply:
    """The page that was found, as rows."""
    (outcome,) = outcomes
    if outcome.error is not None or not isinstance(outcome.answer, Found):
        return failed(TOOL, outcome.error or _nothing())
    found = outcome.answer
    if found.errors and len(found.errors) == len(args.queries):
        return _all_failed(found)
    root = base(context.roots, [query.dir or "." for query in args.queries])
    fields: dict[str, Any] = {
        **rows_of(found, root),
        "total": found.total,
        "first": found.first,
        "last": found.last,
        "complete": found.complete,
        **{f"skipped_{reason}": number for reason, number in sorted(found.skipped.items()) if number},
    }
    if found.next_offset is not None:
        fields["next_offset"] = found.next_offset
    if found.dropped:
        fields["dropped"] = found.dropped
    escaped = escaped_paths(found)
    if escaped:
        fields["escaped"] = [spelled(path, root) for path in escaped]
    if found.changed:
        fields["changed"] = [spelled(path, root) for path in found.changed]
    if found.mode == "search" and found.searched_at:
        fields["searched_at"] = local_time(found.searched_at)
    if found.errors:
        fields["errors"] = errors_of(found)
    notes = [*found.notes, *outcome.notes, *_inferred_note(args, found)]
    if notes:
        fields["notes"] = [clean(note) for note in notes]
    return Reply(made(FindFilesOutput, fields), rerender(fields))


def _all_failed(found: Found) -> Reply:
    first = found.errors[min(found.errors)]
    if len(found.errors) == 1:
        return failed(TOOL, first)
    fields = {**failure(first), "errors": errors_of(found)}
    return Reply(made(FindFilesOutput, fields), rerender(fields), ok=False)


def _inferred_note(args: FindFilesArguments, found: Found) -> Sequence[str]:
    asked = args.model_fields_set & {"output", "multiline", "context", "literal"}
    if found.mode == "search" or not asked or args.mode is not None:
        return ()
    return (f'{", ".join(sorted(asked))} matter to a search alone; to search text say mode="search".',)


def _nothing() -> InvalidCall:
    return InvalidCall("invalid_arguments", "Nothing was asked for.", hint="Give at least one query.")


def rerender(fields: Mapping[str, object]) -> tuple[Block, ...]:
    """The text for a payload."""
    return (TextBlock(render(fields)),)


TOOL: Tool[FindFilesArguments] = Tool(
    name="find_files",
    family="batch",
    title="Find files or text",
    describe=lambda _: DESCRIPTION,
    arguments=FindFilesArguments,
    output=FindFilesOutput,
    operations=operations,
    reply=reply,
    rerender=rerender,
    idempotent=True,
)
