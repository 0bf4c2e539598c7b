"""What a file would become by an edit: anchors located, every rejection before anything is changed.

Rules: spec of the batch tools, "patch" (`together`), and of Edit and MultiEdit (`in_order`). It writes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from handrail.editing import everywhere, near, unusual
from handrail.editing.anchors import MANY, MOST, Haystack, Located, Rows, Span, flat
from handrail.editing.draft import Draft
from handrail.editing.pieces import Piece, joined, pieces
from handrail.model.answers import Changed
from handrail.model.changes import Change, Plan
from handrail.model.errors import HandrailError, InvalidCall, NotThere, TooLarge
from handrail.model.files import Bytes, FileState
from handrail.model.operations import Edit, Replacement, Want
from handrail.model.paths import RealPath
from handrail.model.view import Target, View
from handrail.text import lines
from handrail.text.declared import NOTHING, Declared

MAX_EDIT_BYTES: Final = 64 * 1024 * 1024
_AROUND: Final = 100
"""Places whose rows a plan names; beyond it all rows from the first to the last, in a text up to `_WIDE`."""
_WIDE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Step:
    """One replacement on its way: which it is, how a message names it, where it goes; pieces place by place."""

    index: int
    name: str
    wanted: Replacement
    located: Located = field(default=Located(spans=(), manner="exact"))
    changes: tuple[tuple[Piece, ...], ...] = ()
    ends_differ: bool = False
    places: int = 0


class EditPlanner:
    """Plans `Edit`; `max_bytes` is the largest file that is edited, all of it being held in memory."""

    def __init__(
        self, declared: Callable[[RealPath], Declared] = lambda _: NOTHING, *, max_bytes: int = MAX_EDIT_BYTES
    ) -> None:
        self._declared = declared
        self._max_bytes = max_bytes

    def wants(self, operation: Edit) -> Sequence[Want]:
        """The file, for writing; an edit through a link changes what it points to."""
        return (Want(path=operation.path, access="write"),)

    def plan(self, operation: Edit, targets: Sequence[Target], view: View) -> Plan:
        """The edited file as one change; all replacements or none."""
        path = targets[0].real
        try:
            return self._planned(operation, path, view)
        except HandrailError as error:
            error.path = error.path or str(path)
            raise

    def _planned(self, operation: Edit, path: RealPath, view: View) -> Plan:
        steps = _checked(operation)
        snapshot = view.look(path)
        if snapshot.stat.size > self._max_bytes:
            raise too_large(path, snapshot.stat.size, self._max_bytes)
        content = snapshot.content()
        declared = self._declared(path)
        original = declared.decode(content.bytes())
        draft = Draft(original, end=lines.added_end(original.text, declared.end))
        done = _together(draft, steps, view) if operation.semantics == "together" else _in_order(draft, steps, view)
        after = Bytes(draft.data())
        if after.data == original.data:
            raise _no_change(steps[0], "Together the edits leave the file as it is.")
        counted = _counted(path, draft, done)
        warnings = tuple(_noticed(draft, done, declared, after.data, rows=counted.shown_rows))
        answer = replace(counted, bytes_written=after.size, hash=after.hash, existed=True, warnings=warnings)
        before, encoding = FileState(content, snapshot.stat.mode), declared.encoding_of(original.data)
        change = Change(path, before, FileState(after), "modify", encoding=encoding)
        return Plan(answer, (change,), unusual=warnings, around=_around(original.text, draft, done))


def too_large(path: RealPath, size: int, limit: int) -> TooLarge:
    """The failure for a text over the limit of what is edited."""
    return TooLarge(
        "too_large",
        f"{path} has {size} bytes; files up to {limit} bytes can be edited.",
        hint="Raise tools.fs.max_edit_bytes in the configuration, or change the file with another program.",
        path=str(path),
        facts={"bytes": size, "max_bytes": limit},
    )


def _checked(operation: Edit) -> list[_Step]:
    """The steps, after what can be said without looking at the file."""
    batch = operation.semantics == "together"
    alone = not batch and len(operation.replacements) == 1
    steps = [
        _Step(index, "" if alone else f" of {'targets' if batch else 'edits'}[{index}]", wanted)
        for index, wanted in enumerate(operation.replacements)
    ]
    if not steps:
        raise InvalidCall("invalid_arguments", "There is nothing to replace.", hint="Send at least one replacement.")
    for step in steps:
        if not step.wanted.old:
            raise InvalidCall(
                "invalid_arguments",
                f"The old_string{step.name} is empty.",
                hint="To insert, repeat a passage of the file in old_string and at the start of new_string; "
                "to create or replace a whole file, write its content.",
                facts={"index": step.index},
            )
        if step.wanted.old == step.wanted.new:
            raise _no_change(step, f"The old_string{step.name} and its new_string are the same.")
    return steps


# in the original, all at once


def _together(draft: Draft, steps: Sequence[_Step], view: View) -> list[_Step]:
    for step in steps:
        _refuse_chained(step, steps[: step.index])
    hay = Haystack(draft.current)
    located: list[_Step] = []
    for step in steps:
        view.check()
        swept = _swept(step, hay.text, draft) if len(steps) == 1 else None
        located.append(swept or _located(step, hay, draft))
    placed = sorted((span, at, step.index) for step in located for at, span in enumerate(step.located.spans))
    for (one, _, first), (other, _, second) in pairwise(placed):
        if other[0] < one[1]:
            raise _overlap(located[first], located[second], Rows(draft.current).at(other[0]))
    draft.replace(joined(piece for _, at, index in placed for piece in located[index].changes[at]))
    return located


def _refuse_chained(step: _Step, earlier: Sequence[_Step]) -> None:
    for other in earlier:
        if flat(step.wanted.old) in flat(other.wanted.new):
            raise InvalidCall(
                "overlapping_edits",
                f"The old_string{step.name} occurs in the new_string{other.name}.",
                hint="All targets are located in the original file. Join the two into one target, "
                "or send the second in a call of its own.",
                facts={"index": step.index, "indices": [other.index, step.index]},
            )


def _overlap(one: _Step, other: _Step, row: int) -> HandrailError:
    first, second = sorted((one, other), key=lambda step: step.index)
    return InvalidCall(
        "overlapping_edits",
        f"The old_string{first.name} and the old_string{second.name} cover the same text at row {row}.",
        hint="Join the two into one, or shorten one of them.",
        facts={"index": second.index, "indices": [first.index, second.index], "rows": [row]},
    )


# one after the other


def _in_order(draft: Draft, steps: Sequence[_Step], view: View) -> list[_Step]:
    done: list[_Step] = []
    for step in steps:
        view.check()
        swept = _swept(step, draft.current, draft)
        located = swept or _located(step, Haystack(draft.current), draft)
        draft.replace(joined(piece for place in located.changes for piece in place))
        done.append(located)
    return done


# one replacement


def _swept(step: _Step, text: str, draft: Draft) -> _Step | None:
    """The step as one piece, where it has very many places and what lies between them may be encoded anew."""
    if not step.wanted.everywhere:
        return None
    swept = everywhere.sweep(text, step.wanted.old, step.wanted.new, file_end=draft.end)
    if swept is None or not draft.original.is_regular():
        return None
    located = Located(spans=(swept.span,), manner="exact")
    return replace(step, located=located, changes=((swept.piece,),), places=swept.count)


def _located(step: _Step, hay: Haystack, draft: Draft) -> _Step:
    """The step with its places and pieces; raises `no_match`, `ambiguous_match`, `no_change`."""
    old, new = step.wanted.old, step.wanted.new
    located = hay.locate(old, everywhere=step.wanted.everywhere)
    spans = located.spans
    if not spans:
        miss = near.explain(hay, old, new=new, file=draft.original.text)
        raise NotThere(
            "no_match",
            f"The old_string{step.name} is not in the file.",
            hint=miss.hint,
            facts={"index": step.index, **miss.facts},
        )
    if len(spans) > 1 and not step.wanted.everywhere:
        raise _ambiguous(step, spans, Rows(hay.text).of(spans))
    if len(spans) > MOST:
        raise _too_many(step)
    made: dict[str, tuple[Piece, ...]] = {}
    for found in {hay.text[start:stop] for start, stop in spans}:
        made[found] = pieces(found, old=old, new=new, manner=located.manner, file_end=draft.end)
    if not any(made.values()):
        raise _no_change(step, f"The new_string{step.name} is what stands in the file already.")
    changes = (tuple((a + i, a + j, text) for i, j, text in made[hay.text[a:b]]) for a, b in spans)
    ends_differ = located.manner == "ends" or any(len(found) != len(old) for found in made)
    return replace(step, located=located, changes=tuple(changes), ends_differ=ends_differ, places=len(spans))


def _too_many(step: _Step) -> TooLarge:
    return TooLarge(
        "too_large",
        f"The old_string{step.name} is in the file more than {MOST} times, too many to be looked at one by one.",
        hint="Replace it in a call of its own, without line ends in it, or replace a longer text that is rarer.",
        facts={"index": step.index, "max_places": MOST},
    )


def _ambiguous(step: _Step, spans: Sequence[Span], rows: Sequence[int]) -> NotThere:
    count = f"at least {MANY}" if len(spans) >= MANY else str(len(spans))
    shown = ", ".join(map(str, rows)) + (", ..." if len(spans) > len(rows) and len(rows) == 10 else "")
    return NotThere(
        "ambiguous_match",
        f"The old_string{step.name} is in the file {count} times, at row{'s' * (len(rows) > 1)} {shown}.",
        hint="Add lines around it until it is the only one, or set replace_all to change all of them.",
        facts={"index": step.index, "count": len(spans), "rows": list(rows)},
    )


def _no_change(step: _Step, message: str) -> InvalidCall:
    return InvalidCall(
        "no_change", message, hint="Leave it out, or send the text that you want.", facts={"index": step.index}
    )


# the answer


def _counted(path: RealPath, draft: Draft, done: Sequence[_Step]) -> Changed:
    counts = tuple(step.places for step in done)
    return Changed(
        path=path,
        replacements=sum(counts),
        per_target=counts,
        recovered_via_crlf=any(step.ends_differ for step in done),
        recovered_via_quotes=any(step.located.manner == "quotes" for step in done),
        lines=lines.count(draft.current),
        emptied=not draft.current,
        shown_rows=draft.changed_rows(),
    )


def _noticed(
    draft: Draft, done: Sequence[_Step], declared: Declared, data: bytes, *, rows: Sequence[Span]
) -> Iterator[str]:
    yield from unusual.placeholders(draft.original.text, draft.current, rows=rows)
    yield from unusual.misread(data, draft.current, declared)
    for step in done:
        if count := len(step.located.alike):
            yield f"{count} more places differ from the old_string{step.name} in line ends only; they are as they were."


def _around(before: str, draft: Draft, done: Sequence[_Step]) -> tuple[int, ...]:
    rows, changes = Rows(before), draft.pieces()
    if any(step.places > _AROUND for step in done) and len(before) <= _WIDE:
        return tuple(range(rows.at(changes[0][0]), rows.at(max(changes[-1][0], changes[-1][1] - 1)) + 1))
    ends = (at for start, end, _ in changes[:_AROUND] for at in (start, max(start, end - 1)))
    return tuple(dict.fromkeys(rows.at(at) for at in ends))
