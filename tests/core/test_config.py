"""The configuration: its layers, what a workspace file may do, how what is wrong is said."""

import os
import tomllib
from pathlib import Path

import pytest

from handrail.core.config import Config, keys
from handrail.core.config_files import ADDED, LOWERED, NARROWED, SWITCHED_ON, Loaded, load
from handrail.core.config_reading import variable
from handrail.model.errors import InvalidCall

EMPTY: dict[str, str] = {}


def file(tmp_path: Path, text: str, name: str = "given.toml") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def loaded(tmp_path: Path, text: str, **more: object) -> Loaded:
    return load(file=file(tmp_path, text), environment=EMPTY, **more)  # type: ignore[arg-type]


def tightened(tmp_path: Path, text: str, **more: object) -> Loaded:
    file(tmp_path, text, "handrail.toml")
    return load(environment=EMPTY, workspace=str(tmp_path), **more)  # type: ignore[arg-type]


def refused(tmp_path: Path, text: str) -> InvalidCall:
    with pytest.raises(InvalidCall) as caught:
        loaded(tmp_path, text)
    assert caught.value.kind == "invalid_arguments"
    return caught.value


def test_without_any_layer_everything_has_its_default() -> None:
    assert load(environment=EMPTY) == Loaded(config=Config())


def test_arguments_win_over_environment_over_given_file_over_user_file(tmp_path: Path) -> None:
    texts = [f"[tools.fs]\nmax_read_bytes = {n}\nmax_edit_bytes = {n}\ntrack_reads = true\n" for n in (1, 2)]
    user = file(tmp_path, texts[0] + 'binary_policy = "base64"\n', "user.toml")
    found = load(
        user_file=user,
        file=file(tmp_path, texts[1]),
        environment={"HANDRAIL_TOOLS_FS_MAX_READ_BYTES": "3", "HANDRAIL_LIMITS_DEADLINE": "3"},
        arguments={"limits.deadline": 4.5},
    )
    fs = found.config.tools.fs
    assert (fs.binary_policy, fs.max_edit_bytes, fs.max_read_bytes, found.config.limits.deadline) == (
        "base64", 2, 3, 4.5,
    )  # fmt: skip
    assert found.origins["tools.fs.binary_policy"] == user
    assert found.origins["limits.deadline"] == "the arguments"


def test_every_key_can_be_set_by_its_environment_variable() -> None:
    assert len({variable(key) for key in keys()}) == len(list(keys()))
    values = {"HANDRAIL_TOOLS_FS_WORKSPACE_ROOT": "12", "HANDRAIL_TOOLS_POLICY_DENY": '["Write", "@write"]'}
    values["HANDRAIL_FRESHNESS"] = '[{paths = "*.log", mode = "off"}]'
    values["HANDRAIL_TOOLS_EXEC_SANDBOX_BACKEND"] = "podman"
    config = load(environment=values).config
    assert config.tools.fs.workspace_root == "12"
    assert config.tools.policy.deny == ("Write", "@write")
    assert config.freshness[0].mode == "off"
    assert config.tools.exec.sandbox.backend == "podman"


def test_a_list_of_tables_is_read_from_a_file(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[[freshness]]\npaths = "a"\n[[freshness]]\npaths = "b"\nmode = "region"\n')
    assert [(r.paths, r.mode) for r in found.config.freshness] == [("a", "strict"), ("b", "region")]


@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ("[tools.fs]\nmax_read_byte = 1\n", "tools.fs.max_read_byte", "tools.fs.max_read_bytes"),
        ("[tools.fs]\ndeny_path = []\n", "tools.fs.deny_path", "tools.fs.deny_paths"),
        ("[fs]\ndeny_paths = []\n", "fs", None),
        ("require_approval = true\n", "require_approval", "tools.fs.require_approval"),
        ("[tools.policy.deny]\n", "tools.policy.deny", None),
        ('[[freshness]]\npaths = "a"\nmodes = "off"\n', "freshness[0].modes", "freshness.mode"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path, text: str, key: str, near: str) -> None:
    error = refused(tmp_path, text)
    assert key in error.message
    if near:
        assert near in error.hint


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[tools.fs]\nmax_read_bytes = "1"\n', "tools.fs.max_read_bytes"),
        ("[tools.fs]\nmax_read_bytes = 0\n", "tools.fs.max_read_bytes"),
        ("[tools.fs]\nrequire_approval = 0\n", "tools.fs.require_approval"),
        ('[tools.fs]\ndeny_paths = ".env"\n', "tools.fs.deny_paths"),
        ('[tools.fs]\nbinary_policy = "maybe"\n', "tools.fs.binary_policy"),
        ("tools = 3\n", "tools"),
        ("[tools.fs]\ndeny_paths = [1]\n", "tools.fs.deny_paths[0]"),
        ("[limits]\ndeadline = 1979-05-27\n", "limits.deadline"),
    ],
)
def test_a_bad_value_is_refused_by_its_dotted_name_and_file(tmp_path: Path, text: str, key: str) -> None:
    error = refused(tmp_path, text)
    assert error.message.startswith(f"{key} ")
    assert "given.toml" in error.message


def test_must_read_before_write_needs_track_reads_whichever_layers_say_so(tmp_path: Path) -> None:
    text = "[tools.fs]\nmust_read_before_write = true\n"
    assert "needs track_reads" in refused(tmp_path, text).message
    assert loaded(tmp_path, text, arguments={"tools.fs.track_reads": True}).config.tools.fs.must_read_before_write


def test_an_unknown_variable_of_a_section_is_refused_and_one_beside_is_warned_about() -> None:
    with pytest.raises(InvalidCall, match="HANDRAIL_TOOLS_FS_DENY"):
        load(environment={"HANDRAIL_TOOLS_FS_DENY": "[]"})
    found = load(environment={"HANDRAIL_REQUIRE_APPROVAL": "true", "HANDRAIL_DATA_DIR": "/x", "HANDRAILS": "1"})
    assert len(found.warnings) == 1
    assert "HANDRAIL_TOOLS_FS_REQUIRE_APPROVAL" in found.warnings[0]


@pytest.mark.parametrize("data", [b"a =", b"\xff\xfe", b"a = " + b"[" * 5000, b"#" * (2 << 20)])
def test_a_file_that_cannot_be_parsed_stops_the_start(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "handrail.toml").write_bytes(data)
    with pytest.raises(InvalidCall, match=r"handrail\.toml"):
        load(environment=EMPTY, workspace=str(tmp_path))


def test_a_given_file_must_be_there_and_be_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("none.toml", "pipe", "", "\0"):
        with pytest.raises(InvalidCall, match="configuration file"):
            load(file=str(tmp_path / name), environment=EMPTY)
    assert load(user_file=str(tmp_path / "none.toml"), environment=EMPTY) == Loaded(config=Config())


def test_a_workspace_file_tightens(tmp_path: Path) -> None:
    text = """
        [tools.fs]
        deny_paths = ["secrets"]
        sensitive_paths = ["*.secret"]
        allow_paths = ["src/**"]
        require_approval = true
        track_reads = true
        must_read_before_write = true
        max_read_bytes = 100
        [tools.policy]
        deny = ["Write"]
        [limits]
        deadline = 1
        max_search_file_bytes = 5
    """
    found = tightened(
        tmp_path,
        text,
        arguments={"tools.fs.deny_paths": ["other"], "tools.fs.require_approval": False, "tools.fs.allow_paths": ["/"]},
    )
    fs = found.config.tools.fs
    assert fs.deny_paths == ("other", "secrets")
    assert fs.sensitive_paths == ("*.secret",)
    assert fs.allow_paths == ("/",)
    assert found.narrow == ("src/**",)
    assert fs.require_approval and fs.track_reads and fs.must_read_before_write
    assert (fs.max_read_bytes, found.config.limits.deadline, found.config.limits.max_search_file_bytes) == (100, 1, 5)
    assert found.config.tools.policy.deny == ("Write",)
    assert not found.warnings
    assert "tools.fs.require_approval" in found.tightened


@pytest.mark.parametrize(
    "line",
    [
        "tools.fs.require_approval = false",
        "tools.fs.track_reads = false",
        "tools.fs.max_read_bytes = 99_999_999",
        'tools.fs.workspace_root = "/"',
        'tools.policy.allow = ["Read"]',
        'tools.fs.output_directory = "/"',
        "tools.fs.respect_gitignore = false",
        "history.max_age_days = 1",
        "approval.timeout = 1",
        "limits.max_entries = 3_000_000",
        'freshness = [{paths = "*", mode = "off"}]',
        "tools.fs.deny_path = []",
        "whatever = 1",
        "tools.fs = 1",
    ],
)
def test_anything_else_in_a_workspace_file_is_ignored_with_a_warning_that_names_it(tmp_path: Path, line: str) -> None:
    found = tightened(tmp_path, line + "\n")
    assert found.config == Config()
    assert len(found.warnings) == 1
    assert line.split(" ", maxsplit=1)[0] in found.warnings[0]


def test_a_bad_value_of_a_tightening_key_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall, match=r"tools\.fs\.deny_paths"):
        tightened(tmp_path, 'tools.fs.deny_paths = "secrets"\n')


def test_the_keys_that_a_workspace_file_may_set_are_known_keys() -> None:
    assert {NARROWED} | ADDED | SWITCHED_ON | LOWERED <= set(keys())


def test_every_default_can_be_written_in_a_file(tmp_path: Path) -> None:
    plain = Config().model_dump(mode="json", exclude_none=True)
    lines = [f"{key} = {_toml(_at(plain, key))}" for key in keys() if _at(plain, key) is not None]
    text = "\n".join(lines)
    assert tomllib.loads(text)
    assert loaded(tmp_path, text).config == Config()


def _at(tree: object, key: str) -> object:
    for part in key.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)
