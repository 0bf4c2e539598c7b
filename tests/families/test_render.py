"""Failures, times, diffs and text as both families say them."""

import json
from typing import Any

import jsonschema
import pytest
from faces_alone import TOOLS, dumped
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.schema import output_schema
from handrail.families.render import clean, count, failed, short_diff, tidy
from handrail.model import errors
from handrail.model.calls import TextBlock

KINDS = [(branch, kind) for branch, kinds in errors.KINDS.items() for kind in kinds]
_TEXT = st.text(max_size=8)
_FACTS = st.dictionaries(
    st.sampled_from(["rows", "files", "bytes", "index", "nearest", "kind", "version", "paths", "lines", "x"]),
    st.none() | st.integers() | _TEXT | st.lists(_TEXT | st.integers(), max_size=3) | st.dictionaries(_TEXT, _TEXT),
)


@pytest.mark.parametrize("name", TOOLS)
@settings(max_examples=40)
@given(which=st.sampled_from(KINDS), facts=_FACTS, message=_TEXT, path=st.none() | _TEXT)
def test_every_failure_of_every_tool_validates(
    name: str, which: tuple[str, str], facts: dict[str, Any], message: str, path: str | None
) -> None:
    branch, kind = which
    error = getattr(errors, branch)(kind, message, path=path, facts=facts)
    reply = failed(TOOLS[name], error)
    payload = dumped(TOOLS[name], reply)
    assert (payload["kind"], reply.ok) == (kind, False)
    assert set(payload) >= {"kind", "error", "hint", "retryable"}
    assert (TOOLS[name].failure_path in payload) == (path is not None)
    (block,) = reply.blocks
    assert isinstance(block, TextBlock)
    assert block.text.encode()


def test_a_fact_that_a_field_stands_in_for_is_kept_aside() -> None:
    error = errors.NotThere("ambiguous_match", "It is there twice.", facts={"files": "two", "count": 2})
    payload = dumped(TOOLS["edit_file"], failed(TOOLS["edit_file"], error))
    assert (payload["facts"], payload["count"]) == ({"files": "two"}, 2)


def test_a_call_for_no_tool_is_a_failure_too() -> None:
    reply = failed(None, errors.InvalidCall("unknown_tool", "There is no tool Reed.", hint="Did you mean Read?"))
    assert reply.payload.model_dump(exclude_unset=True)["kind"] == "unknown_tool"


@given(st.text(alphabet=st.characters()))
def test_clean_text_can_be_encoded_and_other_text_stays(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert len(cleaned) == len(text)
    assert cleaned == text or "\ufffd" in cleaned


def test_facts_of_any_type_become_json() -> None:
    json.dumps(tidy({"a": (1, b"x", {"b"}), 2: 1.5, "c": None, "d": object}))


def test_a_short_diff_says_how_much_is_left_out() -> None:
    assert short_diff("a\nb\n") == "a\nb"
    assert short_diff("a\nb\nc\n", lines=1) == "a\n[2 more lines of this diff not shown]"
    assert short_diff("a\n" + "b" * 99, characters=10) == "a\n[1 more line of this diff not shown]"


def test_numbers_go_with_their_nouns() -> None:
    assert [count(1, "entry"), count(2, "entry"), count(0, "row")] == ["1 entry", "2 entries", "0 rows"]


@pytest.mark.parametrize("name", TOOLS)
def test_output_schemas_are_flat_objects_that_require_only_the_kind(name: str) -> None:
    schema = output_schema(TOOLS[name].output)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["type"], schema["required"]) == ("object", ["kind"])
    assert next(iter(schema["properties"])) == "kind"
    assert not {"oneOf", "anyOf", "allOf", "$ref", "$defs", "$schema"} & set(schema)
    assert schema.get("additionalProperties", True) is True
    assert all("type" in field for field in schema["properties"].values())
