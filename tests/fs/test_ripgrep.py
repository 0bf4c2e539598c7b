import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.fs import ignores, ripgrep
from handrail.fs.protocol import Bounds
from handrail.model.calls import Cancellation
from handrail.model.errors import InvalidCall, TooLarge
from handrail.model.paths import RealPath, seal
from handrail.model.view import Grep, Tally


def tree(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def walked(root: Path, *, inside: Path | None = None, respect_ignore: bool = True, **bounds: object) -> set[str]:
    tally = Tally({})
    limits = Bounds(inside=[str(inside or root)], **bounds)  # type: ignore[arg-type]
    found = ripgrep.walk(seal(str(root)), limits, tally, respect_ignore=respect_ignore)
    return {os.path.relpath(name, root) for name in found}


def grepped(
    pattern: str, *roots: Path, inside: Path | None = None, bounds: Bounds | None = None, **asked: object
) -> dict:
    tally = Tally({})
    grep = Grep(pattern=pattern, roots=[seal(str(r)) for r in roots], **asked)  # type: ignore[arg-type]
    limits = bounds or Bounds(inside=[str(inside or roots[0])])
    return {os.path.relpath(h.name, roots[0]): h for h in ripgrep.search(grep, limits, tally)}


def git_sees(root: Path) -> set[str]:
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True
    ).stdout
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def test_rows_come_with_their_numbers_bytes_and_spans(tmp_path: Path) -> None:
    tree(tmp_path, {"a.txt": "one\nfoo x foo\n", "b.txt": "nothing\n"})
    found = grepped("foo", tmp_path)
    assert list(found) == ["a.txt"]
    (hit,) = found["a.txt"].told.rows
    assert (hit.row, hit.data, hit.spans) == (2, b"foo x foo\n", ((0, 3), (6, 9)))


def test_a_row_that_is_not_utf8_does_not_lose_the_others(tmp_path: Path) -> None:
    tree(tmp_path, {"bad": b"needle \xff\xfe tail\n", "good": "needle\n"})
    found = grepped("needle", tmp_path)
    assert found["bad"].told.rows[0].data == b"needle \xff\xfe tail\n"
    assert set(found) == {"bad", "good"}


def test_names_of_any_bytes_come_back(tmp_path: Path) -> None:
    names = [b"n\xffl", b"-e", b"--pre=x", b"new\nline", b"sp ace", b"\xc3\xa9"]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("foo\n")
    expected = {os.fsdecode(name) for name in names}
    assert walked(tmp_path) == expected
    assert set(grepped("foo", tmp_path)) == expected


@pytest.mark.parametrize("pattern", ["-77", "->", "--pre=/bin/true", "-e"])
def test_a_pattern_with_a_leading_dash_is_a_pattern(tmp_path: Path, pattern: str) -> None:
    tree(tmp_path, {"a": f"x {pattern} y\n", "b": "z\n"})
    assert set(grepped(pattern, tmp_path)) == {"a"}


def test_hidden_files_are_seen_and_dot_git_is_never_entered(tmp_path: Path) -> None:
    tree(tmp_path, {".github/x.yml": "foo", ".git/config": "foo", "sub/.git/HEAD": "foo", "sub/a": "foo"})
    assert walked(tmp_path) == {".github/x.yml", "sub/a"}


def test_ignore_files_above_the_workspace_root_are_not_read(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*\n", ".ignore": "*\n", "root/a": "foo"})
    assert walked(tmp_path / "root") == {"a"}


def test_rules_are_the_same_from_any_start(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".git/info/exclude": "excluded.txt\n",
            ".gitignore": "**/bar/*\n*.log\n/foo/top\n",
            "foo/.gitignore": "/here\nsub/deep\n!keep.log\n",
            "foo/bar/x": "",
            "foo/a.log": "",
            "foo/keep.log": "",
            "foo/top": "",
            "foo/here": "",
            "foo/sub/here": "",
            "foo/sub/deep": "",
            "foo/sub/keep.log": "",
            "foo/sub/excluded.txt": "",
            "foo/sub/seen": "",
        },
    )
    whole = walked(tmp_path)
    assert whole == {".gitignore", "foo/.gitignore", "foo/keep.log", "foo/sub/here", "foo/sub/keep.log", "foo/sub/seen"}
    for start in ("foo", "foo/sub"):
        below = {name[len(start) + 1 :] for name in whole if name.startswith(start + "/")}
        assert walked(tmp_path / start, inside=tmp_path) == below


@pytest.mark.parametrize("rule", ["scripts/*", "scripts/", "/scripts", "scripts"])
def test_a_named_ignored_directory_is_searched(tmp_path: Path, rule: str) -> None:
    tree(tmp_path, {".gitignore": rule + "\n", "scripts/a.sh": "foo\n", "b": "foo\n"})
    assert walked(tmp_path) == {".gitignore", "b"}
    assert walked(tmp_path / "scripts", inside=tmp_path) == {"a.sh"}
    assert set(grepped("foo", tmp_path / "scripts", inside=tmp_path)) == {"a.sh"}
    assert set(grepped("foo", tmp_path / "scripts/a.sh", inside=tmp_path)) == {"."}


def test_a_named_directory_that_ignores_itself_is_searched(tmp_path: Path) -> None:
    tree(tmp_path, {"venv/.gitignore": "*\n", "venv/lib/a.py": "foo\n", "b": ""})
    assert walked(tmp_path) == {"b"}
    assert "lib/a.py" in walked(tmp_path / "venv", inside=tmp_path)


def test_rules_of_a_list_of_what_is_wanted_hold_below(tmp_path: Path) -> None:
    tree(tmp_path, {".git/x": "", ".gitignore": "*\n!*/\n!*.py\n", "src/a.py": "", "src/b.txt": ""})
    assert walked(tmp_path / "src", inside=tmp_path) == {"a.py"}


def test_leaving_out_holds_against_a_whitelist_and_is_relative_to_the_root(tmp_path: Path) -> None:
    tree(
        tmp_path, {".ignore": "!.env\n", ".env": "", "s/secret/a": "", "s/.env": "", "s/deep/secret/b": "", "s/ok": ""}
    )
    (tmp_path / ".git").mkdir()
    assert walked(tmp_path / "s", inside=tmp_path, leave_out=[".env", "/secret"]) == {"ok", "deep/secret/b"}
    assert walked(tmp_path, leave_out=[".env", "s/secret/**"]) == {".ignore", "s/deep/secret/b", "s/ok"}


def test_ignored_says_what_git_says(tmp_path: Path) -> None:
    tree(tmp_path, {".git/x": "", ".gitignore": "build/\n*.o\n/sub/only\n", "sub/.gitignore": "!keep.o\n"})
    place = seal(str(tmp_path / "sub"))
    names = ["build/", "build", "a.o", "keep.o", "only", "other", ".git/"]
    assert ignores.ignored(place.text, names, [str(tmp_path)]) == {"build/", "a.o", "only", ".git/"}


def test_random_ignore_rules_mean_what_git_means(tmp_path: Path) -> None:
    import random

    dice = random.Random(7)
    rules = ["a", "/a", "a/", "b/*", "!b/c.o", "*.o", "**/d.txt", "a/**/b", "!*.o", "/b/a/", "!a/", "c*", "[ab]", "?.o"]
    for number in range(25):
        root = tmp_path / str(number)
        for _ in range(14):
            parts = [dice.choice("ab") for _ in range(dice.randrange(3))]
            path = root.joinpath(*parts, dice.choice(["c.o", "d.txt", "e.o", "f"]))
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text("")
        for place in [root, *(p for p in root.iterdir() if p.is_dir())]:
            if dice.random() < 0.7:
                (place / ".gitignore").write_text("\n".join(dice.sample(rules, 3)) + "\n")
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        seen = git_sees(root)
        assert walked(root) == seen
        for start in (p for p in root.iterdir() if p.is_dir() and p.name != ".git"):
            below = {name[len(start.name) + 1 :] for name in seen if name.startswith(start.name + "/")}
            if below - {".gitignore"}:  # else it is as good as ignored, and named
                assert walked(start, inside=root) == below


def test_names_narrow_without_lifting_ignore_rules(tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "x.py\n", "x.py": "foo", "y.py": "foo", "z.txt": "foo"})
    assert set(grepped("foo", tmp_path, names=["*.py"])) == {"y.py"}


def test_events_are_counted_and_rows_decoded_when_they_are_looked_at(tmp_path: Path) -> None:
    tree(tmp_path, {"a": b"foo\n" * 10 + b"foo\r\n" + b"foo \xff\n", "b": 'x "line_number":7, foo\n'})
    found = grepped("foo", tmp_path)
    told = found["a"].told
    assert (told.count, list(told.numbers), told.stray, told.returns) == (12, [1, 2, 3, 4, 5], True, True)
    assert [row.row for row in told.rows] == list(range(1, 13))
    told = found["b"].told
    assert (told.count, list(told.numbers), told.stray, told.returns) == (1, [1], False, False)
    assert list(grepped("foo", tmp_path, numbers=True)["a"].told.numbers) == list(range(1, 13))


def test_rows_beyond_what_is_kept_are_still_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.fs.events.KEPT", 2000)
    tree(tmp_path, {"a": "foo\n" * 100})
    told = grepped("foo", tmp_path)["a"].told
    assert (told.count, list(told.numbers), told.rows) == (100, [1, 2, 3, 4, 5], None)


def test_a_row_too_long_to_be_told_marks_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.fs.events.LONGEST", 1 << 19)
    tree(tmp_path, {"a": "foo" * (1 << 20) + "\nfoo\n", "b": "foo\n"})
    found = grepped("foo", tmp_path)
    assert (found["a"].told.overlong, found["b"].told.overlong) == (True, False)


def test_a_row_that_asks_for_too_much_memory_ends_the_search_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "MEMORY", 96 << 20)
    tree(tmp_path, {"a": b"foo " * (12 << 20)})
    with pytest.raises(TooLarge):
        grepped("foo", tmp_path)


def test_odd_files_are_those_with_nuls_or_stray_bytes(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "plain": "é\n",
            "latin": b"caf\xe9\n",
            "nul": b"a\0b",
            "u16": "foo\n".encode("utf-16-le"),
            "u16bom": "foo é\n".encode("utf-16"),
            "jis": "日本語\n".encode("iso2022_jp"),
            "pdf": "%PDF-1.4 foo\n",
            "per%cent": "%P %PDF %\n",
            "empty": b"",
        },
    )
    assert set(grepped("", tmp_path, odd=True)) == {"latin", "nul", "u16", "jis", "pdf"}


def test_a_binary_that_matches_says_that_it_is_one(tmp_path: Path) -> None:
    tree(tmp_path, {"bin": b"foo\n\0\0foo", "text": "foo"})
    found = grepped("foo", tmp_path)
    assert found["bin"].told.binary
    assert not found["text"].told.binary


def test_a_bad_pattern_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidCall) as pattern:
        grepped("(", tmp_path)
    assert pattern.value.kind == "invalid_pattern"


def test_dangling_links_and_loops_do_not_disturb(tmp_path: Path) -> None:
    tree(tmp_path, {"a": "foo\n"})
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(".")
    assert set(grepped("foo", tmp_path)) == {"a"}
    assert walked(tmp_path) == {"a"}


@pytest.fixture
def without_rights(tmp_path: Path) -> Iterator[None]:
    """Root reads everything, so it becomes nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    for place in (tmp_path, *tmp_path.parents):
        if place.is_relative_to("/tmp") and place != Path("/tmp"):
            place.chmod(0o711 if place != tmp_path else 0o755)
    os.seteuid(65534)
    try:
        if not os.access(ripgrep.binary(), os.X_OK, effective_ids=True):
            pytest.skip("nobody may not run the search program here")
        yield
    finally:
        os.seteuid(0)


def test_an_unreadable_directory_is_counted_and_hides_no_match(tmp_path: Path, without_rights: None) -> None:
    before = os.geteuid()
    os.seteuid(os.getuid())
    tree(tmp_path, {"a": "foo\n", "closed/b": "foo\n"})
    (tmp_path / "closed").chmod(0)
    os.seteuid(before)
    tally = Tally({})
    grep = Grep(pattern="foo", roots=[seal(str(tmp_path))])
    found = [h.name for h in ripgrep.search(grep, Bounds(inside=[str(tmp_path)]), tally)]
    os.seteuid(os.getuid())
    (tmp_path / "closed").chmod(0o700)
    assert (found, tally.skipped) == ([str(tmp_path / "a")], {"unreadable": 1})


def test_no_deadline_left_stops_and_says_so(tmp_path: Path) -> None:
    tree(tmp_path, {f"d{n}/f": "foo\n" for n in range(50)})
    tally = Tally({})
    list(ripgrep.search(Grep(pattern="foo", roots=[seal(str(tmp_path))]), Bounds(seconds=-1), tally))
    assert not tally.complete


def test_cancellation_and_closing_end_the_child(tmp_path: Path) -> None:
    tree(tmp_path, {"big": "foo\n" * 400_000, "other": "foo\n" * 400_000})
    flag = Cancellation()
    flag.cancel()
    tally = Tally({})
    assert (
        list(ripgrep.search(Grep(pattern="foo", roots=[seal(str(tmp_path))]), Bounds(cancellation=flag), tally)) == []
    )
    assert not tally.complete
    search = ripgrep.search(Grep(pattern="foo", roots=[seal(str(tmp_path))]), Bounds(), Tally({}))
    next(iter(search))
    search.close()  # type: ignore[attr-defined]
    assert threading.active_count() < 20


def test_a_walk_stops_at_its_number_of_entries(tmp_path: Path) -> None:
    tree(tmp_path, {f"f{n}": "" for n in range(20)})
    tally = Tally({})
    root: RealPath = seal(str(tmp_path))
    assert len(list(ripgrep.walk(root, Bounds(max_entries=5), tally, respect_ignore=True))) == 5
    assert not tally.complete


def test_users_own_configuration_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, {"t/a": "FOO\n", "rc": "--ignore-case\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert grepped("foo", tmp_path / "t") == {}
