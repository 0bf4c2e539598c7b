"""Killed at any call to the system, a change is whole or never was, and the history says which."""

from pathlib import Path

import pytest
from dying import SCENES, counted, die, in_child, scene


@pytest.mark.parametrize("name", SCENES)
def test_killed_at_every_call_each_file_is_old_or_new(tmp_path: Path, name: str) -> None:
    outcomes: list[str] = []
    for number in range(1, 400):
        case = scene(tmp_path / str(number), name)
        code = in_child(case, counted(number, die))
        assert code in (0, -9)
        outcomes.append(case.judge())
        if code == 0:
            break
    else:
        pytest.fail("the child never came to its end")
    assert len(outcomes) > 8
    whole = len(outcomes[0])
    assert outcomes[0] == "o" * whole
    assert outcomes[-1] == "n" * whole
    assert sorted(outcomes, reverse=True) == outcomes, "once new, never old again"
