"""Every fault kind of "Search semantics" that was seen in the field, by its symptom, in both families and engines."""

import os
from pathlib import Path

import pytest
from faces import Faces, workspace

pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.parametrize("rule", ["scripts/*", "*.sh"])
def test_nothing_found_is_no_proof_of_absence_and_a_named_ignored_place_is_searched(tmp_path: Path, rule: str) -> None:
    with workspace(tmp_path, {".gitignore": rule, "scripts/a.sh": "needle\n", "scripts/b.sh": "", "c": ""}) as faces:
        found = faces.find(pattern="needle", mode="search")
        assert (found["total"], found["skipped_ignored"]) == (0, 2)
        text = faces.files.call("find_files", {"queries": [{"pattern": "needle", "file_pattern": "**/*"}]}).text
        assert "2 ignored files not looked at; name an ignored directory as dir to look into it" in text
        assert faces.grep("needle")["skipped"] == {"ignored": 2}
        assert faces.find(pattern="*.sh")["skipped_ignored"] == 2
        assert faces.holding("needle", "scripts/a.sh") == {"scripts/a.sh"}
        if rule != "*.sh":
            assert faces.holding("needle", "scripts") == {"scripts/a.sh"}


def test_ignored_folders_drown_neither_lists_nor_globs_nor_searches(tmp_path: Path) -> None:
    ignored = {f"node_modules/p{n}/README.md": "needle\n" for n in range(100)}
    with workspace(tmp_path, {".gitignore": "node_modules/\n", "a.md": "needle\n", **ignored}) as faces:
        assert faces.named("**/*.md") == faces.holding("needle", glob="**/*.md") == {"a.md"}
        assert faces.listed() == {".gitignore", "a.md"}


def test_hidden_and_ignored_are_the_same_for_lists_globs_and_searches(tmp_path: Path) -> None:
    files = {".github/workflows/x.yml": "needle\n", ".hidden": "needle\n", "a": "needle\n", "out/b": "needle\n"}
    with workspace(tmp_path, {**files, ".gitignore": "out # needle\nout/\n"}) as faces:
        seen = {".github/workflows/x.yml", ".hidden", "a", ".gitignore"}
        assert faces.listed() == faces.named("**/*[a-z]*") == faces.holding("needle") == seen
        assert faces.named(".github/**/*.yml") == faces.named("x.yml") == {".github/workflows/x.yml"}
        assert faces.holding("needle", glob=".github/**") == {".github/workflows/x.yml"}


def test_a_star_in_a_parents_ignore_file_hides_nothing(tmp_path: Path) -> None:
    for name in (".gitignore", ".ignore", ".handrailignore"):
        (tmp_path / name).write_text("*\n")
    with workspace(tmp_path, {"a.txt": "needle\n"}) as faces:
        assert faces.listed() == faces.named("*.txt") == faces.holding("needle") == {"a.txt"}


@pytest.mark.parametrize("rule", ["**/bar/*", "/foo/bar", "**/foo/bar/x.txt"])
def test_an_ignore_rule_holds_from_any_start(tmp_path: Path, rule: str) -> None:
    files = {"foo/bar/x.txt": "needle\n", "foo/bar/deep/y.txt": "needle\n", "foo/a.txt": "needle\n", "b.txt": "needle"}
    with workspace(tmp_path, {".gitignore": rule, **files}) as faces:
        whole = {name for name in faces.holding("needle") if name.startswith("foo/")}
        assert faces.holding("needle", "foo") == faces.named("*.txt", "foo") == faces.listed("foo") == whole
        assert "foo/a.txt" in whole
        assert "foo/bar/x.txt" not in whole
        assert faces.holding("needle", "foo", glob="*.txt") == whole


def test_a_pattern_or_a_path_with_a_dash_is_no_option(tmp_path: Path) -> None:
    patterns = ["-77", "->", "--pre=/tmp/x.sh", "-e", "--", "-f/etc/passwd", "--no-ignore"]
    text = "\n".join(f"x {pattern} y" for pattern in patterns)
    with workspace(
        tmp_path, {"a": text, "b": "z\n", "-e": text, "--pre=x": text, ".ignore": "c\n", "c": text}
    ) as faces:
        for pattern in patterns:
            assert faces.holding(pattern) == {"a", "-e", "--pre=x"}
        assert faces.holding("-77", "-e") == faces.holding("-77", glob="-e") == {"-e"}
        assert faces.named("--pre=*") == {"--pre=x"}


def test_no_configuration_of_the_search_program_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rc").write_text("--invert-match\n--glob=!*\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    with workspace(tmp_path, {"a": "needle\n", "b": "\n"}) as faces:
        assert faces.holding("needle") == {"a"}


def test_a_broken_link_discards_nothing_and_a_bad_regex_is_an_error(tmp_path: Path) -> None:
    with workspace(tmp_path, {"a": "needle\n"}) as faces:
        os.symlink("nowhere", faces.root / "dangling")
        os.symlink("loop", faces.root / "loop")
        os.mkfifo(faces.root / "pipe")
        assert faces.holding("needle") == {"a"}
        for failed in (faces.find(pattern="(", mode="search"), faces.grep("(")):
            assert failed["kind"] == "invalid_pattern"
            assert "character 1" in failed["error"]


def test_a_regex_is_a_regex_and_literal_text_is_literal(tmp_path: Path) -> None:
    texts = ["foo()", "a|b", "{ name }", "x[", "*y", "(?=z)", "$1", "a\\"]
    with workspace(tmp_path, {"it": "\n".join(texts), "other": "foo a b name x y\n"}) as faces:
        for row, text in enumerate(texts, 1):
            found = faces.find(pattern=text, mode="search", literal=True)
            assert [(file["path"], file["lines"]) for file in found["files"]] == [("it", [row])]
            found = faces.find(pattern=text, mode="search")
            assert found["kind"] in {"files", "invalid_pattern"}
            assert found["kind"] == "files" or "literal=true" in found["hint"]


def test_multiline_spans_lines_and_without_it_a_line_end_is_explained(tmp_path: Path) -> None:
    with workspace(tmp_path, {"a": "foo\nbar\n", "b": "foo\r\nbar\r\n", "c": "bar\nfoo\n"}) as faces:
        for pattern in (r"foo\nbar", "foo\nbar", "foo.bar", r"foo\s+bar", "(?-s)foo.*\n.*bar"):
            assert faces.holding(pattern, multiline=True) == {"a", "b"}
        found = faces.find(pattern=r"foo\nbar", mode="search")
        assert found["total"] == 0
        assert "multiline=true" in found["notes"][0]


def test_absence_is_not_asserted_where_something_was_left_out(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    files = {".env": "needle\n", "x.bin": b"needle\0\1\0\2" * 9, "big.txt": b"needle\n" * 999, ".gitignore": "out/\n"}
    with workspace(tmp_path, {**files, "out/a": "needle\n"}, limits__max_search_file_bytes=500) as faces:
        found = faces.find(pattern="needle", mode="search")
        skipped = {key: value for key, value in found.items() if key.startswith("skipped_")}
        assert found["total"] == 0
        assert skipped == {"skipped_sensitive": 1, "skipped_binary": 1, "skipped_too_large": 1, "skipped_ignored": 1}
        assert set(faces.grep("needle")["skipped"]) == {"sensitive", "binary", "too_large", "ignored"}


def test_a_pattern_of_many_segments_is_anchored_at_the_given_directory(tmp_path: Path) -> None:
    files = dict.fromkeys(["2026/07/26.md", "x/2026/07/26.md", "2026/07/27.md"], "needle\n")
    with workspace(tmp_path, files) as faces:
        assert faces.named("2026/07/26.md") == faces.holding("needle", glob="2026/07/26.md") == {"2026/07/26.md"}
        assert faces.named("2026/07/26.md", "x") == {"x/2026/07/26.md"}
        assert faces.named("07/26.md", "2026") == {"2026/07/26.md"}
        assert faces.named("**/07/26.md") == {"2026/07/26.md", "x/2026/07/26.md"}


def test_braces_are_alternatives_and_two_stars_include_files(tmp_path: Path) -> None:
    names = ["a.json", "b.xml", "d/c.json", "d/e/f.txt", "trailing ", "d/ lead"]
    with workspace(tmp_path, dict.fromkeys(names, "needle\n")) as faces:
        for glob, wanted in {
            "*.{json,xml}": {"a.json", "b.xml", "d/c.json"},
            "d/**": {"d/c.json", "d/e/f.txt", "d/ lead"},
            "d/": {"d/c.json", "d/e/f.txt", "d/ lead"},
            "./d/*.json": {"d/c.json"},
            "trailing ": {"trailing "},
            "traili* ": {"trailing "},
            "d/{e/f,c}.{txt,json}": {"d/c.json", "d/e/f.txt"},
        }.items():
            assert faces.named(glob) == faces.holding("needle", glob=glob) == wanted, glob


def test_directories_may_be_relative_absolute_or_under_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with workspace(tmp_path, {"d/a.txt": "needle\n"}) as faces:
        for spelled in ("d", "./d", "d/", "d/../d", str(faces.root / "d"), "~/project/d"):
            (row,) = faces.find(dir=spelled, pattern="needle", mode="search")["files"]
            assert row["path"] in {"d/a.txt", str(faces.root / "d" / "a.txt")}
        assert faces.find(dir="~/elsewhere", pattern="needle", mode="search")["kind"] in {"path_denied", "not_found"}


def test_linked_directories_are_followed_inside_the_roots_and_loops_end(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "o.md").write_text("needle\n")
    with workspace(tmp_path, {"items/x.md": "needle\n", "a/y.md": "needle\n"}) as faces:
        os.symlink("../items", faces.root / "a" / "link")
        os.symlink(".", faces.root / "loop")
        os.symlink(tmp_path / "outside", faces.root / "away")
        for number in range(10):
            os.symlink("..", faces.root / "items" / f"root{number}")
        assert faces.holding("needle") == faces.named("*.md") == {"items/x.md", "a/y.md"}
        assert faces.holding("needle", "a") == {"items/x.md", "a/y.md"}
        assert faces.holding("needle", "a/link") >= {"items/x.md"}
        assert faces.listed() == {"items/x.md", "a/y.md"}
        assert faces.find(dir="away", pattern="needle", mode="search")["kind"] == "path_denied"


def test_a_binary_with_a_texts_name_is_no_text(tmp_path: Path) -> None:
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("content.xml", "needle\n")
    with workspace(tmp_path, {"x.ods": packed.getvalue(), "x.txt": packed.getvalue(), "a": "needle\n"}) as faces:
        assert faces.holding("needle") == {"a"}
        assert faces.find(pattern="needle", mode="search")["skipped_binary"] == 2
        _no_nul(faces)


def _no_nul(faces: Faces) -> None:
    assert all("\0" not in text for _, _, text in faces.rows("."))
