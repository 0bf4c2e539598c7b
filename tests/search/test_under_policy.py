"""Finding through the view that guards it: what policy hides isn't found, secrets are named and never searched."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from plain_view import tree

from handrail.fs.host import HostFileSystem
from handrail.guard.policy import Policy, PolicySettings
from handrail.guard.resolve import Resolver
from handrail.guard.view import Allowance, CallView
from handrail.model.answers import Found
from handrail.model.operations import Find, Query
from handrail.search.find import FindPlanner


class Guarded:
    def __init__(self, root: Path, deny: Sequence[str] = ()) -> None:
        self.root = root
        self.fs = HostFileSystem()
        self.resolver = Resolver(self.fs, home=str(root.parent), cwd=str(root))
        settings = PolicySettings(roots=[str(root)], home=str(root.parent), deny=list(deny))
        self.policy = Policy.build(settings, fs=self.fs, resolver=self.resolver)
        self.planner = FindPlanner()

    def find(self, mode: str, *patterns: str | None, directory: str = ".", **asked: object) -> Found:
        view = CallView(self.fs, self.resolver, self.policy, session="s", allowance=Allowance(seconds=60))
        queries = tuple(Query(directory=directory, pattern=pattern) for pattern in patterns)
        operation = Find(mode=mode, queries=queries, **asked)  # type: ignore[arg-type]
        targets = [self.resolver.resolve(want) for want in self.planner.wants(operation)]
        answer = self.planner.plan(operation, targets, view).answer
        assert isinstance(answer, Found)
        return answer

    def names(self, found: Found) -> list[str]:
        entries = [*found.listed, *found.files]
        return [entry.path[len(str(self.root)) + 1 :] for entry in entries]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = (tmp_path / "root").resolve()
    place.mkdir()
    return tree(
        place,
        {
            ".env": "needle",
            "d/.env.local": "needle",
            "a.txt": "needle",
            ".handrailignore": "hidden/\n",
            "hidden/h.txt": "needle",
            "denied/d.txt": "needle",
            "latin": b"needle caf\xe9\n" * 9,
        },
    )


def test_a_search_leaves_secrets_out_and_counts_them(root: Path) -> None:
    guarded = Guarded(root, ["denied"])
    found = guarded.find("search", "needle")
    assert guarded.names(found) == ["a.txt", "latin"]
    assert found.skipped["sensitive"] == 2
    assert guarded.names(guarded.find("search", "needle", multiline=True)) == ["a.txt", "latin"]


def test_a_workspaces_own_ignore_file_brings_no_secret_back(root: Path) -> None:
    tree(root, {".ignore": "!.env\n!.env.local\n!hidden/\n"})
    guarded = Guarded(root, ["denied"])
    assert guarded.names(guarded.find("search", "needle", respect_ignore=False)) == ["a.txt", "latin"]
    assert guarded.names(guarded.find("search", "needle")) == ["a.txt", "latin"]


def test_globs_and_lists_name_secrets_and_nothing_that_is_hidden(root: Path) -> None:
    guarded = Guarded(root, ["denied"])
    assert set(guarded.names(guarded.find("glob", ".env*"))) == {".env", "d/.env.local"}
    assert guarded.names(guarded.find("glob", "*.txt")) == ["a.txt"]
    assert guarded.find("glob", "hidden/h.txt").listed == ()
    listed = guarded.names(guarded.find("list", None))
    assert {"hidden", "denied"}.isdisjoint(listed)
    assert ".env" in listed


def test_pages_through_the_guard_are_those_of_one_search(root: Path) -> None:
    tree(root, {f"many/f{n:02}": "needle\nx\nneedle\r\n" for n in range(30)})
    guarded = Guarded(root)
    whole = guarded.find("search", "needle$", directory="many", unit="content").rows
    assert len(whole) == 60
    rows, offset = [], 0
    while offset is not None:
        page = guarded.find("search", "needle$", directory="many", unit="content", offset=offset, limit=7)
        rows += page.rows
        offset = page.next_offset  # type: ignore[assignment]
    assert [(r.path, r.row) for r in rows] == [(r.path, r.row) for r in whole]
