"""On a file system without room an operation is refused whole, and goes on when there is room again.

`make bench-full` tries every operation, with a page more each time.
"""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import full

mounted = pytest.mark.skipif(full.missing() is not None, reason=str(full.missing()))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@mounted
@pytest.mark.parametrize("name", ["write over", "write in place", "restore a file", "undo a task"])
def test_on_a_full_disk_it_is_refused_whole_and_goes_on_when_there_is_room(name: str) -> None:
    with full.small("tmpfs") as place:
        runs = list(full.tried(place, name, 5 * 4096, opening=False))
    assert [word for _, _, word in runs if word] == []
    assert runs[0][1].reported is False and runs[-1][1].reported is True
