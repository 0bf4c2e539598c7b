"""Following links by hand, against the system's own idea of it."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.fs.following import resolve
from handrail.model.errors import InvalidCall

STEPS = st.sampled_from(["a", "b", "c", "..", ".", "", "missing"])


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[str]]:
    """Links in a small tree of directories, and paths to ask for."""
    places = ["a/a", "a/b", "b/a", "b/c", "c"]
    targets = st.lists(STEPS, min_size=1, max_size=4).map("/".join)
    links = [(place, draw(targets)) for place in draw(st.lists(st.sampled_from(places), unique=True, max_size=4))]
    return links, draw(st.lists(st.lists(STEPS, min_size=1, max_size=6).map("/".join), min_size=1, max_size=5))


@settings(max_examples=150, deadline=None)
@given(trees())
def test_existing_paths_resolve_as_the_system_does(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[list[tuple[str, str]], list[str]]
) -> None:
    root = os.path.realpath(tmp_path_factory.mktemp("t"))
    for name in ("a", "b"):
        os.mkdir(f"{root}/{name}")
    links, paths = case
    for place, target in links:
        os.symlink(target or ".", f"{root}/{place}")
    for path in paths:
        asked = f"{root}/{path}"
        if os.path.exists(asked):
            found = resolve(asked)
            assert (found.text, found.exists) == (os.path.realpath(asked), True)
        else:
            try:
                found = resolve(asked)
            except InvalidCall as error:
                assert error.kind == "invalid_path"
            else:
                assert os.path.realpath(found.text) == found.text


def test_the_kernels_own_links_lead_where_they_say(tmp_path: Path) -> None:
    assert resolve("/proc/self/cwd").text == os.path.realpath(".")
    assert resolve("/proc/self/root/etc").text == "/etc"
    with open(tmp_path / "file", "wb") as handle:
        assert resolve(f"/proc/self/fd/{handle.fileno()}").text == os.path.realpath(tmp_path / "file")


def test_what_a_program_holds_open_is_no_file() -> None:
    one, other = os.pipe()
    try:
        with pytest.raises(InvalidCall):
            resolve(f"/proc/self/fd/{one}")
    finally:
        os.close(one)
        os.close(other)


def test_ten_links_to_the_root_cost_nothing_and_lead_there(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"up{number}").symlink_to(".")
    path = "/".join(f"up{n % 10}" for n in range(40))
    assert resolve(f"{os.path.realpath(tmp_path)}/{path}").text == os.path.realpath(tmp_path)
    with pytest.raises(InvalidCall):
        resolve(f"{tmp_path}/{path}/up1")


@given(st.text(max_size=40))
def test_any_text_resolves_or_is_invalid(text: str) -> None:
    try:
        found = resolve("/none/" + text)
    except InvalidCall as error:
        error.message.encode()
    else:
        assert found.text.startswith("/")
