"""The table of docs/fidelity.md holds: every row is kept, and the test that it names is there."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from fidelity import one
from fidelity_cases import CASES
from fidelity_peers import Ours

HERE = Path(__file__).parents[2]
TABLE = (HERE / "docs" / "fidelity.md").read_text("utf-8")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    root = tmp_path_factory.mktemp("fidelity") / "root"
    root.mkdir()
    peer = Ours(root)
    yield peer, root
    peer.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_row(case, ours):
    peer, root = ours
    assert one(peer, case, root / re.sub(r"\W", "-", case.name)) in ("kept", "skipped")
    file, _, name = case.test.partition("::")
    assert f"def {name}(" in (HERE / "tests" / file).read_text("utf-8")
    assert f"| {case.name} | kept |" in TABLE
