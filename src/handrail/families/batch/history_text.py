"""The text of a history's payload: a row a version, a diff a comparison, the tail that says how many more there are."""

from collections.abc import Iterator, Mapping
from typing import Any

from handrail.families.render import clock, count, failure_text
from handrail.model.calls import Block, TextBlock


def rerender(fields: Mapping[str, Any]) -> tuple[Block, ...]:
    """The text for a payload."""
    return (TextBlock("\n".join(_lines(fields))),)


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    files = fields.get("files") or ()
    if fields.get("error") is not None and not files:
        yield failure_text(fields)
        return
    if fields.get("kind") == "versions":
        for version in fields["versions"]:
            yield _version(version)
        shown, more = len(fields["versions"]), fields.get("more", 0)
        least = "at least " if fields.get("at_least") else ""
        place = f"versions {1 if shown else 0}-{shown} of {least}{shown + more}"
        if more:
            yield f"[{place}; {least}{more} more; raise limit (24 at most) or narrow the span]"
        else:
            yield f"[{place}; no more]"
        return
    for file in files:
        yield from _comparison(file)


def _version(version: Mapping[str, Any]) -> str:
    what = version["type"] if version["type"] != "file" else count(version["size"], "byte")
    fields = [f"version {version['version']}", clock(version["changed_at"]), version["action"], version["path"], what]
    fields.append(f"by {version['tool']}" if version["tool"] else "by others")
    if version.get("task"):
        objective = " ".join((version.get("objective") or "").split())
        fields.append(f"task {version['task']}" + (f" ({objective[:120]})" if objective else ""))
    if not version["restorable"]:
        fields.append(f"not restorable: {version.get('why_not', '')}")
    return "\t".join(fields)


def _comparison(file: Mapping[str, Any]) -> Iterator[str]:
    if file.get("error") is not None:
        yield f"{file.get('path', '')}: {failure_text(file)}"
        return
    since = f"version {file['version']} of {clock(file['changed_at'])}" if "version" in file else "no recorded version"
    said = {
        "identical": "the disk holds the same",
        "binary": "binary, and different from the disk",
        "directory": "a directory",
        "missing": "nothing is on the disk now",
        "too_large": "too large to be compared line by line, and different",
        "pruned": "the version's content is no longer kept",
    }.get(file.get("said", ""), file.get("said", ""))
    yield f"{file['path']}: {since}" + (f": {said}" if said else "")
    if file.get("diff"):
        yield file["diff"].removesuffix("\n")
    if "content" in file:
        yield f"the content of version {file.get('version')}:"
        yield file["content"]
        if "next_offset" in file:
            yield (
                f"[lines {file['first']}-{file['last']} of {file['total']}; "
                "restore the version to read the rest with read_files]"
            )
