"""Where the tools may go, and which rule says so."""

import os
from pathlib import Path

import pytest
from guarded import Guarded
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.guard.globs import PathSet, Place
from handrail.model.errors import InvalidCall
from handrail.model.paths import within


def test_the_tools_are_confined_to_the_roots_by_whole_components(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    (world.base / "root-evil").mkdir()
    assert world.rule("a") == "roots"
    assert world.rule(".") == "roots"
    assert world.rule("../root-evil/x") == "-roots"
    assert world.rule("/etc/passwd") == "-roots"
    assert world.rule("..", "search", directory=True) == "-roots"


def test_a_link_is_judged_by_where_it_leads_whether_its_target_exists_or_not(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    (world.root / "leak").symlink_to("/etc")
    (world.root / "in").symlink_to("sub")
    for path in ("leak", "leak/passwd", "leak/none/new"):
        for access in ("read", "write", "search", "open", "history"):
            assert world.rule(path, access) == "-roots"  # type: ignore[arg-type]
    assert world.rule("in/new", "write") == "roots"


def test_a_root_given_through_a_link_is_the_place_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    world = Guarded(tmp_path, roots=[str(tmp_path / "link")], deny=[f"{tmp_path}/link/no/**"])
    assert world.rule(str(tmp_path / "real" / "x")) == "roots"
    assert world.rule(str(tmp_path / "link" / "x")) == "roots"
    assert world.rule(str(tmp_path / "real" / "no" / "x")).startswith("-deny_paths")


def test_the_root_directory_as_root_holds_everything(tmp_path: Path) -> None:
    world = Guarded(tmp_path, roots=["/"])
    assert world.rule("/etc/hostname") == "roots"
    assert world.rule("/") == "roots"


def test_without_a_root_nothing_is_confined_but_denials_hold(tmp_path: Path) -> None:
    world = Guarded(tmp_path, roots=None, deny=["/etc/**"], own=[str(tmp_path / "data")])
    assert world.rule("/usr/x", "write") == "unconfined"
    assert world.rule("/etc/passwd").startswith("-deny_paths")
    assert world.rule(str(tmp_path / "data" / "db")) == "-own places"


@pytest.mark.parametrize(
    ("glob", "denied", "free"),
    [
        ("secrets", ["secrets", "secrets/a", "deep/secrets/a/b"], ["secrets2", "xsecrets"]),
        ("secrets/", ["secrets/a", "deep/secrets/a"], ["secrets2"]),
        ("./conf/x", ["conf/x", "conf/x/y"], ["deep/conf/x"]),
        ("conf/**", ["conf/a", "conf/a/b"], ["conf", "deep/conf/a"]),
        ("**/*.bak", ["a.bak", "deep/a.bak", "a.bak/in"], ["a.bakery"]),
        ("*.{key,pem}", ["a.key", "d/b.pem"], ["a.keys"]),
        ("~/x", ["~/x", "~/x/y"], ["x"]),
        ("with\\*star", ["with*star"], ["withXstar"]),
    ],
)
def test_deny_paths_names_a_place_and_all_below_it(
    tmp_path: Path, glob: str, denied: list[str], free: list[str]
) -> None:
    world = Guarded(tmp_path, deny=[glob], roots=[str(tmp_path / "root"), str(tmp_path / "home")])
    assert world.allowed([*denied, *free]) == free
    assert world.allowed([*denied, *free], "write") == [name for name in free if name != "conf"]


def test_deny_wins_over_allow_and_roots(tmp_path: Path) -> None:
    world = Guarded(tmp_path, allow=["**/*"], deny=["a/b"])
    assert world.allowed(["a/b/c", "a/c"]) == ["a/c"]
    assert world.rule("a/b/c") == "-deny_paths 'a/b'"


def test_a_root_whose_name_holds_glob_characters_is_itself_only(tmp_path: Path) -> None:
    odd = tmp_path / "r[ab]*"
    odd.mkdir()
    (tmp_path / "ra").mkdir()
    world = Guarded(tmp_path, roots=[str(odd), str(tmp_path / "ra")], deny=["x/y"])
    assert world.rule(f"{odd}/x/y").startswith("-deny")
    assert world.rule(f"{tmp_path}/ra/x/y").startswith("-deny")
    assert world.rule(f"{odd}/z") == "roots"


def test_allow_paths_replaces_the_roots_and_may_name_places_beyond(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    world = Guarded(tmp_path, allow=["src/**/*.py", str(other), "top.txt"], output_directory=str(tmp_path / "out"))
    assert world.allowed(["src/a.py", "src/d/b.py", "src/a.c", "a.py", "top.txt", str(other / "x" / "y")]) == [
        "src/a.py",
        "src/d/b.py",
        "top.txt",
        str(other / "x" / "y"),
    ]
    assert world.rule(str(tmp_path / "out" / "new"), "write") == "-allow_paths"


def test_a_directory_is_walked_when_something_allowed_may_lie_in_it(tmp_path: Path) -> None:
    world = Guarded(tmp_path, allow=["src/**/*.py"])
    assert world.rule(".", "search", directory=True) == "allow_paths"
    assert world.rule("src/deep", "search", directory=True) == "allow_paths"
    assert world.rule("docs", "search", directory=True) == "-allow_paths"
    assert world.rule("src/deep") == "-allow_paths"


def test_a_workspaces_own_allow_list_narrows_and_never_widens(tmp_path: Path) -> None:
    world = Guarded(tmp_path, narrow=["src/**", "/etc/**"])
    assert world.allowed(["src/a", "b", "/etc/passwd"]) == ["src/a"]


def test_own_places_are_never_seen_except_the_managed_files(tmp_path: Path) -> None:
    data = tmp_path / "root" / ".data"
    world = Guarded(tmp_path, own=[str(data)], files_directory=str(data / "files"), allow=["**/*"])
    for access in ("read", "write", "search", "open", "history"):
        assert world.rule(".data/store.db", access) == "-own places"  # type: ignore[arg-type]
        assert world.rule(".data", access, directory=True) == "-own places"  # type: ignore[arg-type]
    assert world.rule(".data/files/a", "write") == "allow_paths"
    world = Guarded(tmp_path, own=["/data"], files_directory="/data/files")
    assert world.rule("/data/files/x") == "managed files"
    assert world.rule("/data/filesx") == "-own places"


def test_in_the_output_directory_new_files_may_be_made_and_only_those_touched(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine").touch()
    (out / "theirs").touch()
    world = Guarded(tmp_path, output_directory=str(out), made_here=lambda p: p == str(out / "mine"))
    assert world.rule(str(out / "new"), "write") == "output directory"
    assert world.rule(str(out / "theirs"), "write") == "-output directory"
    assert world.rule(str(out / "theirs"), "read") == "-output directory"
    assert world.rule(str(out / "mine"), "write") == "output directory"
    assert world.rule(str(out), "search", directory=True) == "output directory"


def test_roots_the_output_directory_and_the_managed_files_cannot_be_taken_away(tmp_path: Path) -> None:
    out, files = tmp_path / "root" / "a" / "out", tmp_path / "root" / "b" / "files"
    world = Guarded(tmp_path, output_directory=str(out), files_directory=str(files), deny=["c/d/**"])
    for path in (".", "a", "a/out", "b", "b/files"):
        assert world.rule(path, "write") == "-kept places"
    assert world.rule("c", "write") == "-deny_paths"
    assert world.rule("a/outside", "write") == "roots"


@pytest.mark.parametrize(
    "inside", ["x.bak", "deep/no/x", "deep/.handrailignore", "deep/handrail.toml", "a.hid", ".data/x"]
)
def test_a_directory_is_not_taken_away_with_something_that_no_tool_may_change(tmp_path: Path, inside: str) -> None:
    world = Guarded(tmp_path, deny=["*.bak", "no"], own=[str(tmp_path / "root" / "d" / ".data")])
    world.put(".handrailignore", "*.hid\n")
    world.put("d/deep/x")
    assert world.rule("d/deep", "write", directory=True) == "roots"
    world.put(f"d/{inside}")
    (world.root / "d" / "link").symlink_to("/etc")
    rule = world.rule("d", "write", directory=True)
    assert rule in {"-what lies in it", "-kept places"}
    assert world.rule("d", "read", directory=True) == "roots"


def test_a_link_in_a_directory_goes_with_it(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    world.put("d/x")
    (world.root / "d" / "link").symlink_to("/etc")
    assert world.rule("d", "write", directory=True) == "roots"


def test_a_directory_with_more_than_can_be_looked_at_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.guard.below.MOST", 3)
    world = Guarded(tmp_path)
    for n in range(4):
        world.put(f"d/{n % 2}/{n}")
    assert world.rule("d", "write", directory=True) == "-what lies in it"


@pytest.mark.parametrize("name", ["handrail.toml", ".handrailignore", "sub/HandRail.toml", "sub/.HANDRAILIGNORE"])
def test_what_decides_about_tools_is_never_written_by_one(tmp_path: Path, name: str) -> None:
    world = Guarded(tmp_path, allow=["**/*"])
    assert world.rule(name, "write") == "-own files"
    assert world.rule(name, "read") == "allow_paths"


def test_a_bad_glob_is_refused_when_the_policy_is_made(tmp_path: Path) -> None:
    for settings_of in ({"deny": ["a["]}, {"allow": ["{a"]}, {"sensitive": ["a\\"]}):
        with pytest.raises(InvalidCall):
            Guarded(tmp_path, **settings_of)


def test_explain_says_which_rule_decides(tmp_path: Path) -> None:
    world = Guarded(tmp_path, deny=["*.bak"])
    text = world.policy.explain(f"{world.root}/a.bak", "read")
    assert text == f"{world.root}/a.bak: read is denied by deny_paths '*.bak': deny_paths names it"


def test_a_walk_leaves_out_what_is_denied_below_its_root(tmp_path: Path) -> None:
    world = Guarded(
        tmp_path, deny=["no", "*.bak", f"{tmp_path}/root/sub/x", "/elsewhere/**"], own=[f"{tmp_path}/root/.d"]
    )
    globs = world.policy.leave_out(str(world.root), secrets=False)
    assert {"/**/no", "/**/no/**", "/**/*.bak", "/sub/x", "/.d/**"} <= set(globs)
    assert not any("elsewhere" in glob for glob in globs)
    assert "/x" in world.policy.leave_out(str(world.root / "sub"), secrets=False)
    assert len(world.policy.leave_out(str(world.root), secrets=True)) > len(globs)


_NAMES = st.lists(st.sampled_from(["a", "b", "a.b", "*", "**", "é", "\udcff", "A"]), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(_NAMES, _NAMES)
def test_what_is_below_a_denied_place_is_denied(glob: list[str], path: list[str]) -> None:
    place = Place(roots=["/r"], home="/h", real=str)
    denied = PathSet(["/".join(glob)], place)
    text = "/r/" + "/".join(path)
    if denied.match(text):
        assert denied.match(text + "/below")
        assert denied.first(text) == denied.last(text) == 0
        assert denied.may_hold(text)
        assert all(within(start, "/r") for start in denied.starts)


def test_a_thousand_globs_are_one_set() -> None:
    denied = PathSet([f"dir{n}/*.x{n}" for n in range(1000)], Place(roots=["/r"], home="/h", real=os.path.normpath))
    assert denied.match("/r/dir999/a.x999")
    assert denied.first("/r/dir500/a.x500") == 500
    assert not denied.match("/r/dir500/a.x501")
