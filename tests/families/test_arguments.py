"""What models type: unambiguous slips are accepted, the rest is refused by name."""

import json
import string
from typing import Any

import pytest
from faces_alone import TOOLS, context, operations, schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.core.arguments import parse
from handrail.model.errors import HandrailError, InvalidCall


def read(name: str, raw: object) -> Any:
    return parse(TOOLS[name].arguments, raw)


def refusal(name: str, raw: object) -> InvalidCall:
    with pytest.raises(InvalidCall) as caught:
        read(name, raw)
    assert caught.value.kind == "invalid_arguments"
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    "edits",
    [
        [{"old_string": "a", "new_string": "b"}],
        {"old_string": "a", "new_string": "b"},
        '[{"old_string": "a", "new_string": "b"}]',
        '{"old_string": "a", "new_string": "b"}',
        ['{"old_string": "a", "new_string": "b"}'],
    ],
)
def test_edits_may_come_as_json_text_one_object_or_a_list_of_json_texts(edits: object) -> None:
    multi = read("MultiEdit", {"file_path": "/f", "edits": edits})
    assert [(e.old_string, e.new_string) for e in multi.edits] == [("a", "b")]
    patch = read("edit_file", {"path": "f", "targets": edits})
    assert [(t.old_string, t.new_string) for t in patch.targets] == [("a", "b")]


def test_a_whole_call_may_come_as_json_text() -> None:
    assert read("Read", '{"file_path": "/f", "offset": "3"}').offset == 3


def test_numbers_and_booleans_may_come_as_strings() -> None:
    args = read("Grep", {"pattern": "x", "-i": "true", "-C": "2", "head_limit": "10.0", "multiline": "False"})
    assert (args.ignore_case, args.around, args.head_limit, args.multiline) == (True, 2, 10, False)
    assert read("Read", {"file_path": "/f", "offset": 3.0}).offset == 3


def test_null_and_empty_stand_for_what_may_be_omitted() -> None:
    args = read("find_files", {"queries": [{"dir": None, "recursive": None}], "mode": "", "limit": None})
    assert (args.queries[0].dir, args.mode, args.limit) == (".", None, 256)


def test_null_for_what_is_required_is_refused() -> None:
    assert refusal("Write", {"file_path": "/f", "content": None}).facts["field"] == "content"


def test_extras_that_begin_with_an_underscore_are_dropped() -> None:
    assert read("read_files", {"_thought": 1, "files": [{"path": "f", "_n": {}}]}).files[0].path == "f"


def test_one_value_does_for_a_list() -> None:
    assert read("read_files", {"files": {"path": "f", "around": 3}}).files[0].around == [3]
    assert read("read_files", {"files": {"path": "f", "around": "[3, 4]"}}).files[0].around == [3, 4]
    assert read("file_history", {"paths": "a.txt"}).paths == ["a.txt"]


def test_a_page_number_may_be_a_number() -> None:
    assert read("Read", {"file_path": "/f", "pages": 3}).pages == "3"


def test_the_words_of_a_choice_may_differ_in_case() -> None:
    assert read("find_files", {"queries": [{}], "mode": "List"}).mode == "list"


def test_strings_are_never_unescaped() -> None:
    hostile = r"\n \0 \u2192 &amp; $& \1 \g<0> [1] {}"
    args = read("Edit", {"file_path": "/f", "old_string": hostile, "new_string": '["a"]'})
    assert (args.old_string, args.new_string) == (hostile, '["a"]')


def test_a_refusal_names_the_field_what_came_and_what_is_wanted() -> None:
    error = refusal("read_files", {"files": [{"path": "a"}, {"path": "b", "limit": "many"}]})
    assert error.facts == {"field": "files[1].limit", "got": 'the string "many"', "wanted": "an integer of at least 1"}
    assert error.message == '`files[1].limit` wants an integer of at least 1; got the string "many".'
    assert refusal("find_files", {"queries": [{}], "limit": 5000}).facts["wanted"] == "an integer from 1 to 2048"
    assert refusal("find_files", {"queries": [{}], "mode": "tree"}).facts["wanted"] == 'one of "list", "glob", "search"'


def test_an_unknown_field_is_named_with_the_nearest_known_one() -> None:
    error = refusal("Edit", {"file_path": "/f", "old_str": "a", "new_string": "b"})
    assert error.message == "There is no field `old_str`."
    assert error.hint == "Did you mean `old_string`?"
    assert "`file_path`" in refusal("Read", {"path": "/f"}).hint


@pytest.mark.parametrize("name", ["row", "insert_string"])
def test_the_removed_insert_form_is_refused_by_name_with_how_to_insert(name: str) -> None:
    inside = {"path": "f", "targets": [{"old_string": "a", "new_string": "b", name: 1}]}
    for raw in (
        inside,
        {"path": "f", "targets": [{"old_string": "a", "new_string": "b"}], name: 1},
        {"path": "f", name: 1},
    ):
        error = refusal("edit_file", raw)
        assert name in error.message
        assert "old_string" in error.hint


def test_the_alias_of_a_flag_is_accepted_but_not_our_inner_name() -> None:
    assert operations("Grep", {"pattern": "x", "context": 2, "output_mode": "content"})[0].before == 2
    assert refusal("Grep", {"pattern": "x", "ignore_case": True})


def test_half_a_surrogate_pair_in_text_is_refused_and_a_split_pair_is_joined() -> None:
    assert read("Write", {"file_path": "/f", "content": "\ud83d\ude00"}).content == "\U0001f600"
    assert "U+D800" in refusal("Write", {"file_path": "/f", "content": "a\ud800"}).message
    assert refusal("MultiEdit", {"file_path": "/f", "edits": r'[{"old_string": "\ud800", "new_string": ""}]'})


def test_stray_bytes_in_a_name_are_spelled_as_names_are_shown() -> None:
    assert read("read_files", {"files": [{"path": "caf\udce9"}]}).files[0].path == r"caf\xe9"
    assert read("Read", {"file_path": "/\ud800"}).file_path == r"/\ud800"


def test_nul_in_a_pattern_is_refused_and_in_a_name_left_to_its_own_answer() -> None:
    assert refusal("Grep", {"pattern": "a\x00b"}).facts["field"] == "pattern"
    assert read("read_files", {"files": [{"path": "a\x00"}, {"path": "b"}]})


@pytest.mark.parametrize(
    "raw",
    [
        5,
        "text",
        [],
        {"files": "[" * 100_000},
        {"files": [{"path": "a", "offset": 10**400}]},
        {"files": [{"path": "a", "offset": float("nan")}]},
        {"files": [{"path": "a", "offset": True}]},
        {"files": [{"path": "a", "offset": "9" * 5000}]},
        {"files": [{"path": "a"}] * 101},
        {"files": [{"path": "a", "around": [1] * 60_000}]},
        {"files": []},
        {"\ud800": 1},
        {1: 2},
        {"files": b"abc"},
    ],
)
def test_garbage_is_refused_in_time(raw: object) -> None:
    refusal("read_files", raw)


def test_absurdly_deep_arguments_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    refusal("read_files", {"files": deep})


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Nd"]), max_size=4),
    st.sampled_from(
        ["/f", "~", "../x", "*", "**/*", "(", "[", "current", "cp-ae", "2026-08-13", "true", "[1]", "{}", ""]
    ),
)
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _by_schema(node: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that come close to a schema, with slips of every kind among them."""
    if node["type"] == "object":
        known = {name: _by_schema(child) for name, child in node["properties"].items()}
        required = set(node.get("required", ()))
        near: st.SearchStrategy[Any] = st.fixed_dictionaries(
            {n: s for n, s in known.items() if n in required},
            optional={**{n: s for n, s in known.items() if n not in required}, "_x": _JSON},
        )
        near = near | near.map(json.dumps)
    elif node["type"] == "array":
        near = st.lists(_by_schema(node["items"]), max_size=3) | _by_schema(node["items"])
    elif "enum" in node:
        near = st.sampled_from(node["enum"])
    elif node["type"] == "integer":
        near = st.integers(-5, 3000) | st.integers(-5, 3000).map(str)
    elif node["type"] == "boolean":
        near = st.booleans() | st.sampled_from(["true", "false"])
    else:
        near = st.text(alphabet=string.printable, max_size=20)
    return st.one_of(near, near, near, near, near, _JSON)


@pytest.mark.parametrize("name", TOOLS)
@settings(max_examples=30, deadline=2000, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_json_parses_or_is_refused(name: str, data: st.DataObject) -> None:
    raw = data.draw(_by_schema(schema(name)) | _JSON)
    try:
        arguments = read(name, raw)
    except InvalidCall as error:
        json.dumps([error.message, error.hint, error.facts]).encode()
        f"{error.message}{error.hint}".encode()
        return
    try:
        meant = TOOLS[name].operations(arguments, context())
    except HandrailError as error:
        f"{error.message}{error.hint}".encode()
    else:
        assert meant
        assert all(operation.kind for operation in meant)
